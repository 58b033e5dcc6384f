// Sums of integer cells (see cell_sums.h).
#include "kernels/ops/recurrent/cell_sums.h"

namespace topwork {

Status PlanSums(PrepareContext* context, int input, int bias_input, int32_t zero,
                ScratchLayout* scratch, SumsMatrix* out) {
  const TensorView& weights = *context->input(input);
  const bool has_bias = bias_input >= 0 && context->input(bias_input) != nullptr;
  for (int i : {input, has_bias ? bias_input : input}) {
    if (context->input(i)->data != nullptr) continue;
    return context->Unsupported("{} must be a constant", context->InputName(i));
  }
  TW_RETURN_IF_ERROR(
      PlanCellMatrix(context, input, CellArithmetic::kDynamicRange, scratch, &out->matrix));
  TW_RETURN_IF_ERROR(context->CheckDType(input, {DType::kInt8}));
  const IntegerKernels& kernels = *context->cpu().integer;
  // What the flip of A's bytes adds to them.
  const int32_t shift = out->matrix.gemm->bytes && kernels.flip_int8 != 0 ? 128 : 0;
  out->bias.assign(static_cast<size_t>(out->matrix.n), 0);
  const int8_t* w = weights.as<const int8_t>();
  for (size_t n = 0; n < out->bias.size(); ++n) {
    uint32_t sum = 0;
    for (int64_t k = 0; k < out->matrix.k; ++k) sum += static_cast<uint32_t>(int32_t{*w++});
    const int32_t bias = has_bias ? context->input(bias_input)->as<const int32_t>()[n] : 0;
    out->bias[n] = static_cast<int32_t>(static_cast<uint32_t>(bias) -
                                        static_cast<uint32_t>(zero + shift) * sum);
  }
  return Status::Ok();
}

size_t PlanSumRows(const PrepareContext& context, int64_t m, int64_t k, ScratchLayout* scratch) {
  return scratch->AddSized(context.cpu().integer->bytes != nullptr ? 0 : m,
                           2 * static_cast<size_t>(k));
}

const uint8_t* MakeSumRows(const RunContext& context, size_t offset, const int8_t* x, int64_t n) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(x);
  if (context.cpu->integer->bytes != nullptr) return bytes;
  int16_t* wide = reinterpret_cast<int16_t*>(context.scratch + offset);
  context.cpu->integer->widen(bytes, n, false, 0, wide);
  return reinterpret_cast<const uint8_t*>(wide);
}

void MultiplySums(const RunContext& context, const SumsMatrix& matrix, const uint8_t* rows,
                  int64_t m, int32_t* c) {
  MultiplyValues(context, matrix.matrix, rows, m, c);
}

}  // namespace topwork
