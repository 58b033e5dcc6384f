// CONV_3D and CONV_3D_TRANSPOSE: windows over volumes [batch, depth, height, width, channels].
#ifndef TOPWORK_KERNELS_OPS_CONV_3D_H_
#define TOPWORK_KERNELS_OPS_CONV_3D_H_

#include "kernels/ops/window.h"

namespace topwork {

// Axes 0, 1, 2 are depth, height, width; `in` is the size of the volume that the window slides over
// (of CONV_3D_TRANSPOSE: its output), `out` the number of positions.
struct Volume : OpState {
  WindowAxis axis[3];
  int64_t batch = 1, in_channels = 1, out_channels = 1;
};

Status ParseConv3d(const OptionsView& options, OpParams* params);

// Volume and filter are inputs or outputs of rank 5; `size` is the shape that the window slides
// over. Fills the axes from the parameters.
Status MakeVolume(const PrepareContext& context, const Shape& size, const Shape& filter,
                  Volume* volume);
// Inputs `data`, `filter` and (optional) `bias` are float32, of ranks 5, 5 and any.
Status CheckConv3dInputs(const PrepareContext& context, int data, int filter, int bias,
                         int64_t out_channels);
// y = activation(y + bias) for `n` pixels; bias may be null.
void FinishPixels(Activation activation, const float* bias, int64_t channels, int64_t n, float* y);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_3D_H_
