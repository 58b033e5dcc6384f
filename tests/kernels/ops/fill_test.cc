// FILL: golden cases, malformed shapes.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("fill: golden cases", "[ops]") { RunOpCases("fill"); }

TEST_CASE("fill: refuses malformed shapes", "[ops]") {
  CHECK(Refusal(
            OneOp(OpCode::kFill).In<int32_t>({2}, {2, -1}).In<float>({}, {1}).Out(DType::kFloat32),
            StatusCode::kInvalidModel, "is -1, outside") == "");
  CHECK(Refusal(OneOp(OpCode::kFill)
                    .In<int64_t>({1}, {int64_t{1} << 31})
                    .In<float>({}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "is 2147483648, outside") == "");
  CHECK(Refusal(OneOp(OpCode::kFill)
                    .In<int32_t>({3}, {INT32_MAX, INT32_MAX, INT32_MAX})
                    .In<float>({}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
  // An empty tensor whose other dimensions overflow.
  CHECK(Refusal(OneOp(OpCode::kFill)
                    .In<int32_t>({4}, {0, INT32_MAX, INT32_MAX, INT32_MAX})
                    .In<float>({}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
  CHECK(
      Refusal(OneOp(OpCode::kFill).In<int32_t>({1, 1}, {2}).In<float>({}, {1}).Out(DType::kFloat32),
              StatusCode::kInvalidModel, "rank 1 expected") == "");
  CHECK(Refusal(
            OneOp(OpCode::kFill).In<int32_t>({1}, {2}).In<float>({2}, {1, 2}).Out(DType::kFloat32),
            StatusCode::kInvalidModel, "rank 0 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kFill)
                    .In<int32_t>({9}, std::vector<int32_t>(9, 1))
                    .In<float>({}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "rank 9") == "");
  CHECK(Refusal(OneOp(OpCode::kFill)
                    .In<int32_t>({1}, {2})
                    .Unknown(DType::kVariant, {})
                    .Out(DType::kVariant),
                StatusCode::kUnsupported, "variant") == "");
  CHECK(Refusal(OneOp(OpCode::kFill).In<float>({1}, {2}).In<float>({}, {1}).Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kFill).In<int32_t>({1}, {2}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
}

TEST_CASE("fill: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kFill);
  op.Unknown(DType::kInt32, {2}).In<float>({}, {1}).Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 0);
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
