// ONE_HOT: golden cases, malformed operators.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

OneOp ThreeClasses() {
  return Accepted(OneOp(OpCode::kOneHot)
                      .Unknown(DType::kInt32, {2})
                      .In<int32_t>({}, {3})
                      .In<float>({}, {1})
                      .In<float>({}, {0})
                      .Out(DType::kFloat32));
}

}  // namespace

TEST_CASE("one_hot: golden cases", "[ops][sets]") { RunOpCases("one_hot"); }

TEST_CASE("one_hot: refuses malformed operators", "[ops]") {
  const OneOp op = ThreeClasses();
  CheckRefusals({
      {op.With(1).In<int32_t>({}, {-1}), kInvalidModel, "depth is -1"},
      {op.With(&OpParams::axis, 2), kInvalidModel, "axis 2 is neither"},
      {op.With(&OpParams::axis, -2), kInvalidModel, "axis -2 is neither"},
      {op.With(2).In<float>({2}, {1, 1}), kInvalidModel, "one value expected"},
      {op.With(3).In<float>({0}, {}), kInvalidModel, "one value expected"},
      {op.With(0)
           .Unknown(DType::kInt32, {2, INT32_MAX, INT32_MAX})
           .At(1)
           .In<int32_t>({}, {INT32_MAX}),
       kInvalidModel, "too large"},
      {op.With(3).In<int32_t>({}, {0}), kInvalidModel, "they must agree"},
      {op.With(0).Unknown(DType::kFloat32, {2}), kUnsupported, "float32; supported"},
      {op.With(0).Unknown(DType::kInt32, {1, 1, 1, 1, 1, 1, 1, 1}), kUnsupported, "rank 9"},
      {op.First(3), kInvalidModel, "lacks its input 3"},
  });
}

TEST_CASE("one_hot: indices without a place have no on_value", "[ops]") {
  OneOp op(OpCode::kOneHot);
  op.params.axis = -1;
  op.In<int64_t>({3}, {-1, 1, int64_t{1} << 32}).In<int64_t>({}, {2});
  op.In<int16_t>({}, {5}).In<int16_t>({}, {3}).Out(DType::kInt16);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int16_t>(0) == std::vector<int16_t>{3, 3, 3, 5, 3, 3});
}

TEST_CASE("one_hot: a value that only a run knows defers it", "[ops]") {
  CHECK(DeferredFor(ThreeClasses().With(1).Unknown(DType::kInt32, {})) == 1);
}

}  // namespace test
}  // namespace topwork
