// What `topwork benchmark` is asked to do.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_OPTIONS_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_OPTIONS_H_

#include <string>
#include <vector>

#include "ports/cli/benchmark/regression.h"
#include "ports/cli/common.h"

namespace topwork {
namespace cli {

struct BenchmarkOptions {
  CommonOptions common;  // its model, device, precision and n_threads are those of the lists
  std::vector<std::string> models;
  std::vector<int> threads = {0};
  std::vector<int> batches = {0};
  std::vector<std::string> devices = {"auto"};
  std::vector<std::string> precisions = {"float32"};
  std::vector<std::string> input_ranges;  // "x=0,254"
  int warmup = 5, runs = 50;
  double warmup_seconds = 0.0, min_seconds = 0.0;
  double max_seconds = 0.0;    // of the measured runs; 0: no limit
  double delay_seconds = 0.0;  // between runs
  bool profile = false;
  bool roofline = false;
  bool train = false;
  bool power = false;
  int train_classes = 5, train_examples = 50;
  std::string format = "text";
  std::string compare, report, trace;  // files
  RegressionLimits limits;
};

// One measurement: the options with one model, device, precision, number of threads and batch.
struct Setting {
  CommonOptions common;
  int batch = 0;
};

// Every combination of the lists, each once: models outermost, then devices, precisions, batches, threads.
std::vector<Setting> SettingsOf(const BenchmarkOptions& options);

void AddBenchmarkOptions(CLI::App* command, BenchmarkOptions* options);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_OPTIONS_H_
