// The options of `topwork benchmark`, and the list of what they ask to measure.
#include "ports/cli/benchmark/options.h"

#include <algorithm>
#include <cmath>

#include "ports/cli/shapes.h"

namespace topwork {
namespace cli {
namespace {

// A list whose numbers or names are separated by commas; what follows it is something else.
template <typename T>
CLI::Option* AddList(CLI::App* command, const char* flag, std::vector<T>* values,
                     const char* text) {
  return command->add_option(flag, *values, text)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
}

void AddLists(CLI::App* command, BenchmarkOptions* options) {
  AddList(command, "--batch", &options->batches,
          "first dimension of every input; 0: the model's own")
      ->check(CLI::Range(0, 65536))
      ->type_name("B,...");
  AddList(command, "--threads", &options->threads,
          "threads to use; 0: as many as pay, see 'topwork devices'")
      ->check(CLI::Range(0, 1024))
      ->type_name("N,...");
  AddList(
      command, "--device", &options->devices,
      "where to compute: auto, cpu, opencl, or an OpenCL device by number or name; see 'topwork "
      "run --help'")
      ->check(DeviceCheck())
      ->type_name("DEVICE,...")
      ->group("Device");
  AddList(command, "--precision", &options->precisions, "float32, float16 or auto")
      ->check(CLI::IsMember({"float32", "float16", "auto"}))
      ->type_name("PRECISION,...")
      ->group("Device");
  AddTuneOption(command, &options->common);
}

void AddLengths(CLI::App* command, BenchmarkOptions* options) {
  command->add_option("--warmup", options->warmup, "runs before measuring, after the first one")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--runs", options->runs, "runs measured, at least")
      ->check(CLI::Range(1, 10000000))
      ->type_name("N")
      ->capture_default_str();
  const auto seconds = [&](const char* flag, double* value, const char* text,
                           double most = HUGE_VAL) {
    command->add_option(flag, *value, text)->check(NonNegativeCheck(most))->type_name("S");
  };
  seconds("--min-seconds", &options->min_seconds, "go on with measured runs for so long");
  seconds("--max-seconds", &options->max_seconds,
          "begin no measured run after so long, even if --runs are not done; 0: no limit");
  seconds("--warmup-seconds", &options->warmup_seconds, "go on with the runs before for so long");
  seconds("--delay", &options->delay_seconds, "wait for so long after each run, an hour at most",
          3600.0);
}

void AddInputs(CLI::App* command, BenchmarkOptions* options) {
  AddInputShapeOption(command, &options->common);
  const auto check = [](const std::string& text) {
    InputRange range;
    return ParseInputRange(text, &range);
  };
  command
      ->add_option("--input-range", options->input_ranges,
                   "random values of an input lie between LOW and HIGH, as in ids=0,999; #0 stands "
                   "for the first input; once for each input")
      ->check(CLI::Validator(check, ""))
      ->allow_extra_args(false)
      ->type_name("INPUT=LOW,HIGH");
}

void AddWork(CLI::App* command, BenchmarkOptions* options) {
  command->add_flag("--profile", options->profile, "time every operator, in runs of their own");
  command->add_flag(
      "--roofline", options->roofline,
      "measure what the device can do, and tell how much of it every operator reaches");
  command->add_flag(
      "--power", options->power,
      "measure the energy of a run, in runs of their own, and with --train that of a training "
      "step, where the machine has a sensor of power");
  command->add_flag("--train", options->train,
                    "time the training of a new head, too, on random examples");
  command->add_option("--train-classes", options->train_classes, "of the new head")
      ->needs("--train")
      ->check(CLI::Range(2, 100000))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--train-examples", options->train_examples, "of all classes together")
      ->needs("--train")
      ->check(CLI::Range(2, 1000000))
      ->type_name("N")
      ->capture_default_str();
}

void AddOutputs(CLI::App* command, BenchmarkOptions* options) {
  AddJsonOption(command, &options->common);
  command
      ->add_option("--format", options->format,
                   "what to print: text, json, jsonl (a line for each setting), csv, markdown, or "
                   "the lines of TFLite's benchmark_model")
      ->excludes("--json")
      ->check(CLI::IsMember({"text", "json", "jsonl", "csv", "markdown", "benchmark_model"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command
      ->add_option("--report", options->report,
                   "write a page with plots that a browser shows without a network")
      ->type_name("FILE.html");
  command
      ->add_option("--trace", options->trace,
                   "write the operators of one run for ui.perfetto.dev or chrome://tracing")
      ->type_name("FILE.json");
  command
      ->add_option("--compare", options->compare,
                   "hold the latencies against those of an earlier --json document; exit code 12 "
                   "when a setting is slower")
      ->type_name("BASE.json");
  command->add_option("--confidence", options->limits.confidence, "of the verdicts of --compare")
      ->needs("--compare")
      ->check(CLI::Range(0.5, 0.9999))
      ->type_name("P")
      ->capture_default_str();
  command
      ->add_option("--tolerance", options->limits.tolerance,
                   "share by which a median may differ and count as the same")
      ->needs("--compare")
      ->check(NonNegativeCheck())
      ->type_name("SHARE")
      ->capture_default_str();
}

// What a list names twice is in it once.
template <typename T>
std::vector<T> Distinct(const std::vector<T>& values) {
  std::vector<T> distinct;
  for (const T& value : values) {
    if (std::find(distinct.begin(), distinct.end(), value) == distinct.end()) {
      distinct.push_back(value);
    }
  }
  return distinct;
}

}  // namespace

std::vector<Setting> SettingsOf(const BenchmarkOptions& options) {
  std::vector<Setting> settings;
  for (const std::string& model : Distinct(options.models)) {
    for (const std::string& device : Distinct(options.devices)) {
      for (const std::string& precision : Distinct(options.precisions)) {
        for (int batch : Distinct(options.batches)) {
          for (int n_threads : Distinct(options.threads)) {
            settings.push_back({options.common, batch});
            settings.back().common.model = model;
            settings.back().common.device = device;
            settings.back().common.precision = precision;
            settings.back().common.n_threads = n_threads;
          }
        }
      }
    }
  }
  return settings;
}

void AddBenchmarkOptions(CLI::App* command, BenchmarkOptions* options) {
  command->add_option("MODEL", options->models, "one .tflite file or several")
      ->required()
      ->type_name("FILE");
  AddLengths(command, options);
  AddSignatureOption(command, &options->common);
  AddInputs(command, options);
  AddMemoryLimitOption(command, &options->common);
  AddLists(command, options);
  AddPlacementOptions(command, &options->common);
  AddWork(command, options);
  AddOutputs(command, options);
}

}  // namespace cli
}  // namespace topwork
