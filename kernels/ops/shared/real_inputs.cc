#include "kernels/ops/shared/real_inputs.h"

#include "kernels/ops/shared/quantized.h"

namespace topwork {

Status CheckReals(const PrepareContext& context, int n_inputs, int n_outputs, int min_rank,
                  int max_rank, bool bytes) {
  TW_RETURN_IF_ERROR(context.CheckInputs(n_inputs, n_inputs));
  TW_RETURN_IF_ERROR(context.CheckOutputs(n_outputs));
  for (int i = 0; i < n_inputs; ++i) {
    TW_RETURN_IF_ERROR(bytes ? context.CheckDType(i, {DType::kFloat32, DType::kUInt8})
                             : context.CheckDType(i, {DType::kFloat32}));
    if (context.input(i)->dtype == DType::kUInt8 && !IsScaled(*context.input(i))) {
      return context.Invalid("{} is uint8 but has no scale", context.InputName(i));
    }
  }
  return context.CheckRank(0, min_rank, max_rank);
}

Status CheckMatrices(const PrepareContext& context, int32_t n) {
  const Shape& shape = context.input(1)->shape;
  const int64_t size = shape.NumElements();
  if (size == 16 || size == int64_t{16} * n) return Status::Ok();
  return context.Invalid("{} has shape {}; {} matrices of 4 x 4, or one, expected",
                         context.InputName(1), shape.ToString(), n);
}

const float* MatrixOf(const RunContext& context, int64_t item) {
  return context.input_data<float>(1) + (context.in(1).shape.NumElements() == 16 ? 0 : 16 * item);
}

}  // namespace topwork
