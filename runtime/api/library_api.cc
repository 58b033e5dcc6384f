// C API: versions, names and logging.
#include <mutex>

#include "runtime/api/handles.h"
#include "runtime/base/log.h"
#include "runtime/base/stringify.h"

namespace {

const char kVersion[] =
    TW_STRING(TW_VERSION_MAJOR) "." TW_STRING(TW_VERSION_MINOR) "." TW_STRING(TW_VERSION_PATCH);

static_assert(static_cast<int>(topwork::StatusCode::kOk) == TW_STATUS_OK, "");
static_assert(static_cast<int>(topwork::StatusCode::kInternal) == TW_STATUS_INTERNAL, "");
static_assert(static_cast<int>(topwork::StatusCode::kNotFound) == TW_STATUS_NOT_FOUND, "");
static_assert(static_cast<int>(topwork::DType::kInt8) == TW_DTYPE_INT8, "");
static_assert(static_cast<int>(topwork::DType::kBFloat16) == TW_DTYPE_BFLOAT16, "");
static_assert(static_cast<int>(topwork::DType::kUInt4) == TW_DTYPE_UINT4, "");
static_assert(static_cast<int>(topwork::LogLevel::kDebug) == TW_LOG_DEBUG, "");
static_assert(topwork::kMaxRank == 8, "tw_tensor_info has room for 8 dims");

// The application's function with the argument that it takes.
struct UserLog {
  tw_log_function function;
  void* user_data;
};

void Forward(void* user_data, int level, const char* message) {
  const UserLog& log = *static_cast<const UserLog*>(user_data);
  log.function(log.user_data, static_cast<tw_log_level>(level), message);
}

}  // namespace

const char* tw_version(void) { return kVersion; }

const char* tw_status_name(tw_status status) {
  const int number = static_cast<int>(status);
  if (number < TW_STATUS_OK || number > TW_STATUS_INTERNAL) return "UNKNOWN";
  return topwork::StatusCodeName(static_cast<topwork::StatusCode>(number));
}

const char* tw_dtype_name(tw_dtype dtype) {
  const int number = static_cast<int>(dtype);
  if (number < 0 || number >= topwork::kNumDTypes) return "unknown";
  return topwork::DTypeName(static_cast<topwork::DType>(number));
}

tw_status tw_log_set(tw_log_level level, tw_log_function function, void* user_data) {
  const int number = static_cast<int>(level);
  if (number < TW_LOG_SILENT || number > TW_LOG_DEBUG) {
    return topwork::api::Report(
        topwork::InvalidArgument("log level {} does not exist (0 silent to 4 debug)", number));
  }
  static std::mutex mutex;
  static UserLog* current = nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  UserLog* const next = function == nullptr ? nullptr : new UserLog{function, user_data};
  topwork::SetLog(static_cast<topwork::LogLevel>(number), next == nullptr ? nullptr : Forward,
                  next);
  delete current;  // SetLog has waited for a message in progress
  current = next;
  return TW_STATUS_OK;
}
