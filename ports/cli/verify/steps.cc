// VerifySteps: two trainers, one on each processor, take the same steps on the same examples.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "ports/cli/data/dataset.h"
#include "ports/cli/inputs.h"
#include "ports/cli/stop.h"
#include "ports/cli/verify/verify.h"

namespace topwork {
namespace cli {
namespace {

constexpr int64_t kMaxExamples = 64;

struct Example {
  std::vector<std::vector<uint8_t>> inputs;
  int64_t label = 0;
};

tw::Trainer MakeTrainer(const VerifyOptions& options, const tw::Model& model, int64_t n_classes,
                        bool on_device, float learning_rate) {
  tw::TrainerOptions trainer;
  trainer.n_classes = n_classes;
  trainer.optimizer.kind = TW_OPTIMIZER_SGD;
  trainer.optimizer.momentum = 0.9f;
  trainer.optimizer.learning_rate = learning_rate;
  trainer.batch_size = static_cast<int32_t>(kMaxExamples);  // one step an epoch
  trainer.n_epochs = options.n_steps;
  trainer.validation_fraction = 0.0f;
  trainer.seed = options.seed;
  trainer.n_threads = options.common.n_threads;
  trainer.device = on_device ? options.common.device.c_str() : "cpu";
  return CheckValue(tw::Trainer::Create(model, trainer), options.common.model);
}

std::vector<Example> RandomExamples(const VerifyOptions& options, size_t n_inputs,
                                    const tw::Trainer& trainer, int64_t n_classes) {
  uint64_t state = options.seed;
  std::vector<Example> examples(kMaxExamples);
  for (size_t i = 0; i < examples.size(); ++i) {
    examples[i].label = static_cast<int64_t>(i) % n_classes;
    for (size_t k = 0; k < n_inputs; ++k) {
      tw::Tensor tensor = CheckValue(trainer.Input(k));
      examples[i].inputs.emplace_back(tensor.bytes);
      tensor.data = examples[i].inputs.back().data();
      FillRandomTensor(&state, tensor);
    }
  }
  return examples;
}

std::vector<Example> DataExamples(const Dataset& data) {
  std::vector<Example> examples(static_cast<size_t>(std::min(kMaxExamples, data.size())));
  for (size_t i = 0; i < examples.size(); ++i) {
    // Spread over the data, whose classes lie one behind the other.
    const int64_t at =
        static_cast<int64_t>(i) * data.size() / static_cast<int64_t>(examples.size());
    examples[i].inputs.push_back(data.Read(at));
    examples[i].label = data.labels()[static_cast<size_t>(at)];
  }
  return examples;
}

// Trains and returns the loss of the last step.
double Train(const VerifyOptions& options, const std::vector<Example>& examples,
             tw::Trainer* trainer) {
  const CancelOnStop cancel([&] { (void)trainer->Cancel(); });
  const tw::Examples given(static_cast<int64_t>(examples.size()),
                           [&](int64_t i, void* const* inputs, size_t n_inputs) {
                             const Example& example = examples[static_cast<size_t>(i)];
                             for (size_t k = 0; k < n_inputs; ++k) {
                               const std::vector<uint8_t>& bytes = example.inputs[k];
                               std::memcpy(inputs[k], bytes.data(), bytes.size());
                             }
                             return example.label;
                           });
  Check(trainer->AddExamples(given), options.common.model);
  double loss = 0.0;
  Check(trainer->Fit(0,
                     [&](const tw_trainer_progress& progress) {
                       loss = progress.train_loss;
                       return true;
                     }),
        options.common.model);
  return loss;
}

}  // namespace

StepsReport VerifySteps(const VerifyOptions& options, const tw::Model& model) {
  std::unique_ptr<Dataset> data;
  tw::Trainer cpu = MakeTrainer(options, model, 0, false, 0.0f);
  if (!options.data.empty()) {
    const tw::Tensor input = CheckValue(cpu.Input(0));
    data = std::make_unique<Dataset>(
        Dataset::Open(options.data, input, ReadingFor(options.common, model, input)));
    if (data->has_targets()) {
      throw CliError(kExitUnsupported, options.data + ": --steps needs one class an example");
    }
    cpu =
        MakeTrainer(options, model, static_cast<int64_t>(data->class_names().size()), false, 0.0f);
  }
  const tw_trainer_info info = CheckValue(cpu.Info());
  const std::vector<Example> examples =
      data != nullptr
          ? DataExamples(*data)
          : RandomExamples(options, static_cast<size_t>(info.n_inputs), cpu, info.n_classes);
  StepsReport report;
  report.n_steps = options.n_steps;
  report.loss_on_cpu = Train(options, examples, &cpu);
  // The rate that the CPU's trainer chose from its features, for both.
  const float rate = static_cast<float>(CheckValue(cpu.Info()).learning_rate);
  tw::Trainer device = MakeTrainer(options, model, info.n_classes, true, rate);
  report.loss_on_device = Train(options, examples, &device);
  const tw_trainer_info trained = CheckValue(device.Info());
  report.device = trained.device;
  report.device_reason = trained.device_reason;
  const std::vector<float> expected = CheckValue(cpu.ReadParameters());
  const std::vector<float> got = CheckValue(device.ReadParameters());
  double largest = 0.0, difference = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
    difference = std::max(
        difference, std::fabs(static_cast<double>(expected[i]) - static_cast<double>(got[i])));
  }
  report.difference = largest > 0.0 ? difference / largest : difference;
  report.tolerance = options.tolerance > 0.0 ? options.tolerance : 1e-3;
  report.agrees = report.difference <= report.tolerance;
  return report;
}

}  // namespace cli
}  // namespace topwork
