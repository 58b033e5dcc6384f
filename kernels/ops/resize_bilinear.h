// What RESIZE_BILINEAR of floats and of quantized images share.
#ifndef TOPWORK_KERNELS_OPS_RESIZE_BILINEAR_H_
#define TOPWORK_KERNELS_OPS_RESIZE_BILINEAR_H_

#include "kernels/kernel.h"

namespace topwork {

// The two input pixels and the second one's weight for an output pixel, along one axis.
struct BilinearMix {
  int32_t first, second;
  float weight;
};

// For output pixel i of an axis with `in` input pixels, `scale` of them to an output pixel.
BilinearMix MixAt(const OpParams& params, int32_t i, int32_t in, float scale);

// int8 and int16: positions and weights in 1/1024, as TFLite has them; uint8: float weights,
// rounded to nearest. The output is set.
Status PrepareResizeBilinearQuant(PrepareContext& context);
Status RunResizeBilinearQuant(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_RESIZE_BILINEAR_H_
