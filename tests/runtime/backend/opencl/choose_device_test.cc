// The choice among devices, the deny-list and error texts: no driver needed.
#include "runtime/backend/opencl/choose_device.h"

#include <catch2/catch.hpp>

#include "runtime/backend/opencl/errors.h"

namespace topwork {
namespace choose_device_test {

using opencl::ChooseDevice;

DeviceInfo Made(const char* name, const char* platform, DeviceType type, int units, bool unified) {
  DeviceInfo info;
  info.name = name;
  info.platform = platform;
  info.vendor = "Somebody";
  info.driver = "1.0";
  info.type = type;
  info.compute_units = units;
  info.clock_mhz = 1000;
  info.host_unified = unified;
  info.usable = true;
  return info;
}

std::vector<DeviceInfo> Machine() {
  return {Made("pthread-EPYC", "Portable Computing Language", DeviceType::kCpu, 64, true),
          Made("Mali-G710", "ARM Platform", DeviceType::kGpu, 7, true),
          Made("GeForce", "NVIDIA CUDA", DeviceType::kGpu, 5, false),
          Made("Radeon", "AMD", DeviceType::kGpu, 60, false)};
}

size_t Chosen(const std::vector<DeviceInfo>& devices, const std::string& choice) {
  const Result<size_t> result = ChooseDevice(devices, ParseDeviceName(choice).value());
  INFO(choice << ": " << result.status().ToString());
  REQUIRE(result.ok());
  return result.value();
}

void Refused(const std::vector<DeviceInfo>& devices, const std::string& choice, StatusCode code,
             const std::string& text) {
  const Result<size_t> result = ChooseDevice(devices, ParseDeviceName(choice).value());
  INFO(choice << ": " << result.status().ToString());
  REQUIRE(!result.ok());
  CHECK(result.status().code() == code);
  CHECK(result.status().message().find(text) != std::string::npos);
}

TEST_CASE("opencl devices: without a name the best usable GPU", "[backend]") {
  std::vector<DeviceInfo> devices = Machine();
  CHECK(Chosen(devices, "opencl") == 3);
  devices[3].usable = false;
  CHECK(Chosen(devices, "opencl") == 2);  // its own memory counts more than Mali's units
  devices[2].usable = false;
  CHECK(Chosen(devices, "opencl") == 1);
  devices[1].usable = false;
  devices[1].reason = "it is tired";
  Refused(devices, "opencl", StatusCode::kNotFound, "Mali-G710: it is tired");
  Refused({devices[0]}, "opencl", StatusCode::kNotFound, "as in opencl:0");
  Refused({}, "opencl", StatusCode::kNotFound, "there is none");
}

TEST_CASE("opencl devices: by number and by name", "[backend]") {
  std::vector<DeviceInfo> devices = Machine();
  CHECK(Chosen(devices, "opencl:0") == 0);
  CHECK(Chosen(devices, "opencl:2") == 2);
  CHECK(Chosen(devices, "opencl:MALI") == 1);
  CHECK(Chosen(devices, "opencl:cuda") == 2);
  CHECK(Chosen(devices, "opencl:portable") == 0);
  Refused(devices, "opencl:4", StatusCode::kNotFound, "there are opencl:0 (pthread-EPYC)");
  Refused(devices, "opencl:9999", StatusCode::kNotFound, "does not exist");
  Refused(devices, "opencl:adreno", StatusCode::kNotFound, "'adreno'");
  Refused(devices, "cpu", StatusCode::kInvalidArgument, "'cpu' is no OpenCL device");
  Refused(devices, "auto", StatusCode::kInvalidArgument, "'auto' is no OpenCL device");
  devices[1].usable = false;
  devices[1].reason = "it is tired";
  Refused(devices, "opencl:1", StatusCode::kUnsupported, "it is tired");
  Refused(devices, "opencl:mali", StatusCode::kUnsupported, "it is tired");
}

TEST_CASE("opencl devices: a deny-list row matches platform, device and driver", "[backend]") {
  const DeviceInfo mali = Machine()[1];
  const opencl::DenyRow rows[] = {
      {"ARM", "Mali-G71", "2.", "first"}, {"", "Mali", "1.", "second"}, {"", "", "1.0", "third"}};
  CHECK(opencl::DenyReason(mali, {rows, 3}) == std::string("second"));
  CHECK(opencl::DenyReason(mali, {rows, 1}) == nullptr);
  CHECK(opencl::DenyReason(mali, {rows + 2, 1}) == std::string("third"));
  CHECK(opencl::DenyReason(mali, opencl::DenyRows()) == nullptr);
  for (const opencl::DenyRow& row : opencl::DenyRows()) {
    const bool matches_everything =
        row.platform[0] == '\0' && row.device[0] == '\0' && row.driver[0] == '\0';
    CHECK(!matches_everything);
    CHECK(row.reason[0] != '\0');
  }
}

TEST_CASE("opencl errors: named, classed, with advice", "[backend]") {
  CHECK(opencl::ClStatus(0, "clFinish").ok());
  const struct {
    int code;
    StatusCode status;
    const char* text;
  } cases[] = {{-2, StatusCode::kDeviceLost, "CL_DEVICE_NOT_AVAILABLE (-2)"},
               {-4, StatusCode::kOutOfMemory, "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)"},
               {-5, StatusCode::kOutOfMemory, "CL_OUT_OF_RESOURCES (-5)"},
               {-6, StatusCode::kOutOfMemory, "compute on the CPU"},
               {-11, StatusCode::kInternal, "CL_BUILD_PROGRAM_FAILURE (-11)"},
               {-36, StatusCode::kDeviceLost, "CL_INVALID_COMMAND_QUEUE (-36)"},
               {-36, StatusCode::kDeviceLost, "plan again on the CPU"},
               {-61, StatusCode::kOutOfMemory, "one allocation of this device"},
               {-1001, StatusCode::kNotFound, ".icd"},
               {-9999, StatusCode::kInternal, "CL error -9999"}};
  for (const auto& row : cases) {
    const Status status = opencl::ClStatus(row.code, "clCall");
    INFO(status.ToString());
    CHECK(status.code() == row.status);
    CHECK(status.message().find("clCall failed") != std::string::npos);
    CHECK(status.message().find(row.text) != std::string::npos);
  }
}

TEST_CASE("opencl families: told by names of devices and vendors", "[backend]") {
  const auto flush = [](const char* name, const char* vendor, DeviceType type) {
    DeviceInfo info = Made(name, "Somebody's", type, 4, true);
    info.vendor = vendor;
    return opencl::FamilyOf(info).flush_every;
  };
  const auto family = [](const char* name, const char* vendor) {
    DeviceInfo info = Made(name, "Somebody's", DeviceType::kGpu, 4, true);
    info.vendor = vendor;
    return std::string(opencl::FamilyOf(info).names[0]);
  };
  CHECK(family("QUALCOMM Adreno(TM)", "QUALCOMM") == "Adreno");
  CHECK(family("FD740", "freedreno") == "Adreno");
  CHECK(family("Mali-G610", "ARM") == "Mali");
  CHECK(family("Mali-G715-Immortalis MC11", "ARM") == "Mali");
  CHECK(family("PowerVR Rogue GE8320", "Imagination Technologies") == "PowerVR");
  CHECK(family("Orin", "NVIDIA Corporation") == "NVIDIA");
  CHECK(family("gfx1030", "Advanced Micro Devices, Inc.") == "AMD");
  CHECK(family("Intel(R) UHD Graphics 770", "Intel(R) Corporation") == "Intel");
  CHECK(family("VideoCore IV", "Broadcom").empty());
  CHECK(flush("Mali-G710", "ARM", DeviceType::kGpu) == 24);
  CHECK(flush("Mali-G710", "ARM", DeviceType::kCpu) == 0);  // a CPU is a CPU
  DeviceInfo info = Made("Mali-G72", "ARM", DeviceType::kGpu, 4, true);
  const int32_t plain_sums = opencl::FamilyOf(info).byte_sums;
  info.int_dot = true;
  CHECK(opencl::FamilyOf(info).byte_sums > plain_sums);  // dot products need fewer registers
}

}  // namespace choose_device_test
}  // namespace topwork
