// Checks shared by CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED and TRANSPOSE_CONV.
#include "kernels/ops/shared/weighted.h"

#include <algorithm>

#include "kernels/cpu/elementwise.h"

namespace topwork {

Status CheckWeightedInputs(const PrepareContext& context) {
  const bool residual = context.params().fused_residual;
  TW_RETURN_IF_ERROR(context.CheckInputs(2, residual ? 4 : 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  if (residual && context.input(3) == nullptr) {
    return InternalError("{}: a residual was fused in but input 3 is missing", context.Where());
  }
  for (int i = 0; i < context.n_inputs(); ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kFloat32}));
  }
  return Status::Ok();
}

Status CheckBias(const PrepareContext& context, int i, int64_t channels) {
  const TensorView* bias = context.input(i);
  if (bias == nullptr || bias->shape.NumElements() == channels) return Status::Ok();
  return context.Invalid("the bias {} has shape {}, one value for each of {} channels expected",
                         context.InputName(i), bias->shape.ToString(), channels);
}

Status CheckResidual(PrepareContext* context, const Shape& output) {
  if (!context->params().fused_residual) return Status::Ok();
  if (context->input(3)->shape != output) {
    return InternalError("{}: the residual {} has shape {}, the output has {}", context->Where(),
                         context->InputName(3), context->input(3)->shape.ToString(),
                         output.ToString());
  }
  context->AllowInPlace(3, 0);
  return Status::Ok();
}

void ApplyFusedTanh(const RunContext& context) {
  if (context.params->activation != Activation::kTanh) return;
  if (context.out_range != nullptr) context.out_range->is_known = false;
  constexpr int64_t kChunk = 8192;
  float* data = context.output_data<float>(0);
  const int64_t n = context.out(0).shape.NumElements();
  const UnaryFunction tanh = context.cpu->elementwise->unary[static_cast<int>(UnaryFn::kTanh)];
  context.pool->ParallelFor((n + kChunk - 1) / kChunk, [&](int64_t task, int) {
    float* chunk = data + task * kChunk;
    tanh(chunk, chunk, std::min(kChunk, n - task * kChunk), 0.0f);
  });
}

}  // namespace topwork
