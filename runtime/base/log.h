// Logging: one process-wide sink, silent until a level is set; never used on the path of run().
#ifndef TOPWORK_RUNTIME_BASE_LOG_H_
#define TOPWORK_RUNTIME_BASE_LOG_H_

#include "runtime/base/format.h"

namespace topwork {

// The numbers are those of `tw_log_level` in the C API.
enum class LogLevel : int { kSilent = 0, kError = 1, kWarning = 2, kInfo = 3, kDebug = 4 };

using LogFunction = void (*)(void* user_data, int level, const char* message);

// Messages of `level` or more urgent go to `function` (null: to standard error). Thread-safe; the
// function may be called from any thread, one call at a time. The default is warnings to stderr.
void SetLog(LogLevel level, LogFunction function, void* user_data);
// Log(LogLevel::kInfo, "{} runs on {}", model, device): a text as StrFormat makes it.
void LogWords(LogLevel level, const char* pattern, FormatTypes types, ...);
template <typename... Values>
TW_FORMAT_INLINE void Log(LogLevel level, const char* pattern, const Values&... values) {
#ifdef TW_NO_MESSAGES  // nor does anything say more than errors (kernels/contract/places.h)
  (void)level, (void)pattern, static_cast<void>((static_cast<void>(values), ..., 0));
#else
  LogWords(level, pattern, FormatTypesOf<Values...>(), FormatValue(values)...);
#endif
}

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_LOG_H_
