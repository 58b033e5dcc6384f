// topwork run: inputs from files, outputs to files and to the screen.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>

#include "ports/cli/common.h"
#include "ports/cli/files.h"
#include "ports/cli/inputs.h"
#include "ports/cli/npy.h"
#include "ports/cli/terminal.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

struct RunOptions {
  CommonOptions common;
  std::vector<std::string> inputs;
  std::string output;
  std::string labels;
  int top = 5;
  uint64_t seed = 1;
};

struct Scored {
  int64_t index;
  double score;
};

// The output as real numbers; empty for types without a number in each element.
std::vector<double> RealValues(const tw::Tensor& tensor) {
  const double scale = tensor.n_scales == 1 ? static_cast<double>(tensor.scales[0]) : 1.0;
  const double zero = tensor.n_scales == 1 ? static_cast<double>(tensor.zero_points[0]) : 0.0;
  std::vector<double> values;
  const auto take = [&](auto* data, size_t n) {
    for (size_t i = 0; i < n; ++i) values.push_back((static_cast<double>(data[i]) - zero) * scale);
  };
  if (const float* f = tensor.as<float>()) take(f, tensor.size<float>());
  if (const int8_t* q = tensor.as<int8_t>()) take(q, tensor.size<int8_t>());
  if (const uint8_t* q = tensor.as<uint8_t>()) take(q, tensor.size<uint8_t>());
  if (const int16_t* q = tensor.as<int16_t>()) take(q, tensor.size<int16_t>());
  if (const int32_t* q = tensor.as<int32_t>()) take(q, tensor.size<int32_t>());
  if (const int64_t* q = tensor.as<int64_t>()) take(q, tensor.size<int64_t>());
  return values;
}

// Class scores: one row of two numbers or more.
bool LooksLikeScores(const tw::Tensor& tensor, size_t n_labels) {
  const std::vector<int32_t> shape = tensor.shape();
  if (shape.empty() || shape.back() < 2) return false;
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    if (shape[i] != 1) return false;
  }
  return n_labels > 0 ? static_cast<size_t>(shape.back()) == n_labels : shape.size() <= 2;
}

std::vector<Scored> TopScores(const std::vector<double>& values, int top) {
  std::vector<Scored> scored;
  for (size_t i = 0; i < values.size(); ++i) scored.push_back({static_cast<int64_t>(i), values[i]});
  const size_t n = std::min(scored.size(), static_cast<size_t>(std::max(top, 0)));
  std::partial_sort(scored.begin(), scored.begin() + static_cast<std::ptrdiff_t>(n), scored.end(),
                    [](const Scored& a, const Scored& b) {
                      return a.score > b.score || (a.score == b.score && a.index < b.index);
                    });
  scored.resize(n);
  return scored;
}

std::string LabelOf(const std::vector<std::string>& labels, int64_t index) {
  return static_cast<size_t>(index) < labels.size() ? labels[static_cast<size_t>(index)] : "";
}

void SaveOutputs(const tw::Session& session, const std::string& folder) {
  MakeFolder(folder);
  for (size_t i = 0; i < session.n_outputs(); ++i) {
    const tw::Tensor tensor = CheckValue(session.Output(i));
    const std::vector<int32_t> dims = tensor.shape();
    const std::vector<uint8_t> file = EncodeNpy(
        tensor.dtype, std::vector<int64_t>(dims.begin(), dims.end()), tensor.data, tensor.bytes);
    WriteWholeFile(folder + "/output_" + std::to_string(i) + ".npy", file.data(), file.size());
  }
}

Json OutputJson(const tw::Tensor& tensor, const std::vector<Scored>& top,
                const std::vector<std::string>& labels) {
  Json json = TensorJson(tensor);
  const std::vector<double> values = RealValues(tensor);
  if (!values.empty()) {
    json["min"] = *std::min_element(values.begin(), values.end());
    json["max"] = *std::max_element(values.begin(), values.end());
    json["mean"] =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  for (const Scored& scored : top) {
    Json entry;
    entry["class"] = scored.index;
    if (!LabelOf(labels, scored.index).empty()) entry["label"] = LabelOf(labels, scored.index);
    entry["score"] = scored.score;
    json["top"].push_back(entry);
  }
  return json;
}

void PrintOutput(size_t i, const tw::Tensor& tensor, const std::vector<Scored>& top,
                 const std::vector<std::string>& labels) {
  std::printf("output %zu  %s  %s\n", i, Paint(1, "1", tensor.name).c_str(),
              TensorText(tensor).c_str());
  const std::vector<double> values = RealValues(tensor);
  for (const Scored& scored : top) {
    std::printf("  %9.5f  class %-5lld %s\n", scored.score, static_cast<long long>(scored.index),
                LabelOf(labels, scored.index).c_str());
  }
  if (!top.empty() || values.empty()) return;
  std::printf(
      "  min %.6g, max %.6g; first values:", *std::min_element(values.begin(), values.end()),
      *std::max_element(values.begin(), values.end()));
  for (size_t k = 0; k < std::min<size_t>(values.size(), 8); ++k) std::printf(" %.6g", values[k]);
  std::printf("%s\n", values.size() > 8 ? " ..." : "");
}

void Run(const RunOptions& options) {
  const tw::Model model = OpenModel(options.common.model);
  const std::vector<std::string> labels = LabelsFor(model, options.labels);
  tw::Session session = OpenSession(model, options.common);
  FillInputs(options.common, model, options.inputs, options.seed, &session);
  const int64_t start = port::NowNanos();
  Check(session.Run(), options.common.model);
  const double seconds = static_cast<double>(port::NowNanos() - start) * 1e-9;
  if (!options.output.empty()) SaveOutputs(session, options.output);
  Json json;
  json["model"] = options.common.model;
  json["run_ms"] = seconds * 1e3;
  json["outputs"] = Json::array();
  for (size_t i = 0; i < session.n_outputs(); ++i) {
    const tw::Tensor tensor = CheckValue(session.Output(i));
    std::vector<Scored> top;
    if (LooksLikeScores(tensor, labels.size())) top = TopScores(RealValues(tensor), options.top);
    if (options.common.json) {
      json["outputs"].push_back(OutputJson(tensor, top, labels));
    } else {
      PrintOutput(i, tensor, top, labels);
    }
  }
  if (options.common.json) {
    PrintJson(json);
    return;
  }
  std::printf("%s\n", Paint(1, "2", "run in " + HumanSeconds(seconds)).c_str());
  if (!options.output.empty()) std::printf("outputs written to %s\n", options.output.c_str());
}

}  // namespace

void AddRunCommand(CLI::App* app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app->add_subcommand("run", "Run a model once on files, or on random input");
  AddModelOption(command, &options->common);
  command
      ->add_option("--input", options->inputs,
                   "one per model input, in order: a .npy file of the input's dtype (another shape "
                   "resizes the input), or a JPEG, PNG or BMP for an image input; none at all: "
                   "seeded random values")
      ->type_name("FILE");
  command->add_option("--output", options->output, "folder for output_0.npy, output_1.npy, ...")
      ->type_name("DIR");
  command->add_option("--labels", options->labels, "class names, one a line")->type_name("FILE");
  command->add_option("--top", options->top, "classes to print")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of the random input")->capture_default_str();
  AddDeviceOptions(command, &options->common);
  AddImageOptions(command, &options->common);
  AddJsonOption(command, &options->common);
  command->footer(
      "Example:\n  topwork run mobilenet.tflite --input cat.jpg --labels labels.txt --top 3");
  command->callback([options] { Run(*options); });
}

}  // namespace cli
}  // namespace topwork
