// Faults of drivers: whatever call fails, a run ends in the right answer or in a clear Status, and
// nothing that was made is left behind. A driver that aborts is not used again.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "ports/port.h"
#include "runtime/backend/opencl/crash_marker.h"
#include "runtime/backend/opencl/stream.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/runtime/backend/opencl/use_shim.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace fault_test {

using opencl::ClApi;
using opencl::Context;

constexpr int kElements = 3;

// How a run goes: programs from the disk or from source, whole buffers or parts of one, timed.
struct Mode {
  const char* cache;
  bool parts;
};

// Copies three numbers in reverse order.
Launch MakeCopy(size_t part, bool parts) {
  const auto buffer = [&](int i) {
    return parts
               ? LaunchArgument::Buffer(0, static_cast<size_t>(i) * part, kElements * sizeof(float))
               : LaunchArgument::Buffer(i);
  };
  Launch launch;
  launch.program = "strided_copy";
  launch.kernel = "strided_copy";
  launch.arguments = {buffer(0),
                      buffer(2),
                      buffer(1),
                      LaunchArgument::Int(1),
                      LaunchArgument::Int(kElements),
                      LaunchArgument::Int(kElements - 1),
                      LaunchArgument::Int(0)};
  launch.global[0] = kElements;
  return launch;
}

// Everything that a first use of a device does, from finding it to an answer.
Result<std::vector<float>> RunOnce(const ClApi& api, const Mode& mode) {
  TW_ASSIGN_OR_RETURN(const std::vector<opencl::Device> devices, opencl::EnumerateDevices(api));
  TW_ASSIGN_OR_RETURN(const size_t index,
                      opencl::ChooseDevice(opencl::InfoOf(devices), DeviceName::Opencl(0)));
  opencl::ContextOptions options;
  options.cache_folder = mode.cache;
  TW_ASSIGN_OR_RETURN(const auto context, Context::Create(devices[index], options));
  opencl::StreamOptions stream_options;
  stream_options.profile = mode.parts;
  TW_ASSIGN_OR_RETURN(opencl::Stream stream, opencl::Stream::Create(context.get(), stream_options));
  const size_t part = RoundUp(64, context->info().base_align_bytes);
  std::vector<opencl::MemHandle> buffers;
  for (int i = 0; i < (mode.parts ? 1 : 3); ++i) {
    TW_ASSIGN_OR_RETURN(opencl::MemHandle buffer,
                        opencl::CreateBuffer(context->handle(), 3 * part));
    buffers.push_back(std::move(buffer));
  }
  const std::vector<float> input = {10, 20, 30};
  const std::vector<int32_t> loops = {kElements, -1, 1};
  std::vector<float> output(kElements);
  const size_t second = mode.parts ? 0 : 1, third = mode.parts ? 0 : 2;
  TW_RETURN_IF_ERROR(stream.Upload(buffers[0], 0, input.data(), input.size() * 4));
  TW_RETURN_IF_ERROR(
      stream.Upload(buffers[second], mode.parts ? part : 0, loops.data(), loops.size() * 4));
  const Launch launch = MakeCopy(part, mode.parts);
  TW_ASSIGN_OR_RETURN(opencl::Commands commands, stream.Record({&launch, 1}, buffers));
  if (mode.parts) {
    std::vector<int64_t> nanos;
    TW_RETURN_IF_ERROR(stream.SubmitTimed(&commands, &nanos));
  } else {
    TW_RETURN_IF_ERROR(stream.Submit(&commands));
  }
  TW_RETURN_IF_ERROR(
      stream.Download(buffers[third], mode.parts ? 2 * part : 0, output.data(), output.size() * 4));
  return output;
}

// What is wrong with the outcome of a run; "" when nothing is.
std::string Judge(const Result<std::vector<float>>& result) {
  if (!result.ok()) {
    const bool clear = result.status().message().find("OpenCL") != std::string::npos;
    return clear ? "" : "unclear: " + result.status().ToString();
  }
  const bool right = result.value() == std::vector<float>{30, 20, 10};
  return right ? "" : "a wrong answer without a failure";
}

TEST_CASE("opencl faults: whatever call fails, the answer is right or the Status clear",
          "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  std::string reason;
  const test::Shim shim = test::OpenShim(&reason);
  if (shim.api == nullptr) TW_SKIP("no fault shim beside the test binary: " + reason);
  const test::TempFolder folder;
  const std::string cache = folder / "cache";
  int runs = 0, failed = 0;
  for (const Mode& mode :
       {Mode{"off", false}, Mode{cache.c_str(), false}, Mode{cache.c_str(), true}}) {
    shim.fail(0, 0);
    REQUIRE(RunOnce(*shim.api, mode).ok());  // fills the cache
    shim.fail(0, 0);
    REQUIRE(Judge(RunOnce(*shim.api, mode)) == "");
    REQUIRE(shim.objects() == 0);
    const long calls = shim.calls();
    REQUIRE(calls > 40);
    for (long k = 1; k <= calls; ++k) {
      for (const int code : test::kFaultCodes) {
        shim.fail(k, code);
        const Result<std::vector<float>> result = RunOnce(*shim.api, mode);
        const std::string wrong = Judge(result);
        const long left = shim.objects();
        ++runs;
        failed += result.ok() ? 0 : 1;
        if (wrong.empty() && left == 0) continue;
        INFO("call " << k << ", code " << code << ", " << mode.cache << ", " << left << " left");
        FAIL(wrong);
      }
    }
  }
  shim.fail(0, 0);
  INFO(runs << " runs, " << failed << " of them ended in a Status");
  CHECK(runs >= 1000);
  CHECK(failed > runs / 4);
  CHECK(failed < runs);  // some calls can be done without
}

TEST_CASE("opencl faults: a cached program is not compiled from source", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  std::string reason;
  const test::Shim shim = test::OpenShim(&reason);
  if (shim.api == nullptr) TW_SKIP("no fault shim beside the test binary: " + reason);
  const test::TempFolder folder;
  const std::string cache = folder / "cache";
  const Mode mode = {cache.c_str(), false};
  shim.fail(0, 0);
  const long before = shim.compiled();
  REQUIRE(RunOnce(*shim.api, mode).ok());
  CHECK(shim.compiled() == before + 2);
  REQUIRE(RunOnce(*shim.api, mode).ok());
  CHECK(shim.compiled() == before + 2);
}

// Run by the next test in a process of its own, with a cache folder of its own: by hand it would
// disable this machine's driver.
TEST_CASE("opencl faults: (a driver that ends the process)", "[.opencl-crash]") {
  REQUIRE(std::getenv("TOPWORK_CRASH_TEST") != nullptr);
  std::string reason;
  const test::Shim shim = test::OpenShim(&reason);
  REQUIRE(shim.api != nullptr);
  const auto devices = opencl::EnumerateDevices(*shim.api);
  REQUIRE(devices.ok());
  shim.fail(6, 1);
  const auto context = Context::Create(devices.value()[0], {});
  FAIL("the driver did not end the process");
}

TEST_CASE("opencl faults: a driver that ended the process is not used again", "[opencl]") {
  TW_NEED_DEVICE(device);
  std::string reason;
  const test::Shim shim = test::OpenShim(&reason);
  if (shim.api == nullptr) TW_SKIP("no fault shim beside the test binary: " + reason);
  const test::TempFolder folder;
  const std::string cache = folder / "cache";
  const std::string command = "TOPWORK_CRASH_TEST=1 TOPWORK_CACHE='" + cache + "' '" +
                              test::ProgramPath() + "' '[.opencl-crash]' > '" + (folder / "log") +
                              "' 2>&1";
  const int status = std::system(command.c_str());
  REQUIRE(status != 0);
  INFO(test::ReadWhole(folder / "log"));
  const std::string identity = DriverIdentity(device.info);
  CHECK(opencl::CrashReason(cache, identity) != "");
  const char* variable = std::getenv("TOPWORK_CACHE");
  const std::string old = variable != nullptr ? variable : "";
  setenv("TOPWORK_CACHE", cache.c_str(), 1);
  const auto devices = opencl::EnumerateDevices(*device.api);
  if (variable != nullptr) setenv("TOPWORK_CACHE", old.c_str(), 1);
  if (variable == nullptr) unsetenv("TOPWORK_CACHE");
  REQUIRE(devices.ok());
  bool refused = false;
  for (const opencl::Device& found : devices.value()) {
    if (DriverIdentity(found.info) != identity) continue;
    refused = !found.info.usable;
    CHECK(found.info.reason.find("ended the program") != std::string::npos);
  }
  CHECK(refused);
}

// Run by the next test, as above: the driver ends the process while it builds one program.
TEST_CASE("opencl faults: (a driver that ends the process while it compiles)",
          "[.opencl-crash-compiling]") {
  REQUIRE(std::getenv("TOPWORK_CRASH_TEST") != nullptr);
  std::string reason;
  const test::Shim shim = test::OpenShim(&reason);
  REQUIRE(shim.api != nullptr);
  const auto devices = opencl::EnumerateDevices(*shim.api);
  REQUIRE(devices.ok());
  opencl::ContextOptions options;
  options.cache_folder = "off";
  const auto context = Context::Create(devices.value()[0], options);
  REQUIRE(context.ok());
  shim.fail(2, 1);  // clCreateProgramWithSource, clBuildProgram
  (void)context.value()->MakeKernel("probe", "-DTW_HALF", "probe_f16");
  FAIL("the driver did not end the process");
}

TEST_CASE("opencl faults: a program that ended the process is not compiled again", "[opencl]") {
  TW_NEED_DEVICE(device);
  std::string reason;
  const test::Shim shim = test::OpenShim(&reason);
  if (shim.api == nullptr) TW_SKIP("no fault shim beside the test binary: " + reason);
  const test::TempFolder folder;
  const std::string cache = folder / "cache";
  const std::string command = "TOPWORK_CRASH_TEST=1 TOPWORK_CACHE='" + cache + "' '" +
                              test::ProgramPath() + "' '[.opencl-crash-compiling]' > '" +
                              (folder / "log") + "' 2>&1";
  REQUIRE(std::system(command.c_str()) != 0);
  INFO(test::ReadWhole(folder / "log"));
  const char* variable = std::getenv("TOPWORK_CACHE");
  const std::string old = variable != nullptr ? variable : "";
  setenv("TOPWORK_CACHE", cache.c_str(), 1);
  opencl::ContextOptions options;
  options.cache_folder = "off";
  const auto context = Context::Create(device, options);  // the driver itself is used again
  Status refused, other;
  if (context.ok()) {
    refused = context.value()->MakeKernel("probe", "-DTW_HALF", "probe_f16").status();
    other = context.value()->MakeKernel("cast", "-DTW_HALF", "clear_f16").status();
  }
  if (variable != nullptr) setenv("TOPWORK_CACHE", old.c_str(), 1);
  if (variable == nullptr) unsetenv("TOPWORK_CACHE");
  REQUIRE(context.status().ToString() == "OK");
  CHECK(refused.message().find("probe.cl: its driver ended the program") != std::string::npos);
  CHECK(other.ToString() == "OK");
}

}  // namespace fault_test
}  // namespace topwork
