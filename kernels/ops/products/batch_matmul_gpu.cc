// BATCH_MATMUL and FULLY_CONNECTED of run-time weights on a GPU (batch_matmul.cl).
#include <limits>
#include <vector>

#include "kernels/ops/products/product_gpu.h"
#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

// Where the two matrices of each product lie, in elements.
std::vector<int32_t> PlacesOf(const Shape& a, const Shape& b, const Shape& out) {
  const Shape* operands[2] = {&a, &b};
  const int batch_rank = out.rank() - 2;
  const int64_t n = out.Product(0, batch_rank);
  std::vector<int32_t> places(static_cast<size_t>(2 * n));
  for (int64_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < 2; ++k) {
      const Shape& shape = *operands[k];
      int64_t left = i, at = 0, step = shape.Product(shape.rank() - 2, shape.rank());
      for (int d = batch_rank - 1; d >= 0; --d) {
        const int64_t dim = shape.BroadcastDim(d, out.rank());
        at += dim == 1 ? 0 : left % out.dim(d) * step;
        step *= dim;
        left /= out.dim(d);
      }
      places[static_cast<size_t>(2 * i) + k] = static_cast<int32_t>(at);
    }
  }
  return places;
}

// Of row-major A [m, k] (or its transpose, `turn_a`) and B [k, n] (`turn_b`); inputs 0 and 1.
struct Matrices {
  int64_t m, n, k;
  bool turn_a, turn_b;
  std::vector<int32_t> places;
  bool has_bias;  // input 2
  float lo, hi;
};

void AddMatrices(GpuContext& context, const Matrices& p) {
  const int a = context.In(0), b = context.In(1);
  const int bias = p.has_bias ? context.In(2) : a;
  const int64_t n_products = static_cast<int64_t>(p.places.size() / 2);
  context.Add(
      "batch_matmul", {p.turn_b ? "batch_matmul_turned" : "batch_matmul", p.turn_b ? "turned" : ""},
      {BufferArg(a), BufferArg(b), BufferArg(bias), BufferArg(context.Out(0)),
       BufferArg(context.Table({p.places.data(), p.places.size()})), IntArg(n_products),
       IntArg(p.m), IntArg(p.n), IntArg(p.k), IntArg(p.has_bias), FloatArg(p.lo), FloatArg(p.hi)},
      (p.n + 3) / 4, (p.m + 3) / 4, n_products);
  if (p.turn_a) context.TakesOptions(" -DTW_TURN_A");
  if (!p.turn_a || p.m % 4 == 0) context.TakesRows(p.n, p.k);
  context.TakesSteps((p.k + 3) / 4, 32, 64);
  context.TakesStages(p.n);
}

}  // namespace

Status PlanBatchMatMul(GpuContext& context) {
  const OpParams& params = context.params();
  const Shape& a = context.input(0)->shape;
  const Shape& out = context.output(0).shape;
  const float infinity = std::numeric_limits<float>::infinity();
  Matrices p = {};
  p.m = out.dim(out.rank() - 2);
  p.n = out.back();
  p.k = params.adj_x ? a.dim(a.rank() - 2) : a.back();
  p.turn_a = params.adj_x;
  p.turn_b = params.adj_y;
  p.places = PlacesOf(a, context.input(1)->shape, out);
  p.lo = -infinity;
  p.hi = infinity;
  AddMatrices(context, p);
  return Status::Ok();
}

Status PlanFullyConnectedOfInputs(GpuContext& context) {
  const TensorView* bias = context.input(2);
  if (context.input(3) != nullptr) return Unsupported("its weights are not constant");
  if (bias != nullptr && !context.input_format(2).is_real) {
    return Unsupported("its bias is {}", DTypeName(bias->dtype));
  }
  const Shape& weights = context.input(1)->shape;
  Matrices p = {};
  p.m = context.input(0)->shape.NumElements() / weights[1];
  p.n = weights[0];
  p.k = weights[1];
  p.turn_b = true;
  p.places = {0, 0};
  p.has_bias = bias != nullptr;
  ActivationRange(context.params().activation, &p.lo, &p.hi);
  AddMatrices(context, p);
  return Status::Ok();
}

}  // namespace topwork
