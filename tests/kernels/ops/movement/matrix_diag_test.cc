// MATRIX_DIAG, MATRIX_SET_DIAG: golden cases, malformed shapes.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("matrix_diag: golden cases", "[ops][sets]") { RunOpCases("matrix_diag"); }

TEST_CASE("matrix_diag: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kMatrixDiag).In<float>({1}, {1}).Out(DType::kFloat32));
  CheckRefusals({
      {op.With(0).In<float>({}, {1}), kInvalidModel, "rank 1 to 7 expected"},
      {op.With(0).Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1}), kInvalidModel,
       "rank 1 to 7 expected"},
      {op.With(0).Unknown(DType::kFloat32, {INT32_MAX, INT32_MAX}), kInvalidModel, "too large"},
      {op.With(0).Unknown(DType::kString, {2}).Out(0, DType::kString), kUnsupported, "string"},
      {op.First(0), kInvalidModel, "lacks its input 0"},
  });
}

TEST_CASE("matrix_set_diag: golden cases", "[ops][sets]") { RunOpCases("matrix_set_diag"); }

TEST_CASE("matrix_set_diag: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kMatrixSetDiag)
                                .In<float>({2, 2}, {1, 2, 3, 4})
                                .In<float>({2}, {1, 2})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<float>({3}, {1, 2, 3}), kInvalidModel, "the diagonals of [2, 2] have [2]"},
      {op.With(1).In<float>({1, 2}, {1, 2}), kInvalidModel, "the diagonals of [2, 2] have [2]"},
      {op.With(0).In<float>({2}, {1, 2}), kInvalidModel, "rank 2 to 8 expected"},
      {op.With(1).In<int32_t>({2}, {1, 2}), kInvalidModel, "they must agree"},
      {op.With(0)
           .Unknown(DType::kString, {2, 2})
           .At(1)
           .Unknown(DType::kString, {2})
           .Out(0, DType::kString),
       kUnsupported, "string"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
  });
}

}  // namespace test
}  // namespace topwork
