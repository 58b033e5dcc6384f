// DEPTH_TO_SPACE: golden cases, malformed blocks.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("depth_to_space: golden cases", "[ops]") { RunOpCases("depth_to_space"); }

TEST_CASE("depth_to_space: refuses malformed blocks", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kDepthToSpace)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = 0; }),
                StatusCode::kInvalidModel, "block_size 0") == "");
  CHECK(Refusal(OneOp(OpCode::kDepthToSpace)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = -2; }),
                StatusCode::kInvalidModel, "block_size -2") == "");
  CHECK(Refusal(OneOp(OpCode::kDepthToSpace)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = 3; }),
                StatusCode::kInvalidModel, "does not divide") == "");
  CHECK(Refusal(OneOp(OpCode::kDepthToSpace)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = INT32_MAX; }),
                StatusCode::kInvalidModel, "does not divide") == "");
  CHECK(Refusal(OneOp(OpCode::kDepthToSpace)
                    .Unknown(DType::kFloat32, {1, INT32_MAX, 1, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = 2; }),
                StatusCode::kInvalidModel, "height is 4294967294") == "");
  CHECK(Refusal(OneOp(OpCode::kDepthToSpace)
                    .Unknown(DType::kFloat32, {4, 4, 4})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.block_size = 2; }),
                StatusCode::kInvalidModel, "rank 4 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kDepthToSpace)
                    .Unknown(DType::kString, {1, 2, 2, 4})
                    .Out(DType::kString)
                    .Set([](OpParams& p) { p.block_size = 2; }),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kDepthToSpace).Out(DType::kFloat32).Set([](OpParams& p) {
          p.block_size = 2;
        }),
                StatusCode::kInvalidModel, "lacks its input 0") == "");
}

}  // namespace test
}  // namespace topwork
