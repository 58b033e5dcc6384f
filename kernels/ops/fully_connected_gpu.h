// FULLY_CONNECTED on an accelerator: the launch of kernels/ops/fully_connected.cl.
#ifndef TOPWORK_KERNELS_OPS_FULLY_CONNECTED_GPU_H_
#define TOPWORK_KERNELS_OPS_FULLY_CONNECTED_GPU_H_

#include "kernels/launch.h"
#include "kernels/op_params.h"

namespace topwork {

struct FullyConnectedLaunch {
  Storage storage = Storage::kFloat32;      // of all buffers
  int32_t batch = 0, units = 0, depth = 0;  // all ≥ 1
  Activation activation = Activation::kNone;
  LaunchArgument input;    // [batch x depth]
  LaunchArgument weights;  // [units x depth]
  LaunchArgument bias;     // [units]; Int(0) where there is none
  LaunchArgument output;   // [batch x units]
};

// Matrix-vector kernels up to 4 rows, tiles beyond.
Launch MakeLaunch(const FullyConnectedLaunch& op);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_FULLY_CONNECTED_GPU_H_
