// CONV_2D and FULLY_CONNECTED of bytes as launches of integer_product.cl. Products of bytes are
// corrected for the zero points a of the data and w of the weights: sum (x - a)(k - w) =
// sum x k - w sum x - a sum k + n a w, of which only the first two depend on the pixel.
#include "kernels/ops/products/integer_gpu.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ops/products/integer_ends_gpu.h"
#include "kernels/ops/products/weighted_gpu.h"

namespace topwork {
namespace {

// Tiles of integer_product.cl, pixels by output channels per work-item.
struct Tile {
  const char* variant;
  const char* assumption;
  int64_t rows, columns;
  int64_t least_items;  // work-items, from which on it is taken without a measurement
};
// In order of preference: large tiles load least, small ones leave more to share out.
constexpr Tile kTiles[] = {
    {"integer_product_4x8", "4x8", 4, 8, 4096},
    {"integer_product_4x4", "4x4", 4, 4, 2048},
    {"integer_product_2x4", "2x4", 2, 4, 2048},
    {"integer_product_1x4", "1x4", 1, 4, 0},
};

int64_t Blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }

// integer_product.cl's weights, of [output channel][tap][input channel of the group].
int ProductWeights(GpuContext& context, const Signed& from, const Channels& channels, int64_t taps,
                   int64_t depth) {
  const int64_t deep = Fours(depth), n_places = channels.n_places();
  const size_t n = static_cast<size_t>(taps * deep * n_places * 4);
  return context.ByteConstant(n, [&](uint8_t* to) {
    // In blocks of channels, so that what is written lies together.
    constexpr int64_t kBlock = 16;
    for (int64_t first = 0; first < n_places; first += kBlock) {
      const int64_t end = std::min(n_places, first + kBlock);
      for (int64_t i = 0; i < taps * deep; ++i) {
        const int64_t tap = i / deep, c = i % deep * 4, size = std::min<int64_t>(4, depth - c);
        for (int64_t place = first; place < end; ++place) {
          const int64_t channel = channels.At(place);
          if (channel < 0) continue;
          const int32_t* four = from.weights.data() + (channel * taps + tap) * depth + c;
          uint8_t* four_to = to + (i * n_places + place) * 4;
          for (int64_t k = 0; k < size; ++k) four_to[k] = static_cast<uint8_t>(four[k]);
        }
      }
    }
  });
}

// The images and windows of a product.
struct ProductSizes {
  int64_t in_h = 1, in_w = 1, in_c = 1, out_c = 1, depth = 1, n_pixels = 1;
  Window window;  // out and filter are 1 where there is none
  bool is_pointwise = true, by_reals = false;
  bool has_zeros = false;  // TW_ZEROS of the kernel

  int64_t groups() const { return in_c / depth; }
  int64_t per_group() const { return out_c / groups(); }
  int64_t taps() const { return window.h.filter * window.w.filter; }
  bool is_aligned() const { return depth % 4 == 0; }
};

bool Fits(const GpuContext& context, const Tile& tile, const ProductSizes& p) {
  if (!FitsRegistersAsBytes(context.family(), tile.rows * tile.columns,
                            p.has_zeros ? tile.rows : 0)) {
    return false;
  }
  // Eights that end in a four would compute as much again for nothing. Products that are loaded
  // byte by byte are rare: they have two tiles.
  if (tile.columns == 8 && (!p.is_aligned() || (p.per_group() - 1) % 8 < 4)) return false;
  if (!p.is_aligned() && tile.rows == 2) return false;
  return tile.rows == 1 || 2 * p.n_pixels > tile.rows;
}

const Tile& ChooseTile(GpuContext& context, const ProductSizes& p) {
  std::vector<const char*> variants;
  const char* usual = nullptr;
  for (const Tile& tile : kTiles) {
    if (!Fits(context, tile, p)) continue;
    variants.push_back(tile.variant);
    const int64_t items =
        Blocks(p.n_pixels, tile.rows) * Blocks(p.per_group(), tile.columns) * p.groups();
    const bool is_enough = items * context.family().worth >= tile.least_items;
    if (usual == nullptr && is_enough) usual = tile.variant;
  }
  const std::string work =
      p.is_pointwise ? StrFormat("PRODUCT of bytes {} {} {}", p.n_pixels, p.out_c, p.depth)
                     : WorkOf("CONV_2D of bytes", context, p.window);
  const std::string chosen = context.Choose(work, std::move(variants), usual);
  for (const Tile& tile : kTiles) {
    if (chosen == tile.variant) return tile;
  }
  return kTiles[3];  // not reached: 1x4 fits all
}

// What integer_product.cl's pixels outside of the image hold, before the XOR.
int Padding(GpuContext& context, const Signed& from, int64_t depth) {
  return context.ByteConstant(static_cast<size_t>(Fours(depth) * 4), [&](uint8_t* to) {
    std::fill_n(to, Fours(depth) * 4, static_cast<uint8_t>(from.zero ^ from.flip));
  });
}

Epilogues ProductEpilogues(const GpuContext& context, const ProductSizes& p, const Signed& from,
                           const Channels& channels) {
  const int64_t n = p.taps() * p.depth;
  const int64_t reach = n * 128 * 128 * (from.weight_zero == 0 ? 1 : 2);
  return MakeEpilogues(context, channels, p.by_reals, reach, [&](int64_t c) {
    int64_t sum = 0;
    for (int64_t i = c * n; i < (c + 1) * n; ++i) sum += from.weights[static_cast<size_t>(i)];
    return from.zero * (n * from.weight_zero - sum);
  });
}

void AddWindow(const ProductSizes& p, std::vector<LaunchArgument>* args) {
  const Window& w = p.window;
  for (const int64_t size : {p.in_h, p.in_w, w.h.out, w.w.out, w.h.filter, w.w.filter, w.h.stride,
                             w.w.stride, w.h.dilation, w.w.dilation, w.h.pad, w.w.pad}) {
    args->push_back(IntArg(size));
  }
}

void AddProductOfBytes(GpuContext& context, ProductSizes p) {
  const Signed from = ReadSigned(context);
  p.has_zeros = from.flip != 0 || from.weight_zero != 0;
  const Tile& tile = ChooseTile(context, p);
  const Channels channels = {p.groups(), p.per_group(), tile.columns};
  const int weights = ProductWeights(context, from, channels, p.taps(), p.depth);
  const Epilogues epilogues = ProductEpilogues(context, p, from, channels);
  const int table = EpilogueTable(context, epilogues, channels.n_places());
  const int padding = p.is_pointwise ? table : Padding(context, from, p.depth);
  std::vector<LaunchArgument> args = {BufferArg(context.InBytes(0)), BufferArg(weights),
                                      BufferArg(table), BufferArg(padding),
                                      BufferArg(context.OutBytes(0))};
  for (const int64_t size : {p.in_c, p.out_c, p.depth, p.per_group(), p.n_pixels,
                             int64_t{from.flip} * 0x01010101, int64_t{from.weight_zero}}) {
    args.push_back(IntArg(size));
  }
  AddRange(context, &args);
  AddWindow(p, &args);
  context.Add("integer_product", {tile.variant, tile.assumption}, std::move(args),
              channels.n_places() / tile.columns, Blocks(p.n_pixels, tile.rows));
  const double pixels = tile.rows, columns = tile.columns;
  context.TakesSteps(p.taps() * Fours(p.depth), 4.0 * (pixels + columns), 4.0 * pixels * columns);
  context.TakesType(KernelType::kI8);
  context.TakesOptions(" -DTW_ROWS=" + std::to_string(tile.rows) +
                       " -DTW_COLUMNS=" + std::to_string(tile.columns));
  context.TakesOptions(EndingOption(epilogues.ending));
  if (!p.is_pointwise) context.TakesOptions(" -DTW_WINDOW");
  if (p.has_zeros) context.TakesOptions(" -DTW_ZEROS");
  context.TakesRows(p.depth, p.depth);
  if (p.depth % 16 == 0) context.TakesOptions(" -DTW_DEEP");
}

}  // namespace

bool IsIntegerProduct(const GpuContext& context) {
  const TensorView* bias = context.input(2);
  const DType weights = context.input(1)->dtype;
  return context.input_format(0).is_bytes && context.output_format(0).is_bytes &&
         context.is_constant(1) && (bias == nullptr || bias->data != nullptr) &&
         (weights == DType::kInt8 || weights == DType::kUInt8 || IsPacked(weights));
}

void AddIntegerConv(GpuContext& context) {
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  ProductSizes p;
  p.window = WindowOf(context, filter[1], filter[2]);
  p.in_h = in[1];
  p.in_w = in[2];
  p.in_c = in[3];
  p.out_c = filter[0];
  p.depth = filter[3];
  p.n_pixels = context.output(0).shape.Product(0, 3);
  p.is_pointwise = p.window.IsPointwise();
  AddProductOfBytes(context, p);
}

void AddIntegerFullyConnected(GpuContext& context) {
  const Shape& weights = context.input(1)->shape;
  ProductSizes p;
  p.window.h.out = p.window.w.out = 1;
  p.in_c = p.depth = weights[1];
  p.out_c = weights[0];
  p.n_pixels = context.input(0)->shape.NumElements() / p.depth;
  p.by_reals = true;
  AddProductOfBytes(context, p);
}

}  // namespace topwork
