// A device's limits, by programs of kernels/gpu/limits.cl. Each number is the difference of two
// programs, so that what both have in common (transfers, starting, waiting) drops out.
#include <algorithm>
#include <functional>

#include "ports/cli/benchmark/limits.h"
#include "ports/port.h"
#include "runtime/backend/devices.h"

namespace topwork {
namespace cli {
namespace {

constexpr int kItems = 64;  // of the tensors that go in and out
constexpr int kTimes = 5;
constexpr double kLongNanos = 10e6;  // of what is measured
constexpr size_t kThreads = size_t{1} << 16;
constexpr size_t kStreams[] = {16u << 10, 128u << 10, 1u << 20, 8u << 20, 64u << 20};

void CheckDevice(const Status& status) {
  if (!status.ok()) throw CliError(kExitUnsupported, "--roofline: " + status.message());
}

GpuBlock BlockOf(size_t bytes, size_t offset, int n_launches) {
  GpuBlock block;
  block.bytes = bytes;
  block.offset = offset;
  block.last = n_launches - 1;
  return block;
}

// A program of one float tensor in and one out, with two blocks of `bytes` for its launches.
GpuProgram ProgramOf(std::vector<Launch> launches, size_t bytes) {
  GpuProgram program;
  const size_t small = 4096, large = RoundUp(bytes, 4096);
  const int n = static_cast<int>(launches.size());
  program.blocks = {BlockOf(kItems * sizeof(float), 0, n),
                    BlockOf(kItems * sizeof(float), small, n), BlockOf(bytes, 2 * small, n),
                    BlockOf(bytes, 2 * small + large, n)};
  program.arena_bytes = 2 * small + 2 * large;
  program.inputs = {0};
  program.outputs = {1};
  program.input_formats.resize(1);
  program.output_formats.resize(1);
  program.part_ends = {n};
  program.launches = std::move(launches);
  return program;
}

Launch LaunchOf(const char* kernel, size_t n_items, std::vector<LaunchArgument> arguments) {
  Launch launch;
  launch.program = "limits";
  launch.kernel = kernel;
  launch.arguments = std::move(arguments);
  launch.global[0] = n_items;
  return launch;
}

// The least time that a run of the program took.
double ProgramNanos(const Device& device, GpuProgram program) {
  LoadedPrograms loaded(1);
  Result<std::shared_ptr<const LoadedProgram>> result = device.Load(std::move(program));
  CheckDevice(result.status());
  loaded[0] = result.value();
  Result<std::unique_ptr<AttachedPrograms>> attached = device.Attach(loaded);
  CheckDevice(attached.status());
  std::vector<float> in(kItems, 1.0f), out(kItems);
  TensorView from, to;
  from.shape = to.shape = Shape({kItems});
  from.data = in.data();
  to.data = out.data();
  const TensorView* const inputs[] = {&from};
  TensorView* const outputs[] = {&to};
  const ProgramTensors tensors = {{inputs, 1}, {outputs, 1}};
  attached.value()->Bind({tensors});
  CheckDevice(attached.value()->Run(0, tensors, nullptr));
  double best = 1e18;
  for (int i = 0; i < kTimes; ++i) {
    const int64_t start = port::NowNanos();
    CheckDevice(attached.value()->Run(0, tensors, nullptr));
    best = std::min(best, static_cast<double>(port::NowNanos() - start));
  }
  return best;
}

// Units of work per second: `make(n)` makes a program of n times `unit`; n grows until n times take
// long enough.
double Rate(const Device& device, double unit, const std::function<GpuProgram(int n)>& make) {
  const double one = ProgramNanos(device, make(1));
  for (int n = 5;; n *= 4) {
    const double nanos = ProgramNanos(device, make(n)) - one;
    if (nanos > kLongNanos || n > (1 << 16)) return unit * (n - 1) / std::max(nanos, 1.0) * 1e9;
  }
}

// Operations per second of chains; 64 steps of `per_step` operations a round.
double ChainRate(const Device& device, const char* kernel, double per_step) {
  return Rate(device, 64.0 * per_step * kThreads, [&](int n) {
    return ProgramOf(
        {LaunchOf(kernel, kThreads,
                  {LaunchArgument::Buffer(0), LaunchArgument::Buffer(2), LaunchArgument::Int(n)})},
        kThreads * sizeof(float));
  });
}

// Launches of the stream over n_floats, n of them.
GpuProgram Streams(size_t n_floats, int n) {
  const Launch launch = LaunchOf("limits_stream", n_floats / 4,
                                 {LaunchArgument::Buffer(2), LaunchArgument::Buffer(3)});
  return ProgramOf(std::vector<Launch>(static_cast<size_t>(n), launch), n_floats * sizeof(float));
}

bool HasByteProducts(const std::string& device) {
  const std::vector<tw_device_info> devices = CheckValue(tw::Devices());
  return std::any_of(devices.begin(), devices.end(), [&](const tw_device_info& info) {
    return device == info.id && info.has_int_dot != 0;
  });
}

}  // namespace

Json MeasureOpenClLimits(const std::string& name) {
  const Result<DeviceName> parsed = ParseDeviceName(name);
  CheckDevice(parsed.status());
  const bool is_auto = parsed.value().is_auto();
  const Result<FoundDevice> found = is_auto ? FindAutoDevice() : FindDevice(parsed.value());
  CheckDevice(found.status());
  const Result<std::shared_ptr<const Device>> opened =
      OpenDevice(found.value().name, OpenOptions());
  CheckDevice(opened.status());
  const Device& device = *opened.value();
  const std::string id = "opencl:" + std::to_string(found.value().name.number);
  Json json = {{"name", id}, {"device", found.value().info->name}};
  json["instructions"] = Json::object();
  json["flops_per_s"] = ChainRate(device, "limits_add", 8.0);
  json["byte_ops_per_s"] =
      HasByteProducts(id) ? Json(ChainRate(device, "limits_dot", 8.0)) : Json();
  json["bytes_per_s"] = Json::array();
  for (size_t bytes : kStreams) {
    const size_t n_floats = bytes / (2 * sizeof(float));
    const double rate = Rate(device, 3.0 * sizeof(float) * static_cast<double>(n_floats),
                             [&](int n) { return Streams(n_floats, n); });
    json["bytes_per_s"].push_back({{"bytes", bytes}, {"bytes_per_s", rate}});
  }
  const double one = ProgramNanos(device, Streams(64, 1));
  json["launch_ns"] = 1e9 / Rate(device, 1.0, [&](int n) { return Streams(64, n); });
  json["round_trip_ns"] = one;
  return json;
}

}  // namespace cli
}  // namespace topwork
