// Gradients of CONV_2D with any stride, dilation, padding and number of groups, as products over
// pixels. For the weights, the taps of a pixel are gathered (im2col). For the input, the taps'
// gradients are computed strip by strip and added to their pixels in order (col2im).
#include <algorithm>
#include <cstring>

#include "kernels/ops/shared/window.h"
#include "kernels/train/backward.h"
#include "kernels/train/backward_kernels.h"
#include "kernels/train/backward_product.h"

namespace topwork {
namespace {

constexpr int64_t kStripFloats = 1 << 16;  // of taps' gradients of one thread

struct Convolution {
  Window window;
  int64_t batch = 0, in_c = 0, out_c = 0;
  int64_t group_in = 0, group_out = 0, groups = 1;
  int64_t taps = 0;        // depth of one output: filter_h x filter_w x group_in
  int64_t out_pixels = 0;  // of one image
  int64_t strip_rows = 1;  // output rows of a strip
  bool pointwise = false;
  bool joined = false;  // the taps of a filter's row lie side by side in the image

  int64_t image() const { return window.h.in * window.w.in * in_c; }
  int64_t strip_floats() const { return strip_rows * window.w.out * taps; }
};

Convolution ReadConvolution(const BackwardContext& context) {
  const Shape& in = context.in(0).shape;
  const Shape& filter = context.in(1).shape;
  const Shape& out = context.output->shape;
  const OpParams& p = *context.params;
  Convolution c;
  c.window.h = {in[1], filter[1], p.stride_h, p.dilation_h, 0, out[1]};
  c.window.w = {in[2], filter[2], p.stride_w, p.dilation_w, 0, out[2]};
  PlaceWindow(p.padding, &c.window.h);
  PlaceWindow(p.padding, &c.window.w);
  c.batch = in[0];
  c.in_c = in[3];
  c.out_c = filter[0];
  c.group_in = filter[3];
  c.groups = c.in_c / c.group_in;
  c.group_out = c.out_c / c.groups;
  c.taps = filter[1] * filter[2] * c.group_in;
  c.out_pixels = c.window.h.out * c.window.w.out;
  c.strip_rows = std::max<int64_t>(1, kStripFloats / std::max<int64_t>(1, c.window.w.out * c.taps));
  c.strip_rows = std::min(c.strip_rows, c.window.h.out);
  c.pointwise = c.window.IsPointwise();
  c.joined = c.groups == 1 && p.dilation_w == 1;
  return c;
}

WeightProduct WeightsOf(const Convolution& c) {
  WeightProduct product;
  product.n_rows = c.batch * c.out_pixels;
  product.n_units = c.group_out;
  product.n_depths = c.taps;
  product.delta_stride = c.out_c;
  product.x_stride = c.in_c;
  return product;
}

// The gradient of the input: packed weights, then one strip per thread unless pointwise.
size_t PackedBytes(const Convolution& c, const GemmKernels& kernels) {
  return ScratchLayout::BlockBytes(kernels.packed_size(c.taps, c.group_out));
}

size_t ScratchBytes(const BackwardContext& context, uint32_t wanted) {
  const Convolution c = ReadConvolution(context);
  const GemmKernels& kernels = *context.cpu->gemm;
  size_t bytes = 0;
  if ((wanted & InputBit(1)) != 0) {
    bytes = WeightProductScratch(kernels, WeightsOf(c), !c.pointwise);
  }
  if ((wanted & InputBit(0)) != 0) {
    size_t input = PackedBytes(c, kernels);
    if (!c.pointwise) {
      input += static_cast<size_t>(context.pool->n_threads()) *
               ScratchLayout::BlockBytes(c.strip_floats());
    }
    bytes = std::max(bytes, input);
  }
  return bytes;
}

// The taps of filter row ky of one pixel; `row` is the image's, null above and below it.
void GatherRow(const Convolution& c, const float* row, int64_t x0, float* to) {
  const WindowAxis& w = c.window.w;
  const size_t tap_bytes = static_cast<size_t>(c.group_in) * sizeof(float);
  if (row != nullptr && c.joined && x0 >= 0 && x0 + w.filter <= w.in) {
    std::memcpy(to, row + x0 * c.in_c, static_cast<size_t>(w.filter) * tap_bytes);
    return;
  }
  for (int64_t kx = 0; kx < w.filter; ++kx, to += c.group_in) {
    const int64_t x = x0 + kx * w.dilation;
    if (row == nullptr || x < 0 || x >= w.in) {
      std::memset(to, 0, tap_bytes);
    } else {
      std::memcpy(to, row + x * c.in_c, tap_bytes);
    }
  }
}

// The taps of output pixels [begin, end) in (ky, kx, channel) order; `input` is at the group's
// first channel.
void GatherTaps(const Convolution& c, const float* input, int64_t begin, int64_t end, float* to) {
  const WindowAxis& h = c.window.h;
  const WindowAxis& w = c.window.w;
  for (int64_t pixel = begin; pixel < end; ++pixel) {
    const float* image = input + pixel / c.out_pixels * c.image();
    const int64_t y0 = pixel % c.out_pixels / w.out * h.stride - h.pad;
    const int64_t x0 = pixel % w.out * w.stride - w.pad;
    for (int64_t ky = 0; ky < h.filter; ++ky, to += w.filter * c.group_in) {
      const int64_t y = y0 + ky * h.dilation;
      GatherRow(c, y < 0 || y >= h.in ? nullptr : image + y * w.in * c.in_c, x0, to);
    }
  }
}

void RunWeights(const BackwardContext& context, const Convolution& c) {
  for (int64_t g = 0; g < c.groups; ++g) {
    const float* x = context.in(0).as<const float>() + g * c.group_in;
    const auto gather = [&](int64_t begin, int64_t end, float* to) {
      GatherTaps(c, x, begin, end, to);
    };
    const FunctionRef<void(int64_t, int64_t, float*)> make(gather);
    WeightProduct product = WeightsOf(c);
    product.delta = context.output_gradient + g * c.group_out;
    product.x = x;
    if (!c.pointwise) product.make = &make;
    product.out = context.gradient(1) + g * c.group_out * c.taps;
    product.accumulate = context.accumulates(1);
    RunWeightProduct(*context.cpu, product, context.scratch, context.pool);
  }
}

// Adds the taps' gradients of output rows [first, first + n) of an image to the pixels they came
// from.
void ScatterTaps(const BackwardKernels& kernels, const Convolution& c, const float* taps,
                 int64_t first, int64_t n, float* image) {
  const WindowAxis& h = c.window.h;
  const WindowAxis& w = c.window.w;
  for (int64_t oy = first; oy < first + n; ++oy) {
    const int64_t y0 = oy * h.stride - h.pad;
    for (int64_t ox = 0; ox < w.out; ++ox, taps += c.taps) {
      const int64_t x0 = ox * w.stride - w.pad;
      const TapRange ty = ClipTaps(h, y0), tx = ClipTaps(w, x0);
      // The taps of a filter row lie side by side, so they are added in one go.
      const int64_t go = c.joined ? tx.end - tx.begin : 1;
      for (int64_t ky = ty.begin; ky < ty.end; ++ky) {
        for (int64_t kx = tx.begin; kx < tx.end; kx += go) {
          const float* from = taps + (ky * w.filter + kx) * c.group_in;
          float* to = image + ((y0 + ky * h.dilation) * w.in + x0 + kx * w.dilation) * c.in_c;
          kernels.add(from, go * c.group_in, to);
        }
      }
    }
  }
}

// One image of one group; the strips follow each other, so every pixel's sum has one order.
void RunImage(const BackwardContext& context, const Convolution& c, const float* packed, int64_t g,
              int64_t b, float* strip) {
  const GemmKernels& kernels = *context.cpu->gemm;
  float* image = context.gradient(0) + b * c.image() + g * c.group_in;
  if (!context.accumulates(0)) {
    for (int64_t i = 0; i < c.window.h.in * c.window.w.in; ++i) {
      std::memset(image + i * c.in_c, 0, static_cast<size_t>(c.group_in) * sizeof(float));
    }
  }
  for (int64_t first = 0; first < c.window.h.out; first += c.strip_rows) {
    const int64_t n = std::min(c.strip_rows, c.window.h.out - first);
    InputProduct product;
    product.n_rows = n * c.window.w.out;
    product.n_units = c.group_out;
    product.n_depths = c.taps;
    product.delta = context.output_gradient +
                    (b * c.out_pixels + first * c.window.w.out) * c.out_c + g * c.group_out;
    product.delta_stride = c.out_c;
    product.packed = packed;
    product.out = strip;
    product.out_stride = c.taps;
    kernels.run(InputTask(kernels, product));
    ScatterTaps(BackwardKernelsFor(*context.cpu), c, strip, first, n, image);
  }
}

void RunInput(const BackwardContext& context, const Convolution& c) {
  const GemmKernels& kernels = *context.cpu->gemm;
  float* packed = reinterpret_cast<float*>(context.scratch);
  uint8_t* strips = context.scratch + PackedBytes(c, kernels);
  for (int64_t g = 0; g < c.groups; ++g) {
    const float* weights = context.in(1).as<const float>() + g * c.group_out * c.taps;
    PackForInput(kernels, weights, c.group_out, c.taps, packed, context.pool);
    if (c.pointwise) {
      InputProduct product;
      product.n_rows = c.batch * c.out_pixels;
      product.n_units = c.group_out;
      product.n_depths = c.group_in;
      product.delta = context.output_gradient + g * c.group_out;
      product.delta_stride = c.out_c;
      product.packed = packed;
      product.out = context.gradient(0) + g * c.group_in;
      product.out_stride = c.in_c;
      product.accumulate = context.accumulates(0);
      RunInputProduct(kernels, product, context.pool);
      continue;
    }
    const size_t strip_bytes = ScratchLayout::BlockBytes(c.strip_floats());
    context.pool->ParallelFor(c.batch, [&](int64_t b, int thread) {
      float* strip = reinterpret_cast<float*>(strips + static_cast<size_t>(thread) * strip_bytes);
      RunImage(context, c, packed, g, b, strip);
    });
  }
}

void Run(const BackwardContext& context) {
  ActivationBackward(context);
  const Convolution c = ReadConvolution(context);
  if (context.gradient(1) != nullptr) RunWeights(context, c);
  if (context.gradient(2) != nullptr) {
    SumRows(context, context.output_gradient, c.batch * c.out_pixels, c.out_c, 2);
  }
  if (context.gradient(0) != nullptr) RunInput(context, c);
}

}  // namespace

const BackwardDef kBackwardConv2D = {ProductNeeds, ScratchBytes, Run};

}  // namespace topwork
