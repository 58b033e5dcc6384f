// The lines of TFLite's benchmark_model.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_TFLITE_PRINT_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_TFLITE_PRINT_H_

#include <string>

#include "ports/cli/benchmark/options.h"

namespace topwork {
namespace cli {

// What benchmark_model logs about a run, in its words and number formats: times in whole
// microseconds, means with six digits. `result` is one of MeasureSetting.
std::string TfliteText(const BenchmarkOptions& options, const Json& result);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_TFLITE_PRINT_H_
