// CONV_2D on quantized tensors: an integer product over output pixels (integer_product.h).
//
// A 1x1 convolution of stride 1 reads its rows in place, any other gathers a block of rows a
// thread. Taps outside the image are the input's zero point, which is real zero. Dynamic range:
// each image is quantized to 8 bits with one scale, asymmetric where the weights' scales differ by
// channel (or with groups), symmetric otherwise, as TFLite does.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/ops/conv_2d.h"
#include "kernels/ops/dynamic_range.h"
#include "kernels/ops/weighted.h"

namespace topwork {
namespace {

struct QuantizedConvState : OpState, ConvShape {
  IntegerProduct product;
  bool symmetric = false;      // kHybrid
  size_t image_offset = 0;     // kHybrid; scratch: one quantized image
  size_t partials_offset = 0;  // kHybrid
};

constexpr const char* kVariants[3][4] = {
    {"int8 gemm 1x1", "int8 gemm 1x1 grouped", "int8 im2col", "int8 im2col grouped"},
    {"hybrid gemm 1x1", "hybrid gemm 1x1 grouped", "hybrid im2col", "hybrid im2col grouped"},
    {"int16 gemm 1x1", "int16 gemm 1x1 grouped", "int16 im2col", "int16 im2col grouped"}};

bool SameScales(const TensorView& weights) {
  for (float scale : weights.quantization->scales) {
    if (scale != weights.quantization->scales[0]) return false;
  }
  return true;
}

// The taps of output pixel (y, x) of an image whose pixels are s.in_c values of `size` bytes.
void GatherTaps(const ConvShape& s, size_t size, const uint8_t* image, int fill, int64_t y,
                int64_t x, uint8_t* out) {
  const WindowAxis& h = s.window.h;
  const WindowAxis& w = s.window.w;
  const size_t tap = static_cast<size_t>(s.group_in) * size;
  const int64_t pixel = s.in_c * static_cast<int64_t>(size);
  const size_t row = static_cast<size_t>(w.filter) * tap;
  const int64_t y0 = y * h.stride - h.pad, x0 = x * w.stride - w.pad;
  const TapRange tx = ClipTaps(w, x0);
  const size_t before = static_cast<size_t>(tx.begin) * tap;
  const size_t inside = static_cast<size_t>(tx.end - tx.begin) * tap;
  const bool contiguous = w.dilation == 1 && s.group_in == s.in_c;
  for (int64_t ky = 0; ky < h.filter; ++ky, out += row) {
    const int64_t iy = y0 + ky * h.dilation;
    if (iy < 0 || iy >= h.in || inside == 0) {
      std::memset(out, fill, row);
      continue;
    }
    std::memset(out, fill, before);
    const uint8_t* in = image + (iy * w.in + x0) * pixel;
    if (contiguous) {
      std::memcpy(out + before, in + tx.begin * pixel, inside);
    } else {
      for (int64_t kx = tx.begin; kx < tx.end; ++kx) {
        std::memcpy(out + static_cast<size_t>(kx) * tap, in + kx * w.dilation * pixel, tap);
      }
    }
    std::memset(out + before + inside, fill, row - before - inside);
  }
}

void GatherRows(const ConvShape& s, const IntegerProduct& product, const uint8_t* input, int fill,
                int64_t group, int64_t first, int64_t n, uint8_t* out) {
  const size_t size = product.arithmetic == Arithmetic::kInt16 ? 2 : 1;
  const int64_t out_h = s.window.h.out, out_w = s.window.w.out;
  const int64_t image = s.window.h.in * s.window.w.in * s.in_c * static_cast<int64_t>(size);
  const size_t row = static_cast<size_t>(product.k) * size;
  input += static_cast<size_t>(group * s.group_in) * size;
  int64_t x = first % out_w, y = first / out_w % out_h, b = first / out_w / out_h;
  for (int64_t i = 0; i < n; ++i, out += row) {
    GatherTaps(s, size, input + b * image, fill, y, x, out);
    if (++x == out_w) {
      x = 0;
      if (++y == out_h) {
        y = 0;
        ++b;
      }
    }
  }
}

void RunImages(const RunContext& context, const QuantizedConvState& s, const void* input, int fill,
               ProductRun* run) {
  run->a = input;
  run->lda = s.in_c;
  RunIntegerProduct(
      context, s.product, *run, [&](int64_t group, int64_t first, int64_t n, uint8_t* out) {
        GatherRows(s, s.product, static_cast<const uint8_t*>(input), fill, group, first, n, out);
      });
}

void RunDynamic(const RunContext& context, const QuantizedConvState& s) {
  const int64_t image = s.window.h.in * s.window.w.in * s.in_c;
  int8_t* bytes = reinterpret_cast<int8_t*>(context.scratch + s.image_offset);
  float* partials = reinterpret_cast<float*>(context.scratch + s.partials_offset);
  for (int64_t b = 0; b < s.batch; ++b) {
    const DynamicScale q = QuantizeImage(context, context.input_data<float>(0) + b * image, image,
                                         s.symmetric, partials, bytes);
    const int32_t zero = q.zero_point + s.product.native_shift;
    ProductRun run;
    run.m = s.window.h.out * s.window.w.out;
    run.c = context.output_data<float>(0) + b * run.m * s.out_c;
    run.row_scale = &q.scale;
    run.row_zero = &zero;
    RunImages(context, s, bytes, q.zero_point, &run);
  }
}

}  // namespace

Status PrepareQuantizedConv(PrepareContext* context, const ConvShape& shape,
                            Arithmetic arithmetic) {
  QuantizedConvState* state = context->NewState<QuantizedConvState>();
  static_cast<ConvShape&>(*state) = shape;
  IntegerProduct& p = state->product;
  const int64_t pixels = shape.window.h.out * shape.window.w.out;
  const bool hybrid = arithmetic == Arithmetic::kHybrid;
  p.arithmetic = arithmetic;
  p.m = hybrid ? pixels : pixels * shape.batch;
  p.n = shape.group_out;
  p.k = shape.window.h.filter * shape.window.w.filter * shape.group_in;
  p.groups = shape.groups();
  p.made = !shape.window.IsPointwise();
  ScratchLayout scratch;
  TW_RETURN_IF_ERROR(PlanIntegerProduct(context, &scratch, &p));
  if (hybrid) {
    const int64_t image = shape.window.h.in * shape.window.w.in * shape.in_c;
    state->symmetric = p.groups == 1 && SameScales(*context->input(1));
    state->image_offset = scratch.AddSized(image, 1);
    state->partials_offset = scratch.Add(2 * DynamicChunks(image));
  }
  const int kind = hybrid ? 1 : arithmetic == Arithmetic::kInt16 ? 2 : 0;
  context->SetVariant(kVariants[kind][(p.made ? 2 : 0) + (p.groups > 1 ? 1 : 0)]);
  return scratch.Request(context);
}

Status RunQuantizedConv(const RunContext& context) {
  const QuantizedConvState& s = context.get_state<QuantizedConvState>();
  if (context.out(0).shape.NumElements() == 0) return Status::Ok();
  BeginIntegerProduct(context, s.product);
  if (s.product.arithmetic == Arithmetic::kHybrid) {
    RunDynamic(context, s);
    ApplyFusedTanh(context);
    return Status::Ok();
  }
  ProductRun run;
  run.m = s.product.m;
  run.c = context.output_data<void>(0);
  RunImages(context, s, context.input_data<void>(0), s.product.in_zero, &run);
  return Status::Ok();
}

}  // namespace topwork
