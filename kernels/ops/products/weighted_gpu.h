// What CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED share when they become launches: constant
// weights (input 1), a bias (2), a residual (3) and an activation.
#ifndef TOPWORK_KERNELS_OPS_PRODUCTS_WEIGHTED_GPU_H_
#define TOPWORK_KERNELS_OPS_PRODUCTS_WEIGHTED_GPU_H_

#include <vector>

#include "kernels/gpu/gpu_context.h"
#include "kernels/ops/shared/window.h"

namespace topwork {

inline int64_t Fours(int64_t n) { return (n + 3) / 4; }

// UNSUPPORTED with the reason when weights or bias are not constant.
Status CheckWeights(const GpuContext& context);

bool HasResidual(const GpuContext& context);
// The residual's block; where there is none the output's stands for it, and is not read.
int Residual(GpuContext& context);

// `groups` rows of `per_group` values, each rounded up to `multiple` with zeros; zeros without a
// bias. So many zeros more lie before.
int Bias(GpuContext& context, int64_t groups, int64_t per_group, int64_t multiple = 4,
         int64_t zeros_before = 0);

// The window of an operator whose input 0 and output 0 are NHWC images.
Window WindowOf(const GpuContext& context, int64_t filter_h, int64_t filter_w);

// The arguments that conv_2d.cl and depthwise_conv_2d.cl begin with: blocks, sizes of the images.
std::vector<LaunchArgument> WindowArgs(GpuContext& context, const Window& window, int weights,
                                       int bias);
// And what they end with: the window, whether there is a residual, rows, the activation's bounds.
void AddTaps(const GpuContext& context, const Window& window, std::vector<LaunchArgument>* args);

// Names the operator's work for GpuContext::Choose: what its time depends on, besides the storage.
std::string WorkOf(const char* op, const GpuContext& context, const Window& window);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_PRODUCTS_WEIGHTED_GPU_H_
