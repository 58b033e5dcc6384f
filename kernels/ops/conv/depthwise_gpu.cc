// DEPTHWISE_CONV_2D on a GPU (depthwise_conv_2d.cl, depthwise_rows.cl).
#include <string>
#include <utility>
#include <vector>

#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/products/integer_gpu.h"
#include "kernels/ops/products/weighted_gpu.h"
#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

// Kernels of depthwise_rows.cl: square filters, equal strides.
struct RowsKernel {
  const char* variant;
  const char* assumption;
  int64_t taps, stride;
  int64_t pixels;  // fewer where their values do not fit registers

  int64_t line(int64_t n) const { return (n - 1) * stride + taps; }  // values for n pixels
};
constexpr RowsKernel kRowsKernels[] = {
    {"depthwise_rows_3x3_1", "3x3_1", 3, 1, 4},
    {"depthwise_rows_3x3_2", "3x3_2", 3, 2, 2},
    {"depthwise_rows_5x5_1", "5x5_1", 5, 1, 4},
    {"depthwise_rows_5x5_2", "5x5_2", 5, 2, 2},
};
constexpr char kDepthwise[] = "depthwise_conv_2d";

const RowsKernel* FindRowsKernel(const GpuContext& context, const Window& window) {
  if (context.input(0)->shape[3] != context.input(1)->shape[3]) return nullptr;
  for (const RowsKernel& kernel : kRowsKernels) {
    bool fits = true;
    for (const WindowAxis& axis : {window.h, window.w}) {
      fits =
          fits && axis.filter == kernel.taps && axis.stride == kernel.stride && axis.dilation == 1;
    }
    if (fits) return &kernel;
  }
  return nullptr;
}

// Of channels that are not aligned, every value of a line has an address; of those that are, halves
// lie beside the floats that they become.
int64_t PixelsOf(const GpuContext& context, const RowsKernel& kernel) {
  const bool is_aligned = context.input(0)->shape[3] % 4 == 0;
  const int64_t each = is_aligned ? 4 : 6, halves = is_aligned && !context.is_float32() ? 1 : 0;
  int64_t n = kernel.pixels;
  while (n > 1 && !FitsRegisters(context.family(), (4 + halves) * n,
                                 each * kernel.line(n) + 4 * kernel.taps)) {
    --n;
  }
  return n;
}

void AddDepthwiseRows(GpuContext& context, const Window& window, const RowsKernel& kernel) {
  const Shape& in = context.input(0)->shape;
  const GpuFloats floats = context.LaterFloats(1);
  const int64_t n = in[3], wide = Fours(n) * 4, taps = kernel.taps * kernel.taps;
  const int64_t n_rows = in[0] * window.h.out, pixels = PixelsOf(context, kernel);
  const int weights = context.Constant(static_cast<size_t>((taps + 1) * wide), [&](float* to) {
    const float* from = floats.Read();
    for (int64_t i = 0; i < (taps + 1) * wide; ++i) {
      to[i] = i < taps * wide && i % wide < n ? from[i / wide * n + i % wide] : 0.0f;
    }
  });
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  const int bias = Bias(context, 1, n);
  context.Add(
      "depthwise_rows", {kernel.variant, kernel.assumption},
      {BufferArg(context.In(0)), BufferArg(weights), BufferArg(bias), BufferArg(Residual(context)),
       BufferArg(context.Out(0)), IntArg(in[1]), IntArg(in[2]), IntArg(n), IntArg(window.h.out),
       IntArg(window.w.out), IntArg(window.h.pad), IntArg(window.w.pad),
       IntArg(HasResidual(context)), IntArg(n_rows), FloatArg(lo), FloatArg(hi)},
      Fours(n), (window.w.out + pixels - 1) / pixels, n_rows);
  context.TakesOptions(" -DTW_TAPS=" + std::to_string(kernel.taps) + " -DTW_STRIDE=" +
                       std::to_string(kernel.stride) + " -DTW_PIXELS=" + std::to_string(pixels));
  context.TakesRows(n, n);
  context.TakesSteps(kernel.taps, static_cast<double>(4 * (kernel.line(pixels) + kernel.taps)),
                     static_cast<double>(4 * kernel.taps * pixels));
  context.TakesStages(n);
}

void AddDepthwise(GpuContext& context, const Window& window) {
  const Shape& in = context.input(0)->shape;
  const int64_t out_c = context.input(1)->shape[3];
  const int weights = context.In(1);
  std::vector<LaunchArgument> args = WindowArgs(context, window, weights, Bias(context, 1, out_c));
  args.push_back(IntArg(out_c));
  args.push_back(IntArg(out_c / in[3]));
  AddTaps(context, window, &args);
  context.Add(kDepthwise, kDepthwise, std::move(args), Fours(out_c), window.w.out,
              in[0] * window.h.out);
  if (out_c != in[3]) context.TakesOptions(" -DTW_MULTIPLIED");
  context.TakesRows(out_c, out_c);
  context.TakesSteps(window.h.filter * window.w.filter, 8, 4);
  context.TakesStages(out_c);
}

}  // namespace

Status PlanDepthwiseConv2D(GpuContext& context) {
  TW_RETURN_IF_ERROR(CheckWeights(context));
  if (IsIntegerProduct(context)) {
    AddIntegerDepthwise(context);
    return Status::Ok();
  }
  const Shape& filter = context.input(1)->shape;
  const Window window = WindowOf(context, filter[1], filter[2]);
  const RowsKernel* rows = FindRowsKernel(context, window);
  if (rows == nullptr) {
    AddDepthwise(context, window);
    return Status::Ok();
  }
  const std::string chosen = context.Choose(WorkOf("DEPTHWISE_CONV_2D", context, window),
                                            {rows->variant, kDepthwise}, rows->variant);
  if (chosen == rows->variant) {
    AddDepthwiseRows(context, window, *rows);
  } else {
    AddDepthwise(context, window);
  }
  return Status::Ok();
}

}  // namespace topwork
