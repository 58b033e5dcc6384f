// REAL, IMAG, COMPLEX_ABS: a real number of every complex one. Complex numbers are pairs of float32
// (complex64) or float64 (complex128).
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_COMPLEX_PART_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_COMPLEX_PART_H_

#include <cmath>

#include "kernels/ops/shared/indexing.h"

namespace topwork {

Status PrepareComplexPart(PrepareContext& context);

// y = part(real, imaginary) for every element.
template <typename T, typename F>
void MapComplex(const RunContext& context, F part) {
  const T* x = context.input_data<T>(0);
  T* y = context.output_data<T>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 2 * sizeof(T),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) y[i] = part(x[2 * i], x[2 * i + 1]);
               });
}

template <typename F>
Status RunComplexPart(const RunContext& context, F part) {
  if (context.in(0).dtype == DType::kComplex64) {
    MapComplex<float>(context, part);
  } else {
    MapComplex<double>(context, part);
  }
  return Status::Ok();
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_COMPLEX_PART_H_
