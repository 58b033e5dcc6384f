// Weights, bias, residual and window of operators on a GPU.
#include "kernels/ops/products/weighted_gpu.h"

#include "kernels/ops/products/product_gpu.h"
#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

void PlaceAxis(const OpParams& params, int64_t before, int64_t out, WindowAxis* axis) {
  if (params.has_explicit_padding) {
    axis->pad = before;
  } else {
    (void)PlaceWindow(params.padding, axis);  // prepare has checked that it fits
  }
  axis->out = out;
}

}  // namespace

Status CheckWeights(const GpuContext& context) {
  if (context.input(1)->data == nullptr) return Unsupported("its weights are not constant");
  const TensorView* bias = context.input(2);
  if (bias != nullptr && bias->data == nullptr) return Unsupported("its bias is not constant");
  return Status::Ok();
}

bool HasResidual(const GpuContext& context) { return context.input(3) != nullptr; }

int Residual(GpuContext& context) { return HasResidual(context) ? context.In(3) : context.Out(0); }

int Bias(GpuContext& context, int64_t groups, int64_t per_group, int64_t multiple,
         int64_t zeros_before) {
  const int64_t wide = (per_group + multiple - 1) / multiple * multiple;
  const float* bias = context.input(2) == nullptr ? nullptr : context.Floats(2);
  return context.Constant(static_cast<size_t>(zeros_before + groups * wide), [&](float* to) {
    for (int64_t i = 0; i < zeros_before; ++i) *to++ = 0.0f;
    for (int64_t i = 0; i < groups * wide; ++i) {
      const int64_t channel = i / wide * per_group + i % wide;
      to[i] = bias != nullptr && i % wide < per_group ? bias[channel] : 0.0f;
    }
  });
}

Window WindowOf(const GpuContext& context, int64_t filter_h, int64_t filter_w) {
  const OpParams& params = context.params();
  const Shape& in = context.input(0)->shape;
  const Shape& out = context.output(0).shape;
  Window window;
  window.h = {in[1], filter_h, params.stride_h, params.dilation_h, 0, 0};
  window.w = {in[2], filter_w, params.stride_w, params.dilation_w, 0, 0};
  PlaceAxis(params, params.pad_top, out[1], &window.h);
  PlaceAxis(params, params.pad_left, out[2], &window.w);
  return window;
}

std::vector<LaunchArgument> WindowArgs(GpuContext& context, const Window& window, int weights,
                                       int bias) {
  const Shape& in = context.input(0)->shape;
  return {
      BufferArg(context.In(0)),  BufferArg(weights),  BufferArg(bias), BufferArg(Residual(context)),
      BufferArg(context.Out(0)), IntArg(in[1]),       IntArg(in[2]),   IntArg(in[3]),
      IntArg(window.h.out),      IntArg(window.w.out)};
}

void AddTaps(const GpuContext& context, const Window& window, std::vector<LaunchArgument>* args) {
  for (const int64_t n : {window.h.filter, window.w.filter, window.h.stride, window.w.stride,
                          window.h.dilation, window.w.dilation, window.h.pad, window.w.pad}) {
    args->push_back(IntArg(n));
  }
  args->push_back(IntArg(HasResidual(context)));
  args->push_back(IntArg(context.input(0)->shape[0] * window.h.out));
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  args->push_back(FloatArg(lo));
  args->push_back(FloatArg(hi));
}

std::string WorkOf(const char* op, const GpuContext& context, const Window& window) {
  std::string work = op;
  work += " " + context.input(0)->shape.ToString() + " " + context.input(1)->shape.ToString();
  const auto add = [&](const char* name, int64_t h, int64_t w) {
    work += " " + std::string(name) + std::to_string(h) + "," + std::to_string(w);
  };
  add("out", window.h.out, window.w.out);
  add("stride", window.h.stride, window.w.stride);
  add("dilation", window.h.dilation, window.w.dilation);
  return work;
}

}  // namespace topwork
