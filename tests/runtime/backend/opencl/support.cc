#include "tests/runtime/backend/opencl/support.h"

#include <cstdlib>

#include "runtime/base/log.h"

namespace topwork {
namespace test {
namespace {

Result<const opencl::Device*> FindDevice() {
  TW_ASSIGN_OR_RETURN(const opencl::ClApi* api, opencl::LoadOpencl());
  TW_ASSIGN_OR_RETURN(std::vector<opencl::Device> devices, opencl::EnumerateDevices(*api));
  static const std::vector<opencl::Device>* const kept =
      new std::vector<opencl::Device>(std::move(devices));
  TW_ASSIGN_OR_RETURN(const size_t index,
                      opencl::ChooseDevice(opencl::InfoOf(*kept), TestDeviceName()));
  return &(*kept)[index];
}

}  // namespace

DeviceName TestDeviceName() {
  const char* variable = std::getenv("TOPWORK_TEST_DEVICE");
  const Result<DeviceName> name = ParseDeviceName(variable != nullptr ? variable : "opencl:0");
  INFO("TOPWORK_TEST_DEVICE: " << name.status().message());
  REQUIRE(name.ok());
  return name.value();
}

const opencl::Device* TestDevice(std::string* reason) {
  // oclgrind.py reads there which kernels were made.
  if (std::getenv("TOPWORK_TEST_LOG") != nullptr) SetLog(LogLevel::kDebug, nullptr, nullptr);
  static const Result<const opencl::Device*> found = FindDevice();
  if (found.ok()) return found.value();
  *reason = "no OpenCL device: " + found.status().message();
  const char* required = std::getenv("TOPWORK_REQUIRE_OPENCL");
  if (required != nullptr && std::string(required) == "1") {
    FAIL("TOPWORK_REQUIRE_OPENCL=1, but there is " << *reason);
  }
  return nullptr;
}

}  // namespace test
}  // namespace topwork
