// topwork quantize: a float model with fewer bits, and what that costs in accuracy.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "ports/cli/compare.h"
#include "ports/cli/data/dataset.h"
#include "ports/cli/files.h"
#include "ports/cli/stop.h"
#include "ports/cli/terminal.h"
#include "ports/cli/train/data.h"

namespace topwork {
namespace cli {
namespace {

struct QuantizeOptions {
  CommonOptions common;
  std::string data, eval, output, output_name, target, io = "float32";
  int64_t n_examples = 200;
  int64_t min_elements = 1024;
  double percentile = 100.0;
};

void CheckOptions(const CLI::App& command, const QuantizeOptions& options) {
  if (options.target == "int8" && options.data.empty()) {
    throw CliError(kExitUsage,
                   "--to int8 needs --data DIR: examples of what the model will see, from which "
                   "the ranges of its activations are taken");
  }
  if (!options.output_name.empty() && options.data.empty() && options.eval.empty()) {
    throw CliError(kExitUsage, "--output-name needs --data or --eval: it is the output to judge");
  }
  for (const char* flag : {"--io", "--calibrate", "--percentile", "--min-elements"}) {
    const std::string target = flag == std::string("--min-elements") ? "dynamic" : "int8";
    if (command.count(flag) > 0 && options.target != target) {
      throw CliError(kExitUsage, std::string(flag) + " goes with --to " + target + " only");
    }
  }
  if (options.data.empty() && options.eval.empty()) {
    RefuseFlagsOfExamples(command, "--data or --eval");
  }
  CheckOutputs({{"--output", options.output}}, options.common.model, {options.data, options.eval});
}

class Quantizing {
 public:
  explicit Quantizing(const QuantizeOptions& options)
      : options_(options), model_(OpenModel(options.common.model)) {}

  void Run() {
    tw::QuantizerOptions settings;
    settings.target = options_.target == "int8"   ? TW_QUANTIZE_INT8
                      : options_.target == "fp16" ? TW_QUANTIZE_FLOAT16
                                                  : TW_QUANTIZE_DYNAMIC_RANGE;
    settings.integer_io = options_.io == "uint8" ? 2 : options_.io == "int8" ? 1 : 0;
    settings.min_elements = options_.min_elements;
    settings.percentile = options_.percentile;
    settings.n_threads = options_.common.n_threads;
    tw::Quantizer quantizer =
        CheckValue(tw::Quantizer::Create(model_, settings), options_.common.model);
    if (options_.target == "int8") Calibrate(&quantizer);
    tw_quantize_report report{};
    const tw::Model quantized = CheckValue(quantizer.Export(&report), options_.common.model);
    Compare(quantized);
    Check(quantized.Save(options_.output), options_.common.model);
    Print(report);
  }

 private:
  void Calibrate(tw::Quantizer* quantizer) {
    const tw::Result<tw::Tensor> second = quantizer->Input(1);
    if (second.ok()) {
      throw CliError(kExitUnsupported, options_.common.model +
                                           ": has several inputs; `topwork quantize` feeds one "
                                           "(tw_quantizer_add_examples feeds any number)");
    }
    const tw::Tensor input = CheckValue(quantizer->Input(0));
    Dataset data = Dataset::Open(options_.data, input, ReadingFor(options_.common, model_, input));
    // What is not needed is kept to judge by; a small set is divided in two.
    int64_t n = options_.n_examples;
    if (options_.eval.empty()) n = std::min(n, std::max<int64_t>(1, data.size() / 2));
    if (!options_.common.json) PrintNote(data.note());
    std::vector<int64_t> chosen;
    SplitExamples(data.size(), n, &chosen, &validation_);
    data.Keep(chosen);
    const CancelOnStop cancel([quantizer] { (void)quantizer->Cancel(); });
    Feeder feeder(data, "calibrate", ShowProgress(options_.common.json));
    feeder.Finish(quantizer->AddExamples(feeder.get()));
  }

  void Compare(const tw::Model& quantized) {
    ComparisonOptions compare;
    compare.common = options_.common;
    compare.after = options_.output;
    compare.data = options_.eval.empty() ? options_.data : options_.eval;
    if (compare.data.empty()) return;
    compare.output_name = options_.output_name;
    if (options_.eval.empty()) compare.examples = validation_;
    comparison_ = CompareModels(compare, model_, quantized);
  }

  void Print(const tw_quantize_report& report) const {
    if (options_.common.json) {
      Json json;
      json["target"] = options_.target;
      json["output"] = options_.output;
      AddSizesJson(options_.common.model, options_.output, &json);
      json["n_calibration_examples"] = report.n_examples;
      json["n_integer_operators"] = report.n_integer_operators;
      json["n_constants"] = report.n_constants;
      json["float_operators"] = Json::array();
      for (size_t i = 0; i < report.n_float_operators; ++i) {
        const tw_float_operator& op = report.float_operators[i];
        json["float_operators"].push_back(
            {{"index", op.index}, {"name", op.name}, {"reason", op.reason}});
      }
      if (comparison_) AddComparisonJson(*comparison_, &json);
      PrintJson(json);
      return;
    }
    PrintSizes(options_.common.model, options_.output);
    if (options_.target == "fp16") {
      std::printf("%s  %s\n", Paint(1, "2", "float16").c_str(),
                  CountText(report.n_constants, "constant").c_str());
    } else {
      std::printf("%s  %s\n", Paint(1, "2", "int8").c_str(),
                  CountText(report.n_integer_operators, "operator").c_str());
    }
    std::map<std::string, int> why;
    for (size_t i = 0; i < report.n_float_operators; ++i) {
      const tw_float_operator& op = report.float_operators[i];
      ++why[std::string(op.name) + ": " + op.reason];
    }
    for (const auto& one : why) {
      std::printf("%s  %d × %s\n", Paint(1, "2", "float").c_str(), one.second, one.first.c_str());
    }
    if (comparison_) PrintComparison(*comparison_);
  }

  const QuantizeOptions& options_;
  const tw::Model model_;
  std::vector<int64_t> validation_;
  std::optional<ModelComparison> comparison_;
};

const char kQuantizeFooter[] =
    "int8: weights and activations become 8-bit integers; operators without an integer form stay\n"
    "float between DEQUANTIZE and QUANTIZE, and are listed with the reason. --calibrate says how many\n"
    "examples of --data give the ranges of the activations. dynamic: weights have 8 bits, "
    "activations\n"
    "stay float. fp16: weights have 16 bits.\n"
    "Both models are judged as `topwork evaluate` does, on the examples of --data that did not\n"
    "calibrate, or on --eval, before the new one is written. Without data nothing is judged.\n\n"
    "Examples:\n"
    "  topwork quantize digits.tflite --to int8 --data photos/ --output digits_int8.tflite\n"
    "  topwork quantize digits.tflite --to int8 --data photos/ --eval kept/ --io int8 --output "
    "q.tflite\n"
    "  topwork quantize digits.tflite --to dynamic --output small.tflite --json";

}  // namespace

void AddQuantizeCommand(CLI::App* app) {
  auto options = std::make_shared<QuantizeOptions>();
  CLI::App* command =
      app->add_subcommand("quantize", "Make a float model smaller: int8 or float16 numbers");
  AddModelOption(command, &options->common);
  command->add_option("--to", options->target, "int8, dynamic or fp16")
      ->required()
      ->check(CLI::IsMember({"int8", "dynamic", "fp16"}));
  command->add_option("--output", options->output, "the new .tflite file")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--data", options->data,
                   "examples as `evaluate` takes them: to calibrate with (int8) and to judge by")
      ->type_name("DIR");
  command
      ->add_option("--eval", options->eval,
                   "other examples to judge both models by; default: what of --data was not used")
      ->type_name("DIR");
  command
      ->add_option("--output-name", options->output_name,
                   "the output to judge, where the model has several")
      ->type_name("NAME");
  command->add_option("--calibrate", options->n_examples, "examples of --data to calibrate with")
      ->check(CLI::Range(int64_t{1}, int64_t{1000000000}))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--percentile", options->percentile,
                   "int8: cut off each activation's values beyond this percentile of an example")
      ->check(CLI::Range(50.001, 100.0))
      ->type_name("P")
      ->capture_default_str();
  command
      ->add_option("--io", options->io, "int8: type of inputs and outputs, float32, int8 or uint8")
      ->check(CLI::IsMember({"float32", "int8", "uint8"}))
      ->capture_default_str();
  command
      ->add_option("--min-elements", options->min_elements,
                   "dynamic: weights of fewer elements stay float")
      ->check(CLI::Range(int64_t{0}, int64_t{1000000000}))
      ->type_name("N")
      ->capture_default_str();
  AddThreadsOption(command, &options->common);
  AddReadingOptions(command, &options->common);
  AddJsonOption(command, &options->common);
  command->footer(kQuantizeFooter);
  command->callback([command, options] {
    CheckOptions(*command, *options);
    Quantizing(*options).Run();
  });
}

}  // namespace cli
}  // namespace topwork
