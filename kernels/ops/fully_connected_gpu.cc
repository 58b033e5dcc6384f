// Which kernel of fully_connected.cl, and over how many work-items.
#include "kernels/ops/fully_connected_gpu.h"

#include "kernels/ops/activation.h"

namespace topwork {
namespace {

// Up to this many rows each reads all weights: then a tile of 32 rows would be mostly empty.
constexpr int32_t kMostVectorRows = 4;
constexpr size_t kTile = 32, kTileItems = 8, kVectorItems = 64;

}  // namespace

Launch MakeLaunch(const FullyConnectedLaunch& op) {
  Launch launch;
  launch.program = "fully_connected";
  launch.defines = StorageDefines(op.storage);
  const bool has_bias = op.bias.kind == LaunchArgument::Kind::kBuffer;
  // A kernel's buffer may not be left out; the weights stand in and are not read.
  launch.arguments = {op.input, op.weights, has_bias ? op.bias : op.weights, op.output};
  const size_t units = static_cast<size_t>(op.units), batch = static_cast<size_t>(op.batch);
  if (op.batch <= kMostVectorRows) {
    launch.entry = "fully_connected_gemv";
    launch.global[0] = units * kVectorItems;
    launch.global[1] = batch;
    launch.local[0] = kVectorItems;
    launch.local[1] = 1;
  } else {
    launch.entry = "fully_connected_gemm";
    launch.arguments.push_back(LaunchArgument::Int(op.batch));
    launch.global[0] = RoundUp(units, kTile) / kTile * kTileItems;
    launch.global[1] = RoundUp(batch, kTile) / kTile * kTileItems;
    launch.local[0] = launch.local[1] = kTileItems;
  }
  launch.local[2] = 1;
  float lo = 0.0f, hi = 0.0f;
  ActivationRange(op.activation, &lo, &hi);
  for (const int32_t value :
       {op.units, op.depth, int32_t{has_bias}, int32_t{op.activation == Activation::kTanh}}) {
    launch.arguments.push_back(LaunchArgument::Int(value));
  }
  launch.arguments.push_back(LaunchArgument::Float(lo));
  launch.arguments.push_back(LaunchArgument::Float(hi));
  return launch;
}

}  // namespace topwork
