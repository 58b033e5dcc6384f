// DYNAMIC_UPDATE_SLICE: golden cases, malformed operators, clamping.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("dynamic_update_slice: golden cases", "[ops]") { RunOpCases("dynamic_update_slice"); }

TEST_CASE("dynamic_update_slice: refuses malformed operators", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kDynamicUpdateSlice)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({1, 3}, {1, 2, 3})
                    .In<int32_t>({2}, {0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "does not fit") == "");
  CHECK(Refusal(OneOp(OpCode::kDynamicUpdateSlice)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({1}, {1})
                    .In<int32_t>({2}, {0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "does not fit") == "");
  CHECK(Refusal(OneOp(OpCode::kDynamicUpdateSlice)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({1, 1}, {1})
                    .In<int32_t>({1}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kDynamicUpdateSlice)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({1, 1}, {1})
                    .In<int32_t>({1, 2}, {0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kDynamicUpdateSlice)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({1, 1}, {1})
                    .In<int32_t>({2}, {0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "they must agree") == "");
  CHECK(Refusal(OneOp(OpCode::kDynamicUpdateSlice)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({1, 1}, {1})
                    .In<float>({2}, {0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kDynamicUpdateSlice)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({1, 1}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 2") == "");
}

TEST_CASE("dynamic_update_slice: the start is clamped", "[ops]") {
  for (const int64_t start : {INT64_MIN, int64_t{-1}, int64_t{1}, int64_t{2}, INT64_MAX}) {
    OneOp op(OpCode::kDynamicUpdateSlice);
    op.In<float>({2, 2}, {1, 2, 3, 4}).In<float>({1, 2}, {8, 9}).In<int64_t>({2}, {start, start});
    op.Out(DType::kFloat32);
    REQUIRE(op.Run().ToString() == "OK");
    const std::vector<float> first{8, 9, 3, 4}, second{1, 2, 8, 9};
    CHECK(op.Values<float>(0) == (start <= 0 ? first : second));
  }
}

TEST_CASE("dynamic_update_slice: an empty update changes nothing", "[ops]") {
  OneOp op(OpCode::kDynamicUpdateSlice);
  op.In<float>({2}, {1, 2}).In<float>({0}, {}).In<int32_t>({1}, {5}).Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<float>(0) == std::vector<float>{1, 2});
}

}  // namespace test
}  // namespace topwork
