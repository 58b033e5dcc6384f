// This machine's OpenCL devices: what is known of them, and the objects made on them.
#include "runtime/backend/opencl/device.h"

#include <catch2/catch.hpp>

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

TEST_CASE("opencl device: contexts, queues, buffers and their parts", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::CreateContext(*device.api, device.platform, device.id);
  REQUIRE(context.status().ToString() == "OK");
  auto queue = opencl::CreateQueue(context.value(), device.id, true);
  REQUIRE(queue.status().ToString() == "OK");
  const size_t align = device.info.base_align_bytes;
  auto buffer = opencl::CreateBuffer(context.value(), 4 * align);
  REQUIRE(buffer.status().ToString() == "OK");
  auto part = opencl::CreateSubBuffer(buffer.value(), align, align);
  REQUIRE(part.status().ToString() == "OK");
  CHECK(!opencl::CreateSubBuffer(buffer.value(), align, 4 * align).ok());
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

TEST_CASE("opencl device: a buffer beyond the limit is a clear failure", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::CreateContext(*device.api, device.platform, device.id);
  REQUIRE(context.ok());
  const auto buffer = opencl::CreateBuffer(
      context.value(), static_cast<size_t>(device.info.max_allocation_bytes) + (1u << 20));
  REQUIRE(!buffer.ok());
  CHECK(buffer.status().code() == StatusCode::kOutOfMemory);
}

}  // namespace device_test
}  // namespace topwork
