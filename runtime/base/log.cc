// Logging: a mutex-guarded sink and a lock-free level test before any formatting.
#include "runtime/base/log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "runtime/base/printable.h"

namespace topwork {
namespace {

struct Sink {
  std::mutex mutex;
  LogFunction function = nullptr;
  void* user_data = nullptr;
};

Sink& TheSink() {
  static Sink* const sink = new Sink();
  return *sink;
}

std::atomic<int> g_level{static_cast<int>(LogLevel::kWarning)};

}  // namespace

void SetLog(LogLevel level, LogFunction function, void* user_data) {
  Sink& sink = TheSink();
  std::lock_guard<std::mutex> lock(sink.mutex);
  sink.function = function;
  sink.user_data = user_data;
  g_level.store(static_cast<int>(level), std::memory_order_relaxed);
}

void LogWords(LogLevel level, const char* pattern, FormatTypes types, ...) {
  if (static_cast<int>(level) > g_level.load(std::memory_order_relaxed)) return;
  va_list args;
  va_start(args, types);
  const std::string shown = PrintableLines(FormatList(pattern, types, args));
  va_end(args);
  Sink& sink = TheSink();
  std::lock_guard<std::mutex> lock(sink.mutex);
  if (sink.function != nullptr) {
    sink.function(sink.user_data, static_cast<int>(level), shown.c_str());
  } else {
    std::fprintf(stderr, "topwork: %s\n", shown.c_str());
  }
}

}  // namespace topwork
