// CONV_2D of 3x3 taps through Winograd's transforms (winograd.cl): F(2x2, 3x3) does 2.25 times
// fewer multiplications than the direct form and F(4x4, 3x3) 4 times, for memory and two more
// passes.
#ifndef TOPWORK_KERNELS_OPS_CONV_WINOGRAD_GPU_H_
#define TOPWORK_KERNELS_OPS_CONV_WINOGRAD_GPU_H_

#include <vector>

#include "kernels/gpu/gpu_context.h"
#include "kernels/ops/shared/window.h"

namespace topwork {

struct WinogradRow {
  int tile;             // outputs of a tile in each direction
  const char* variant;  // its name
};

// The rows that the layer can use within the program's scratch limit and that are worth measuring;
// empty unless the layer is 3x3 with stride and dilation 1 in one group.
std::vector<const WinogradRow*> WinogradFits(const GpuContext& context, const Window& window);
// The first of them that the device's family takes without a measurement; null: the direct form.
const WinogradRow* WinogradUsual(const GpuContext& context, const Window& window,
                                 const std::vector<const WinogradRow*>& fits);

void AddWinograd(GpuContext& context, const Window& window, const WinogradRow& row);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_WINOGRAD_GPU_H_
