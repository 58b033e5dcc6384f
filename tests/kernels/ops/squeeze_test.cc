// SQUEEZE: golden cases, malformed dimensions.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("squeeze: golden cases", "[ops]") { RunOpCases("squeeze"); }

TEST_CASE("squeeze: refuses malformed dimensions", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kSqueeze)
                    .Unknown(DType::kFloat32, {1, 3})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) {
                      p.n_dims = 1;
                      p.dims[0] = 1;
                    }),
                StatusCode::kInvalidModel, "which is not 1") == "");
  CHECK(Refusal(OneOp(OpCode::kSqueeze)
                    .Unknown(DType::kFloat32, {1, 3})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) {
                      p.n_dims = 1;
                      p.dims[0] = 2;
                    }),
                StatusCode::kInvalidModel, "outside [-2, 2)") == "");
  CHECK(Refusal(OneOp(OpCode::kSqueeze)
                    .Unknown(DType::kFloat32, {1, 3})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) {
                      p.n_dims = 1;
                      p.dims[0] = -100000;
                    }),
                StatusCode::kInvalidModel, "outside [-2, 2)") == "");
  CHECK(Refusal(OneOp(OpCode::kSqueeze).Missing().Out(DType::kFloat32), StatusCode::kInvalidModel,
                "lacks its input 0") == "");
  CHECK(Refusal(OneOp(OpCode::kSqueeze).Unknown(DType::kVariant, {1}).Out(DType::kVariant),
                StatusCode::kUnsupported, "variant") == "");
}

TEST_CASE("squeeze: a dimension listed twice counts once", "[ops]") {
  OneOp op(OpCode::kSqueeze);
  op.params.n_dims = 2;
  op.params.dims[0] = 0;
  op.params.dims[1] = -3;
  op.In<float>({1, 1, 2}, {4, 5}).Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({1, 2}));
  CHECK(op.Values<float>(0) == std::vector<float>{4, 5});
}

}  // namespace test
}  // namespace topwork
