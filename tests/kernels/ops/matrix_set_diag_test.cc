// MATRIX_SET_DIAG: golden cases, malformed operators.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("matrix_set_diag: golden cases", "[ops]") { RunOpCases("matrix_set_diag"); }

TEST_CASE("matrix_set_diag: refuses malformed operators", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kMatrixSetDiag)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({3}, {1, 2, 3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "the diagonals of [2, 2] have [2]") == "");
  CHECK(Refusal(OneOp(OpCode::kMatrixSetDiag)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({1, 2}, {1, 2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "the diagonals of [2, 2] have [2]") == "");
  CHECK(Refusal(OneOp(OpCode::kMatrixSetDiag)
                    .In<float>({2}, {1, 2})
                    .In<float>({2}, {1, 2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 2 to 8 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kMatrixSetDiag)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({2}, {1, 2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "they must agree") == "");
  CHECK(Refusal(OneOp(OpCode::kMatrixSetDiag)
                    .Unknown(DType::kString, {2, 2})
                    .Unknown(DType::kString, {2})
                    .Out(DType::kString),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kMatrixSetDiag).In<float>({2, 2}, {1, 2, 3, 4}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
}

}  // namespace test
}  // namespace topwork
