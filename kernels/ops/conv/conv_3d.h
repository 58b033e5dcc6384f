// CONV_3D and CONV_3D_TRANSPOSE: windows over volumes [batch, depth, height, width, channels].
#ifndef TOPWORK_KERNELS_OPS_CONV_CONV_3D_H_
#define TOPWORK_KERNELS_OPS_CONV_CONV_3D_H_

#include <functional>

#include "kernels/ops/shared/window.h"

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
// Shares rows of the output among threads. Inputs as above; `in` and `out` are the sizes of data
// and output. row(image, z, y, out) sums one row, where `image` is the data of its batch; bias and
// activation are applied afterwards.
using VolumeRow = std::function<void(const float* image, int64_t z, int64_t y, float* out)>;
void RunVolumeRows(const RunContext& context, const Volume& volume, int data, int bias,
                   const int64_t (&in)[3], const int64_t (&out)[3], const VolumeRow& row);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_CONV_3D_H_
