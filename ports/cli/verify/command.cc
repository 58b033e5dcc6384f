// topwork verify: a device, or the CPU in 16 bits, against the CPU in float32, operator by operator,
// and a policy where they differ.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "ports/cli/files.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"
#include "ports/cli/verify/verify.h"

namespace topwork {
namespace cli {
namespace {

constexpr size_t kVerifyNameWidth = 40;

std::string Short(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2g", number);
  return std::isinf(number) ? "not finite" : text;
}

const char* Name(VerifiedLayer::Verdict verdict) {
  switch (verdict) {
    case VerifiedLayer::Verdict::kAgrees:
      return "agrees";
    case VerifiedLayer::Verdict::kFollows:
      return "follows";
    case VerifiedLayer::Verdict::kBegins:
      break;
  }
  return "begins";
}

std::string Coloured(VerifiedLayer::Verdict verdict) {
  const bool agrees = verdict == VerifiedLayer::Verdict::kAgrees;
  return Paint(1, agrees ? "32" : "1;31",
               agrees ? "agrees" : std::string("differs: ") + Name(verdict));
}

Json LayerJson(const VerifiedLayer& layer) {
  Json json;
  if (layer.index >= 0) {
    json["index"] = layer.index;
    json["op"] = layer.op;
    json["backend"] = layer.backend;
  }
  json["output"] = layer.output;
  json["dtype"] = layer.dtype;
  json["shape"] = layer.shape;
  json["difference"] = std::isinf(layer.difference) ? Json() : Json(layer.difference);
  json["range"] = layer.range;
  json["agrees"] = layer.agrees;
  if (layer.index >= 0) json["verdict"] = Name(layer.verdict());
  return json;
}

Json ReportJson(const VerifyOptions& options, const VerifyReport& report) {
  Json json;
  json["model"] = options.common.model;
  json["device"] = options.common.device;
  json["precision"] = options.common.precision;
  json["examples"] = report.n_examples;
  json["tolerance"] = report.tolerance;
  json["agrees"] = report.agrees;
  json["on_device"] = report.n_on_device;
  json["first_divergence"] = Json();
  json["layers"] = Json::array();
  for (const VerifiedLayer& layer : report.layers) {
    if (!layer.agrees && json["first_divergence"].is_null()) {
      json["first_divergence"] = json["layers"].size();
    }
    json["layers"].push_back(LayerJson(layer));
  }
  json["outputs"] = Json::array();
  for (const VerifiedLayer& layer : report.outputs) json["outputs"].push_back(LayerJson(layer));
  return json;
}

void PrintReport(const VerifyOptions& options, const VerifyReport& report) {
  std::printf("%s on %s, %s, against the CPU%s: %d example%s, differences up to %s agree\n\n",
              Paint(1, "1", options.common.model).c_str(), options.common.device.c_str(),
              options.common.precision.c_str(), options.on_cpu() ? " in float32" : "",
              report.n_examples, report.n_examples == 1 ? "" : "s",
              Short(report.tolerance).c_str());
  Table table({">#", "operator", "backend", "output", ">range", ">difference", "verdict"});
  for (const VerifiedLayer& layer : report.layers) {
    table.Row({std::to_string(layer.index), layer.op, layer.backend,
               Shorten(ShortName(layer.output), kVerifyNameWidth), Short(layer.range),
               Short(layer.difference), Coloured(layer.verdict())});
  }
  for (const VerifiedLayer& layer : report.outputs) {
    table.Row({"", "(output)", "", Shorten(ShortName(layer.output), kVerifyNameWidth),
               Short(layer.range), Short(layer.difference), Coloured(layer.verdict())});
  }
  table.Print(2);
}

// "operator #12 CONV_2D 'block1/conv' differs by 0.1 of its range".
std::string FirstText(const VerifyReport& report) {
  const VerifiedLayer& first = *report.first();
  const std::string what =
      first.index < 0 ? "output" : "operator #" + std::to_string(first.index) + " " + first.op;
  return what + " '" + Shorten(ShortName(first.output), kVerifyNameWidth) + "' " +
         (std::isinf(first.difference) ? "has numbers that are not finite"
                                       : "differs by " + Short(first.difference) + " of its range");
}

size_t CountAgreeing(const VerifyReport& report) {
  return static_cast<size_t>(
      std::count_if(report.layers.begin(), report.layers.end(),
                    [](const VerifiedLayer& layer) { return layer.agrees; }));
}

void PrintSummary(const VerifyOptions& options, const VerifyReport& report) {
  std::printf("\n%zu of %zu operators' outputs agree, %d of them computed %s%s\n",
              CountAgreeing(report), report.layers.size(), report.n_on_device,
              options.on_cpu() ? "in 16 bits" : "on the device",
              report.agrees ? "" : ("; first: " + FirstText(report)).c_str());
}

void PrintPolicy(const VerifyOptions& options, const DevicePolicy& policy,
                 const VerifyReport& report) {
  std::printf("policy written to %s: %zu operators in float32, %zu on the CPU; with it %s\n",
              options.policy.c_str(), policy.float32_ops.size(), policy.cpu_ops.size(),
              report.agrees ? "all agree" : FirstText(report).c_str());
}

Json StepsJson(const StepsReport& steps) {
  return {{"steps", steps.n_steps},
          {"loss_on_cpu", steps.loss_on_cpu},
          {"loss_on_device", steps.loss_on_device},
          {"difference", steps.difference},
          {"agrees", steps.agrees},
          {"device", steps.device},
          {"device_reason", steps.device_reason}};
}

void PrintSteps(const StepsReport& steps) {
  std::printf("%d training steps on %s%s: loss %.6g, on the CPU %.6g; weights differ by %s: %s\n",
              steps.n_steps, steps.device.c_str(),
              steps.device_reason.empty() ? "" : (" (" + steps.device_reason + ")").c_str(),
              steps.loss_on_device, steps.loss_on_cpu, Short(steps.difference).c_str(),
              (steps.agrees ? Paint(1, "32", "agrees") : Paint(1, "1;31", "differs")).c_str());
}

void CheckOptions(VerifyOptions* options) {
  if (options->common.device == "auto") options->common.device = "opencl";
  if (options->on_cpu() && options->common.precision != "float16") {
    throw CliError(
        kExitUsage,
        "verify compares a device with the CPU: give --device opencl, opencl:NUMBER or "
        "opencl:NAME (see 'topwork devices'), or for the CPU itself --device cpu --precision float16");
  }
  if (options->on_cpu() && options->n_steps > 0) {
    throw CliError(kExitUsage, "--steps compares a device with the CPU, which trains in float32");
  }
  if (!options->data.empty() && !options->inputs.empty()) {
    throw CliError(kExitUsage, "--input and --data exclude each other");
  }
  std::vector<FlagFile> inputs;
  for (const std::string& input : options->inputs) inputs.push_back({"--input", input});
  CheckOutputs({{"--policy", options->policy}}, options->common.model, {options->data}, inputs);
}

void Verify(VerifyOptions options) {
  CheckOptions(&options);
  const tw::Model model = OpenModel(options.common.model);
  VerifyReport report = VerifyExamples(options, model, {});
  if (report.n_on_device == 0) {
    const char* none = options.on_cpu() ? ": no operator is computed in 16 bits"
                                        : ": no operator runs on the device";
    throw CliError(kExitUnsupported, options.common.model + none +
                                         ", there is nothing to compare (topwork info --plan "
                                         "tells the reasons)");
  }
  Json json = ReportJson(options, report);
  if (!options.common.json) {
    PrintReport(options, report);
    PrintSummary(options, report);
  }
  if (!options.policy.empty()) {
    const DevicePolicy policy = FindPolicy(options, model, &report);
    const std::string text = PolicyText(policy);
    WriteWholeFile(options.policy, text.data(), text.size());
    json["policy"] = {{"file", options.policy},
                      {"float32_ops", policy.float32_ops},
                      {"cpu_ops", policy.cpu_ops},
                      {"agrees", report.agrees}};
    if (!options.common.json) PrintPolicy(options, policy, report);
  }
  StepsReport steps;
  if (options.n_steps > 0) {
    steps = VerifySteps(options, model);
    json["training"] = StepsJson(steps);
    if (!options.common.json) PrintSteps(steps);
  }
  if (options.common.json) PrintJson(json);
  if (!steps.agrees) {
    throw CliError(kExitDiffers, options.common.model + ": training on the device and on the CPU " +
                                     "differ: weights by " + Short(steps.difference) +
                                     " of the largest");
  }
  if (!report.agrees) {
    throw CliError(kExitDiffers, options.common.model +
                                     (options.on_cpu() ? ": float16 and float32 differ: "
                                                       : ": the device and the CPU differ: ") +
                                     FirstText(report));
  }
}

}  // namespace

void AddVerifyCommand(CLI::App* app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command =
      app->add_subcommand("verify", "Compare a device or float16 with the CPU in float32");
  AddModelOption(command, &options->common);
  command
      ->add_option("--input", options->inputs,
                   "as for run, one per model input; default: seeded random values")
      ->type_name("FILE");
  command->add_option("--data", options->data, "take the inputs from a data set, as for evaluate")
      ->type_name("DIR");
  command->add_option("--examples", options->n_examples, "random inputs, or examples of --data")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of the random inputs")
      ->check(WholeNumberCheck())
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--tolerance", options->tolerance,
                   "largest difference that agrees, relative to the range of an operator's output; "
                   "default: 0.001, with float16 0.02, and on the CPU 0.05")
      ->check(PositiveCheck())
      ->type_name("T");
  command
      ->add_option("--policy", options->policy,
                   "find the operators that must be computed in float32 or on the CPU, and write "
                   "them to this file, for --device-policy of other commands")
      ->type_name("FILE");
  command
      ->add_option("--steps", options->n_steps,
                   "also train the last layer for so many steps on both, and compare its weights")
      ->check(CLI::Range(0, 1000000))
      ->type_name("K");
  AddSessionOptions(command, &options->common);
  AddReadingOptions(command, &options->common);
  AddJsonOption(command, &options->common);
  command->footer(
      "A row of the table is an operator; its difference is the largest over all examples. "
      "\"begins\":\n"
      "what it read agrees, what it made does not. \"follows\": it read numbers that differ "
      "already.\n"
      "Exit code 0: all agree (with --policy: under the policy).\n\n"
      "Examples:\n"
      "  topwork verify mobilenet.tflite --device opencl:mali\n"
      "  topwork verify mobilenet.tflite --device cpu --precision float16 --data photos/\n"
      "  topwork verify mobilenet.tflite --precision float16 --data photos/ --policy mali.policy\n"
      "  topwork run mobilenet.tflite --precision float16 --device-policy mali.policy");
  command->callback([options] { Verify(*options); });
}

}  // namespace cli
}  // namespace topwork
