// ONE_HOT: golden cases, malformed operators.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("one_hot: golden cases", "[ops]") { RunOpCases("one_hot"); }

TEST_CASE("one_hot: refuses malformed operators", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kOneHot)
                    .Unknown(DType::kInt32, {2})
                    .In<int32_t>({}, {-1})
                    .In<float>({}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "depth is -1") == "");
  CHECK(Refusal(OneOp(OpCode::kOneHot)
                    .Unknown(DType::kInt32, {2})
                    .In<int32_t>({}, {3})
                    .In<float>({}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.axis = 2; }),
                StatusCode::kInvalidModel, "axis 2 is neither") == "");
  CHECK(Refusal(OneOp(OpCode::kOneHot)
                    .Unknown(DType::kInt32, {2})
                    .In<int32_t>({}, {3})
                    .In<float>({}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.axis = -2; }),
                StatusCode::kInvalidModel, "axis -2 is neither") == "");
  CHECK(Refusal(OneOp(OpCode::kOneHot)
                    .Unknown(DType::kInt32, {2})
                    .In<int32_t>({}, {3})
                    .In<float>({2}, {1, 1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "one value expected") == "");
  CHECK(Refusal(OneOp(OpCode::kOneHot)
                    .Unknown(DType::kInt32, {2})
                    .In<int32_t>({}, {3})
                    .In<float>({}, {1})
                    .In<float>({0}, {})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "one value expected") == "");
  CHECK(Refusal(OneOp(OpCode::kOneHot)
                    .Unknown(DType::kInt32, {2, INT32_MAX, INT32_MAX})
                    .In<int32_t>({}, {INT32_MAX})
                    .In<float>({}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
  CHECK(Refusal(OneOp(OpCode::kOneHot)
                    .Unknown(DType::kInt32, {2})
                    .In<int32_t>({}, {3})
                    .In<float>({}, {1})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "they must agree") == "");
  CHECK(Refusal(OneOp(OpCode::kOneHot)
                    .Unknown(DType::kFloat32, {2})
                    .In<int32_t>({}, {3})
                    .In<float>({}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kOneHot)
                    .Unknown(DType::kInt32, {1, 1, 1, 1, 1, 1, 1, 1})
                    .In<int32_t>({}, {3})
                    .In<float>({}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "rank 9") == "");
  CHECK(Refusal(OneOp(OpCode::kOneHot)
                    .Unknown(DType::kInt32, {2})
                    .In<int32_t>({}, {3})
                    .In<float>({}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 3") == "");
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
  OneOp op(OpCode::kOneHot);
  op.In<int32_t>({1}, {0})
      .Unknown(DType::kInt32, {})
      .In<float>({}, {1})
      .In<float>({}, {0})
      .Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

}  // namespace test
}  // namespace topwork
