// MATRIX_DIAG: every vector of the last dimension becomes a square matrix with it on the diagonal
// and zeros elsewhere.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

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

}  // namespace

extern const OpDef kOpMatrixDiag;
const OpDef kOpMatrixDiag = {OpCode::kMatrixDiag, "MATRIX_DIAG", 88, 1, nullptr,
                             PrepareMatrixDiag,   RunMatrixDiag};

}  // namespace topwork
