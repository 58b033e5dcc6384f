// Statistics of repeated times. No function needs the samples in any order but MedianRatio, which
// takes them in the order in which they were measured.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_STATISTICS_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_STATISTICS_H_

#include <cstddef>
#include <vector>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// Linear interpolation between the closest ranks (NumPy's default); `sorted` is not empty.
double Percentile(const std::vector<double>& sorted, double percent);
double Median(std::vector<double> values);  // not empty
double Mean(const std::vector<double>& values);
// With n − 1 in the denominator; 0 for less than two values.
double StandardDeviation(const std::vector<double>& values);

// min, p5, p50, p90, p99, max, mean, std of the samples, which are not empty.
Json SummaryJson(std::vector<double> samples);

// At most `n` of the samples, equally far apart, in order.
std::vector<double> Thinned(const std::vector<double>& samples, size_t n);

struct RatioInterval {
  double ratio = 1.0;  // median(after) / median(before)
  double low = 1.0, high = 1.0;
};
// The ratio of two medians and its confidence interval: percentiles of the ratio over a bootstrap
// of moving blocks of n^(1/3) samples, which keeps what neighbours have in common (Künsch 1989; the
// interval: Efron and Tibshirani 1993, chapter 13). The random numbers are the same in every call.
// Both series have samples, all above 0; 0 < confidence < 1. Of long series about 1000 samples count.
RatioInterval MedianRatio(const std::vector<double>& before, const std::vector<double>& after,
                          double confidence);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_STATISTICS_H_
