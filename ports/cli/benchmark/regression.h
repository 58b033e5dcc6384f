// Comparing the results of a benchmark with those of an earlier one.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_REGRESSION_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_REGRESSION_H_

#include <string>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

struct RegressionLimits {
  double confidence = 0.99;  // that none of the intervals of a comparison is wrong by chance
  double tolerance = 0.05;   // a share by which medians may differ and count as the same
};

// The form of the documents; a form that earlier programs misread gets another number.
constexpr char kBenchmarkSchema[] = "topwork benchmark 1";

// The document of `topwork benchmark --json` in a file. Throws: the file cannot be read (kExitIo),
// or it is something else or has another form (kExitData).
Json ReadBenchmark(const std::string& path);

// What is compared: model (its file's name), signature, device, precision, threads, batch, shapes.
std::string SettingKey(const Json& result);

// Throws kExitData when none of `results`, of which only what SettingKey() reads is looked at, has
// its setting in `before`, the document of the file `base`.
void CheckComparable(const Json& before, const Json& results, const std::string& base);

// Compares each result of `after` with the one of the same setting in `before`: {base, confidence,
// tolerance, n_slower, rows, notes}; a row has key, verdict, before_ms, after_ms, ratio, low, high.
// Verdicts: "slower" when all of the interval of the ratio of medians (MedianRatio) lies above 1 +
// tolerance, "faster" when all of it lies below 1 / (1 + tolerance), "same" when all of it lies
// between, "unclear" otherwise, "too few runs" below 20. The confidence is shared out among the
// rows (Bonferroni). The interval covers what varies from run to run in the two processes, not what
// varies between processes. Throws as CheckComparable() does.
Json CompareBenchmarks(const Json& before, const Json& after, const std::string& base,
                       const RegressionLimits& limits);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_REGRESSION_H_
