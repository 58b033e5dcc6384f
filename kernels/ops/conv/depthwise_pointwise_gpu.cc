// DEPTHWISE_CONV_2D and the pointwise CONV_2D after it as one launch (depthwise_pointwise.cl).
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/gpu/gpu_context.h"
#include "kernels/gpu/transpose_rows.h"
#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/products/weighted_gpu.h"
#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

constexpr char kFused[] = "depthwise_pointwise", kSeparate[] = "separate";
constexpr size_t kGroup = 64;                      // TW_GROUP of depthwise_pointwise.cl
constexpr int64_t kTile = 5120, kMostPixels = 16;  // TW_TILE; floats in local memory

bool IsWeighted(const GpuContext& context) {
  return CheckWeights(context).ok() && context.params().activation != Activation::kTanh &&
         context.input_format(0).is_real && context.output_format(0).is_real &&
         !context.output_format(0).is_quantized();
}

// The most pixels that a work-group's local memory holds; 0: not even the least.
int64_t TilePixels(int64_t channels) {
  int64_t pixels = kMostPixels;
  while (pixels >= 4 && pixels * Fours(channels) * 4 > kTile) pixels /= 2;
  return pixels >= 4 ? pixels : 0;
}

bool Fits(const GpuContext& depthwise, const GpuContext& pointwise) {
  if (!IsWeighted(depthwise) || !IsWeighted(pointwise) || HasResidual(depthwise)) return false;
  const Shape& filter = pointwise.input(1)->shape;
  const Shape& middle = pointwise.input(0)->shape;
  return WindowOf(pointwise, filter[1], filter[2]).IsPointwise() && filter[3] == middle[3] &&
         TilePixels(middle[3]) > 0;
}

// [rows][columns] as the kernel takes it: both dimensions, or the columns alone, in fours.
int Padded(GpuContext& context, int64_t rows, int64_t columns, bool pad_rows, bool transposed) {
  const GpuFloats weights = context.LaterFloats(1);
  const int64_t wide = Fours(columns) * 4, high = pad_rows ? Fours(rows) * 4 : rows;
  return context.Constant(static_cast<size_t>(high * wide), [&](float* to) {
    const float* from = weights.Read();
    if (transposed) TransposeRows(from, rows, columns, rows, to, wide);
    for (int64_t row = 0; row < rows && !transposed; ++row) {
      std::copy_n(from + row * columns, columns, to + row * wide);
    }
  });
}

void AddFused(GpuContext& depthwise, GpuContext& pointwise) {
  const Shape& in = depthwise.input(0)->shape;
  const Shape& taps = depthwise.input(1)->shape;
  const Shape& out = pointwise.output(0).shape;
  const Window window = WindowOf(depthwise, taps[1], taps[2]);
  const int64_t middle = taps[3], n_pixels = out.Product(0, 3), tile = TilePixels(middle);
  float middle_lo, middle_hi, lo, hi;
  ActivationRange(depthwise.params().activation, &middle_lo, &middle_hi);
  ActivationRange(pointwise.params().activation, &lo, &hi);
  const int input = depthwise.In(0);
  std::vector<LaunchArgument> args = {
      BufferArg(input),
      BufferArg(Padded(depthwise, taps[1] * taps[2], middle, false, false)),
      BufferArg(Bias(depthwise, 1, middle)),
      BufferArg(Padded(pointwise, middle, out[3], true, true)),
      BufferArg(Bias(pointwise, 1, out[3])),
      BufferArg(HasResidual(pointwise) ? Residual(pointwise) : input),
      BufferArg(pointwise.Out(0))};
  for (const int64_t n : {int64_t{in[1]}, int64_t{in[2]}, int64_t{in[3]}, window.h.out,
                          window.w.out, middle, middle / in[3], int64_t{out[3]}, window.h.filter,
                          window.w.filter, window.h.stride, window.w.stride, window.h.dilation,
                          window.w.dilation, window.h.pad, window.w.pad, tile, n_pixels}) {
    args.push_back(IntArg(n));
  }
  for (const LaunchArgument& arg : {FloatArg(middle_lo), FloatArg(middle_hi),
                                    IntArg(HasResidual(pointwise)), FloatArg(lo), FloatArg(hi)}) {
    args.push_back(arg);
  }
  pointwise.AddGroups(kFused, kFused, std::move(args), kGroup, (n_pixels + tile - 1) / tile, 1);
  if (middle != in[3]) pointwise.TakesOptions(" -DTW_MULTIPLIED");
  pointwise.TakesRows(middle, out[3]);
  const auto rounds = [&](int64_t fours) {
    const int64_t items = static_cast<int64_t>(kGroup);
    return (tile / 4 * fours + items - 1) / items;
  };
  const int64_t filters = rounds(Fours(middle)) * window.h.filter * window.w.filter;
  pointwise.TakesSteps(filters + rounds(Fours(out[3])) * Fours(middle), 20, 16);
  pointwise.TakesStages(out[3]);
}

}  // namespace

bool MayPairOnGpu(OpCode first, OpCode second) {
  return first == OpCode::kDepthwiseConv2d && second == OpCode::kConv2d;
}

bool PlanPairOnGpu(GpuContext& first, GpuContext& second) {
  if (!Fits(first, second)) return false;
  const Shape& taps = first.input(1)->shape;
  const std::string work =
      WorkOf("DEPTHWISE_CONV_2D + CONV_2D", first, WindowOf(first, taps[1], taps[2])) + " to " +
      std::to_string(second.output(0).shape[3]);
  if (second.Choose(work, {kSeparate, kFused}, kSeparate) != kFused) return false;
  AddFused(first, second);
  return true;
}

}  // namespace topwork
