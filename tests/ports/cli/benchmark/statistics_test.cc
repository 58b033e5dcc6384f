// Statistics of repeated times, against plain definitions and simulated series.
#include "ports/cli/benchmark/statistics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace topwork {
namespace cli {
namespace benchmark_statistics_test {
namespace {

// Times like those of a machine: skewed, and each like the one before it.
std::vector<double> Series(size_t n, double scale, uint32_t seed) {
  std::mt19937 engine(seed);
  std::lognormal_distribution<double> noise(0.0, 0.05);
  std::vector<double> series;
  double drift = 0.0;
  for (size_t i = 0; i < n; ++i) {
    drift = 0.7 * drift + 0.01 * (noise(engine) - 1.0);
    series.push_back(scale * (1.0 + drift) * noise(engine));
  }
  return series;
}

TEST_CASE("a summary holds what NumPy computes of the samples", "[cli]") {
  const Json summary = SummaryJson({4.0, 1.0, 3.0, 2.0, 10.0});
  CHECK(summary["min"] == 1.0);
  CHECK(summary["max"] == 10.0);
  CHECK(summary["p50"] == 3.0);
  CHECK(summary["mean"] == 4.0);
  CHECK(summary["p5"].get<double>() == Approx(1.2));
  CHECK(summary["p90"].get<double>() == Approx(7.6));
  CHECK(summary["std"].get<double>() == Approx(std::sqrt(50.0 / 4.0)));
  CHECK(SummaryJson({2.0})["std"] == 0.0);
}

TEST_CASE("a median is the middle, or the mean of the two in the middle", "[cli]") {
  CHECK(Median({3.0, 1.0, 2.0}) == 2.0);
  CHECK(Median({4.0, 1.0, 3.0, 2.0}) == 2.5);
  CHECK(Median({7.0}) == 7.0);
}

TEST_CASE("thinned samples keep their order and both halves", "[cli]") {
  std::vector<double> samples(10000);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<double>(i);
  const std::vector<double> kept = Thinned(samples, 100);
  CHECK(kept.size() == 100);
  CHECK(kept.front() == 0.0);
  CHECK(kept.back() == 9900.0);
  CHECK(std::is_sorted(kept.begin(), kept.end()));
  CHECK(Thinned({1.0, 2.0}, 5) == std::vector<double>{1.0, 2.0});
}

TEST_CASE("the interval of a ratio of medians holds the true ratio as often as it says", "[cli]") {
  int hits = 0;
  constexpr int kSeries = 200;
  for (uint32_t i = 0; i < kSeries; ++i) {
    const RatioInterval interval =
        MedianRatio(Series(120, 1.0, 2 * i), Series(80, 1.1, 2 * i + 1), 0.95);
    CHECK(interval.low <= interval.ratio);
    CHECK(interval.ratio <= interval.high);
    if (interval.low <= 1.1 && 1.1 <= interval.high) ++hits;
  }
  // 190 expected; a bootstrap of a few blocks is a little too narrow.
  CHECK(hits >= 176);
}

TEST_CASE("intervals widen with confidence and narrow with samples", "[cli]") {
  const auto width = [](size_t n, double confidence) {
    const RatioInterval interval = MedianRatio(Series(n, 1.0, 1), Series(n, 1.0, 2), confidence);
    return interval.high - interval.low;
  };
  CHECK(width(60, 0.99) > width(60, 0.8));
  CHECK(width(900, 0.95) < width(30, 0.95));
}

TEST_CASE("a ratio is the same in every call, and exact for constant series", "[cli]") {
  const std::vector<double> a = Series(50, 1.0, 3), b = Series(50, 2.0, 4);
  const RatioInterval once = MedianRatio(a, b, 0.99), again = MedianRatio(a, b, 0.99);
  CHECK(once.low == again.low);
  CHECK(once.high == again.high);
  const RatioInterval exact = MedianRatio({2.0, 2.0, 2.0}, {3.0, 3.0}, 0.9);
  CHECK(exact.ratio == 1.5);
  CHECK(exact.low == 1.5);
  CHECK(exact.high == 1.5);
}

}  // namespace
}  // namespace benchmark_statistics_test
}  // namespace cli
}  // namespace topwork
