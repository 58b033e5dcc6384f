// Small dense layers, and the means of an image before them, as one launch (squeeze.cl). They are
// found among launches that were planned one by one.
#ifndef TOPWORK_KERNELS_OPS_PRODUCTS_SQUEEZE_GPU_H_
#define TOPWORK_KERNELS_OPS_PRODUCTS_SQUEEZE_GPU_H_

#include "kernels/gpu/launch.h"

namespace topwork {

// Whether a product of m rows is so small that a work-group may compute a row of it by itself.
bool IsSqueezable(int64_t m, int64_t n, int64_t k);

// The block that a dense layer which can be part of a squeeze reads; −1: it is none.
int SqueezeInput(const Launch& dense);

// What makes that block, and the layer, as one launch. `maker` is such a layer, a squeeze of one, or
// a global pool or a reduction that takes means. False, and nothing is changed, where they cannot be
// one.
bool JoinSqueeze(const Launch& maker, const Launch& dense, Launch* joined);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_PRODUCTS_SQUEEZE_GPU_H_
