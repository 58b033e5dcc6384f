// Gradients of AVERAGE_POOL_2D, MAX_POOL_2D and MEAN. A window's average leaves padding out of its
// count; its maximum is the first of equal ones, in the order of rows and columns. MEAN goes over
// neighbouring dimensions, the batch not among them.
#include <algorithm>

#include "kernels/ops/shared/window.h"
#include "kernels/train/backward.h"

namespace topwork {
namespace {

Window WindowOf(const BackwardContext& context) {
  const Shape& in = context.in(0).shape;
  const Shape& out = context.output->shape;
  const OpParams& p = *context.params;
  Window window;
  window.h = {in[1], p.filter_h, p.stride_h, 1, 0, out[1]};
  window.w = {in[2], p.filter_w, p.stride_w, 1, 0, out[2]};
  PlaceWindow(p.padding, &window.h);
  PlaceWindow(p.padding, &window.w);
  return window;
}

// One window clipped to its image: rows [y0, y1) and columns [x0, x1).
struct Patch {
  int64_t y0, y1, x0, x1;
  const float* delta;
};

// Calls body for the windows of one image in order.
void ForEachPatch(const Window& window, const float* delta, int64_t channels,
                  FunctionRef<void(const Patch&)> body) {
  for (int64_t oy = 0; oy < window.h.out; ++oy) {
    const int64_t y = oy * window.h.stride - window.h.pad;
    const TapRange ty = ClipTaps(window.h, y);
    for (int64_t ox = 0; ox < window.w.out; ++ox, delta += channels) {
      const int64_t x = ox * window.w.stride - window.w.pad;
      const TapRange tx = ClipTaps(window.w, x);
      body({y + ty.begin, y + ty.end, x + tx.begin, x + tx.end, delta});
    }
  }
}

// Image by image: clears its gradient unless it is added to, then calls body(image, its gradient,
// its delta).
void ForEachImage(const BackwardContext& context,
                  FunctionRef<void(int64_t b, float* gradient, const float* delta)> body) {
  const Shape& in = context.in(0).shape;
  const int64_t image = in.Product(1, 4), out_image = context.output->shape.Product(1, 4);
  context.pool->ParallelFor(in[0], [&](int64_t b, int) {
    float* gradient = context.gradient(0) + b * image;
    if (!context.accumulates(0)) std::fill(gradient, gradient + image, 0.0f);
    body(b, gradient, context.output_gradient + b * out_image);
  });
}

uint32_t NeedsActivation(const OpParams& params, uint32_t) { return ActivationNeeds(params); }

void RunAverage(const BackwardContext& context) {
  ActivationBackward(context);
  const Window window = WindowOf(context);
  const int64_t channels = context.in(0).shape[3], width = window.w.in;
  ForEachImage(context, [&](int64_t, float* gradient, const float* delta) {
    ForEachPatch(window, delta, channels, [&](const Patch& p) {
      const int64_t count = (p.y1 - p.y0) * (p.x1 - p.x0);
      const float scale = 1.0f / static_cast<float>(std::max<int64_t>(1, count));
      for (int64_t y = p.y0; y < p.y1; ++y) {
        for (int64_t x = p.x0; x < p.x1; ++x) {
          float* to = gradient + (y * width + x) * channels;
          for (int64_t c = 0; c < channels; ++c) to[c] += scale * p.delta[c];
        }
      }
    });
  });
}

uint32_t NeedsInput(const OpParams& params, uint32_t) {
  return ActivationNeeds(params) | InputBit(0);
}

void RunMax(const BackwardContext& context) {
  ActivationBackward(context);
  const Window window = WindowOf(context);
  const int64_t channels = context.in(0).shape[3], width = window.w.in;
  const float* input = context.in(0).as<const float>();
  const int64_t image = window.h.in * width * channels;
  ForEachImage(context, [&](int64_t b, float* gradient, const float* delta) {
    const float* x0 = input + b * image;
    ForEachPatch(window, delta, channels, [&](const Patch& p) {
      if (p.y0 >= p.y1 || p.x0 >= p.x1) return;
      for (int64_t c = 0; c < channels; ++c) {
        int64_t best = (p.y0 * width + p.x0) * channels + c;
        for (int64_t y = p.y0; y < p.y1; ++y) {
          for (int64_t x = p.x0; x < p.x1; ++x) {
            const int64_t at = (y * width + x) * channels + c;
            if (x0[at] > x0[best]) best = at;
          }
        }
        gradient[best] += p.delta[c];
      }
    });
  });
}

uint32_t NeedsNothing(const OpParams&, uint32_t) { return 0; }

// The input as [outer, n, inner] with the mean over n.
struct MeanShape {
  int64_t outer = 1, n = 1, inner = 1;
};

MeanShape MeanOf(const BackwardContext& context) {
  const Shape& in = context.in(0).shape;
  const TensorView& axes = context.in(1);
  bool reduced[kMaxRank] = {};
  for (int64_t i = 0; i < axes.shape.NumElements(); ++i) {
    const int axis = axes.as<const int32_t>()[i];
    reduced[axis < 0 ? axis + in.rank() : axis] = true;
  }
  MeanShape shape;
  for (int i = 0; i < in.rank(); ++i) {
    if (reduced[i]) {
      shape.n *= in[i] * shape.inner;  // dimensions of one in between do not count
      shape.inner = 1;
    } else if (shape.n > 1) {
      shape.inner *= in[i];
    } else {
      shape.outer *= in[i];
    }
  }
  return shape;
}

void RunMean(const BackwardContext& context) {
  const MeanShape s = MeanOf(context);
  const float scale = 1.0f / static_cast<float>(s.n);
  context.pool->ParallelFor(s.outer, [&](int64_t o, int) {
    const float* delta = context.output_gradient + o * s.inner;
    float* to = context.gradient(0) + o * s.n * s.inner;
    const bool add = context.accumulates(0);
    for (int64_t i = 0; i < s.n; ++i, to += s.inner) {
      for (int64_t c = 0; c < s.inner; ++c) to[c] = (add ? to[c] : 0.0f) + scale * delta[c];
    }
  });
}

}  // namespace

const BackwardDef kBackwardAveragePool2D = {NeedsActivation, nullptr, RunAverage};
const BackwardDef kBackwardMaxPool2D = {NeedsInput, nullptr, RunMax};
const BackwardDef kBackwardMean = {NeedsNothing, nullptr, RunMean};

}  // namespace topwork
