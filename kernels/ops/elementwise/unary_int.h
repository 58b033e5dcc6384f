// A loop over an integer tensor, for the operators that take integers besides float32.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_UNARY_INT_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_UNARY_INT_H_

#include "kernels/contract/kernel.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {

// y[i] = f(x[i]) over the whole tensor.
template <typename T, typename F>
void MapInts(const RunContext& context, F f) {
  const T* x = context.input_data<T>(0);
  T* y = context.output_data<T>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), static_cast<int64_t>(sizeof(T)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) y[i] = f(x[i]);
               });
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_UNARY_INT_H_
