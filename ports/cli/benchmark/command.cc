// topwork benchmark: open, plan, first run and steady state, each on its own, for every combination
// of the settings that are asked for.
#include <cstdio>
#include <ctime>
#include <memory>

#include "ports/cli/benchmark/machine.h"
#include "ports/cli/benchmark/measure.h"
#include "ports/cli/benchmark/page.h"
#include "ports/cli/benchmark/print.h"
#include "ports/cli/benchmark/roofline.h"
#include "ports/cli/benchmark/tflite_print.h"
#include "ports/cli/benchmark/train_times.h"
#include "ports/cli/files.h"

namespace topwork {
namespace cli {
namespace {

std::string DateText() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char text[32] = "";
  if (gmtime_r(&now, &utc) != nullptr) {
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  }
  return text;
}

// Before any time is spent: files that cannot be read or written, a base of other settings.
void CheckFiles(const BenchmarkOptions& options) {
  for (const std::string& model : options.models) {
    CheckOutputs(
        {{"--report", options.report}, {"--trace", options.trace}}, model, {},
        {{"--compare", options.compare}, {"--device-policy", options.common.device_policy}});
  }
  if (options.models.size() > 1) {
    for (const std::string& model : options.models) (void)OpenModel(model);
  }
  if (options.compare.empty()) return;
  Json planned = Json::array();
  const Json base = ReadBenchmark(options.compare);
  for (const Setting& setting : SettingsOf(options)) planned.push_back(PlannedSetting(setting));
  CheckComparable(base, planned, options.compare);
}

Json MeasureAll(const BenchmarkOptions& options) {
  Json document = {{"schema", kBenchmarkSchema},
                   {"version", tw_version()},
                   {"date", DateText()},
                   {"machine", Json()}};
  std::vector<std::vector<TraceEvent>> runs;
  std::vector<std::string> names;
  Json results = Json::array();
  for (const Setting& setting : SettingsOf(options)) {
    runs.emplace_back();
    results.push_back(MeasureSetting(options, setting, &runs.back()));
    names.push_back(SettingKey(results.back()));
    if (options.train) results.back()["train"] = MeasureTraining(options, setting);
  }
  if (options.roofline) document["limits"] = AddRoofline(&results);
  document["results"] = results;
  document["machine"] = MachineJson("");  // asks drivers, which take memory: after all is measured
  if (!options.compare.empty()) {
    document["comparison"] = CompareBenchmarks(ReadBenchmark(options.compare), document,
                                               options.compare, options.limits);
  }
  if (!options.trace.empty()) {
    const std::string text = TraceText(names, runs);
    WriteWholeFile(options.trace, text.data(), text.size());
  }
  return document;
}

void Print(const BenchmarkOptions& options, const Json& document) {
  const std::string format = options.common.json ? "json" : options.format;
  if (format == "json") return PrintJson(document);
  if (format == "text") return PrintBenchmark(document);
  std::string text;
  if (format == "jsonl") text = JsonLinesText(document);
  if (format == "csv") text = CsvText(document);
  if (format == "markdown") text = MarkdownText(document);
  if (format == "benchmark_model") {
    for (const Json& result : document["results"]) text += TfliteText(options, result);
  }
  if (std::fputs(text.c_str(), stdout) == EOF) {
    throw CliError(kExitIo, "standard output cannot be written");
  }
}

void Benchmark(const BenchmarkOptions& options) {
  CheckFiles(options);
  const Json document = MeasureAll(options);
  if (!options.report.empty()) {
    const std::string page = RenderBenchmark(document);
    WriteWholeFile(options.report, page.data(), page.size());
  }
  Print(options, document);
  const int n_slower =
      document.contains("comparison") ? document["comparison"]["n_slower"].get<int>() : 0;
  if (n_slower > 0) {
    std::fflush(stdout);
    throw CliError(kExitSlower, std::to_string(n_slower) + " of " +
                                    std::to_string(document["comparison"]["rows"].size()) +
                                    " settings slower than in " + options.compare);
  }
}

}  // namespace

void AddBenchmarkCommand(CLI::App* app) {
  auto options = std::make_shared<BenchmarkOptions>();
  CLI::App* command = app->add_subcommand(
      "benchmark", "Time models: open, plan, first run, steady state, operators, training");
  AddBenchmarkOptions(command, options.get());
  command->footer(
      "Every combination of the lists is measured once. With --graph=FILE the flags are those of TFLite's\n"
      "benchmark_model, and so are the lines that are printed.\n\n"
      "Examples:\n"
      "  topwork benchmark mobilenet.tflite\n"
      "  topwork benchmark mobilenet.tflite --threads 1,2 --runs 200 --profile\n"
      "  topwork benchmark a.tflite b.tflite --device cpu,opencl --precision float32,float16 --format csv\n"
      "  topwork benchmark mobilenet.tflite --min-seconds 5 --json > base.json\n"
      "  topwork benchmark mobilenet.tflite --min-seconds 5 --compare base.json\n"
      "  topwork benchmark mobilenet.tflite --roofline --train --report mobilenet.html\n"
      "  topwork benchmark --graph=mobilenet.tflite --num_threads=4 --enable_op_profiling=true");
  command->callback([options] { Benchmark(*options); });
}

}  // namespace cli
}  // namespace topwork
