// A row for each flag of benchmark_model says what becomes of it.
#include "ports/cli/benchmark/tflite_flags.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "ports/cli/cli_error.h"
#include "ports/cli/shapes.h"

namespace topwork {
namespace cli {
namespace {

enum class TfliteUse {
  kOption,   // becomes `text` with the same value
  kValue,    // is looked at by name below
  kNote,     // means nothing here: `text` says why
  kRefused,  // cannot be done unless it is off: `text` says what to do
};

struct TfliteFlag {
  const char* name;
  TfliteUse use;
  const char* text;
};

constexpr char kOtherDelegate[] = "Topwork has no delegates; --use_gpu takes an OpenCL device";
constexpr char kOwnLoops[] = "Topwork's own CPU kernels are used";
constexpr char kAlways[] = "Topwork plans memory and delegation by itself";

constexpr TfliteFlag kTfliteFlags[] = {
    {"graph", TfliteUse::kValue, ""},
    {"num_threads", TfliteUse::kValue, ""},
    {"num_runs", TfliteUse::kOption, "--runs"},
    {"warmup_runs", TfliteUse::kValue, ""},
    {"min_secs", TfliteUse::kOption, "--min-seconds"},
    {"max_secs", TfliteUse::kOption, "--max-seconds"},
    {"warmup_min_secs", TfliteUse::kOption, "--warmup-seconds"},
    {"run_delay", TfliteUse::kValue, ""},
    {"signature_to_run_for", TfliteUse::kOption, "--signature"},
    {"input_layer", TfliteUse::kValue, ""},
    {"input_layer_shape", TfliteUse::kValue, ""},
    {"input_layer_value_range", TfliteUse::kValue, ""},
    {"use_gpu", TfliteUse::kValue, ""},
    {"gpu_precision_loss_allowed", TfliteUse::kValue, ""},
    {"allow_fp16", TfliteUse::kValue, ""},
    {"xnnpack_force_fp16", TfliteUse::kValue, ""},
    {"enable_op_profiling", TfliteUse::kValue, ""},
    {"use_xnnpack", TfliteUse::kNote, kOwnLoops},
    {"use_caching", TfliteUse::kNote, kOwnLoops},
    {"verbose", TfliteUse::kNote, "'topwork benchmark --help' explains all parameters"},
    {"benchmark_name", TfliteUse::kNote, "nothing is named by it"},
    {"output_prefix", TfliteUse::kNote, "nothing is named by it"},
    {"report_peak_memory_footprint", TfliteUse::kNote, "the peak is always printed"},
    {"memory_footprint_check_interval_ms", TfliteUse::kNote, "the system keeps the peak"},
    {"print_preinvoke_state", TfliteUse::kNote, "'topwork info --plan' prints the plan"},
    {"print_postinvoke_state", TfliteUse::kNote, "'topwork info --plan' prints the plan"},
    {"max_profiling_buffer_entries", TfliteUse::kNote, "there is no such buffer"},
    {"allow_dynamic_profiling_buffer_increase", TfliteUse::kNote, "there is no such buffer"},
    {"release_dynamic_tensors", TfliteUse::kNote, kAlways},
    {"optimize_memory_for_large_tensors", TfliteUse::kNote, kAlways},
    {"disable_delegate_clustering", TfliteUse::kNote, kAlways},
    {"max_delegated_partitions", TfliteUse::kNote, kAlways},
    {"min_nodes_per_partition", TfliteUse::kNote, kAlways},
    {"delegate_serialize_dir", TfliteUse::kNote, "compiled programs lie in TOPWORK_CACHE"},
    {"delegate_serialize_token", TfliteUse::kNote, "compiled programs lie in TOPWORK_CACHE"},
    {"gpu_backend", TfliteUse::kNote, "the device is an OpenCL device"},
    {"gpu_wait_type", TfliteUse::kNote, "the driver decides how to wait"},
    {"gpu_experimental_enable_quant", TfliteUse::kNote, "quantized models always run there"},
    {"gpu_inference_for_sustained_speed", TfliteUse::kNote, "there is one way to run"},
    {"gpu_invoke_loop_times", TfliteUse::kNote, "each run is timed"},
    {"enable_platform_tracing", TfliteUse::kNote, "--trace FILE writes a trace"},
    {"run_frequency", TfliteUse::kRefused, "give --run_delay"},
    {"dry_run", TfliteUse::kRefused, "'topwork info MODEL' plans without running"},
    {"list_signatures", TfliteUse::kRefused, "'topwork info MODEL' lists them"},
    {"input_layer_value_files", TfliteUse::kRefused, "'topwork run --input FILE' takes values"},
    {"profiling_output_csv_file", TfliteUse::kRefused, "--json and --trace FILE hold operators"},
    {"op_profiling_output_mode", TfliteUse::kRefused, "--json and --trace FILE hold operators"},
    {"op_profiling_output_file", TfliteUse::kRefused, "--json and --trace FILE hold operators"},
    {"result_file_path", TfliteUse::kRefused, "--json prints a document"},
    {"require_full_delegation", TfliteUse::kRefused, "--json tells where operators run (placed)"},
    {"use_nnapi", TfliteUse::kRefused, kOtherDelegate},
    {"use_hexagon", TfliteUse::kRefused, kOtherDelegate},
    {"use_coreml", TfliteUse::kRefused, kOtherDelegate},
    {"external_delegate_path", TfliteUse::kRefused, kOtherDelegate},
    {"stable_delegate_loader_settings", TfliteUse::kRefused, kOtherDelegate},
    {"stable_delegate_settings_file", TfliteUse::kRefused, kOtherDelegate},
};

const TfliteFlag* FindTfliteFlag(const std::string& name) {
  for (const TfliteFlag& flag : kTfliteFlags) {
    if (name == flag.name) return &flag;
  }
  return nullptr;
}

bool IsOff(const std::string& value) {
  return value.empty() || value == "false" || value == "0" || value == "-1" || value == "stdout";
}

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

class TfliteTranslation {
 public:
  void Add(const std::string& name, const std::string& value) {
    const TfliteFlag& flag = *FindTfliteFlag(name);
    if (flag.use == TfliteUse::kRefused && !IsOff(value)) {
      throw CliError(kExitUsage,
                     "--" + name + " of benchmark_model is not supported: " + flag.text);
    }
    if (flag.use == TfliteUse::kNote) {
      result_.notes.push_back("--" + name + " means nothing here: " + flag.text);
    }
    if (flag.use == TfliteUse::kOption) Put(flag.text, value, name);
    if (flag.use == TfliteUse::kValue) values_[name] = value;
  }

  void Keep(const std::string& argument) { result_.arguments.push_back(argument); }

  // With benchmark_model's defaults where they differ from ours.
  TfliteArguments Finish() {
    result_.arguments.insert(result_.arguments.begin(), values_["graph"]);
    const std::string threads = values_["num_threads"];
    // TFLite takes one thread when it is not told how many.
    Put("--threads", IsOff(threads) ? "1" : threads, "num_threads");
    PutDefault("--runs", "50");
    PutDefault("--min-seconds", "1");
    PutDefault("--max-seconds", "150");
    PutDefault("--warmup-seconds", "0.5");
    PutWarmup();
    if (!IsOff(values_["run_delay"]) && values_["run_delay"][0] != '-') {
      Put("--delay", values_["run_delay"], "run_delay");
    }
    PutDevice();
    if (IsOn("enable_op_profiling")) Keep("--profile");
    PutInputs();
    PutDefault("--format", "benchmark_model");
    return std::move(result_);
  }

 private:
  bool Has(const std::string& option) const {
    return std::any_of(result_.arguments.begin(), result_.arguments.end(),
                       [&](const std::string& argument) {
                         return argument == option || argument.rfind(option + "=", 0) == 0 ||
                                (option == "--format" && argument == "--json");
                       });
  }
  void Put(const std::string& option, const std::string& value, const std::string& flag = "") {
    Keep(option + "=" + value);
    if (!flag.empty()) result_.typed.emplace_back(option, "--" + flag);
  }
  void PutDefault(const std::string& option, const std::string& value) {
    if (!Has(option)) Put(option, value);
  }

  bool IsOn(const std::string& flag) {
    const std::string& value = values_[flag];
    if (IsOff(value) || value == "true" || value == "1") return !IsOff(value);
    throw CliError(kExitUsage, "--" + flag + ": '" + value + "' is neither true nor false");
  }

  // benchmark_model counts the first run among them.
  void PutWarmup() {
    const std::string& runs = values_["warmup_runs"];
    if (runs.empty()) return Put("--warmup", "0");
    if (runs.find_first_not_of("0123456789") != std::string::npos || runs.size() > 7) {
      throw CliError(kExitUsage, "--warmup_runs: '" + runs + "' is not a number of runs");
    }
    Put("--warmup", std::to_string(std::max(std::stoi(runs) - 1, 0)), "warmup_runs");
  }

  void PutDevice() {
    const bool gpu = IsOn("use_gpu");
    PutDefault("--device", gpu ? "opencl" : "cpu");
    // True unless it is given.
    const bool loss =
        IsOn("gpu_precision_loss_allowed") || values_["gpu_precision_loss_allowed"].empty();
    const bool allowed = IsOn("allow_fp16"), forced = IsOn("xnnpack_force_fp16");
    PutDefault("--precision", (gpu && loss) || allowed || forced ? "float16" : "float32");
  }

  // An input by its order: "#0=1,224,224,3" where the user typed a part of `flag`.
  void PutInput(const std::string& option, size_t i, const std::string& value,
                const std::string& flag, const std::string& part) {
    const std::string text = "#" + std::to_string(i) + "=" + value;
    Put(option, text, flag);
    result_.typed.emplace_back(text, part);
  }

  // Names, shapes and ranges; names count by their order, as for benchmark_model.
  void PutInputs() {
    const std::string& shapes = values_["input_layer_shape"];
    const std::vector<std::string> names = SplitAt(values_["input_layer"], ',');
    if (!shapes.empty()) {
      const std::vector<std::string> parts = SplitAt(shapes, ':');
      if (!values_["input_layer"].empty() && parts.size() != names.size()) {
        throw CliError(kExitUsage, "--input_layer_shape has " + std::to_string(parts.size()) +
                                       " shapes, --input_layer " + std::to_string(names.size()) +
                                       " names");
      }
      for (size_t i = 0; i < parts.size(); ++i) {
        GivenShape shape;
        if (!ParseInputShape("#=" + parts[i], &shape).empty()) {
          throw CliError(kExitUsage, "--input_layer_shape: '" + parts[i] +
                                         "' is not a shape such as 1,224,224,3");
        }
        PutInput("--input-shape", i, parts[i], "input_layer_shape", parts[i]);
      }
    }
    if (values_["input_layer_value_range"].empty()) return;
    for (const std::string& range : SplitAt(values_["input_layer_value_range"], ':')) {
      const size_t comma = range.find(',');
      const std::string name = range.substr(0, comma);
      const size_t i =
          static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      if (comma == std::string::npos || i == names.size()) {
        throw CliError(kExitUsage, "--input_layer_value_range: '" + range +
                                       "' does not begin with a name of --input_layer");
      }
      const std::string limits = range.substr(comma + 1);
      InputRange read;
      if (!ParseInputRange("#=" + limits, &read).empty()) {
        throw CliError(kExitUsage, "--input_layer_value_range: '" + range +
                                       "' is not NAME,LOW,HIGH with LOW at most HIGH");
      }
      PutInput("--input-range", i, limits, "input_layer_value_range", range);
    }
  }

  TfliteArguments result_;
  std::map<std::string, std::string> values_;
};

// Takes "--name=value" apart; a flag alone is true. False when it is none of benchmark_model's.
bool ReadTfliteFlag(const std::string& argument, std::string* name, std::string* value) {
  if (argument.rfind("--", 0) != 0) return false;
  const size_t equals = argument.find('=');
  *name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
  *value = equals == std::string::npos ? "true" : argument.substr(equals + 1);
  return FindTfliteFlag(*name) != nullptr;
}

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; }

}  // namespace

bool HasTfliteFlags(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "--graph" || argument.rfind("--graph=", 0) == 0;
  });
}

TfliteArguments TranslateTfliteFlags(const std::vector<std::string>& arguments) {
  TfliteTranslation translation;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name, value;
    if (!ReadTfliteFlag(arguments[i], &name, &value)) {
      translation.Keep(arguments[i]);
      continue;
    }
    // "--graph FILE", which newer versions of benchmark_model take as well.
    const bool apart = arguments[i].find('=') == std::string::npos && i + 1 < arguments.size() &&
                       arguments[i + 1].rfind("--", 0) != 0;
    if (apart) value = arguments[++i];
    translation.Add(name, value);
  }
  return translation.Finish();
}

std::string InTypedWords(const TfliteArguments& flags, const std::string& message) {
  std::string text = message;
  for (const auto& [ours, typed] : flags.typed) {
    for (size_t at = 0; (at = text.find(ours, at)) != std::string::npos;) {
      const size_t end = at + ours.size();
      const bool whole =
          (at == 0 || !IsWord(text[at - 1])) && (end == text.size() || !IsWord(text[end]));
      if (whole) text.replace(at, ours.size(), typed);
      at += whole ? typed.size() : 1;
    }
  }
  return text;
}

}  // namespace cli
}  // namespace topwork
