// Format: tensorflow/lite/tools/benchmark/benchmark_model.cc, and the tables of tsl's
// stats_calculator.cc. Operators are told by their mean, as there; they have no memory column's data.
#include "ports/cli/benchmark/tflite_print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "ports/cli/benchmark/statistics.h"

namespace topwork {
namespace cli {
namespace {

// As a C++ stream prints a double: six digits.
std::string StreamText(double value) {
  char text[48];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

std::string WholeMicros(double millis) { return std::to_string(std::llround(millis * 1e3)); }

// tsl::Stat<int64_t>::OutputToStream of n times: the first and the last one, and a summary of all of
// them, in milliseconds. Its deviation divides by n and is cut off.
std::string StatText(double first, double last, const Json& summary, size_t n) {
  const auto value = [&](const char* key) { return summary[key].get<double>(); };
  const std::string least = WholeMicros(value("min")), most = WholeMicros(value("max"));
  std::string text = "count=" + std::to_string(n);
  if (least == most) return text + " curr=" + WholeMicros(last) + (n > 1 ? "(all same)" : "");
  const double whole = static_cast<double>(n);
  const double deviation = 1e3 * value("std") * std::sqrt((whole - 1.0) / whole);
  return text + " first=" + WholeMicros(first) + " curr=" + WholeMicros(last) + " min=" + least +
         " max=" + most + " avg=" + StreamText(1e3 * value("mean")) +
         " std=" + std::to_string(static_cast<int64_t>(deviation));
}

std::string RunsText(int runs, double min_seconds, double max_seconds) {
  return "INFO: Running benchmark for at least " + std::to_string(runs) +
         " iterations and at least " + StreamText(min_seconds) +
         " seconds but terminate if exceeding " + StreamText(max_seconds) + " seconds.\n";
}

struct NodeType {
  int count = 0;
  double millis = 0.0;
};

std::string OpsText(const Json& ops) {
  std::string text =
      "INFO: Operator-wise Profiling Info for Regular Benchmark Runs:\n"
      "============================== Run Order ==============================\n";
  char line[256];
  std::snprintf(line, sizeof(line), "\t%24s\t%17s\t%9s\t%9s\t%8s\t%8s\t%10s\t%9s\t[Name]\n",
                "[node type]", "[start]", "[first]", "[avg ms]", "[%]", "[cdf%]", "[mem KB]",
                "[times called]");
  text += line;
  double total = 0.0, start = 0.0;
  for (const Json& op : ops) total += op["mean_ms"].get<double>();
  std::map<std::string, NodeType> types;
  for (const Json& op : ops) {
    const double millis = op["mean_ms"].get<double>();
    const std::string name = op["op"].get<std::string>();
    std::snprintf(line, sizeof(line),
                  "\t%24s\t%17.3f\t%9.3f\t%9.3f\t%7.3f%%\t%7.3f%%\t%10.3f\t%9d\t", name.c_str(),
                  start, op["p50_ms"].get<double>(), millis, 100.0 * millis / total,
                  100.0 * (start + millis) / total, 0.0, 1);
    text +=
        line + std::string("[") + op["output"].get<std::string>() + "]:" + op["step"].dump() + "\n";
    start += millis;
    ++types[name].count;
    types[name].millis += millis;
  }
  text += "\nNumber of nodes executed: " + std::to_string(ops.size()) +
          "\n============================== Summary by node type ==============================\n";
  std::snprintf(line, sizeof(line), "\t%24s\t%9s\t%10s\t%11s\t%11s\t%10s\t%10s\n", "[Node type]",
                "[count]", "[avg ms]", "[avg %]", "[cdf %]", "[mem KB]", "[times called]");
  text += line;
  std::vector<std::pair<double, std::string>> order;
  for (const auto& type : types) order.push_back({-type.second.millis, type.first});
  std::sort(order.begin(), order.end());
  double passed = 0.0;
  for (const auto& entry : order) {
    const NodeType& type = types[entry.second];
    passed += type.millis;
    std::snprintf(line, sizeof(line), "\t%24s\t%9d\t%10.3f\t%10.3f%%\t%10.3f%%\t%10.3f\t%9d\n",
                  entry.second.c_str(), type.count, type.millis, 100.0 * type.millis / total,
                  100.0 * passed / total, 0.0, type.count);
    text += line;
  }
  return text + "\n";
}

}  // namespace

std::string TfliteText(const BenchmarkOptions& options, const Json& result) {
  std::vector<double> warmup = {result["first_run_ms"].get<double>()};
  for (const Json& millis : result["warmup_ms"]) warmup.push_back(millis.get<double>());
  const Json before = SummaryJson(warmup);
  const Json& samples = result["samples_ms"];
  const double init = result["open_ms"].get<double>() + result["plan_ms"].get<double>();
  const double mean = 1e3 * result["latency_ms"]["mean"].get<double>();
  std::string text = "INFO: STARTING!\n";
  text += "INFO: Min num runs: [" + std::to_string(options.runs) + "]\n";
  text += "INFO: Num threads: [" + result["threads"].dump() + "]\n";
  text += "INFO: Graph: [" + result["model"].get<std::string>() + "]\n";
  text += "INFO: Loaded model " + result["model"].get<std::string>() + "\n";
  text += "INFO: The input model file size (MB): " +
          StreamText(result["file_bytes"].get<double>() / 1e6) + "\n";
  text += "INFO: Initialized session in " + StreamText(init) + "ms.\n";
  text += RunsText(options.warmup + 1, options.warmup_seconds, options.max_seconds);
  text += "INFO: " + StatText(warmup.front(), warmup.back(), before, warmup.size()) + "\n\n";
  text += RunsText(options.runs, options.min_seconds, options.max_seconds);
  text += "INFO: " +
          StatText(samples.front().get<double>(), samples.back().get<double>(),
                   result["latency_ms"], result["runs"].get<size_t>()) +
          "\n\n";
  text += "INFO: Inference timings in us: Init: " + WholeMicros(init) +
          ", First inference: " + WholeMicros(warmup.front()) +
          ", Warmup (avg): " + StreamText(1e3 * before["mean"].get<double>()) +
          ", Inference (avg): " + StreamText(mean) + "\n";
  text += "INFO: Overall peak memory footprint (MB) via periodic monitoring: " +
          StreamText(result["rss_peak_bytes"].get<double>() / 1048576.0) + "\n";
  if (!result["ops"].empty()) text += OpsText(result["ops"]);
  return text;
}

}  // namespace cli
}  // namespace topwork
