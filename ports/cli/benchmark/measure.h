// Measuring one setting of a benchmark.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_MEASURE_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_MEASURE_H_

#include <vector>

#include "ports/cli/benchmark/options.h"
#include "ports/cli/benchmark/trace.h"

namespace topwork {
namespace cli {

// Opens the model, plans it, runs it for the first time, warms up, and takes the measured runs. The
// result has, in milliseconds, open_ms, plan_ms, first_run_ms, warmup_ms (all runs before the
// measured ones but the first), samples_ms (at most 2000, equally far apart) and latency_ms (a summary
// of all of them); the setting and what became of it: model, sha256, device, precision, threads,
// threads_asked, batch, inputs, placed (operators by place), note; drift, throttled, clocks; memory in
// bytes; power (null without --power); ops with --profile and --roofline: step, part, op,
// variant, backend, output, p50_ms, mean_ms, flops, bytes (null where unknown), is_bytes (it computes
// with 8-bit integers).
// *events receives the operators of one run when the options ask for a trace.
Json MeasureSetting(const BenchmarkOptions& options, const Setting& setting,
                    std::vector<TraceEvent>* events);

// What SettingKey() reads of the result of MeasureSetting(), before anything is measured. It opens
// the model; no session.
Json PlannedSetting(const Setting& setting);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_MEASURE_H_
