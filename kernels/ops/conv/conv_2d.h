// What the float and the quantized CONV_2D share.
#ifndef TOPWORK_KERNELS_OPS_CONV_CONV_2D_H_
#define TOPWORK_KERNELS_OPS_CONV_CONV_2D_H_

#include <cstdint>

#include "kernels/contract/kernel.h"
#include "kernels/ops/products/integer_product.h"
#include "kernels/ops/shared/window.h"

namespace topwork {

struct ConvShape {
  Window window;
  int64_t batch = 0, in_c = 0, out_c = 0;
  int64_t group_in = 0, group_out = 0;  // channels of one group
  int64_t groups() const { return in_c / group_in; }
};

// Ranks, channels, groups and the window of inputs 0 and 1.
Status CheckConvShapes(const PrepareContext& context, ConvShape* shape);

// Integer and dynamic-range convolution (conv_2d_quantized.cc); shapes and types were checked and
// the output is set. `transposed`: the filter is [1, h, w, out channels], of one input channel.
Status PrepareQuantizedConv(PrepareContext* context, const ConvShape& shape, Arithmetic arithmetic,
                            bool transposed = false);
Status RunQuantizedConv(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_CONV_2D_H_
