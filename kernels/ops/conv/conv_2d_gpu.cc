// CONV_2D on a GPU (conv_2d.cl, winograd.cl).
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/contract/selection.h"
#include "kernels/gpu/transpose_rows.h"
#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/conv/winograd_gpu.h"
#include "kernels/ops/products/integer_gpu.h"
#include "kernels/ops/products/product_gpu.h"
#include "kernels/ops/products/weighted_gpu.h"
#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

// Blocks of conv_2d.cl, pixels of a row by channels per work-item.
struct ConvBlock {
  const char* variant;
  const char* assumption;
  int64_t pixels, fours;
  int64_t least_items;  // work-items, from which on it is taken without a measurement
};
constexpr int64_t kConvZeros = 8;  // conv_2d.cl's TW_ZEROS

// In order of preference: large blocks load least, small ones leave more to share out.
constexpr ConvBlock kConvBlocks[] = {
    {"conv_2d_4x8", "4x8", 4, 2, 16384},
    {"conv_2d_4x4", "4x4", 4, 1, 2048},
    {"conv_2d_2x4", "2x4", 2, 1, 2048},
    {"conv_2d_1x4", "1x4", 1, 1, 0},
};

// What conv_2d.cl is compiled with for a block.
std::string ConvBlockOptions(int64_t pixels, int64_t channels) {
  return " -DTW_PIXELS=" + std::to_string(pixels) + " -DTW_CHANNELS=" + std::to_string(channels);
}

struct BlockGrid {
  int64_t channels, pixels, rows;
};

BlockGrid GridOf(const GpuContext& context, const Window& window, const ConvBlock& block) {
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  const int64_t groups = in[3] / filter[3], wide = block.fours * 4;
  return {(filter[0] / groups + wide - 1) / wide * groups,
          (window.w.out + block.pixels - 1) / block.pixels, in[0] * window.h.out};
}

// A block has at least four fours of sums. Each pixel has an address; halves that are not aligned
// come one by one, and those beyond the fours by a loop of their own.
bool Fits(const GpuContext& context, const ConvBlock& block) {
  const Shape& filter = context.input(1)->shape;
  const int64_t groups = context.input(0)->shape[3] / filter[3];
  const bool is_aligned = filter[3] % 4 == 0 && filter[0] / groups % 4 == 0;
  const int64_t sums = std::max<int64_t>(4 * block.pixels * block.fours, 16);
  const int64_t ends = is_aligned || context.is_float32() ? 0 : block.pixels + 4 * block.fours;
  return FitsRegisters(context.family(), sums, 6 * block.pixels + 16 * block.fours + ends);
}

const ConvBlock& UsualBlock(const GpuContext& context, const Window& window) {
  const ConvBlock* block = kConvBlocks;
  for (;; ++block) {
    const BlockGrid grid = GridOf(context, window, *block);
    const int64_t items = grid.channels * grid.pixels * grid.rows;
    if (items * context.family().worth >= block->least_items && Fits(context, *block))
      return *block;
  }
}

// conv_2d.cl's weights: [group][tap][input channel][output channel of the group, rounded up to
// `multiple`].
int DirectWeights(GpuContext& context, int64_t groups, int64_t multiple) {
  const Shape& filter = context.input(1)->shape;
  const int64_t group_in = filter[3], group_out = filter[0] / groups, taps = filter[1] * filter[2];
  const int64_t wide = (group_out + multiple - 1) / multiple * multiple;
  const int64_t n = groups * taps * group_in * wide;
  const GpuFloats weights = context.LaterFloats(1);
  return context.Constant(static_cast<size_t>(n), [&](float* to) {
    const float* from = weights.Read();
    const int64_t row = taps * group_in;
    for (int64_t i = 0; i < groups * taps; ++i) {
      const float* tap = from + (i / taps * group_out * taps + i % taps) * group_in;
      TransposeRows(tap, row, group_out, group_in, to + i * group_in * wide, wide);
    }
  });
}

void AddDirect(GpuContext& context, const Window& window, const ConvBlock& block) {
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  const int64_t groups = in[3] / filter[3];
  const int weights = DirectWeights(context, groups, block.fours * 4);
  const int bias = Bias(context, groups, filter[0] / groups, block.fours * 4, kConvZeros);
  const BlockGrid grid = GridOf(context, window, block);
  std::vector<LaunchArgument> args = WindowArgs(context, window, weights, bias);
  for (const int64_t n : {int64_t{filter[0]}, int64_t{filter[3]}, filter[0] / groups}) {
    args.push_back(IntArg(n));
  }
  AddTaps(context, window, &args);
  context.Add("conv_2d", {block.variant, block.assumption}, std::move(args), grid.channels,
              grid.pixels, grid.rows);
  context.TakesSteps(filter[1] * filter[2] * Fours(filter[3]),
                     static_cast<double>(4 * block.pixels + 16 * block.fours),
                     static_cast<double>(16 * block.pixels * block.fours));
  context.TakesOptions(ConvBlockOptions(block.pixels, block.fours * 4));
  context.TakesRows(filter[3], filter[0] / groups);
  context.TakesHalfProducts(filter[3], filter[0] / groups);
  context.TakesWeights(1, grid.channels * filter[1] * filter[2] * filter[3] * block.fours * 4);
  context.TakesStages(filter[0]);
}

}  // namespace

Status PlanConv2D(GpuContext& context) {
  TW_RETURN_IF_ERROR(CheckWeights(context));
  if (IsIntegerProduct(context)) {
    AddIntegerConv(context);
    return Status::Ok();
  }
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  const Window window = WindowOf(context, filter[1], filter[2]);
  if (window.IsPointwise() && filter[3] == in[3]) {
    AddProduct(context, context.output(0).shape.Product(0, 3), filter[0], filter[3]);
    return Status::Ok();
  }
  std::vector<const WinogradRow*> fits;
  const WinogradRow* winograd = nullptr;
  if (!kShortLoops) {
    fits = WinogradFits(context, window);
    winograd = WinogradUsual(context, window, fits);
  }
  std::vector<const char*> variants;
  for (const ConvBlock& block : kConvBlocks) {
    if (Fits(context, block)) variants.push_back(block.variant);
  }
  for (const WinogradRow* row : fits) variants.push_back(row->variant);
  const ConvBlock& usual = UsualBlock(context, window);
  const std::string chosen =
      context.Choose(WorkOf("CONV_2D", context, window), std::move(variants),
                     winograd != nullptr ? winograd->variant : usual.variant);
  for (const WinogradRow* row : fits) {
    if (kShortLoops || chosen != row->variant) continue;
    AddWinograd(context, window, *row);
    return Status::Ok();
  }
  for (const ConvBlock& block : kConvBlocks) {
    if (chosen == block.variant) AddDirect(context, window, block);
  }
  return Status::Ok();
}

}  // namespace topwork
