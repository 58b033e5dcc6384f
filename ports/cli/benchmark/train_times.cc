// Personalising a model on random examples, step by step.
#include "ports/cli/benchmark/train_times.h"

#include "ports/cli/benchmark/power.h"
#include "ports/cli/benchmark/statistics.h"
#include "ports/cli/inputs.h"
#include "ports/cli/power/energy.h"
#include "ports/cli/stop.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

constexpr int kRounds = 3;

struct RandomExamples {
  std::vector<tw::Tensor> inputs;
  int n_classes = 0;
  uint64_t state = 1;
};

tw_status ReadRandom(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                     int64_t* out_label) {
  RandomExamples* const examples = static_cast<RandomExamples*>(user_data);
  for (size_t i = 0; i < n_inputs && i < examples->inputs.size(); ++i) {
    tw::Tensor tensor = examples->inputs[i];
    tensor.data = inputs[i];
    FillRandomTensor(&examples->state, tensor);
  }
  *out_label = index % examples->n_classes;
  return TW_STATUS_OK;
}

struct Round {
  double create_ms = 0.0, features_ms = 0.0, fit_ms = 0.0, export_ms = 0.0;
  double epoch_seconds = 0.0;
  int64_t n_steps = 0;
  double sum() const { return create_ms + features_ms + fit_ms + export_ms; }
};

tw::TrainerOptions OptionsOf(const BenchmarkOptions& options, const Setting& setting) {
  tw::TrainerOptions trainer;
  trainer.n_classes = options.train_classes;
  trainer.n_threads = setting.common.n_threads;
  trainer.device = setting.common.device.c_str();
  trainer.features.precision = PrecisionOf(setting.common.precision);
  trainer.memory_limit_bytes = static_cast<size_t>(setting.common.memory_limit_bytes);
  if (!setting.common.signature.empty()) {
    trainer.head.signature = setting.common.signature.c_str();
  }
  return trainer;
}

// Random ones, and their features.
void AddExamples(const BenchmarkOptions& options, const std::string& model, tw::Trainer* trainer) {
  RandomExamples random;
  random.n_classes = options.train_classes;
  const int64_t n_inputs = CheckValue(trainer->Info()).n_inputs;
  for (int64_t i = 0; i < n_inputs; ++i) {
    random.inputs.push_back(CheckValue(trainer->Input(static_cast<size_t>(i))));
  }
  tw_examples examples{};
  examples.struct_size = sizeof(examples);
  examples.n_examples = options.train_examples;
  examples.read = &ReadRandom;
  examples.user_data = &random;
  Check(trainer->AddExamples(examples), model);
}

// Only these train by steps on mini-batches; the automatic head is one fit.
const char* StepsName(tw_optimizer optimizer) {
  switch (optimizer) {
    case TW_OPTIMIZER_SGD:
      return "sgd";
    case TW_OPTIMIZER_ADAM:
      return "adam";
    case TW_OPTIMIZER_ADAMW:
      return "adamw";
    default:
      return nullptr;
  }
}

double MillisSince(int64_t start) { return port::SecondsSince(start) * 1e3; }

// Trains once; *info is what the trainer says in the end, without its pointers.
Round Personalise(const BenchmarkOptions& options, const Setting& setting, Json* info) {
  const tw::Model model = OpenModel(setting.common.model);
  Round round;
  int64_t start = port::NowNanos();
  tw::Trainer trainer =
      CheckValue(tw::Trainer::Create(model, OptionsOf(options, setting)), setting.common.model);
  const CancelOnStop cancel([&] { (void)trainer.Cancel(); });
  round.create_ms = MillisSince(start);
  start = port::NowNanos();
  AddExamples(options, setting.common.model, &trainer);
  round.features_ms = MillisSince(start);
  start = port::NowNanos();
  Check(trainer.Fit(0,
                    [&](const tw_trainer_progress& progress) {
                      round.epoch_seconds += progress.seconds;
                      round.n_steps = progress.n_steps_done;
                      return true;
                    }),
        setting.common.model);
  round.fit_ms = MillisSince(start);
  start = port::NowNanos();
  (void)CheckValue(trainer.Export(), setting.common.model);
  round.export_ms = MillisSince(start);
  const tw_trainer_info last = CheckValue(trainer.Info());
  *info = {{"n_features", last.n_features},         {"memory_bytes", last.memory_bytes},
           {"backbone_bytes", last.backbone_bytes}, {"cache_bytes", last.cache_bytes},
           {"training_bytes", last.training_bytes}, {"working_bytes", last.working_bytes},
           {"device_bytes", last.device_bytes},     {"device", last.device}};
  const char* const steps = StepsName(last.optimizer);
  (*info)["optimizer"] = steps != nullptr ? steps : "auto";
  return round;
}

// The energy of a training step on features that are there.
Json MeasureStepPower(const BenchmarkOptions& options, const Setting& setting) {
  const tw::Model model = OpenModel(setting.common.model);
  tw::Trainer trainer =
      CheckValue(tw::Trainer::Create(model, OptionsOf(options, setting)), setting.common.model);
  const CancelOnStop cancel([&] { (void)trainer.Cancel(); });
  if (StepsName(CheckValue(trainer.Info()).optimizer) == nullptr) {
    const Json power = MeasurePower("", 0.0, "step", [] { return 0.0; });
    return power.contains("reason") ? power : NoEnergyJson("the automatic head takes no steps");
  }
  AddExamples(options, setting.common.model, &trainer);
  int32_t n_epochs = 0;
  int64_t n_done = 0;
  return MeasurePower("", kPowerSeconds, "step", [&] {
    const int64_t n_before = n_done;
    Check(trainer.Fit(++n_epochs,
                      [&](const tw_trainer_progress& progress) {
                        n_done = progress.n_steps_done;
                        return true;
                      }),
          setting.common.model);
    return static_cast<double>(n_done - n_before);
  });
}

}  // namespace

Json MeasureTraining(const BenchmarkOptions& options, const Setting& setting) {
  Json info;
  std::vector<double> all, create, features, fit, exported, epochs;
  int64_t n_steps = 0;
  for (int i = 0; i < kRounds; ++i) {
    const Round round = Personalise(options, setting, &info);
    all.push_back(round.sum());
    create.push_back(round.create_ms);
    features.push_back(round.features_ms);
    fit.push_back(round.fit_ms);
    exported.push_back(round.export_ms);
    epochs.push_back(round.epoch_seconds);
    n_steps = round.n_steps;
  }
  Json json = {{"n_classes", options.train_classes}, {"n_examples", options.train_examples}};
  const bool has_steps = info["optimizer"] != "auto";
  json["n_steps"] = has_steps ? Json(n_steps) : Json();
  json["features_per_s"] = options.train_examples / (1e-3 * Median(features));
  json["steps_per_s"] = has_steps ? Json(static_cast<double>(n_steps) / Median(epochs)) : Json();
  json["personalise_ms"] = SummaryJson(all);
  json["create_ms"] = SummaryJson(create);
  json["features_ms"] = SummaryJson(features);
  json["fit_ms"] = SummaryJson(fit);
  json["export_ms"] = SummaryJson(exported);
  json["power"] = options.power ? MeasureStepPower(options, setting) : Json();
  json.update(info);
  return json;
}

}  // namespace cli
}  // namespace topwork
