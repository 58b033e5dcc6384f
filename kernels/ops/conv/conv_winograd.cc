// A task takes a block of tiles: it transforms their inputs to V, multiplies V by the filters of
// each position, and transforms the products to outputs, so V and M stay in the second-level cache.
// Where the tiles are too few for enough tasks, the columns are shared out, too; V is then made
// before, for all.
#include "kernels/ops/conv/conv_winograd.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/conv/winograd_filter.h"

namespace topwork {
namespace {

constexpr int64_t kLeastChannels = 16;
constexpr int64_t kInputTiles = 8;    // of a task that makes V alone
constexpr int64_t kBlockRows = 1152;  // rows of V in a block: 32 tiles of 4x4, 72 of 2x2
constexpr int64_t kEnoughBlocks = 8;
constexpr int64_t kEnoughTasks = 16;
// Cache lines between positions: without them, those of a tile would lie in the same few sets.
constexpr int64_t kStridePad = 16;

// Costs in multiply-adds of a product: to transform a value of V or of M, and to read a weight.
// Fitted to tests/peers/bench/conv_bench.cc.
constexpr double kTransformCost = 13, kWeightCost = 12;
// Of products of 16-bit numbers, which are twice as fast.
constexpr double kHalfTransformCost = 18;
constexpr double kLineTransformCost = 7, kLineWeightCost = 4;  // one pass in place of two
// How much less the estimate must be.
constexpr double kGain = 0.9;

int64_t Positions(WinogradTile tile) {
  return (tile.h > 1 ? tile.h + 2 : 1) * (tile.w > 1 ? tile.w + 2 : 1);
}

int64_t Taps(WinogradTile tile) { return tile.is_line() ? 3 : 9; }

double TilesOf(const ConvShape& shape, WinogradTile tile) {
  return static_cast<double>(shape.batch * CeilDiv(shape.window.h.out, tile.h)) *
         static_cast<double>(CeilDiv(shape.window.w.out, tile.w));
}

double WeightCost(bool is_line) { return is_line ? kLineWeightCost : kWeightCost; }

double WinogradCost(const ConvShape& shape, WinogradTile tile, bool is_half) {
  const double in = static_cast<double>(shape.in_c), out = static_cast<double>(shape.out_c);
  const double of_float = tile.is_line() ? kLineTransformCost : kTransformCost;
  const double of_transform = is_half ? kHalfTransformCost : of_float;
  const double of_tile = in * out + of_transform * (in + out);
  return static_cast<double>(Positions(tile)) *
         (TilesOf(shape, tile) * of_tile + WeightCost(tile.is_line()) * in * out);
}

double DirectCost(const ConvShape& shape) {
  return static_cast<double>(shape.window.h.filter * shape.window.w.filter * shape.in_c) *
         static_cast<double>(shape.out_c) *
         (TilesOf(shape, {1, 1}) + WeightCost(shape.window.h.filter != shape.window.w.filter));
}

double FilterBytes(const ConvShape& shape, WinogradTile tile, bool is_half) {
  return static_cast<double>(Positions(tile) * shape.in_c) * static_cast<double>(shape.out_c) *
         (is_half ? sizeof(uint16_t) : sizeof(float));
}

const char* VariantOf(WinogradTile tile) {
  if (tile.is_line()) return tile.h == 1 ? "winograd 1x4" : "winograd 4x1";
  return tile.h == 2 ? "winograd 2x2" : "winograd 4x4";
}

int64_t Wide(int64_t channels, const WinogradKernels& kernels) {
  return CeilDiv(channels, kernels.lanes) * kernels.lanes;
}

WinogradShape ShapeOf(const ConvShape& conv, WinogradTile tile, const WinogradKernels& kernels) {
  WinogradShape shape;
  const WindowAxis &h = conv.window.h, &w = conv.window.w;
  shape.in_h = h.in;
  shape.in_w = w.in;
  shape.in_c = conv.in_c;
  shape.out_h = h.out;
  shape.out_w = w.out;
  shape.out_c = conv.out_c;
  shape.in_wide = Wide(conv.in_c, kernels);
  shape.out_wide = Wide(conv.out_c, kernels);
  shape.pad_top = h.pad;
  shape.pad_left = w.pad;
  shape.tile_h = tile.h;
  shape.tile_w = tile.w;
  shape.tiles_h = CeilDiv(h.out, tile.h);
  shape.tiles_w = CeilDiv(w.out, tile.w);
  return shape;
}

GemmCut CutTiles(const WinogradConv& conv) {
  GemmCut cut;
  const int64_t rows = std::min(conv.n_tiles, kBlockRows / Positions(conv.tile));
  cut.row_blocks = CeilDiv(conv.n_tiles, rows);
  cut.rows = CeilDiv(conv.n_tiles, cut.row_blocks);
  cut.row_blocks = CeilDiv(conv.n_tiles, cut.rows);
  cut.total_panels = conv.gemm->n_panels(conv.shape.out_wide);
  cut.panels = cut.total_panels;
  if (cut.row_blocks < kEnoughBlocks) {
    cut.panels = std::max<int64_t>(1, cut.total_panels * cut.row_blocks / kEnoughTasks);
  }
  cut.panel_blocks = CeilDiv(cut.total_panels, cut.panels);
  return cut;
}

// Transforms the filters of each panel's columns position by position, and packs each. Float16
// filters are widened panel by panel.
void PackFilters(const PrepareContext& context, const WinogradConv& conv, float* packed) {
  const WinogradKernels& kernels = *context.cpu().winograd;
  const float* filters = context.input(1)->as<const float>();
  const uint16_t* halves = context.HalfConstant(1);
  const int64_t in_c = conv.shape.in_c, columns = conv.shape.out_wide, n_taps = Taps(conv.tile);
  std::vector<float> transformed(static_cast<size_t>(columns * in_c), 0.0f);
  GemmWeights weights;
  weights.data = transformed.data();
  weights.n = columns;
  weights.k = weights.depth[2] = weights.stride_n = in_c;
  context.ShareOut(conv.cut.total_panels, transformed.size() * sizeof(float), [&](int64_t p) {
    const int64_t begin = conv.gemm->first_column(columns, p);
    const int64_t end =
        std::max(begin, std::min(conv.shape.out_c, conv.gemm->first_column(columns, p + 1)));
    const float* of_panel = filters + begin * n_taps * in_c;
    std::vector<float> wide;
    if (halves != nullptr) {
      wide.resize(static_cast<size_t>((end - begin) * n_taps * in_c));
      context.cpu().elementwise->half_to_float(halves + begin * n_taps * in_c, wide.data(),
                                               (end - begin) * n_taps * in_c);
      of_panel = wide.data();
    }
    for (int position = 0; position < Positions(conv.tile); ++position) {
      double factors[9];
      float rounded[9];
      if (conv.tile.is_line()) {
        WinogradLineFactors(position, factors);
      } else {
        WinogradFactors(conv.tile.h, position, factors);
      }
      for (int64_t t = 0; t < n_taps; ++t) rounded[t] = static_cast<float>(factors[t]);
      for (int64_t n = begin; n < end; ++n) {
        kernels.filter(rounded, static_cast<int>(n_taps), of_panel + (n - begin) * n_taps * in_c,
                       in_c, transformed.data() + n * in_c);
      }
      conv.gemm->pack(weights, p, p + 1, packed + position * conv.packed_size);
    }
  });
}

struct Runner {
  const WinogradConv& conv;
  const WinogradTransforms& transforms;
  const RunContext& context;
  const float* input;
  const GemmTask& whole;
  const ResultFunction* function;

  int64_t TilesIn(int64_t block) const {
    return std::min(conv.cut.rows, conv.n_tiles - block * conv.cut.rows);
  }
  float* Scratch(size_t offset, int64_t index, int64_t stride) const {
    const size_t block = ScratchLayout::BlockBytes(Positions(conv.tile) * stride);
    return reinterpret_cast<float*>(context.scratch + offset + static_cast<size_t>(index) * block);
  }
  float* V(int64_t index) const { return Scratch(conv.v_offset, index, conv.v_stride); }

  // Tiles [first, first + n) of a block, whose V is `v`: words by way of a few tiles in floats.
  void MakeV(int64_t block, int64_t first, int64_t n, float* v, int thread) const {
    const bool in_words = conv.in_words();
    float* const floats =
        in_words ? Scratch(conv.floats_offset, thread, conv.floats_stride) : nullptr;
    WinogradInput tiles;
    tiles.input = input;
    tiles.v_stride = in_words ? conv.floats_stride : conv.v_stride;
    for (const int64_t end = first + n; first < end; first += tiles.n) {
      float* const to = v + first * conv.v_row;
      tiles.first = block * conv.cut.rows + first;
      tiles.n = in_words ? std::min(kInputTiles, end - first) : n;
      tiles.v = in_words ? floats : to;
      transforms.input(conv.shape, tiles);
      for (int64_t i = 0; in_words && i < Positions(conv.tile); ++i) {
        conv.gemm->to_words(floats + i * conv.floats_stride, tiles.n * conv.shape.in_wide,
                            to + i * conv.v_stride);
      }
    }
  }

  void MakeSharedInputs() const {
    const int64_t parts = CeilDiv(conv.cut.rows, kInputTiles);
    context.pool->ParallelFor(conv.cut.row_blocks * parts, [&](int64_t index, int thread) {
      const int64_t block = index / parts, first = index % parts * kInputTiles;
      const int64_t n = std::min(kInputTiles, TilesIn(block) - first);
      if (n > 0) MakeV(block, first, n, V(block), thread);
    });
  }

  void Multiply(const GemmTask& columns, int64_t n, const float* v, float* m) const {
    const auto run = conv.in_words() ? conv.gemm->run_words : conv.gemm->run;
    GemmTask task = columns;
    task.lda = conv.v_row;
    task.ldc = task.n = conv.shape.out_wide;
    task.m = n;
    task.k = conv.in_words() ? CeilDiv(conv.shape.in_c, 2) : conv.shape.in_c;
    task.lo = -std::numeric_limits<float>::infinity();
    task.hi = std::numeric_limits<float>::infinity();
    for (int64_t position = 0; position < Positions(conv.tile); ++position) {
      task.a = v + position * conv.v_stride;
      task.packed = conv.filters + position * conv.packed_size;
      task.c = m + position * conv.m_stride;
      run(task);
    }
  }

  // The function of what the tiles have given: of neighbouring tiles, row by row.
  void EndOutputs(const WinogradOutput& tiles, int thread) const {
    const WinogradShape& s = conv.shape;
    const int64_t n = std::min(tiles.channel_end, s.out_c) - tiles.channel_begin;
    for (int64_t t = tiles.first, end = 0; t < tiles.first + tiles.n && n > 0; t = end) {
      const int64_t row = t / s.tiles_w, first = t % s.tiles_w;
      end = std::min(tiles.first + tiles.n, (row + 1) * s.tiles_w);
      const int64_t x = first * s.tile_w, x_end = std::min(s.out_w, (first + end - t) * s.tile_w);
      const int64_t y = row % s.tiles_h * s.tile_h, y_end = std::min(s.out_h, y + s.tile_h);
      for (int64_t at = y; at < y_end; ++at) {
        const int64_t pixel = (row / s.tiles_h * s.out_h + at) * s.out_w + x;
        function->Apply(thread,
                        {whole.c + pixel * s.out_c + tiles.channel_begin, x_end - x, n, s.out_c});
      }
    }
  }

  void MakeOutputs(const GemmTask& columns, int64_t block, const float* m, int thread) const {
    WinogradOutput tiles;
    tiles.m = m;
    tiles.m_stride = conv.m_stride;
    tiles.first = block * conv.cut.rows;
    tiles.n = TilesIn(block);
    tiles.channel_begin = conv.gemm->first_column(conv.shape.out_wide, columns.panel_begin);
    tiles.channel_end = conv.gemm->first_column(conv.shape.out_wide, columns.panel_end);
    tiles.bias = whole.bias;
    tiles.residual = whole.residual;
    tiles.output = whole.c;
    tiles.lo = whole.lo;
    tiles.hi = whole.hi;
    transforms.output(conv.shape, tiles);
    if (kFusesFunctions && function != nullptr) EndOutputs(tiles, thread);
  }

  void RunTask(int64_t index, int thread) const {
    const GemmCut& cut = conv.cut;
    const int64_t block = index / cut.panel_blocks, n = TilesIn(block);
    GemmTask columns;
    columns.panel_begin = index % cut.panel_blocks * cut.panels;
    columns.panel_end = std::min(columns.panel_begin + cut.panels, cut.total_panels);
    float* v = V(conv.shares_v() ? block : thread);
    float* m = Scratch(conv.m_offset, thread, conv.m_stride);
    if (!conv.shares_v()) MakeV(block, 0, n, v, thread);
    Multiply(columns, n, v, m);
    MakeOutputs(columns, block, m, thread);
  }
};

}  // namespace

WinogradTile ChooseWinograd(const PrepareContext& context, const ConvShape& shape) {
  const WindowAxis &h = shape.window.h, &w = shape.window.w;
  for (const WindowAxis& axis : {h, w}) {
    if ((axis.filter != 3 && axis.filter != 1) || axis.stride != 1 || axis.dilation != 1) return {};
  }
  if (h.filter * w.filter == 1) return {};
  if (shape.groups() != 1 || std::min(shape.in_c, shape.out_c) < kLeastChannels) return {};
  const GemmKernels* const half = context.half_products();
  const bool is_half = half != nullptr, is_line = h.filter != w.filter;
  if (context.input(1)->data == nullptr ||
      (is_half && (!kTransformsHalves || half->run_words == nullptr)))
    return {};
  const double most_bytes = is_half || context.HalfConstant(1) != nullptr
                                ? kMostWinogradBytesOfHalves
                                : kMostWinogradBytes;
  WinogradTile best;
  double least = kGain * DirectCost(shape);
  for (const int side : {2, 4}) {
    if (side == 2 ? is_line : is_half) continue;
    const WinogradTile tile{h.filter == 3 ? side : 1, w.filter == 3 ? side : 1};
    const double cost = WinogradCost(shape, tile, is_half);
    if (cost >= least || FilterBytes(shape, tile, is_half) > most_bytes) continue;
    best = tile;
    least = cost;
  }
  return best;
}

Status PlanWinograd(PrepareContext* context, const ConvShape& shape, WinogradTile tile,
                    ScratchLayout* scratch, WinogradConv* out) {
  const WinogradKernels& kernels = *context->cpu().winograd;
  const int64_t positions = Positions(tile);
  out->tile = tile;
  const GemmKernels* const half = kTransformsHalves ? context->half_products() : nullptr;
  out->gemm = half != nullptr ? half : &FloatsOf(context->cpu(), shape.in_c);
  if (half != nullptr) context->SetProducts(half->half);
  out->shape = ShapeOf(shape, tile, kernels);
  out->n_tiles = shape.batch * out->shape.tiles_h * out->shape.tiles_w;
  out->cut = CutTiles(*out);
  out->v_row = out->in_words() ? out->shape.in_wide / 2 : out->shape.in_wide;
  out->v_stride = out->cut.rows * out->v_row + kStridePad;
  out->m_stride = out->cut.rows * out->shape.out_wide + kStridePad;
  out->v_offset = scratch->Add(positions * out->v_stride,
                               out->shares_v() ? out->cut.row_blocks : context->max_threads());
  out->m_offset = scratch->Add(positions * out->m_stride, context->max_threads());
  if (out->in_words()) {
    out->floats_stride = kInputTiles * out->shape.in_wide + kStridePad;
    out->floats_offset = scratch->Add(positions * out->floats_stride, context->max_threads());
  }
  out->packed_size = out->gemm->packed_size(out->shape.out_wide, shape.in_c);
  const std::string tag = StrFormat("winograd {}x{} {}", tile.h, tile.w, out->gemm->tag);
  const size_t bytes = static_cast<size_t>(positions * out->packed_size) * sizeof(float);
  TW_ASSIGN_OR_RETURN(const void* packed,
                      context->PackConstant(1, tag.c_str(), bytes, true, [&](void* to) {
                        PackFilters(*context, *out, static_cast<float*>(to));
                      }));
  out->filters = static_cast<const float*>(packed);
  context->SetVariant(VariantOf(tile));
  context->SetTasks(out->cut.n_tasks());
  return Status::Ok();
}

void RunWinograd(const WinogradConv& conv, const float* input, const GemmTask& whole,
                 const RunContext& context, const ResultFunction* function) {
  const WinogradKernels& kernels = *context.cpu->winograd;
  const WinogradTransforms& transforms = conv.tile.is_line() ? kernels.line
                                         : conv.tile.h == 2  ? kernels.two
                                                             : kernels.four;
  const Runner runner{conv, transforms, context, input, whole, function};
  if (conv.shares_v()) runner.MakeSharedInputs();
  context.pool->ParallelFor(conv.cut.n_tasks(),
                            [&](int64_t index, int thread) { runner.RunTask(index, thread); });
}

}  // namespace topwork
