// Colours and progress bars.
#include "ports/cli/terminal.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

constexpr int kBarWidth = 28;
constexpr int64_t kDrawNanos = 50 * 1000 * 1000;
constexpr int64_t kLineNanos = int64_t{2} * 1000 * 1000 * 1000;

}  // namespace

bool UseColour(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && no_color[0] != '\0') return false;
  if (term != nullptr && std::strcmp(term, "dumb") == 0) return false;
  return port::Isatty(fd);
}

std::string Paint(int fd, const char* code, const std::string& text) {
  if (!UseColour(fd)) return text;
  return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

std::string Bar(double fraction, int width) {
  const double clamped = std::min(1.0, std::max(0.0, fraction));
  const int halves = static_cast<int>(clamped * width * 2.0 + 0.5);
  std::string bar;
  for (int i = 0; i < halves / 2; ++i) bar += "━";
  if (halves % 2 != 0) bar += "╸";
  for (int i = (halves + 1) / 2; i < width; ++i) bar += " ";
  return bar;
}

std::string CountText(int64_t n, const std::string& noun) {
  const bool hissing = !noun.empty() && noun.back() == 's';
  return std::to_string(n) + " " + noun + (n == 1 ? "" : hissing ? "es" : "s");
}

std::string PercentText(double fraction) {
  if (std::isnan(fraction)) return "–";
  char text[24];
  std::snprintf(text, sizeof(text), "%.1f %%", 100.0 * fraction);
  return text;
}

std::string HumanSeconds(double seconds) {
  char text[48];
  if (seconds < 1e-3) {
    std::snprintf(text, sizeof(text), "%.0f µs", seconds * 1e6);
  } else if (seconds < 1.0) {
    std::snprintf(text, sizeof(text), "%.0f ms", seconds * 1e3);
  } else if (seconds < 60.0) {
    std::snprintf(text, sizeof(text), "%.1f s", seconds);
  } else {
    const long whole = static_cast<long>(seconds + 0.5);
    std::snprintf(text, sizeof(text), "%ld min %ld s", whole / 60, whole % 60);
  }
  return text;
}

std::string HumanBytes(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  while (bytes >= 1024.0 && unit < 3) {
    bytes /= 1024.0;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

bool ShowProgress(bool json) { return !json || port::Isatty(2); }

Progress::Progress(std::string what, std::string unit, bool enabled)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      enabled_(enabled),
      terminal_(port::Isatty(2)),
      start_(port::NowNanos()) {}

Progress::~Progress() {
  if (open_) std::fputc('\n', stderr);
}

void Progress::Update(int64_t done, int64_t total) {
  done_ = done;
  total_ = total;
  if (!enabled_ || total <= 0) return;
  const int64_t now = port::NowNanos();
  if (terminal_) {
    if (done < total && now - last_draw_ < kDrawNanos) return;
    last_draw_ = now;
    Draw(done, total, now);
    return;
  }
  if (done < total && now - std::max(start_, last_draw_) < kLineNanos) return;
  last_draw_ = now;
  std::fprintf(stderr, "%s: %lld of %lld %s, %s\n", what_.c_str(), static_cast<long long>(done),
               static_cast<long long>(total), unit_.c_str(), Pace(done, total, now).c_str());
}

std::string Progress::Pace(int64_t done, int64_t total, int64_t now) const {
  const double seconds = static_cast<double>(now - start_) * 1e-9;
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0.0;
  const double left = rate > 0 ? static_cast<double>(total - done) / rate : 0.0;
  char text[32];
  std::snprintf(text, sizeof(text), rate < 10.0 ? "%.1f/s, " : "%.0f/s, ", rate);
  return text + (done < total ? HumanSeconds(left) + " left" : HumanSeconds(seconds));
}

void Progress::Draw(int64_t done, int64_t total, int64_t now) {
  const double fraction = static_cast<double>(done) / static_cast<double>(total);
  const int filled = static_cast<int>(fraction * kBarWidth);
  std::string full, empty;
  for (int i = 0; i < kBarWidth; ++i) (i < filled ? full : empty) += "━";
  std::fprintf(stderr, "\r\x1b[K%-9s %s%s %lld/%lld %s  %s", what_.c_str(),
               Paint(2, "32", full).c_str(), Paint(2, "2", empty).c_str(),
               static_cast<long long>(done), static_cast<long long>(total), unit_.c_str(),
               Paint(2, "2", Pace(done, total, now)).c_str());
  std::fflush(stderr);
  open_ = true;
}

void Progress::Finish(const std::string& note) {
  if (!enabled_) return;
  if (terminal_ && open_) {
    std::fprintf(stderr, "%s%s\n", note.empty() ? "" : "  ", note.c_str());
    open_ = false;
    return;
  }
  if (note.empty()) return;
  std::fprintf(stderr, "%s: %s\n", what_.c_str(), note.c_str());
}

}  // namespace cli
}  // namespace topwork
