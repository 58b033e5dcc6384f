// The host's memory in place: whose it is after a call that failed.
#include "runtime/backend/opencl/host_region.h"

#include <catch2/catch.hpp>

#include "runtime/base/buffer.h"
#include "tests/runtime/backend/opencl/support.h"

namespace topwork {
namespace host_region_test {

const opencl::ClApi* g_api = nullptr;
bool g_fails = false;
int g_finishes = 0;

void* MapOrFail(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                size_t offset, size_t bytes, cl_uint n_events, const cl_event* events,
                cl_event* event, cl_int* error) {
  if (!g_fails) {
    return g_api->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, n_events,
                                     events, event, error);
  }
  *error = CL_MAP_FAILURE;
  return nullptr;
}

cl_int CountFinish(cl_command_queue queue) {
  ++g_finishes;
  return g_api->clFinish(queue);
}

// Commands that were submitted before may still write there when the CPU takes over, or the memory is freed.
TEST_CASE("opencl host region: memory that cannot be mapped is waited for", "[opencl]") {
  TW_NEED_DEVICE(device);
  if (!device.info.host_unified) TW_SKIP("the device does not share the processor's memory");
  opencl::ClApi api = *device.api;
  api.clEnqueueMapBuffer = MapOrFail;
  api.clFinish = CountFinish;
  g_api = device.api;
  g_fails = false;
  opencl::Device counted = device;
  counted.api = &api;
  auto context = opencl::Context::Create(counted, {});
  REQUIRE(context.status().ToString() == "OK");
  auto stream = opencl::Stream::Create(context.value().get(), {});
  REQUIRE(stream.ok());
  auto memory = Buffer::Allocate(size_t{1} << 16, "memory");
  REQUIRE(memory.ok());
  auto region = opencl::HostRegion::Import(context.value(), memory.value().data(),
                                           memory.value().size(), nullptr, &stream.value());
  REQUIRE(region != nullptr);
  REQUIRE(region->Give().ok());
  g_fails = true;
  g_finishes = 0;
  CHECK_FALSE(region->Take().ok());
  CHECK(g_finishes == 1);
  region.reset();
  CHECK(g_finishes == 2);
}

}  // namespace host_region_test
}  // namespace topwork
