// The texts that name devices: what is read of them, and what is refused with which words.
#include "runtime/backend/device_name.h"

#include <catch2/catch.hpp>

namespace topwork {
namespace device_name_test {

TEST_CASE("device names: good ones", "[backend]") {
  const struct {
    const char* text;
    DeviceName name;
    const char* again;
  } rows[] = {
      {"auto", DeviceName::Auto(), "auto"},
      {"cpu", DeviceName::Cpu(), "cpu"},
      {"opencl", DeviceName::Opencl(), "opencl"},
      {"opencl:0", DeviceName::Opencl(0), "opencl:0"},
      {"opencl:12", DeviceName::Opencl(12), "opencl:12"},
      {"opencl:007", DeviceName::Opencl(7), "opencl:7"},
      {"opencl:mali", {DeviceName::Kind::kOpencl, -1, "mali"}, "opencl:mali"},
      {"opencl:Mali-G710 MC10", {DeviceName::Kind::kOpencl, -1, "Mali-G710 MC10"}, nullptr},
      {"opencl:-1", {DeviceName::Kind::kOpencl, -1, "-1"}, nullptr},
      {"opencl:1a", {DeviceName::Kind::kOpencl, -1, "1a"}, nullptr},
      {"opencl:a:b, c", {DeviceName::Kind::kOpencl, -1, "a:b, c"}, nullptr},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    const Result<DeviceName> name = ParseDeviceName(row.text);
    REQUIRE(name.ok());
    CHECK(name.value() == row.name);
    CHECK(name.value().ToString() == (row.again != nullptr ? row.again : row.text));
  }
  CHECK(DeviceName().is_cpu());
  CHECK(DeviceName::Opencl() != DeviceName::Opencl(0));
}

TEST_CASE("device names: bad ones are refused with a reason", "[backend]") {
  const char* const rows[][2] = {
      {"", "is empty; auto, cpu, opencl, opencl:NUMBER and opencl:NAME are allowed"},
      {"abacus", "'abacus' names no device; auto, cpu, opencl, opencl:NUMBER"},
      {"mali", "'mali' names no device"},
      {"CPU", "'CPU' names no device"},
      {" cpu", "' cpu' names no device"},
      {"opencl1", "'opencl1' names no device"},
      {"cuda:0", "'cuda:0' names no device"},
      {":1", "':1' names no device"},
      {"cpu:1", "only opencl takes a number or a name"},
      {"auto:mali", "only opencl takes a number or a name"},
      {"opencl:", "no number or name after the colon"},
      {"opencl: ", "no number or name after the colon"},
      {"opencl:12345", "more than 4 digits"},
      {"opencl:99999999999999999999", "more than 4 digits"},
      {"cpu,opencl", "'cpu,opencl' names no device"},
  };
  for (const auto& row : rows) {
    const Result<DeviceName> name = ParseDeviceName(row[0]);
    INFO(row[0] << ": " << name.status().message());
    CHECK(name.status().code() == StatusCode::kInvalidArgument);
    CHECK(name.status().message().find(row[1]) != std::string::npos);
  }
}

std::string Joined(const std::vector<DeviceName>& names) {
  std::string text;
  for (const DeviceName& name : names) text += "[" + name.ToString() + "]";
  return text;
}

TEST_CASE("device names: lists", "[backend]") {
  const char* const good[][2] = {
      {"auto", "[auto]"},
      {"cpu", "[cpu]"},
      {"cpu,opencl:0,opencl:1", "[cpu][opencl:0][opencl:1]"},
      {" opencl:a b , cpu ", "[opencl:a b][cpu]"},
  };
  for (const auto& row : good) {
    INFO(row[0]);
    const Result<std::vector<DeviceName>> names = ParseDeviceNames(row[0]);
    REQUIRE(names.ok());
    CHECK(Joined(names.value()) == row[1]);
  }
  const char* const bad[][2] = {
      {"", "is empty"},
      {"cpu,", "is empty"},
      {",cpu", "is empty"},
      {"cpu,abacus", "'abacus' names no device"},
      {"auto,cpu", "auto stands alone"},
      {"opencl:1,auto", "auto stands alone"},
      {"auto,auto", "auto stands alone"},
  };
  for (const auto& row : bad) {
    const auto names = ParseDeviceNames(row[0]);
    INFO(row[0] << ": " << names.status().message());
    CHECK(names.status().code() == StatusCode::kInvalidArgument);
    CHECK(names.status().message().find(row[1]) != std::string::npos);
  }
}

}  // namespace device_name_test
}  // namespace topwork
