// What the float and the quantized DEPTHWISE_CONV_2D share.
#ifndef TOPWORK_KERNELS_OPS_CONV_DEPTHWISE_CONV_2D_H_
#define TOPWORK_KERNELS_OPS_CONV_DEPTHWISE_CONV_2D_H_

#include <cstdint>

#include "kernels/contract/kernel.h"
#include "kernels/cpu/depthwise.h"
#include "kernels/ops/products/integer_product.h"
#include "kernels/ops/shared/window.h"

namespace topwork {

// The geometry of a row of output, and how many rows there are.
struct DepthwiseRows {
  DepthwiseShape shape;
  int64_t batch = 0, out_h = 0;
  int64_t rows_per_task = 1;
  int64_t n_tasks() const { return (batch * out_h + rows_per_task - 1) / rows_per_task; }
};

// Integer and dynamic-range convolution (depthwise_conv_2d_quantized.cc); shapes and types were
// checked and the output is set.
Status PrepareQuantizedDepthwise(PrepareContext* context, const Window& window,
                                 const DepthwiseRows& rows, Arithmetic arithmetic);
Status RunQuantizedDepthwise(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_DEPTHWISE_CONV_2D_H_
