// C API: versions, names, the last error, logging and devices.
#include <cstddef>
#include <cstring>
#include <thread>
#include <topwork/topwork.hpp>

#include "runtime/base/log.h"
#include "tests/runtime/api/support.h"

namespace topwork {
namespace api_test {

TEST_CASE("the library's version is the header's", "[api]") {
  const std::string text = std::to_string(TW_VERSION_MAJOR) + "." +
                           std::to_string(TW_VERSION_MINOR) + "." +
                           std::to_string(TW_VERSION_PATCH);
  CHECK(tw_version() == text);
}

TEST_CASE("statuses and dtypes have names, also those that do not exist", "[api]") {
  CHECK(std::string(tw_status_name(TW_STATUS_OK)) == "OK");
  CHECK(std::string(tw_status_name(TW_STATUS_OUT_OF_MEMORY)) == "OUT_OF_MEMORY");
  CHECK(std::string(tw_status_name(TW_STATUS_INTERNAL)) == "INTERNAL");
  CHECK(std::string(tw_status_name(static_cast<tw_status>(13))) == "UNKNOWN");
  CHECK(std::string(tw_status_name(static_cast<tw_status>(-1))) == "UNKNOWN");
  CHECK(std::string(tw_dtype_name(TW_DTYPE_INT8)) == "int8");
  CHECK(std::string(tw_dtype_name(TW_DTYPE_BFLOAT16)) == "bfloat16");
  CHECK(std::string(tw_dtype_name(TW_DTYPE_INT2)) == "int2");
  CHECK(std::string(tw_dtype_name(TW_DTYPE_UINT4)) == "uint4");
  CHECK(std::string(tw_dtype_name(static_cast<tw_dtype>(21))) == "unknown");
}

TEST_CASE("the last error belongs to its thread and survives successes", "[api]") {
  tw_model* model = nullptr;
  RequireError(tw_model_open_file("/nowhere/model.tflite", &model), TW_STATUS_IO,
               "/nowhere/model.tflite");
  CHECK(model == nullptr);
  const std::string here = tw_last_error();
  std::string there = "unset";
  std::thread([&] { there = tw_last_error(); }).join();
  CHECK(there.empty());
  tw_device_info info = {};
  info.struct_size = sizeof(info);
  CHECK(tw_device_get_info(0, &info) == TW_STATUS_OK);
  CHECK(tw_last_error() == here);
}

namespace {

struct LogLines {
  std::vector<std::pair<int, std::string>> lines;
};
void CollectLine(void* user_data, tw_log_level level, const char* message) {
  static_cast<LogLines*>(user_data)->lines.push_back({level, message});
}

}  // namespace

TEST_CASE("the log goes to the callback, by level, and can be silenced", "[api]") {
  LogLines collected;
  REQUIRE(tw_log_set(TW_LOG_WARNING, CollectLine, &collected) == TW_STATUS_OK);
  Log(LogLevel::kError, "first {}", 1);
  Log(LogLevel::kWarning, "second");
  Log(LogLevel::kInfo, "too quiet");
  CHECK(tw_log_set(static_cast<tw_log_level>(5), nullptr, nullptr) == TW_STATUS_INVALID_ARGUMENT);
  CHECK(tw_log_set(static_cast<tw_log_level>(-1), nullptr, nullptr) == TW_STATUS_INVALID_ARGUMENT);
  Log(LogLevel::kError, "a refused level changed nothing");
  REQUIRE(tw_log_set(TW_LOG_SILENT, CollectLine, &collected) == TW_STATUS_OK);
  Log(LogLevel::kError, "silenced");
  REQUIRE(tw_log_set(TW_LOG_WARNING, nullptr, nullptr) == TW_STATUS_OK);
  REQUIRE(collected.lines.size() == 3);
  CHECK(collected.lines[0] == std::make_pair(1, std::string("first 1")));
  CHECK(collected.lines[1] == std::make_pair(2, std::string("second")));
  CHECK(collected.lines[2].second == "a refused level changed nothing");
}

TEST_CASE("devices are counted and told apart, the CPU first", "[api]") {
  const size_t n = tw::Devices()->size();
  REQUIRE(n >= 2);  // where there is no OpenCL, one device says so
  for (size_t i = 0; i < n; ++i) {
    tw_device_info info = {};
    info.struct_size = sizeof(info);
    REQUIRE(tw_device_get_info(i, &info) == TW_STATUS_OK);
    CHECK(info.struct_size == sizeof(info));
    const std::string id = i == 0 ? "cpu" : "opencl:" + std::to_string(i - 1);
    const bool absent = n == 2 && info.id == std::string("opencl") && info.is_usable == 0;
    CHECK((absent || info.id == id));
    CHECK((i == 0) == (info.instruction_set[0] != '\0'));
    for (const char* string :
         {info.name, info.vendor, info.platform, info.driver, info.version, info.type,
          info.instruction_set, info.reason, info.n_threads_reason}) {
      REQUIRE(string != nullptr);
    }
    CHECK((info.is_usable == 1) == (info.reason[0] == '\0'));
    if (info.is_usable == 1) CHECK(info.n_compute_units >= 1);
    CHECK((info.n_threads > 0) == (i == 0));
    CHECK((info.n_threads_reason[0] != '\0') == (i == 0));
    if (i > 0 && info.is_usable == 1) CHECK(info.max_allocation_bytes > 0);
  }
  tw_device_info info = {};
  info.struct_size = sizeof(info);
  RequireError(tw_device_get_info(n, &info), TW_STATUS_NOT_FOUND, "does not exist");
  info.struct_size = 0;
  RequireError(tw_device_get_info(0, &info), TW_STATUS_INVALID_ARGUMENT, "struct_size");
}

TEST_CASE("the devices of an older header are filled as far as it goes", "[api]") {
  tw_device_info info;
  std::memset(&info, 0x5A, sizeof(info));
  info.struct_size = offsetof(tw_device_info, driver);
  REQUIRE(tw_device_get_info(0, &info) == TW_STATUS_OK);
  CHECK(info.name == std::string("CPU"));
  CHECK(info.is_usable == 0x5A5A5A5A);
}

}  // namespace api_test
}  // namespace topwork
