// The kernels that measure a device's limits compute what they say.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/gpu/gpu_program.h"
#include "kernels/gpu/launch.h"
#include "runtime/backend/opencl/context.h"
#include "tests/runtime/backend/opencl/apart_device.h"
#include "tests/runtime/backend/opencl/support.h"

namespace topwork {
namespace opencl_limits_test {

constexpr int kItems = 64;

GpuBlock BlockOf(size_t offset, size_t n_launches) {
  GpuBlock block;
  block.bytes = kItems * sizeof(float);
  block.offset = offset;
  block.last = static_cast<int>(n_launches) - 1;
  return block;
}

Launch LaunchOf(const char* kernel, size_t n_items) {
  Launch launch;
  launch.program = "limits";
  launch.kernel = kernel;
  launch.arguments = {LaunchArgument::Buffer(0), LaunchArgument::Buffer(1)};
  launch.global[0] = n_items;
  return launch;
}

Launch ChainOf(const char* kernel, int n) {
  Launch launch = LaunchOf(kernel, kItems);
  launch.arguments.push_back(LaunchArgument::Int(n));
  return launch;
}

// What the launches leave in the second block; the first one holds 0, 1, 2, ...
std::vector<float> RunLaunches(const Device& apart, std::vector<Launch> launches) {
  GpuProgram program;
  program.blocks = {BlockOf(0, launches.size()), BlockOf(4096, launches.size())};
  program.arena_bytes = 2 * 4096;
  program.inputs = {0};
  program.outputs = {1};
  program.input_formats.resize(1);
  program.output_formats.resize(1);
  program.part_ends = {static_cast<int>(launches.size())};
  program.launches = std::move(launches);
  auto loaded = apart.Load(std::move(program));
  REQUIRE(loaded.status().ToString() == "OK");
  auto attached = apart.Attach({loaded.value()});
  REQUIRE(attached.status().ToString() == "OK");
  std::vector<float> in(kItems), out(kItems);
  for (int i = 0; i < kItems; ++i) in[static_cast<size_t>(i)] = static_cast<float>(i);
  TensorView from, to;
  from.shape = to.shape = Shape({kItems});
  from.data = in.data();
  to.data = out.data();
  const TensorView* const inputs[] = {&from};
  TensorView* const outputs[] = {&to};
  const ProgramTensors tensors = {{inputs, 1}, {outputs, 1}};
  attached.value()->Bind({tensors});
  REQUIRE(attached.value()->Run(0, tensors, nullptr).ToString() == "OK");
  return out;
}

double Chain(double x, int n_steps) {
  for (int i = 0; i < n_steps; ++i) x = x * 0.999 + 0.001;
  return x;
}

TEST_CASE("opencl kernels: a device's limits", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  const test::ApartDevice apart(context.value(), Storage::kFloat32);
  const std::vector<float> sums = RunLaunches(apart, {ChainOf("limits_add", 2)});
  // Without a round 4 x + 6; the stream then halves its sum with x.
  const std::vector<float> halves =
      RunLaunches(apart, {ChainOf("limits_dot", 0), LaunchOf("limits_stream", kItems / 4)});
  for (int i = 0; i < kItems; ++i) {
    const size_t k = static_cast<size_t>(i);
    double sum = 0.0;
    for (int j = 0; j < 4; ++j) sum += 4.0 * Chain(i + j, 2 * 16);
    CHECK(sums[k] == Approx(sum).epsilon(1e-4));
    CHECK(halves[k] == 0.5f * static_cast<float>(5 * i + 6));
  }
}

}  // namespace opencl_limits_test
}  // namespace topwork
