// Listing, choosing and opening devices, with whatever devices this machine has.
#include "runtime/backend/devices.h"

#include <catch2/catch.hpp>

#include "tests/support/scoped_variable.h"

namespace topwork {
namespace devices_test {

const char kAutoDevice[] = "TOPWORK_AUTO_DEVICE";

TEST_CASE("devices: what is there is listed, what is not is refused", "[backend]") {
  const auto devices = ListDevices();
  const size_t n = devices.ok() ? devices.value()->size() : 0;
  for (size_t i = 0; i < n; ++i) {
    const Result<FoundDevice> found = FindDevice(DeviceName::Opencl(static_cast<int>(i)));
    CHECK(found.ok() == (*devices.value())[i].usable);
  }
  const DeviceName beyond = DeviceName::Opencl(static_cast<int>(n));
  const Status refused = FindDevice(beyond).status();
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.message().find("OpenCL") != std::string::npos);
  CHECK(OpenDevice(beyond, {}).status().code() == refused.code());
  CHECK_FALSE(FindDevice(DeviceName::Cpu()).ok());
  CHECK_FALSE(FindDevice(DeviceName::Auto()).ok());
}

TEST_CASE("devices: the variable for auto is read with its errors", "[backend]") {
  const struct {
    const char* text;
    AutoDevice meaning;
  } rows[] = {{"", AutoDevice::kBest},
              {"off", AutoDevice::kOff},
              {"opencl:0", AutoDevice::kNamed},
              {"abacus", AutoDevice::kNamed}};
  for (const auto& row : rows) {
    const test::ScopedVariable variable(kAutoDevice, row.text);
    INFO("'" << row.text << "'");
    CHECK(AutoDeviceVariable() == row.meaning);
  }
  const struct {
    const char* text;
    const char* message;
  } refused[] = {{"off", "TOPWORK_AUTO_DEVICE is off"},
                 {"abacus", "TOPWORK_AUTO_DEVICE: 'abacus' names no device"},
                 {"opencl:", "TOPWORK_AUTO_DEVICE: 'opencl:' has no number or name"}};
  for (const auto& row : refused) {
    const test::ScopedVariable variable(kAutoDevice, row.text);
    const Status status = FindAutoDevice().status();
    INFO("'" << row.text << "': " << status.message());
    CHECK(status.message().find(row.message) == 0);
  }
  const test::ScopedVariable variable(kAutoDevice, "opencl:0");
  const Result<FoundDevice> named = FindDevice(DeviceName::Opencl(0));
  const Result<FoundDevice> found = FindAutoDevice();
  REQUIRE(found.ok() == named.ok());
  if (found.ok()) CHECK(found.value().info == named.value().info);
}

TEST_CASE("devices: their files lie below one folder, or nowhere", "[backend]") {
  const test::ScopedVariable user("TOPWORK_CACHE", "/user");
  {
    const test::ScopedVariable variable("TOPWORK_OPENCL_CACHE", "");
    CHECK(DeviceCacheFolder("/mine", "measured") == "/mine/measured");
    CHECK(DeviceCacheFolder("", "opencl") == "/user/opencl");
    CHECK(DeviceCacheFolder("off", "opencl").empty());
  }
  const test::ScopedVariable variable("TOPWORK_OPENCL_CACHE", "off");
  CHECK(DeviceCacheFolder("/mine", "measured").empty());
  CHECK(DeviceCacheFolder("", "opencl").empty());
}

}  // namespace devices_test
}  // namespace topwork
