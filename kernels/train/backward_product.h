// The two matrix products behind the gradients of dense layers and convolutions, on packed GEMM.
//
//   weights  dW[u, d] (+)= Σ_p dY[p, u] · X[p, d]
//   input    dX[p, d] (+)= Σ_u dY[p, u] · W[u, d]
// p counts rows (examples or pixels), u units, d depths. X may be made on demand, a block of rows
// at a time (im2col).
#ifndef TOPWORK_KERNELS_TRAIN_BACKWARD_PRODUCT_H_
#define TOPWORK_KERNELS_TRAIN_BACKWARD_PRODUCT_H_

#include <cstdint>

#include "kernels/ops/shared/gemm_plan.h"

namespace topwork {

struct WeightProduct {
  int64_t n_rows = 0, n_units = 0, n_depths = 0;
  const float* delta = nullptr;  // dY
  int64_t delta_stride = 0;      // floats between its rows
  const float* x = nullptr;
  int64_t x_stride = 0;
  // Instead of x: fills rows [begin, end) of X, [end − begin, n_depths] values at `to`. Called on
  // any thread.
  const FunctionRef<void(int64_t begin, int64_t end, float* to)>* make = nullptr;
  float* out = nullptr;  // [n_units, n_depths]
  bool accumulate = false;
};
// Bytes of scratch for RunWeightProduct; `made`: x is made.
size_t WeightProductScratch(const GemmKernels& kernels, const WeightProduct& product, bool made);
void RunWeightProduct(const CpuKernels& cpu, const WeightProduct& product, uint8_t* scratch,
                      ThreadPool* pool);

// Packs W [n_units, n_depths] (row stride n_depths) for products dY · W, into
// packed_size(n_depths, n_units) floats.
void PackForInput(const GemmKernels& kernels, const float* weights, int64_t n_units,
                  int64_t n_depths, float* packed, ThreadPool* pool);

struct InputProduct {
  int64_t n_rows = 0, n_units = 0, n_depths = 0;
  const float* delta = nullptr;
  int64_t delta_stride = 0;
  const float* packed = nullptr;  // by PackForInput
  float* out = nullptr;
  int64_t out_stride = 0;
  bool accumulate = false;
};
GemmTask InputTask(const GemmKernels& kernels, const InputProduct& product);
void RunInputProduct(const GemmKernels& kernels, const InputProduct& product, ThreadPool* pool);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_TRAIN_BACKWARD_PRODUCT_H_
