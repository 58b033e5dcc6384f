// Percentiles, and the block bootstrap of the ratio of two medians.
#include "ports/cli/benchmark/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace topwork {
namespace cli {
namespace {

constexpr size_t kMaxSamples = 1000;
// At least so many resamples lie beyond either end of the interval.
constexpr double kMinTail = 10.0;
constexpr double kMinResamples = 2000.0, kMaxResamples = 100000.0;

// SplitMix64 (Steele, Lea, Flood 2014), below n by the high bits of a product (Lemire 2019).
class Draw {
 public:
  size_t Below(size_t n) {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<size_t>(((z ^ (z >> 31)) >> 32) * static_cast<uint64_t>(n) >> 32);
  }

 private:
  uint64_t state_ = 1;
};

double MiddleOf(std::vector<double>* values) {
  const size_t half = values->size() / 2;
  const auto middle = values->begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values->begin(), middle, values->end());
  if (values->size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values->begin(), middle));
}

// Medians of series made of blocks of `samples`: how often each sample is drawn is counted by its rank,
// so nothing is sorted again.
class Resampler {
 public:
  explicit Resampler(const std::vector<double>& samples)
      : block_(static_cast<size_t>(std::ceil(std::cbrt(static_cast<double>(samples.size()))))),
        sorted_(samples),
        ranks_(samples.size()),
        counts_(samples.size()) {
    std::vector<size_t> order(samples.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t i, size_t j) { return samples[i] < samples[j]; });
    for (size_t rank = 0; rank < order.size(); ++rank) {
      ranks_[order[rank]] = rank;
      sorted_[rank] = samples[order[rank]];
    }
  }

  double Median(Draw* draw) {
    const size_t n = sorted_.size();
    size_t* const counts = counts_.data();
    std::fill(counts, counts + n, size_t{0});
    for (size_t drawn = 0; drawn < n; drawn += block_) {
      const size_t* rank = ranks_.data() + draw->Below(n - block_ + 1);
      const size_t* const end = rank + std::min(block_, n - drawn);
      for (; rank < end; ++rank) ++counts[*rank];
    }
    size_t rank = 0, so_far = counts[0];
    while (so_far <= (n - 1) / 2) so_far += counts[++rank];
    const double low = sorted_[rank];
    while (so_far <= n / 2) so_far += counts[++rank];
    return 0.5 * (low + sorted_[rank]);
  }

 private:
  const size_t block_;
  std::vector<double> sorted_;
  std::vector<size_t> ranks_, counts_;  // of the samples in their order; of the sorted ones
};

}  // namespace

double Percentile(const std::vector<double>& sorted, double percent) {
  const double at = percent / 100.0 * static_cast<double>(sorted.size() - 1);
  const size_t low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

double Median(std::vector<double> values) { return MiddleOf(&values); }

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double StandardDeviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  const double mean = Mean(values);
  double sum = 0.0;
  for (double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

Json SummaryJson(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  Json json;
  json["min"] = samples.front();
  json["p5"] = Percentile(samples, 5);
  json["p50"] = Percentile(samples, 50);
  json["p90"] = Percentile(samples, 90);
  json["p99"] = Percentile(samples, 99);
  json["max"] = samples.back();
  json["mean"] = Mean(samples);
  json["std"] = StandardDeviation(samples);
  return json;
}

std::vector<double> Thinned(const std::vector<double>& samples, size_t n) {
  if (samples.size() <= n) return samples;
  std::vector<double> kept;
  for (size_t i = 0; i < n; ++i) kept.push_back(samples[i * samples.size() / n]);
  return kept;
}

RatioInterval MedianRatio(const std::vector<double>& before, const std::vector<double>& after,
                          double confidence) {
  const std::vector<double> a = Thinned(before, kMaxSamples), b = Thinned(after, kMaxSamples);
  const double tail = 0.5 * (1.0 - confidence);
  const size_t n =
      static_cast<size_t>(std::min(std::max(kMinTail / tail, kMinResamples), kMaxResamples));
  Draw draw;
  Resampler resampled_a(a), resampled_b(b);
  std::vector<double> ratios;
  for (size_t i = 0; i < n; ++i) {
    const double under = resampled_a.Median(&draw);
    ratios.push_back(resampled_b.Median(&draw) / under);
  }
  std::sort(ratios.begin(), ratios.end());
  return {Median(b) / Median(a), Percentile(ratios, 100.0 * tail),
          Percentile(ratios, 100.0 * (1.0 - tail))};
}

}  // namespace cli
}  // namespace topwork
