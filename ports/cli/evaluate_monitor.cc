// topwork evaluate --monitor: compares the data with the examples of the training.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "ports/cli/data/dataset.h"
#include "ports/cli/evaluate.h"
#include "ports/cli/files.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"
#include "ports/cli/train/data.h"

namespace topwork {
namespace cli {
namespace {

// A trainer computes the model's features; its head is the model's own.
tw::Trainer TrainerOf(const EvaluateOptions& options, const tw::Model& model) {
  const tw_head_info head = CheckValue(model.Head(), options.common.model);
  tw::TrainerOptions trainer;
  trainer.n_classes = head.n_classes;
  trainer.head.init = TW_HEAD_INIT_SHIPPED;
  trainer.n_threads = options.common.n_threads;
  return CheckValue(tw::Trainer::Create(model, trainer), options.common.model);
}

// Folders list one class after the other, which a test of exchangeability would notice.
void ShuffleData(Dataset* data) {
  std::vector<int64_t> order(static_cast<size_t>(data->size()));
  std::iota(order.begin(), order.end(), 0);
  std::minstd_rand random(1);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  data->Keep(order);
}

Json ClassesJson(const tw_monitor_report& report, const std::vector<std::string>& names) {
  Json classes = Json::array();
  for (size_t c = 0; c < static_cast<size_t>(report.n_classes); ++c) {
    Json entry;
    entry["name"] = c < names.size() ? names[c] : std::to_string(c);
    entry["trained"] = report.trained[c];
    entry["frequency"] = report.frequencies[c];
    classes.push_back(entry);
  }
  return classes;
}

// Adds log(now / trained) to the bias of every class: Bayes' rule for scores before SOFTMAX.
void FoldFrequencies(const EvaluateOptions& options, const tw_monitor_report& report,
                     tw::Trainer* trainer) {
  const tw_trainer_info info = CheckValue(trainer->Info());
  if (report.n_classes == 0 || report.n_classes != info.n_classes) {
    throw CliError(kExitData,
                   options.monitor + ": does not watch the classes of " + options.common.model);
  }
  constexpr double kLeast = 1e-4;  // a class that was not seen may come back
  std::vector<float> values = CheckValue(trainer->ReadParameters());
  float* bias = values.data() + values.size() - static_cast<size_t>(report.n_classes);
  for (size_t c = 0; c < static_cast<size_t>(report.n_classes); ++c) {
    bias[c] += static_cast<float>(
        std::log(std::max(kLeast, report.frequencies[c]) / std::max(kLeast, report.trained[c])));
  }
  Check(trainer->WriteParameters(values));
  Check(CheckValue(trainer->Export()).Save(options.fold));
}

}  // namespace

tw::Monitor OpenMonitor(const std::string& path) {
  CheckIsFile(path);
  return CheckValue(tw::Monitor::Open(path));
}

Json MonitorData(const EvaluateOptions& options, const tw::Model& model, Dataset data,
                 tw::Monitor* monitor) {
  tw::Trainer trainer = TrainerOf(options, model);
  if (!options.common.signature.empty()) {  // the trainer has the inputs of the main subgraph
    const tw::Tensor input = CheckValue(model.Input(0));
    data = Dataset::Open(options.data, input, ReadingFor(options.common, model, input));
  }
  ShuffleData(&data);
  Feeder feeder(data, "monitor", ShowProgress(options.common.json));
  feeder.Finish(monitor->Add(trainer, feeder.get()));
  const tw_monitor_report report = CheckValue(monitor->Report());
  if (!options.fold.empty()) FoldFrequencies(options, report, &trainer);
  Json json;
  json["n_examples"] = report.n_examples;
  json["is_alarm"] = report.n_alarms * 50 > report.n_windows;  // twice what is promised
  json["n_windows"] = report.n_windows;
  json["n_alarms"] = report.n_alarms;
  json["first_alarm"] = report.first_alarm;
  json["evidence"] = report.evidence;
  json["classes"] = ClassesJson(report, model.labels());
  json["frequency_evidence"] = report.frequency_evidence;
  return json;
}

void PrintMonitor(const Json& monitor) {
  const bool alarm = monitor["is_alarm"];
  std::printf("\n%s %s\n", Paint(1, "2", "new kinds of inputs").c_str(),
              alarm ? Paint(1, "1;31", "yes").c_str() : "none noticed");
  std::printf("  %lld of %lld windows gave an alarm; evidence now 10^%.1f\n",
              monitor["n_alarms"].get<long long>(), monitor["n_windows"].get<long long>(),
              monitor["evidence"].get<double>());
  if (monitor["classes"].empty()) return;
  std::printf("%s (evidence of a change 10^%.1f)\n",
              Paint(1, "2", "class frequencies of the last window").c_str(),
              monitor["frequency_evidence"].get<double>());
  Table table({"class", ">trained", ">now"});
  for (const Json& entry : monitor["classes"]) {
    table.Row({Shorten(entry["name"].get<std::string>(), 24),
               PercentText(entry["trained"].get<double>()),
               PercentText(entry["frequency"].get<double>())});
  }
  table.Print(2);
}

}  // namespace cli
}  // namespace topwork
