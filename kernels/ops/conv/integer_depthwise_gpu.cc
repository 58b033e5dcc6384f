// DEPTHWISE_CONV_2D of bytes as a launch (integer_depthwise.cl, integer_depthwise_rows.cl). With the
// zero points a of the data and w of the filter, sum (x - a)(k - w) = sum x (k - w) - a sum (k - w):
// pixels outside of the image hold a, so the last sum is the channel's own.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ops/products/integer_ends_gpu.h"
#include "kernels/ops/products/integer_gpu.h"
#include "kernels/ops/products/weighted_gpu.h"

namespace topwork {
namespace {

struct DepthwiseKernel {
  const char* program;
  const char* variant;
  const char* assumption;
  int64_t taps, stride, pixels;  // taps, stride 0: any
};
constexpr char kAny[] = "integer_depthwise", kRows[] = "integer_depthwise_rows";
constexpr DepthwiseKernel kKernels[] = {
    {kRows, "integer_depthwise_rows_3x3_1", "3x3_1", 3, 1, 4},
    {kRows, "integer_depthwise_rows_3x3_2", "3x3_2", 3, 2, 2},
    {kRows, "integer_depthwise_rows_5x5_1", "5x5_1", 5, 1, 4},
    {kRows, "integer_depthwise_rows_5x5_2", "5x5_2", 5, 2, 2},
    {kAny, kAny, "", 0, 0, 1},
};

bool Fits(const DepthwiseKernel& kernel, const Window& window, bool one_filter) {
  if (kernel.taps == 0) return true;
  for (const WindowAxis& axis : {window.h, window.w}) {
    if (axis.filter != kernel.taps || axis.stride != kernel.stride || axis.dilation != 1) {
      return false;
    }
  }
  return one_filter;
}

const DepthwiseKernel& ChooseKernel(GpuContext& context, const Window& window, bool one_filter) {
  std::vector<const char*> variants;
  for (const DepthwiseKernel& kernel : kKernels) {
    if (Fits(kernel, window, one_filter)) variants.push_back(kernel.variant);
  }
  const char* usual = variants[0];
  const std::string work = WorkOf("DEPTHWISE_CONV_2D of bytes", context, window);
  const std::string chosen = context.Choose(work, std::move(variants), usual);
  const DepthwiseKernel* found = kKernels;
  while (chosen != found->variant) ++found;
  return *found;
}

// int16 of [tap][channel, rounded up to fours], less the zero point.
int FilterLessZero(GpuContext& context, const Signed& from, const Channels& channels,
                   int64_t taps) {
  const int64_t wide = channels.wide(), n = taps * wide;
  return context.ByteConstant(static_cast<size_t>(n) * sizeof(int16_t), [&](uint8_t* to) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t c = channels.At(i % wide), at = i / wide * channels.per_group + c;
      const int16_t value = static_cast<int16_t>(
          c < 0 ? 0 : from.weights[static_cast<size_t>(at)] - from.weight_zero);
      std::memcpy(to + i * static_cast<int64_t>(sizeof(value)), &value, sizeof(value));
    }
  });
}

Epilogues DepthwiseEpilogues(const GpuContext& context, const Signed& from, int32_t zero,
                             const Channels& channels, int64_t taps) {
  return MakeEpilogues(context, channels, false, taps * 255 * 255, [&](int64_t c) {
    int64_t sum = 0;
    for (int64_t i = c; i < taps * channels.per_group; i += channels.per_group) {
      sum += from.weights[static_cast<size_t>(i)] - from.weight_zero;
    }
    return -zero * sum;
  });
}

// Four bytes of one value, as the kernels take them.
int64_t FourOf(int32_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value & 255) * 0x01010101u);
}

}  // namespace

void AddIntegerDepthwise(GpuContext& context) {
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  const Window w = WindowOf(context, filter[1], filter[2]);
  const Signed from = ReadSigned(context);
  // Data is taken as unsigned.
  const int32_t zero = from.zero + 128, flip = from.flip ^ 128;
  const Channels channels = {1, filter[3], 4};
  const int64_t n = channels.per_group, taps = filter[1] * filter[2], n_rows = in[0] * w.h.out;
  const DepthwiseKernel& kernel = ChooseKernel(context, w, n == in[3]);
  const int weights = FilterLessZero(context, from, channels, taps);
  const Epilogues epilogues = DepthwiseEpilogues(context, from, zero, channels, taps);
  const int table = EpilogueTable(context, epilogues, channels.n_places());
  std::vector<LaunchArgument> args = {BufferArg(context.InBytes(0)), BufferArg(weights),
                                      BufferArg(table), BufferArg(context.OutBytes(0))};
  for (const int64_t value : {int64_t{in[1]}, int64_t{in[2]}, int64_t{in[3]}, w.h.out, w.w.out, n,
                              w.h.filter, w.w.filter, w.h.stride, w.w.stride, w.h.dilation,
                              w.w.dilation, w.h.pad, w.w.pad, n_rows, FourOf(flip), FourOf(zero)}) {
    args.push_back(IntArg(value));
  }
  AddRange(context, &args);
  context.Add(kernel.program, {kernel.variant, kernel.assumption}, std::move(args), Fours(n),
              (w.w.out + kernel.pixels - 1) / kernel.pixels, n_rows);
  const double pixels = kernel.pixels;
  context.TakesSteps(w.h.filter * w.w.filter, 4.0 * (1.0 + pixels), 4.0 * pixels);
  context.TakesType(KernelType::kI8);
  context.TakesOptions(EndingOption(epilogues.ending));
  if (n == in[3]) context.TakesRows(n, n);
}

}  // namespace topwork
