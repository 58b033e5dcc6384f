// REVERSE_V2: golden cases, malformed axes.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("reverse_v2: golden cases", "[ops]") { RunOpCases("reverse_v2"); }

TEST_CASE("reverse_v2: refuses malformed axes", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kReverseV2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({1}, {2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "axis 2 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseV2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({1}, {-3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "axis -3 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseV2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {0, -2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "axis 0 is listed twice") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseV2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 1 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseV2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({33}, std::vector<int32_t>(33, 0))
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "33 values") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseV2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int64_t>({1}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "int64; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseV2)
                    .Unknown(DType::kString, {2})
                    .In<int32_t>({1}, {0})
                    .Out(DType::kString),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseV2).Unknown(DType::kFloat32, {2, 3}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
}

TEST_CASE("reverse_v2: axes need not lie next to each other", "[ops]") {
  OneOp op(OpCode::kReverseV2);
  op.In<int8_t>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}).In<int32_t>({2}, {2, 0}).Out(DType::kInt8);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int8_t>(0) == std::vector<int8_t>{5, 4, 7, 6, 1, 0, 3, 2});
}

}  // namespace test
}  // namespace topwork
