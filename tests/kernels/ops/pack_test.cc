// PACK: golden cases, malformed parts, zero-copy offers.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("pack: golden cases", "[ops]") { RunOpCases("pack"); }

TEST_CASE("pack: refuses malformed parts", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kPack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.count = 3; }),
                StatusCode::kInvalidModel, "values_count is 3 but there are 2") == "");
  CHECK(Refusal(OneOp(OpCode::kPack).Out(DType::kFloat32), StatusCode::kInvalidModel,
                "values_count is 0 but there are 0") == "");
  CHECK(Refusal(OneOp(OpCode::kPack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Unknown(DType::kFloat32, {3, 2})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.count = 2; }),
                StatusCode::kInvalidModel, "they must agree") == "");
  CHECK(Refusal(OneOp(OpCode::kPack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Unknown(DType::kInt32, {2, 3})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.count = 2; }),
                StatusCode::kInvalidModel, "they must agree") == "");
  CHECK(Refusal(OneOp(OpCode::kPack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Missing()
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.count = 2; }),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
  CHECK(Refusal(OneOp(OpCode::kPack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) {
                      p.count = 2;
                      p.axis = 3;
                    }),
                StatusCode::kInvalidModel, "axis 3 is outside [-3, 3)") == "");
  CHECK(Refusal(OneOp(OpCode::kPack)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) {
                      p.count = 2;
                      p.axis = INT32_MIN;
                    }),
                StatusCode::kInvalidModel, "is outside [-3, 3)") == "");
  CHECK(Refusal(OneOp(OpCode::kPack)
                    .Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.count = 1; }),
                StatusCode::kUnsupported, "rank 9") == "");
  CHECK(Refusal(OneOp(OpCode::kPack)
                    .Unknown(DType::kString, {1})
                    .Out(DType::kString)
                    .Set([](OpParams& p) { p.count = 1; }),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kPack)
                    .Unknown(DType::kInt8, {1})
                    .Quantized({0.5f}, {0})
                    .Out(DType::kInt8)
                    .Quantized({0.5f}, {1})
                    .Set([](OpParams& p) { p.count = 1; }),
                StatusCode::kUnsupported, "different scales") == "");
}

TEST_CASE("pack: offers to let its parts live in the output", "[ops]") {
  OneOp op(OpCode::kPack);
  op.params.count = 2;
  op.Unknown(DType::kFloat32, {3}).Unknown(DType::kFloat32, {3}).Out(DType::kFloat32);
  REQUIRE(op.Prepare().ToString() == "OK");
  CHECK(op.context().inside_output());
  CHECK(op.context().views().size() == 2);
  CHECK(op.context().views()[1].output_offset == 12);
  OneOp inner(OpCode::kPack);
  inner.params.count = 2;
  inner.params.axis = 1;
  inner.Unknown(DType::kFloat32, {3}).Unknown(DType::kFloat32, {3}).Out(DType::kFloat32);
  REQUIRE(inner.Prepare().ToString() == "OK");
  CHECK(inner.context().views().empty());
}

}  // namespace test
}  // namespace topwork
