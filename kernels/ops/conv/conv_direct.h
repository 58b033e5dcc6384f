// Convolution that reads the image in place: no patches are gathered.
#ifndef TOPWORK_KERNELS_OPS_CONV_CONV_DIRECT_H_
#define TOPWORK_KERNELS_OPS_CONV_CONV_DIRECT_H_

#include <cstdint>

#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/result_function.h"
#include "kernels/ops/shared/window.h"

namespace topwork {

struct DirectConv {
  Window window;
  int64_t batch = 0, in_c = 0, out_c = 0;
  int64_t rows_per_task = 1;
};

// Whether reading in place is faster: the taps are horizontally dense, rows are so wide that
// borders matter little, and output channels are so few that gathering would cost more than it
// saves.
bool IsDirectConv(const Window& window, int64_t out_c);

// Fills rows_per_task from the problem's shape.
void CutDirectConv(DirectConv* conv);
// How many tasks that makes.
int64_t DirectConvTasks(const DirectConv& conv);

// The most values of A that one of its products reads, where overlapping rows count once.
int64_t MostValues(const DirectConv& conv);

// Runs the whole convolution, one group. `whole` has packed, bias, residual, c, n, k, lo and hi
// set.
void RunDirectConv(const DirectConv& conv, const float* input, const GemmTask& whole,
                   const GemmKernels& kernels, const GemmWork& work, const RunContext& context,
                   const ResultFunction* function = nullptr);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_CONV_DIRECT_H_
