// VerifyExamples: the library compares one example at a time, the worst of each operator is kept.
#include "ports/cli/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "ports/cli/data/dataset.h"
#include "ports/cli/inputs.h"
#include "ports/cli/stop.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

double NumberOr(const Json& json, double otherwise) {
  return json.is_number() ? json.get<double>() : otherwise;
}

VerifiedLayer ReadLayer(const Json& json) {
  VerifiedLayer layer;
  layer.index = json.value("index", -1);
  layer.op = json.value("op", std::string());
  layer.backend = json.value("backend", std::string());
  layer.output = json["output"].get<std::string>();
  layer.dtype = json["dtype"].get<std::string>();
  layer.shape = json["shape"].get<std::vector<int64_t>>();
  layer.difference = NumberOr(json["difference"], std::numeric_limits<double>::infinity());
  layer.range = NumberOr(json["range"], 0.0);
  layer.agrees = json["agrees"].get<bool>();
  layer.inputs_agree = json.value("inputs_agree", true);
  if (json.contains("input_difference")) {
    layer.input_difference =
        NumberOr(json["input_difference"], std::numeric_limits<double>::infinity());
  }
  return layer;
}

void Merge(const Json& json, std::vector<VerifiedLayer>* layers) {
  for (size_t i = 0; i < json.size(); ++i) {
    const VerifiedLayer layer = ReadLayer(json[i]);
    if (i == layers->size()) {
      layers->push_back(layer);
      continue;
    }
    VerifiedLayer& worst = (*layers)[i];
    worst.range = std::max(worst.range, layer.range);
    worst.inputs_agree = worst.inputs_agree && layer.inputs_agree;
    worst.agrees = worst.agrees && layer.agrees;
    if (layer.difference > worst.difference) {
      worst.difference = layer.difference;
      worst.input_difference = layer.input_difference;
    }
  }
}

// The user's own list with the policy's operators behind it.
std::string Together(std::string list, const std::set<int>& ops) {
  for (int op : ops) list += (list.empty() ? "#" : ",#") + std::to_string(op);
  return list;
}

tw::Session SessionUnder(const VerifyOptions& options, const tw::Model& model,
                         const DevicePolicy& policy) {
  CommonOptions common = options.common;
  common.cpu_ops = Together(common.cpu_ops, policy.cpu_ops);
  common.float32_ops = Together(common.float32_ops, policy.float32_ops);
  return OpenSession(model, common);
}

// Examples [first, first + batch) of the data, from its beginning again where it ends.
void WriteExamples(const Dataset& data, int64_t first, const tw::Tensor& input) {
  uint8_t* const bytes = static_cast<uint8_t*>(input.data);
  for (size_t at = 0; at < input.bytes;) {
    const std::vector<uint8_t> example = data.Read(first++ % data.size());
    std::memcpy(bytes + at, example.data(), std::min(input.bytes - at, example.size()));
    at += example.size();
  }
}

std::unique_ptr<Dataset> OpenData(const VerifyOptions& options, const tw::Model& model,
                                  const tw::Session& session) {
  if (options.data.empty()) return nullptr;
  if (session.n_inputs() != 1) {
    throw CliError(kExitUnsupported, options.common.model + ": has " +
                                         std::to_string(session.n_inputs()) +
                                         " inputs; --data needs a model of one input");
  }
  const tw::Tensor input = CheckValue(session.Input(0));
  return std::make_unique<Dataset>(
      Dataset::Open(options.data, input, ReadingFor(options.common, model, input)));
}

int CountExamples(const VerifyOptions& options, const Dataset* data) {
  if (!options.inputs.empty()) return 1;
  if (data == nullptr) return options.n_examples;
  return static_cast<int>(std::min<int64_t>(options.n_examples, data->size()));
}

}  // namespace

VerifiedLayer::Verdict VerifiedLayer::verdict() const {
  if (agrees) return Verdict::kAgrees;
  return inputs_agree ? Verdict::kBegins : Verdict::kFollows;
}

const VerifiedLayer* VerifyReport::first() const {
  for (const std::vector<VerifiedLayer>* list : {&layers, &outputs}) {
    for (const VerifiedLayer& layer : *list) {
      if (!layer.agrees) return &layer;
    }
  }
  return nullptr;
}

VerifyReport VerifyExamples(const VerifyOptions& options, const tw::Model& model,
                            const DevicePolicy& policy) {
  tw::Session session = SessionUnder(options, model, policy);
  const CancelOnStop cancel([&] { (void)session.Cancel(); });
  const std::unique_ptr<Dataset> data = OpenData(options, model, session);
  VerifyReport report;
  report.n_examples = CountExamples(options, data.get());
  Progress progress("verify", "examples", ShowProgress(options.common.json));
  for (int i = 0; i < report.n_examples; ++i) {
    CheckStop();
    if (data != nullptr) {
      // Spread over the data, whose classes lie one behind the other.
      WriteExamples(*data, i * data->size() / report.n_examples, CheckValue(session.Input(0)));
    } else {
      FillInputs(options.common, model, options.inputs, options.seed + static_cast<uint64_t>(i),
                 &session);
    }
    const Json json =
        Json::parse(CheckValue(session.Verify(options.tolerance), options.common.model));
    report.tolerance = json["tolerance"].get<double>();
    report.agrees = report.agrees && json["agrees"].get<bool>();
    Merge(json["layers"], &report.layers);
    Merge(json["outputs"], &report.outputs);
    progress.Update(i + 1, report.n_examples);
  }
  progress.Finish();
  for (const VerifiedLayer& layer : report.layers) report.n_on_device += layer.backend != "cpu";
  return report;
}

}  // namespace cli
}  // namespace topwork
