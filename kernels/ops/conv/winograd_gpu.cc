// Winograd's launches: filters transformed here, inputs, products and outputs on the device.
#include "kernels/ops/conv/winograd_gpu.h"

#include <algorithm>
#include <string>

#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/conv/winograd_filter.h"
#include "kernels/ops/products/weighted_gpu.h"
#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

// In order of preference.
constexpr WinogradRow kRows[] = {{4, "winograd_4x4"}, {2, "winograd_2x2"}};
constexpr size_t kMostFilterBytes = 32u << 20;  // transformed
// Narrower layers lose more by the transforms than they gain, so they are not even measured.
constexpr int64_t kLeastChannels = 16;
constexpr int64_t kMostTiles = 8;  // of a product: TW_TILES of winograd.cl

struct Sizes {
  int64_t tiles_h, tiles_w, n_tiles, positions, in_wide, out_wide;
};

Sizes SizesOf(const GpuContext& context, const Window& window, int tile) {
  Sizes sizes;
  sizes.tiles_h = (window.h.out + tile - 1) / tile;
  sizes.tiles_w = (window.w.out + tile - 1) / tile;
  sizes.n_tiles = context.input(0)->shape[0] * sizes.tiles_h * sizes.tiles_w;
  sizes.positions = (tile + 2) * (tile + 2);
  sizes.in_wide = Fours(context.input(0)->shape[3]) * 4;
  sizes.out_wide = Fours(context.input(1)->shape[0]) * 4;
  return sizes;
}

int Filters(GpuContext& context, const Sizes& sizes, int tile) {
  const Shape& shape = context.input(1)->shape;  // [output][3][3][input]
  const GpuFloats floats = context.LaterFloats(1);
  const int64_t in_c = shape[3], out_c = shape[0];
  const int64_t per_position = sizes.in_wide * sizes.out_wide;
  return context.FloatConstant(static_cast<size_t>(sizes.positions * per_position), [&](float* to) {
    const float* weights = floats.Read();
    for (int position = 0; position < sizes.positions; ++position, to += per_position) {
      double factors[9];
      WinogradFactors(tile, position, factors);
      for (int64_t oc = 0; oc < out_c; ++oc) {
        const float* taps = weights + oc * 9 * in_c;
        for (int64_t c = 0; c < in_c; ++c) {
          double sum = 0;
          for (int t = 0; t < 9; ++t) sum += factors[t] * static_cast<double>(taps[t * in_c + c]);
          to[c * sizes.out_wide + oc] = static_cast<float>(sum);
        }
      }
    }
  });
}

}  // namespace

std::vector<const WinogradRow*> WinogradFits(const GpuContext& context, const Window& window) {
  std::vector<const WinogradRow*> fits;
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  for (const WindowAxis& axis : {window.h, window.w}) {
    if (axis.filter != 3 || axis.stride != 1 || axis.dilation != 1) return fits;
  }
  if (filter[3] != in[3] || in[3] < kLeastChannels || filter[0] < kLeastChannels) return fits;
  for (const WinogradRow& row : kRows) {
    const Sizes sizes = SizesOf(context, window, row.tile);
    const int64_t floats = sizes.positions * sizes.n_tiles * (sizes.in_wide + sizes.out_wide);
    const int64_t weights = sizes.positions * sizes.in_wide * sizes.out_wide;
    if (static_cast<size_t>(floats) * sizeof(float) > context.scratch_limit_bytes()) continue;
    if (static_cast<size_t>(weights) * sizeof(float) > kMostFilterBytes) continue;
    fits.push_back(&row);
  }
  return fits;
}

const WinogradRow* WinogradUsual(const GpuContext& context, const Window& window,
                                 const std::vector<const WinogradRow*>& fits) {
  const GpuFamily& family = context.family();
  if (context.input(0)->shape[3] < family.winograd_inputs) return nullptr;
  if (context.input(1)->shape[0] < family.winograd_outputs) return nullptr;
  for (const WinogradRow* row : fits) {
    const int64_t least_tiles = family.winograd_tiles * row->tile / 4;
    if (SizesOf(context, window, row->tile).n_tiles >= least_tiles) return row;
  }
  return nullptr;
}

void AddWinograd(GpuContext& context, const Window& window, const WinogradRow& row) {
  const bool two = row.tile == 2;
  const char* tile = two ? "2x2" : "4x4";
  const Sizes sizes = SizesOf(context, window, row.tile);
  const Shape& in = context.input(0)->shape;
  const int64_t out_c = context.input(1)->shape[0], n_rows = in[0] * sizes.tiles_h;
  const bool fits = FitsRegisters(context.family(), 4 * kMostTiles, 16 + 4 * kMostTiles);
  const int64_t tiles = fits ? kMostTiles : kMostTiles / 2;
  const auto takes_rows = [&] {
    context.TakesRows(in[3], out_c);
    if (tiles != kMostTiles) context.TakesOptions(" -DTW_TILES=" + std::to_string(tiles));
  };
  const int filters = Filters(context, sizes, row.tile);
  const int bias = Bias(context, 1, out_c);
  const auto scratch = [&](int64_t wide) {
    return context.FloatScratch(static_cast<size_t>(sizes.positions * sizes.n_tiles * wide));
  };
  const int v = scratch(sizes.in_wide);
  context.Add("winograd", {two ? "winograd_input_2x2" : "winograd_input_4x4", tile},
              {BufferArg(context.In(0)), BufferArg(v), IntArg(in[1]), IntArg(in[2]), IntArg(in[3]),
               IntArg(sizes.tiles_h), IntArg(sizes.tiles_w), IntArg(window.h.pad),
               IntArg(window.w.pad), IntArg(n_rows)},
              Fours(in[3]), sizes.tiles_w, n_rows * (row.tile + 2));
  takes_rows();
  const int64_t side = row.tile + 2;
  context.TakesSteps(side, static_cast<double>(4 * side), static_cast<double>(8 * side));
  const int m = scratch(sizes.out_wide);
  context.Add("winograd", "winograd_gemm",
              {BufferArg(v), BufferArg(filters), BufferArg(m), IntArg(sizes.n_tiles),
               IntArg(sizes.in_wide), IntArg(sizes.out_wide)},
              Fours(out_c), (sizes.n_tiles + tiles - 1) / tiles, sizes.positions);
  takes_rows();
  context.TakesSteps(Fours(in[3]), static_cast<double>(16 + 4 * tiles),
                     static_cast<double>(16 * tiles));
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  context.Add("winograd", {two ? "winograd_output_2x2" : "winograd_output_4x4", tile},
              {BufferArg(m), BufferArg(bias), BufferArg(Residual(context)),
               BufferArg(context.Out(0)), IntArg(window.h.out), IntArg(window.w.out), IntArg(out_c),
               IntArg(sizes.tiles_h), IntArg(sizes.tiles_w), IntArg(HasResidual(context)),
               IntArg(n_rows), FloatArg(lo), FloatArg(hi)},
              Fours(out_c), sizes.tiles_w, n_rows * row.tile);
  takes_rows();
  context.TakesSteps(side, static_cast<double>(4 * side), static_cast<double>(8 * side));
  context.TakesStages(out_c);
}

}  // namespace topwork
