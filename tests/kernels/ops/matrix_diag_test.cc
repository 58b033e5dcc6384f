// MATRIX_DIAG: golden cases, malformed operators.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("matrix_diag: golden cases", "[ops]") { RunOpCases("matrix_diag"); }

TEST_CASE("matrix_diag: refuses malformed operators", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kMatrixDiag).In<float>({}, {1}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 1 to 7 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kMatrixDiag)
                    .Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 1 to 7 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kMatrixDiag)
                    .Unknown(DType::kFloat32, {INT32_MAX, INT32_MAX})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
  CHECK(Refusal(OneOp(OpCode::kMatrixDiag).Unknown(DType::kString, {2}).Out(DType::kString),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kMatrixDiag).Out(DType::kFloat32), StatusCode::kInvalidModel,
                "lacks its input 0") == "");
}

}  // namespace test
}  // namespace topwork
