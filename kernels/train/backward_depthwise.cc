// Gradients of DEPTHWISE_CONV_2D. With one output channel for each input channel, the SIMD loops of
// backward_isa.cc do the work; plain loops serve a depth multiplier or a filter with very many
// taps.
#include <algorithm>

#include "kernels/ops/shared/window.h"
#include "kernels/train/backward.h"
#include "kernels/train/backward_kernels.h"

namespace topwork {

namespace {

Window WindowOf(const BackwardContext& context) {
  const Shape& in = context.in(0).shape;
  const Shape& filter = context.in(1).shape;
  const Shape& out = context.output->shape;
  const OpParams& p = *context.params;
  Window window;
  window.h = {in[1], filter[1], p.stride_h, p.dilation_h, 0, out[1]};
  window.w = {in[2], filter[2], p.stride_w, p.dilation_w, 0, out[2]};
  PlaceWindow(p.padding, &window.h);
  PlaceWindow(p.padding, &window.w);
  return window;
}

BackwardAxis AxisOf(const WindowAxis& axis) {
  return {axis.in, axis.filter, axis.stride, axis.dilation, axis.pad, axis.out};
}

DepthwiseBackward Read(const BackwardContext& context, const Window& window) {
  const Shape& in = context.in(0).shape;
  DepthwiseBackward d;
  d.h = AxisOf(window.h);
  d.w = AxisOf(window.w);
  d.batch = in[0];
  d.channels = in[3];
  d.x = context.in(0).as<const float>();
  d.filter = context.in(1).as<const float>();
  d.delta = context.output_gradient;
  return d;
}

// Calls body(output pixel, input pixel, tap) of one image for every pair that meets, in order.
void ForEachMeeting(const Window& window,
                    FunctionRef<void(int64_t out, int64_t in, int64_t tap)> body) {
  const WindowAxis& h = window.h;
  const WindowAxis& w = window.w;
  for (int64_t oy = 0; oy < h.out; ++oy) {
    const int64_t y0 = oy * h.stride - h.pad;
    const TapRange ty = ClipTaps(h, y0);
    for (int64_t ox = 0; ox < w.out; ++ox) {
      const int64_t x0 = ox * w.stride - w.pad;
      const TapRange tx = ClipTaps(w, x0);
      for (int64_t ky = ty.begin; ky < ty.end; ++ky) {
        const int64_t row = (y0 + ky * h.dilation) * w.in + x0;
        for (int64_t kx = tx.begin; kx < tx.end; ++kx) {
          body(oy * w.out + ox, row + kx * w.dilation, ky * w.filter + kx);
        }
      }
    }
  }
}

// Channel c of the input feeds output channels [c · multiplier, (c + 1) · multiplier).
void PlainInput(const BackwardContext& context, const Window& window, const DepthwiseBackward& d,
                int64_t multiplier) {
  const int64_t image = d.h.in * d.w.in * d.channels;
  const int64_t out_c = d.channels * multiplier;
  const int64_t out_image = d.h.out * d.w.out * out_c;
  context.pool->ParallelFor(d.batch, [&](int64_t b, int) {
    float* gradient = context.gradient(0) + b * image;
    if (!context.accumulates(0)) std::fill(gradient, gradient + image, 0.0f);
    const float* delta = d.delta + b * out_image;
    ForEachMeeting(window, [&](int64_t out, int64_t in, int64_t tap) {
      const float* from = delta + out * out_c;
      const float* filter = d.filter + tap * out_c;
      float* to = gradient + in * d.channels;
      for (int64_t c = 0; c < out_c; ++c) to[c / multiplier] += from[c] * filter[c];
    });
  });
}

void PlainWeights(const BackwardContext& context, const Window& window, const DepthwiseBackward& d,
                  int64_t multiplier) {
  const int64_t image = d.h.in * d.w.in * d.channels;
  const int64_t out_c = d.channels * multiplier;
  const int64_t out_image = d.h.out * d.w.out * out_c;
  float* gradient = context.gradient(1);
  if (!context.accumulates(1)) {
    std::fill(gradient, gradient + d.h.filter * d.w.filter * out_c, 0.0f);
  }
  ForRanges(context.pool, out_c, kDepthwiseChannels, [&](int64_t begin, int64_t end) {
    for (int64_t b = 0; b < d.batch; ++b) {
      ForEachMeeting(window, [&](int64_t out, int64_t in, int64_t tap) {
        const float* from = d.delta + b * out_image + out * out_c;
        const float* x = d.x + b * image + in * d.channels;
        float* to = gradient + tap * out_c;
        for (int64_t c = begin; c < end; ++c) to[c] += from[c] * x[c / multiplier];
      });
    }
  });
}

void Run(const BackwardContext& context) {
  ActivationBackward(context);
  const Window window = WindowOf(context);
  const DepthwiseBackward d = Read(context, window);
  const BackwardKernels& kernels = BackwardKernelsFor(*context.cpu);
  const int64_t out_c = context.in(1).shape[3], multiplier = out_c / d.channels;
  const bool plain = multiplier != 1 || d.h.filter * d.w.filter > kMaxDepthwiseTaps;
  if (context.gradient(1) != nullptr && plain) PlainWeights(context, window, d, multiplier);
  if (context.gradient(1) != nullptr && !plain) {
    ForRanges(context.pool, d.channels, kDepthwiseChannels, [&](int64_t begin, int64_t end) {
      kernels.depthwise_weights(d, begin, end, context.accumulates(1), context.gradient(1));
    });
  }
  if (context.gradient(2) != nullptr) {
    SumRows(context, d.delta, d.batch * d.h.out * d.w.out, out_c, 2);
  }
  if (context.gradient(0) != nullptr && plain) PlainInput(context, window, d, multiplier);
  if (context.gradient(0) != nullptr && !plain) {
    const int64_t row = d.w.in * d.channels;
    context.pool->ParallelFor(d.batch * d.h.in, [&](int64_t i, int) {
      kernels.depthwise_input_row(d, i / d.h.in, i % d.h.in, context.accumulates(0),
                                  context.gradient(0) + i * row);
    });
  }
}

}  // namespace

const BackwardDef kBackwardDepthwiseConv2D = {ProductNeeds, nullptr, Run};

}  // namespace topwork
