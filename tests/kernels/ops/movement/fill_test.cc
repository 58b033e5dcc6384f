// FILL: golden cases, malformed shapes.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("fill: golden cases", "[ops][sets]") { RunOpCases("fill"); }

TEST_CASE("fill: refuses malformed shapes", "[ops]") {
  const OneOp op =
      Accepted(OneOp(OpCode::kFill).In<int32_t>({1}, {2}).In<float>({}, {1}).Out(DType::kFloat32));
  CheckRefusals({
      {op.With(0).In<int32_t>({2}, {2, -1}), kInvalidModel, "is -1, outside"},
      {op.With(0).In<int64_t>({1}, {int64_t{1} << 31}), kInvalidModel, "is 2147483648, outside"},
      {op.With(0).In<int32_t>({3}, {INT32_MAX, INT32_MAX, INT32_MAX}), kInvalidModel, "too large"},
      // An empty tensor whose other dimensions overflow.
      {op.With(0).In<int32_t>({4}, {0, INT32_MAX, INT32_MAX, INT32_MAX}), kInvalidModel,
       "too large"},
      {op.With(0).In<int32_t>({1, 1}, {2}), kInvalidModel, "rank 1 expected"},
      {op.With(1).In<float>({2}, {1, 2}), kInvalidModel, "rank 0 expected"},
      {op.With(0).In<int32_t>({9}, std::vector<int32_t>(9, 1)), kUnsupported, "rank 9"},
      {op.With(1).Unknown(DType::kVariant, {}).Out(0, DType::kVariant), kUnsupported, "variant"},
      {op.With(0).In<float>({1}, {2}), kUnsupported, "float32; supported"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
  });
}

TEST_CASE("fill: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kFill);
  op.Unknown(DType::kInt32, {2}).In<float>({}, {1}).Out(DType::kFloat32);
  CHECK(DeferredFor(op) == 0);
}

TEST_CASE("fill: large and of every element size", "[ops]") {
  OneOp op(OpCode::kFill);
  op.In<int32_t>({2}, {1000, 333}).In<int64_t>({}, {0x0102030405060708}).Out(DType::kInt64);
  REQUIRE(op.Run(3).ToString() == "OK");
  CHECK(op.Values<int64_t>(0) == std::vector<int64_t>(333000, 0x0102030405060708));
  OneOp small(OpCode::kFill);
  small.In<int32_t>({1}, {70001}).In<int16_t>({}, {-2}).Out(DType::kInt16);
  REQUIRE(small.Run(3).ToString() == "OK");
  CHECK(small.Values<int16_t>(0) == std::vector<int16_t>(70001, -2));
}

}  // namespace test
}  // namespace topwork
