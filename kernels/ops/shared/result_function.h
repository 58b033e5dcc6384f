// The function of each element that a convolution ends with: LOGISTIC, its product with the input and HARD_SWISH
// after one become part of it (OpParams::fused_function), for values that are still in the cache.
#ifndef TOPWORK_KERNELS_OPS_SHARED_RESULT_FUNCTION_H_
#define TOPWORK_KERNELS_OPS_SHARED_RESULT_FUNCTION_H_

#include <cstdint>

#include "kernels/contract/kernel.h"
#include "kernels/contract/selection.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/ops/shared/dynamic_range.h"

namespace topwork {

class ResultFunction {
 public:
  // `range`: of the results; it outlives this.
  ResultFunction(const RunContext& context, const RangeKeeper& range)
      : cpu_(*context.cpu), range_(range), fn_(context.params->fused_function) {}
  // Without one, a kernel's results are the operator's, and so is the range that the kernel keeps.
  bool is_there() const { return kFusesFunctions && fn_ >= 0; }
  const ResultFunction* OrNull() const { return is_there() ? this : nullptr; }
  // Of what the thread has just written, each element once. Takes the results into the range.
  void Apply(int thread, FloatRows rows) const {
    if (rows.n == rows.step) rows = {rows.values, 1, rows.rows * rows.n, 0};
    cpu_.elementwise->end_rows(static_cast<UnaryFn>(fn_), rows, range_.Of(thread));
  }

 private:
  const CpuKernels& cpu_;
  const RangeKeeper& range_;
  const int fn_;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_RESULT_FUNCTION_H_
