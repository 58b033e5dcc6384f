// Gradients of FULLY_CONNECTED: z[p, u] = Σ_d W[u, d] · x[p, d] + b[u], y = activation(z).
#include <algorithm>

#include "kernels/train/backward.h"
#include "kernels/train/backward_product.h"

namespace topwork {
namespace {

struct Sizes {
  int64_t rows, units, depths;
};

Sizes SizesOf(const BackwardContext& context) {
  const Shape& weights = context.in(1).shape;
  return {context.in(0).shape.NumElements() / weights[1], weights[0], weights[1]};
}

WeightProduct ProductOf(const Sizes& sizes) {
  WeightProduct product;
  product.n_rows = sizes.rows;
  product.n_units = sizes.units;
  product.n_depths = sizes.depths;
  return product;
}

size_t ScratchBytes(const BackwardContext& context, uint32_t wanted) {
  const Sizes sizes = SizesOf(context);
  const GemmKernels& kernels = *context.cpu->gemm;
  size_t bytes = 0;
  if ((wanted & InputBit(1)) != 0) bytes = WeightProductScratch(kernels, ProductOf(sizes), false);
  if ((wanted & InputBit(0)) != 0) {
    const int64_t packed = kernels.packed_size(sizes.depths, sizes.units);
    bytes = std::max(bytes, ScratchLayout::BlockBytes(packed));
  }
  return bytes;
}

void Run(const BackwardContext& context) {
  ActivationBackward(context);
  const Sizes sizes = SizesOf(context);
  const float* delta = context.output_gradient;
  if (context.gradient(1) != nullptr) {
    WeightProduct product = ProductOf(sizes);
    product.delta = delta;
    product.delta_stride = sizes.units;
    product.x = context.in(0).as<const float>();
    product.x_stride = sizes.depths;
    product.out = context.gradient(1);
    product.accumulate = context.accumulates(1);
    RunWeightProduct(*context.cpu, product, context.scratch, context.pool);
  }
  if (context.gradient(2) != nullptr) {
    SumRows(context, delta, sizes.rows, sizes.units, 2);
  }
  if (context.gradient(0) != nullptr) {
    const GemmKernels& kernels = *context.cpu->gemm;
    float* packed = reinterpret_cast<float*>(context.scratch);
    PackForInput(kernels, context.in(1).as<const float>(), sizes.units, sizes.depths, packed,
                 context.pool);
    InputProduct product;
    product.n_rows = sizes.rows;
    product.n_units = sizes.units;
    product.n_depths = sizes.depths;
    product.delta = delta;
    product.delta_stride = sizes.units;
    product.packed = packed;
    product.out = context.gradient(0);
    product.out_stride = sizes.depths;
    product.accumulate = context.accumulates(0);
    RunInputProduct(kernels, product, context.pool);
  }
}

}  // namespace

const BackwardDef kBackwardFullyConnected = {ProductNeeds, ScratchBytes, Run};

}  // namespace topwork
