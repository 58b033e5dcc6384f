// Pools: windows clipped to the image, all channels of a pixel at once.
#include "kernels/ops/pool.h"

#include <algorithm>

#include "kernels/ops/activation.h"
#include "kernels/ops/indexing.h"
#include "kernels/ops/quantized.h"

namespace topwork {

namespace {
constexpr int64_t kTaskWork = 1 << 16;           // elements read by a task
constexpr double kMaxQuantizedWindow = 65000.0;  // so that sums of int16 fit into int32
}  // namespace

Status ParsePool(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(ParsePadding(options.Byte(0, 0), &params->padding));
  params->stride_w = options.Int(1, 0);
  params->stride_h = options.Int(2, 0);
  params->filter_w = options.Int(3, 0);
  params->filter_h = options.Int(4, 0);
  return ParseActivation(options.Byte(5, 0), &params->activation);
}

Status PreparePool(PrepareContext* context, bool explicit_padding_allowed, bool quantized) {
  const OpParams& params = context->params();
  TW_RETURN_IF_ERROR(context->CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context->CheckOutputs(1));
  const DType dtype = context->input(0)->dtype;
  if (quantized && IsQuantizedInteger(dtype)) {
    // Integers without a scale are pooled as they are; a clamp to reals would need one.
    if (IsScaled(*context->input(0)) || IsScaled(context->output(0)) ||
        params.activation != Activation::kNone) {
      TW_RETURN_IF_ERROR(CheckInputScale(*context, 0));
      TW_RETURN_IF_ERROR(CheckOutputScale(*context, 0));
    }
    TW_RETURN_IF_ERROR(CheckSameQuantization(*context, 0, 0));
  } else {
    TW_RETURN_IF_ERROR(context->CheckDType(0, {DType::kFloat32}));
  }
  TW_RETURN_IF_ERROR(context->CheckRank(0, 4, 4));
  if (params.has_explicit_padding && !explicit_padding_allowed) {
    return InternalError("%s: explicit padding was fused into a pool that cannot have it",
                         context->Where().c_str());
  }
  if (params.activation == Activation::kTanh) {
    return Unsupported("%s: fused activation TANH is not supported", context->Where().c_str());
  }
  const Shape& in = context->input(0)->shape;
  PoolState* state = context->NewState<PoolState>();
  Window& window = state->window;
  window.h.in = in[1];
  window.w.in = in[2];
  window.h.filter = params.filter_h;
  window.w.filter = params.filter_w;
  TW_RETURN_IF_ERROR(MakeWindow(*context, &window));
  const double pixels = static_cast<double>(std::min(window.h.filter, window.h.in)) *
                        static_cast<double>(std::min(window.w.filter, window.w.in));
  if (dtype != DType::kFloat32 && pixels > kMaxQuantizedWindow) {
    return Unsupported("%s: a window of %.0f pixels is too large for %s", context->Where().c_str(),
                       pixels, DTypeName(dtype));
  }
  state->batch = in[0];
  state->channels = in[3];
  ActivationRange(params.activation, &state->lo, &state->hi);
  state->element_bytes = ElementBytes(*context->input(0));
  if (dtype != DType::kFloat32) {
    TW_RETURN_IF_ERROR(
        QuantizedActivationRange(*context, context->output(0), params.activation, &state->range));
  }
  const double row_work = static_cast<double>(window.w.out) * static_cast<double>(state->channels) *
                          static_cast<double>(std::min(window.h.filter, window.h.in + 1)) *
                          static_cast<double>(std::min(window.w.filter, window.w.in + 1));
  state->rows_per_task = std::max<int64_t>(
      1, static_cast<int64_t>(static_cast<double>(kTaskWork) / std::max(1.0, row_work)));
  return context->SetOutput(
      0, dtype,
      Shape{in[0], static_cast<int32_t>(window.h.out), static_cast<int32_t>(window.w.out), in[3]});
}

void ForEachPatch(const RunContext& context, FunctionRef<void(const PoolPatch&)> body) {
  const PoolState& s = context.get_state<PoolState>();
  const WindowAxis& h = s.window.h;
  const WindowAxis& w = s.window.w;
  if (context.out(0).shape.NumElements() == 0) return;
  const uint8_t* input = context.input_data<uint8_t>(0);
  uint8_t* output = context.output_data<uint8_t>(0);
  const int64_t bytes = s.element_bytes;
  const int64_t row_stride = w.in * s.channels;
  const int64_t rows = s.batch * h.out, per_task = s.rows_per_task;
  context.pool->ParallelFor((rows + per_task - 1) / per_task, [&](int64_t task, int) {
    const int64_t end = std::min(rows, (task + 1) * per_task);
    for (int64_t i = task * per_task; i < end; ++i) {
      const int64_t y0 = i % h.out * h.stride - h.pad;
      const TapRange ty = ClipTaps(h, y0);
      const uint8_t* image = input + i / h.out * h.in * row_stride * bytes;
      for (int64_t x = 0; x < w.out; ++x) {
        const int64_t x0 = x * w.stride - w.pad;
        const TapRange tx = ClipTaps(w, x0);
        PoolPatch patch;
        patch.rows = tx.end > tx.begin ? ty.end - ty.begin : 0;
        patch.cols = ty.end > ty.begin ? tx.end - tx.begin : 0;
        patch.row_stride = row_stride;
        patch.corner = image;
        if (patch.rows > 0) {
          patch.corner =
              image + ((y0 + ty.begin) * row_stride + (x0 + tx.begin) * s.channels) * bytes;
        }
        patch.out = output + (i * w.out + x) * s.channels * bytes;
        body(patch);
      }
    }
  });
}

}  // namespace topwork
