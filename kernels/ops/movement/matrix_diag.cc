// MATRIX_DIAG and MATRIX_SET_DIAG.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

// MATRIX_DIAG: every vector of the last dimension becomes a square matrix with it on the diagonal
// and zeros elsewhere.

Status PrepareMatrixDiag(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank - 1));
  Shape shape = context.input(0)->shape;
  shape.Append(shape.back());
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

Status RunMatrixDiag(const RunContext& context) {
  if (context.out(0).bytes() == 0) return Status::Ok();
  const int64_t n = context.in(0).shape.back();
  const int64_t bytes = ElementBytes(context.in(0));
  const uint8_t* in = context.input_data<uint8_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  ParallelRows(
      context.pool, context.in(0).shape.NumElements(), n * bytes, [&](int64_t begin, int64_t end) {
        std::memset(out + begin * n * bytes, 0, static_cast<size_t>((end - begin) * n * bytes));
        for (int64_t row = begin; row < end; ++row) {
          CopyBytes(out + (row * n + row % n) * bytes, in + row * bytes, bytes);
        }
      });
  return Status::Ok();
}

// MATRIX_SET_DIAG: the matrices of input 0 (its last two dimensions) with their main diagonals
// replaced by the vectors of input 1.

Status PrepareMatrixSetDiag(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 1, 0));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  const Shape& shape = context.input(0)->shape;
  const int rank = shape.rank();
  Shape diagonal(shape.dims(), rank - 2);
  diagonal.Append(std::min(shape.dim(rank - 2), shape.dim(rank - 1)));
  if (context.input(1)->shape != diagonal) {
    return context.Invalid("{} has shape {}, the diagonals of {} have {}", context.InputName(1),
                           context.input(1)->shape.ToString(), shape.ToString(),
                           diagonal.ToString());
  }
  context.AllowInPlace(0, 0);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

Status RunMatrixSetDiag(const RunContext& context) {
  TW_RETURN_IF_ERROR(RunByteCopy(context));
  const Shape& shape = context.in(0).shape;
  const int64_t rows = shape.dim(shape.rank() - 2);
  const int64_t columns = shape.back();
  const int64_t n = context.in(1).shape.back();
  const int64_t bytes = ElementBytes(context.in(0));
  const uint8_t* diagonal = context.input_data<uint8_t>(1);
  uint8_t* out = context.output_data<uint8_t>(0);
  const int64_t n_diagonals = context.in(1).shape.NumElements();
  for (int64_t k = 0; k < n_diagonals; ++k) {
    const int64_t at = k / n * rows * columns + k % n * (columns + 1);
    CopyBytes(out + at * bytes, diagonal + k * bytes, bytes);
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kMatrixDiag)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16,
                DType::kInt8, DType::kUInt32})
        .Options(OptionsType::kMatrixDiag)
        .Cpu(PrepareMatrixDiag, RunMatrixDiag),
    OpDef(OpCode::kMatrixSetDiag)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16,
                DType::kInt8, DType::kUInt32})
        .Options(OptionsType::kMatrixSetDiag)
        .Cpu(PrepareMatrixSetDiag, RunMatrixSetDiag),
};

Span<const OpDef> MatrixDiagOps() { return Selected<kOps>(); }

}  // namespace topwork
