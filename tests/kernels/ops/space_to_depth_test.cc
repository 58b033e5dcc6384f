// SPACE_TO_DEPTH: golden cases, malformed blocks.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("space_to_depth: golden cases", "[ops]") { RunOpCases("space_to_depth"); }

TEST_CASE("space_to_depth: refuses malformed blocks", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kSpaceToDepth)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = 0; }),
                StatusCode::kInvalidModel, "block_size 0") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToDepth)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = -2; }),
                StatusCode::kInvalidModel, "block_size -2") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToDepth)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = 3; }),
                StatusCode::kInvalidModel, "does not divide") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToDepth)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = INT32_MAX; }),
                StatusCode::kInvalidModel, "does not divide") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToDepth)
                    .Unknown(DType::kFloat32, {1, 0, 0, INT32_MAX})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = INT32_MAX; }),
                StatusCode::kInvalidModel, "depth is -1") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToDepth)
                    .Unknown(DType::kFloat32, {4, 4, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = 2; }),
                StatusCode::kInvalidModel, "rank 4 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToDepth)
                    .Unknown(DType::kString, {1, 2, 2, 1})
                    .Out(DType::kString)
                    .Set([](OpParams& p) { p.block_size = 2; }),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToDepth).Out(DType::kFloat32).Set([](OpParams& p) {
          p.block_size = 2;
        }),
                StatusCode::kInvalidModel, "lacks its input 0") == "");
}

}  // namespace test
}  // namespace topwork
