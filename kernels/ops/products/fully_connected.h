// What the float and the quantized FULLY_CONNECTED share.
#ifndef TOPWORK_KERNELS_OPS_PRODUCTS_FULLY_CONNECTED_H_
#define TOPWORK_KERNELS_OPS_PRODUCTS_FULLY_CONNECTED_H_

#include <cstdint>

#include "kernels/contract/kernel.h"
#include "kernels/ops/products/integer_product.h"

namespace topwork {

struct FullyConnectedShape {
  int64_t batch = 0, depth = 0, units = 0;
};

// Integer and dynamic-range products (fully_connected_quantized.cc); shapes and types were checked
// and the output is set.
Status PrepareQuantizedFullyConnected(PrepareContext* context, const FullyConnectedShape& shape,
                                      Arithmetic arithmetic);
Status RunQuantizedFullyConnected(const RunContext& context);

// Integer forms with int16 results that the above has not (fully_connected_rare.cc).
bool IsRareFullyConnected(const OpParams& params, DType data, DType weights, DType output);
Status PrepareRareFullyConnected(PrepareContext* context, const FullyConnectedShape& shape,
                                 const Shape& out);
Status RunRareFullyConnected(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_PRODUCTS_FULLY_CONNECTED_H_
