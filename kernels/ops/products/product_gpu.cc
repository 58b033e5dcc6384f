// FULLY_CONNECTED and other matrix products as launches of gemm.cl or of a BLAS library.
#include "kernels/ops/products/product_gpu.h"

#include <string>
#include <vector>

#include "kernels/ops/products/fully_connected.h"
#include "kernels/ops/products/integer_gpu.h"
#include "kernels/ops/products/weighted_gpu.h"
#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

// Variants: tiles of rows and columns; work-groups that share the depth of one row; the library.
constexpr char kTiles[] = "gemm", kVectors[] = "gemv", kBlas[] = "sgemm";
constexpr int64_t kVectorItems = 64;  // TW_GROUP of gemm.cl
// Few rows have too few tiles to fill a device.
constexpr int64_t kMostVectorRows = 4, kMostVectorRowsMeasured = 16;
// Smaller products are not worth a library's call: m * n * k.
constexpr double kLeastBlasWork = 128.0 * 128.0 * 128.0;

// gemm's B of the weights [n][k].
int ColumnWeights(GpuContext& context, int64_t n, int64_t k) {
  const float* from = context.Floats(1);
  const int64_t wide = Fours(n) * 4;
  return context.Constant(static_cast<size_t>(k * wide), [&](float* to) {
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < wide; ++j) to[i * wide + j] = j < n ? from[j * k + i] : 0.0f;
    }
  });
}

// The variant of a product.
std::string ChooseProduct(GpuContext& context, int64_t m, int64_t n, int64_t k) {
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  GpuTuner* tuner = context.tuner();
  std::vector<const char*> variants = {kTiles};
  const char* usual = kTiles;
  // All items of a group have something to do.
  if (m <= kMostVectorRowsMeasured && k >= 4 * kVectorItems) {
    variants.push_back(kVectors);
    if (m <= kMostVectorRows) usual = kVectors;
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
}

}  // namespace

void AddProduct(GpuContext& context, int64_t m, int64_t n, int64_t k) {
  const std::string variant = ChooseProduct(context, m, n, k);
  if (variant == kBlas) {
    AddBlasProduct(context, m, n, k);
    return;
  }
  const bool vector = variant == kVectors;
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  const int weights = vector ? context.In(1) : ColumnWeights(context, n, k);
  const int bias = Bias(context, 1, n);
  const std::vector<LaunchArgument> args = {BufferArg(context.In(0)),
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
  if (vector) {
    context.AddGroups("gemm", "gemv", args, kVectorItems, Fours(n), m);
  } else {
    context.Add("gemm", "gemm", args, Fours(n), Fours(m));
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
