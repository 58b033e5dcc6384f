// The launch of FULLY_CONNECTED: which kernel, how many work-items, which arguments.
#include "kernels/ops/fully_connected_gpu.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace topwork {
namespace fully_connected_launch_test {

using Kind = LaunchArgument::Kind;

Launch Made(int batch, int units, int depth) {
  FullyConnectedLaunch op;
  op.batch = batch;
  op.units = units;
  op.depth = depth;
  op.input = LaunchArgument::Buffer(0);
  op.weights = LaunchArgument::Buffer(1);
  op.output = LaunchArgument::Buffer(3);
  return MakeLaunch(op);
}

TEST_CASE("fully_connected launch: few rows by vectors, many by tiles", "[ops]") {
  const Launch vector = Made(4, 7, 100);
  CHECK(vector.entry == std::string("fully_connected_gemv"));
  CHECK(vector.global[0] == 7 * 64);
  CHECK(vector.global[1] == 4);
  const Launch tiles = Made(33, 65, 100);
  CHECK(tiles.entry == std::string("fully_connected_gemm"));
  CHECK(tiles.global[0] == 3 * 8);  // 65 units take three tiles of 32
  CHECK(tiles.global[1] == 2 * 8);
  for (const Launch& launch : {vector, tiles}) {
    CHECK(launch.program == std::string("fully_connected"));
    for (int i = 0; i < 3; ++i) CHECK(launch.global[i] % launch.local[i] == 0);
  }
  CHECK(tiles.arguments.size() == vector.arguments.size() + 1);  // the number of rows
}

TEST_CASE("fully_connected launch: storage, bias and activation", "[ops]") {
  FullyConnectedLaunch op;
  op.batch = op.units = op.depth = 1;
  op.input = LaunchArgument::Buffer(5, 128, 4);
  op.weights = LaunchArgument::Buffer(1);
  op.output = LaunchArgument::Buffer(3);
  op.activation = Activation::kRelu6;
  Launch launch = MakeLaunch(op);
  CHECK(launch.defines == "");
  REQUIRE(launch.arguments.size() == 10);
  CHECK(launch.arguments[0].offset_bytes == 128);
  CHECK(launch.arguments[2].buffer == 1);   // the weights stand in for a bias
  CHECK(launch.arguments[6].integer == 0);  // that is not read
  CHECK(launch.arguments[7].integer == 0);
  CHECK(launch.arguments[8].real == 0.0f);
  CHECK(launch.arguments[9].real == 6.0f);
  op.bias = LaunchArgument::Buffer(2);
  op.storage = Storage::kFloat16;
  op.activation = Activation::kTanh;
  launch = MakeLaunch(op);
  CHECK(launch.defines == "-DTW_HALF");
  CHECK(launch.arguments[2].buffer == 2);
  CHECK(launch.arguments[6].integer == 1);
  CHECK(launch.arguments[7].integer == 1);
  CHECK(std::isinf(launch.arguments[9].real));
}

}  // namespace fully_connected_launch_test
}  // namespace topwork
