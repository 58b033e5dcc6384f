// Events of windows, and windows of raw samples.
#include "ports/cli/events.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "ports/cli/sample_source.h"
#include "tests/ports/cli/folder.h"

namespace topwork {
namespace cli_events_test {

using Catch::Matchers::StartsWith;
using cli::EventJoiner;
using cli::EventOptions;
using cli::SoundEvent;

// Begins and ends in the order in which they are told: "+0 1.5 0.9", "-0 1.5 2.5 0.9".
std::vector<std::string> Told(const EventOptions& options, double hop,
                              const std::vector<std::vector<double>>& rows) {
  std::vector<std::string> told;
  const auto text = [](double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), " %g", value);
    return std::string(buffer);
  };
  EventJoiner joiner(
      options,
      [&](const SoundEvent& e) {
        told.push_back("+" + std::to_string(e.index) + text(e.start) + text(e.score));
      },
      [&](const SoundEvent& e) {
        told.push_back("-" + std::to_string(e.index) + text(e.start) + text(e.end) + text(e.score));
      });
  for (size_t i = 0; i < rows.size(); ++i) joiner.Add(static_cast<double>(i) * hop, rows[i]);
  joiner.Finish();
  return told;
}

TEST_CASE("events: windows that meet are one, and an end is told when nothing can join", "[cli]") {
  EventOptions options;
  options.length = 1.0;
  using Rows = std::vector<std::vector<double>>;
  CHECK(Told(options, 1.0, {{0.9}, {0.5}, {0.4}, {0.7}}) ==
        std::vector<std::string>{"+0 0 0.9", "-0 0 2 0.9", "+0 3 0.7", "-0 3 4 0.7"});
  // Overlapping windows, two classes.
  CHECK(Told(options, 0.5, {{0.6, 0.1}, {0.2, 0.8}, {0.9, 0.1}}) ==
        std::vector<std::string>{"+0 0 0.6", "+1 0.5 0.8", "-0 0 2 0.9", "-1 0.5 1.5 0.8"});
  // Tenths are rounded: windows of 0.1 s meet all the same.
  options.length = 0.1;
  const Rows steady(50, {0.7});
  CHECK(Told(options, 0.1, steady).size() == 2);
  CHECK(Told(options, 0.1, {}).empty());
}

TEST_CASE("events: a gap joins, and one that is longer does not", "[cli]") {
  EventOptions options;
  options.length = 1.0;
  const std::vector<std::vector<double>> rows = {{0.9}, {0.0}, {0.0}, {0.8}};
  options.gap = 2.0;
  CHECK(Told(options, 1.0, rows) == std::vector<std::string>{"+0 0 0.9", "-0 0 4 0.9"});
  options.gap = 1.9;
  CHECK(Told(options, 1.0, rows).size() == 4);
  options.threshold = 0.85;
  CHECK(Told(options, 1.0, rows) == std::vector<std::string>{"+0 0 0.9", "-0 0 1 0.9"});
}

// The windows of `bytes` that come through a pipe in two parts.
std::vector<std::vector<float>> PcmWindows(const std::string& bytes, int64_t window, int64_t hop) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const size_t half = bytes.size() / 2;
  REQUIRE(write(ends[1], bytes.data(), half) == static_cast<ssize_t>(half));
  REQUIRE(write(ends[1], bytes.data() + half, bytes.size() - half) ==
          static_cast<ssize_t>(bytes.size() - half));
  close(ends[1]);
  cli::SoundReading reading;
  reading.hop = static_cast<double>(hop) / reading.rate;
  std::vector<std::vector<float>> windows;
  const auto source = cli::OpenPcm(ends[0], reading, window);
  std::vector<float> samples;
  const std::string failure = cli_test::Failure([&] {
    while (source->Next(&samples)) windows.push_back(samples);
  });
  close(ends[0]);
  if (failure != "none") {
    CHECK_THAT(failure, StartsWith("5 standard input: holds no samples"));
    return {};
  }
  return windows;
}

TEST_CASE("events: raw samples are cut as those of a file", "[cli]") {
  const struct {
    int64_t n, window, hop;
  } cases[] = {{10, 4, 2}, {11, 4, 2}, {3, 4, 4},  {8, 4, 4},   {9, 4, 4}, {4, 4, 1},
               {10, 2, 5}, {11, 2, 5}, {12, 2, 5}, {100, 7, 3}, {0, 4, 4}, {100, 7, 19}};
  for (const auto& c : cases) {
    CAPTURE(c.n, c.window, c.hop);
    std::string bytes;
    for (int64_t i = 0; i < c.n; ++i) {
      const int value = static_cast<int>((i + 1) * 256 * (i % 2 == 0 ? 1 : -1));
      bytes += static_cast<char>(value & 0xff);
      bytes += static_cast<char>(value >> 8 & 0xff);
    }
    const auto windows = PcmWindows(bytes, c.window, c.hop);
    const int64_t n = c.n == 0 ? 0 : cli::CountWindows(c.n, c.window, c.hop);
    REQUIRE(static_cast<int64_t>(windows.size()) == n);
    for (int64_t w = 0; w < n; ++w) {
      for (int64_t i = 0; i < c.window; ++i) {
        const int64_t at = w * c.hop + i;
        const float expected =
            at < c.n ? static_cast<float>(at + 1) / (at % 2 == 0 ? 128.0f : -128.0f) : 0.0f;
        REQUIRE(windows[static_cast<size_t>(w)][static_cast<size_t>(i)] == expected);
      }
    }
  }
  // Half a sample at the end is none.
  CHECK(PcmWindows(std::string(9, 'a'), 4, 4).size() == 1);
}

}  // namespace cli_events_test
}  // namespace topwork
