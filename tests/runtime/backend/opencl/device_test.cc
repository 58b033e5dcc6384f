// This machine's OpenCL devices: what is known of them, and the objects made on them.
#include "runtime/backend/opencl/device.h"

#include <catch2/catch.hpp>

#include "runtime/backend/devices.h"
#include "runtime/backend/opencl/handles.h"
#include "tests/runtime/backend/opencl/support.h"

namespace topwork {
namespace device_test {

TEST_CASE("opencl device: answers are plausible", "[opencl]") {
  TW_NEED_DEVICE(device);
  const DeviceInfo& info = device.info;
  CHECK(!info.name.empty());
  CHECK(!info.platform.empty());
  CHECK(!info.driver.empty());
  CHECK(info.version_number >= 102);
  CHECK(info.memory_bytes >= info.max_allocation_bytes);
  CHECK(info.max_allocation_bytes >= (1u << 20));
  CHECK(info.compute_units >= 1);
  CHECK(info.max_work_group >= 64);
  CHECK(info.base_align_bytes >= 4);
  CHECK(info.usable);
  CHECK(info.reason.empty());
  CHECK(DriverIdentity(info).find(info.driver) != std::string::npos);
}

TEST_CASE("devices: a device is found by number and by name, and opened", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto devices = ListDevices();
  REQUIRE(devices.status().ToString() == "OK");
  int n_opened = 0;
  for (size_t i = 0; i < devices.value()->size(); ++i) {
    const DeviceInfo& info = (*devices.value())[i];
    if (!info.usable) continue;
    const DeviceName number = DeviceName::Opencl(static_cast<int>(i));
    const Result<FoundDevice> found = FindDevice(number);
    REQUIRE(found.ok());
    CHECK(found.value().info == &info);
    CHECK(found.value().name == number);
    const DeviceName text{DeviceName::Kind::kOpencl, -1, info.name};
    CHECK(FindDevice(text).value().info->name == info.name);
    OpenOptions options;
    options.cache_folder = "off";
    options.storage = Storage::kFloat16;
    const auto opened = OpenDevice(text, options);
    REQUIRE(opened.status().ToString() == "OK");
    CHECK(opened.value()->storage() == Storage::kFloat16);
    CHECK(opened.value()->limits().total_bytes == info.memory_bytes);
    n_opened += info.name == device.info.name;
  }
  CHECK(n_opened >= 1);
}

TEST_CASE("opencl device: contexts, queues, buffers and their parts", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::CreateContext(*device.api, device.platform, device.id);
  REQUIRE(context.status().ToString() == "OK");
  auto queue = opencl::CreateQueue(context.value(), device.id, CL_QUEUE_PROFILING_ENABLE);
  REQUIRE(queue.status().ToString() == "OK");
  const size_t align = device.info.base_align_bytes;
  auto buffer = opencl::CreateBuffer(context.value(), 4 * align);
  REQUIRE(buffer.status().ToString() == "OK");
  auto part = opencl::CreateSubBuffer(buffer.value(), align, align);
  REQUIRE(part.status().ToString() == "OK");
  opencl::MemHandle moved = std::move(part.value());
  CHECK(moved);
  CHECK(!part.value());
  moved = opencl::MemHandle();
  CHECK(!moved);
}

TEST_CASE("opencl device: a program that does not compile comes with its log", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::CreateContext(*device.api, device.platform, device.id);
  REQUIRE(context.ok());
  const auto program = opencl::BuildFromSource(context.value(), device.id, "bad.cl",
                                               "__kernel void k() { undeclared_thing = 1; }", "");
  REQUIRE(!program.ok());
  INFO(program.status().message());
  CHECK(program.status().message().find("bad.cl") != std::string::npos);
  CHECK(program.status().message().find("undeclared_thing") != std::string::npos);
}

// NVIDIA's driver gives more than it declares, as it may.
TEST_CASE("opencl device: a buffer beyond the limit is a clear failure, if any", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::CreateContext(*device.api, device.platform, device.id);
  REQUIRE(context.ok());
  const auto buffer = opencl::CreateBuffer(
      context.value(), static_cast<size_t>(device.info.max_allocation_bytes) + (1u << 20));
  CHECK((buffer.ok() || buffer.status().code() == StatusCode::kOutOfMemory));
}

}  // namespace device_test
}  // namespace topwork
