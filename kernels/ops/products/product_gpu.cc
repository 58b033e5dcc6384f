// FULLY_CONNECTED and other matrix products as launches of gemm.cl or of a BLAS library.
#include "kernels/ops/products/product_gpu.h"

#include <string>
#include <vector>

#include "kernels/contract/selection.h"
#include "kernels/gpu/transpose_rows.h"
#include "kernels/ops/products/fully_connected.h"
#include "kernels/ops/products/integer_gpu.h"
#include "kernels/ops/products/squeeze_gpu.h"
#include "kernels/ops/products/weighted_gpu.h"
#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

// Tiles of gemm.cl, rows by columns per work-item.
struct GemmTile {
  const char* variant;
  const char* assumption;
  int64_t rows, columns;
  int64_t parts;        // work-items that share the depth of a tile, all of one work-group
  int64_t least_items;  // work-items, from which on it is taken without a measurement
};
// In order of preference: large tiles load least, small ones leave more to share out.
constexpr GemmTile kGemmTiles[] = {
    {"gemm_8x4", "8x4", 8, 4, 1, 4096},
    {"gemm_4x8", "4x8", 4, 8, 1, 4096},
    {"gemm_4x4", "4x4", 4, 4, 1, 2048},
    {"gemm_split_8x4", "split_8x4", 8, 4, 8, 2048},
    {"gemm_split_4x4", "split_4x4", 4, 4, 8, 0},
    {"gemm_2x4", "2x4", 2, 4, 1, 2048},
    {"gemm_1x4", "1x4", 1, 4, 1, 0},
};
constexpr int64_t kSplitItems = 64;        // a work-group's, which share a depth
constexpr int64_t kLeastSplitDepth = 128;  // of which each item has an eighth
// Other variants: work-groups that share the depth of one row; the library.
constexpr char kVectors[] = "gemv", kBlas[] = "sgemm";
constexpr int64_t kVectorItems = 64;  // TW_GROUP of gemv.cl
// Few rows have too few tiles to fill a device.
constexpr int64_t kMostVectorRows = 4, kMostVectorRowsMeasured = 16;
// Smaller products are not worth a library's call: m * n * k.
constexpr double kLeastBlasWork = 128.0 * 128.0 * 128.0;

int64_t Blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }

// gemm's B of the weights [n][k], n rounded up to `multiple`.
int ColumnWeights(GpuContext& context, int64_t n, int64_t k, int64_t multiple) {
  const GpuFloats from = context.LaterFloats(1);
  const int64_t wide = Blocks(n, multiple) * multiple;
  return context.Constant(static_cast<size_t>(k * wide),
                          [&](float* to) { TransposeRows(from.Read(), k, n, k, to, wide); });
}

// A tile of four rows that split the depth serves single rows, too.
bool Fits(const GpuContext& context, const GemmTile& tile, int64_t m, int64_t k) {
  const bool has_rows = 2 * m > tile.rows || (tile.parts > 1 && tile.rows == 4);
  return has_rows && (tile.parts == 1 || k >= kLeastSplitDepth) &&
         FitsRegisters(context.family(), tile.rows * tile.columns, 4 * (tile.rows + tile.columns));
}

const GemmTile& UsualTile(const GpuContext& context, int64_t m, int64_t n, int64_t k) {
  for (const GemmTile& tile : kGemmTiles) {
    const int64_t items = Blocks(m, tile.rows) * Blocks(n, tile.columns) * tile.parts;
    if (items * context.family().worth >= tile.least_items && Fits(context, tile, m, k))
      return tile;
  }
  return kGemmTiles[6];  // not reached: 1x4 fits all
}

// The variant of a product.
std::string ChooseProduct(GpuContext& context, int64_t m, int64_t n, int64_t k) {
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  GpuTuner* tuner = kHasTrials ? context.tuner() : nullptr;
  std::vector<const char*> variants;
  for (const GemmTile& tile : kGemmTiles) {
    if (Fits(context, tile, m, k)) variants.push_back(tile.variant);
  }
  const char* usual = UsualTile(context, m, n, k).variant;
  // All items of a group have something to do.
  if (m <= kMostVectorRowsMeasured && k >= 4 * kVectorItems) {
    variants.push_back(kVectors);
    // A small convolution of single pixels may become part of a squeeze.
    const bool squeezes = context.input(1)->shape.rank() == 4 && IsSqueezable(m, n, k);
    if (m <= kMostVectorRows && !squeezes) usual = kVectors;
  }
  if (work >= kLeastBlasWork && context.is_float32() && tuner != nullptr && tuner->HasBlas()) {
    variants.push_back(kBlas);
    if (work >= tuner->BlasCrossover()) usual = kBlas;
  }
  return context.Choose(StrFormat("PRODUCT {} {} {}", m, n, k), std::move(variants), usual);
}

void AddBlasProduct(GpuContext& context, int64_t m, int64_t n, int64_t k) {
  context.AddBlasGemm(context.In(0), context.In(1), context.Out(0), m, n, k);
  if (context.input(2) == nullptr && !HasResidual(context) &&
      context.params().activation == Activation::kNone) {
    return;
  }
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  const int bias = Bias(context, 1, n);
  context.Add("epilogue", "epilogue",
              {BufferArg(context.Out(0)), BufferArg(bias), BufferArg(Residual(context)), IntArg(m),
               IntArg(n), IntArg(HasResidual(context)), FloatArg(lo), FloatArg(hi)},
              Fours(n), m);
  context.TakesStages(n);
}

std::vector<LaunchArgument> ProductArgs(GpuContext& context, int weights, int bias, int64_t m,
                                        int64_t n, int64_t k) {
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  return {BufferArg(context.In(0)),
          BufferArg(weights),
          BufferArg(bias),
          BufferArg(Residual(context)),
          BufferArg(context.Out(0)),
          IntArg(m),
          IntArg(n),
          IntArg(k),
          IntArg(HasResidual(context)),
          FloatArg(lo),
          FloatArg(hi)};
}

void AddTile(GpuContext& context, const GemmTile& tile, int64_t m, int64_t n, int64_t k) {
  const int weights = ColumnWeights(context, n, k, tile.columns);
  const int bias = Bias(context, 1, n, tile.columns);
  const std::vector<LaunchArgument> args = ProductArgs(context, weights, bias, m, n, k);
  const KernelName name = {tile.variant, tile.assumption};
  if (tile.parts > 1) {
    const int64_t columns = kSplitItems / tile.parts * tile.columns;  // of a work-group
    context.AddGroups("gemm", name, args, kSplitItems, Blocks(n, columns), Blocks(m, tile.rows));
    context.TakesOptions(" -DTW_SPLIT");
  } else {
    context.Add("gemm", name, args, Blocks(n, tile.columns), Blocks(m, tile.rows));
  }
  context.TakesSteps(Blocks(Fours(k), tile.parts),
                     static_cast<double>(4 * (tile.rows + tile.columns)),
                     static_cast<double>(4 * tile.rows * tile.columns));
  context.TakesOptions(" -DTW_ROWS=" + std::to_string(tile.rows) +
                       " -DTW_COLUMNS=" + std::to_string(tile.columns));
  context.TakesRows(k, n);
  context.TakesHalfProducts(k, n);
  context.TakesWeights(1, k * Blocks(n, tile.columns) * tile.columns);
  context.TakesStages(n);
  context.TakesScale(0, k);
}

}  // namespace

void AddProduct(GpuContext& context, int64_t m, int64_t n, int64_t k) {
  const std::string variant = ChooseProduct(context, m, n, k);
  if (kHasTrials && variant == kBlas) {
    AddBlasProduct(context, m, n, k);
    return;
  }
  if (variant == kVectors) {
    const int weights = context.In(1), bias = Bias(context, 1, n);
    context.AddGroups("gemv", "gemv", ProductArgs(context, weights, bias, m, n, k), kVectorItems,
                      Fours(n), m);
    context.TakesRows(k, n);
    context.TakesSteps(Blocks(k, 4 * kVectorItems), 20, 16);
    context.TakesStages(n);
    return;
  }
  for (const GemmTile& tile : kGemmTiles) {
    if (variant == tile.variant) AddTile(context, tile, m, n, k);
  }
}

Status PlanFullyConnected(GpuContext& context) {
  if (IsRareFullyConnected(context.params(), context.input(0)->dtype, context.input(1)->dtype,
                           context.output(0).dtype)) {
    return Unsupported("its results are int16, of uint8 or int16 weights");
  }
  if (!context.is_constant(1) || (context.input(2) != nullptr && !context.is_constant(2))) {
    return PlanFullyConnectedOfInputs(context);
  }
  TW_RETURN_IF_ERROR(CheckWeights(context));
  if (IsIntegerProduct(context)) {
    AddIntegerFullyConnected(context);
    return Status::Ok();
  }
  const Shape& weights = context.input(1)->shape;
  AddProduct(context, context.input(0)->shape.NumElements() / weights[1], weights[0], weights[1]);
  return Status::Ok();
}

}  // namespace topwork
