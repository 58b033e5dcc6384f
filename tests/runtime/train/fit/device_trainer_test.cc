// A trainer whose steps are taken on a device beside one on the CPU: the same parameters, metrics,
// checkpoints and errors; what the device cannot do falls back with a reason.
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/train/fit/device_head.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/runtime/train/trainer_data.h"
#include "tests/support/scoped_variable.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace device_trainer_test {

using test::Images;
using test::NewTrainer;
using test::Parameters;
using test::TestDeviceName;
using test::With;
using Data = test::TrainerData;

// 120 examples of which 96 train: 6 steps of 16 an epoch, 102 in all.
TrainerOptions Options(const DeviceName& device) {
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = 1;
  options.epochs = 17;
  options.batch_size = 16;
  options.device = device;
  return options;
}

void CheckSame(const Trainer& device, const Trainer& cpu) {
  const std::vector<float> got = Parameters(device), expected = Parameters(cpu);
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(std::fabs(got[i] - expected[i]) <= 1e-4f * (1.0f + std::fabs(expected[i])));
  }
  REQUIRE(device.state().progress.history.size() == cpu.state().progress.history.size());
  for (size_t i = 0; i < cpu.state().progress.history.size(); ++i) {
    const EpochMetrics &a = device.state().progress.history[i],
                       &b = cpu.state().progress.history[i];
    CHECK(a.step == b.step);
    CHECK(a.train_loss == Approx(b.train_loss).epsilon(1e-4));
    CHECK(a.validation_loss == Approx(b.validation_loss).epsilon(1e-4));
    CHECK(a.train_accuracy == Approx(b.train_accuracy));
    CHECK(a.validation_accuracy == Approx(b.validation_accuracy));
    CHECK(a.learning_rate == b.learning_rate);
  }
}

TEST_CASE("device trainer: every first-order optimizer ends where the CPU does", "[opencl]") {
  TW_NEED_DEVICE(device);
  const Data data = Images(120, 3);
  for (Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam, Optimizer::kAdamW}) {
    INFO(OptimizerName(optimizer));
    TrainerOptions options = Options(DeviceName::Cpu());
    options.optimizer = optimizer;
    options.schedule.schedule = Schedule::kCosine;
    options.schedule.warmup_steps = 10;
    options.balance_classes = Balance::kWeights;
    options.clip_norm = 1.0f;
    if (optimizer == Optimizer::kAdamW) options.weight_decay = 0.01f;
    if (optimizer == Optimizer::kSgd) options.momentum = 0.9f;
    const auto cpu = With(options, data);
    REQUIRE(cpu->Train().ToString() == "OK");
    CHECK(cpu->state().progress.step == 102);
    options.device = TestDeviceName();
    const auto gpu = With(options, data);
    REQUIRE(gpu->Train().ToString() == "OK");
    CHECK(gpu->fitter().placement().place() == device.info.name);
    CHECK(gpu->fitter().placement().reason().empty());
    CheckSame(*gpu, *cpu);
    CHECK(gpu->memory().device_bytes > 120 * 8 * sizeof(float));
    CHECK(gpu->memory().total_bytes >= gpu->memory().head_bytes);
    CHECK(cpu->memory().device_bytes == 0);
  }
}

TEST_CASE("device trainer: features go up once, values only at the ends of epochs", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  TrainerOptions options = Options(TestDeviceName());
  options.validation_fraction = 0.0f;
  const auto trainer = With(options, Images(120, 3));
  std::vector<DeviceTraffic> traffic;
  REQUIRE(trainer
              ->Train([&](const EpochMetrics&) {
                traffic.push_back(trainer->fitter().traffic());
                return true;
              })
              .ToString() == "OK");
  REQUIRE(traffic.size() == 17);
  const uint64_t values = trainer->state().parameters().size() * 3 * sizeof(float);
  const uint64_t tables = 120 * 8 + 8 * (8 + kNumHeadRates * 4) + 2 * kNumHeadStates * 4;
  for (size_t epoch = 1; epoch < traffic.size(); ++epoch) {
    const DeviceTraffic &a = traffic[epoch - 1], &b = traffic[epoch];
    CHECK(b.features == a.features);
    CHECK(b.values - a.values == values);  // down, once
    CHECK(b.tables - a.tables == tables);
    CHECK(b.losses - a.losses == 120 * 8);
    CHECK(b.total - a.total == values + tables + 120 * 8);
  }
}

TEST_CASE("device trainer: several outputs, regression, variants, halves", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  const Data data = Images(60, 3);
  std::vector<float> targets;
  for (int32_t label : data.y) {
    targets.push_back(label <= 1 ? 1.0f : 0.0f);
    targets.push_back(label >= 1 ? 1.0f : 0.0f);
  }
  const Examples examples =
      Examples::FromArray(data.x.data(), test::kImageFloats * sizeof(float), targets.data(), 2, 60);
  for (Loss loss : {Loss::kSigmoidCrossEntropy, Loss::kMeanSquaredError, Loss::kHuber}) {
    INFO(LossName(loss));
    std::unique_ptr<Trainer> sides[2];
    for (int side = 0; side < 2; ++side) {
      TrainerOptions options = Options(side == 0 ? DeviceName::Cpu() : TestDeviceName());
      options.n_classes = 2;
      options.loss.loss = loss;
      options.loss.huber_delta = 0.4f;
      options.epochs = 8;
      options.augmentation.n_variants = 2;
      options.augmentation.noise = 0.05f;
      options.feature_type = FeatureType::kFloat16;
      sides[side] = NewTrainer(options);
      REQUIRE(sides[side]->AddExamples(examples).ToString() == "OK");
      REQUIRE(sides[side]->Train().ToString() == "OK");
    }
    CHECK(sides[1]->fitter().placement().reason().empty());
    CheckSame(*sides[1], *sides[0]);
  }
}

TEST_CASE("device trainer: stops early, restores the best, changes classes and examples",
          "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  std::unique_ptr<Trainer> sides[2];
  for (int side = 0; side < 2; ++side) {
    TrainerOptions options = Options(side == 0 ? DeviceName::Cpu() : TestDeviceName());
    options.n_classes = 2;
    options.patience = 2;
    options.min_improvement = 0.02f;
    options.epochs = 40;
    sides[side] = With(options, Images(60, 2));
    Trainer& trainer = *sides[side];
    REQUIRE(trainer.Train().ToString() == "OK");
    CHECK(trainer.state().progress.stopped_early);
    REQUIRE(trainer.classes().Add("third").ToString() == "OK");
    REQUIRE(trainer.AddExamples(Images(30, 3, 9).examples()).ToString() == "OK");
    trainer.set_epochs(trainer.state().progress.epoch + 3);
    REQUIRE(trainer.Train().ToString() == "OK");
  }
  CHECK(sides[1]->fitter().placement().reason().empty());
  CHECK(sides[1]->state().progress.best_epoch == sides[0]->state().progress.best_epoch);
  CheckSame(*sides[1], *sides[0]);
}

TEST_CASE("device trainer: single steps and checkpoints go on bit for bit", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  const test::TempFolder folder;
  const std::string path = folder / "checkpoint";
  const Data data = Images(120, 3);
  TrainerOptions options = Options(TestDeviceName());
  options.epochs = 3;
  const auto whole = With(options, data);
  REQUIRE(whole->Train().ToString() == "OK");
  const auto first = With(options, data);
  for (int k = 0; k < 8; ++k) {
    double loss = 0.0;
    bool epoch_done = false;
    REQUIRE(first->Step(&loss, &epoch_done).ToString() == "OK");
    CHECK(loss > 0.0);
    CHECK(epoch_done == (k == 5));
  }
  REQUIRE(first->SaveCheckpoint(path).ToString() == "OK");
  const auto second = With(options, data);
  REQUIRE(second->RestoreCheckpoint(path).ToString() == "OK");
  REQUIRE(second->Train().ToString() == "OK");
  CHECK(Parameters(*second) == Parameters(*whole));
  // The device is no part of a checkpoint.
  options.device = DeviceName::Cpu();
  const auto third = With(options, data);
  REQUIRE(third->RestoreCheckpoint(path).ToString() == "OK");
  REQUIRE(third->Train().ToString() == "OK");
  CheckSame(*second, *third);
}

TEST_CASE("device trainer: a loss that is not finite is the CPU's error", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  std::string messages[2];
  for (int side = 0; side < 2; ++side) {
    TrainerOptions options = Options(side == 0 ? DeviceName::Cpu() : TestDeviceName());
    options.optimizer = Optimizer::kSgd;
    options.learning_rate = 1e6f;
    options.momentum = 0.99f;
    options.l1 = 1e6f;
    options.epochs = 3000;
    options.validation_fraction = 0.0f;
    const auto trainer = With(options, Images(32, 3));
    Status status;
    for (int k = 0; status.ok() && k < 40; ++k) {
      std::vector<float> huge(trainer->state().parameters().size(), 3e38f);
      if (k == 3) REQUIRE(trainer->state().SetParameters(huge).ok());
      double loss = 0.0;
      bool done = false;
      status = trainer->Step(&loss, &done);
    }
    CHECK(trainer->state().progress.step == 3);
    for (float w : trainer->state().parameters()) CHECK(w == 3e38f);
    messages[side] = status.ToString();
  }
  CHECK(messages[0].find("NUMERIC") != std::string::npos);
  CHECK(messages[0].find("epoch 2, step 4") != std::string::npos);
  CHECK(messages[1] == messages[0]);
}

TEST_CASE("device trainer: ends when cancelled or when its time is over", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  TrainerOptions options = Options(TestDeviceName());
  options.epochs = 100000;
  const auto trainer = With(options, Images(120, 3));
  bool finished = true;
  REQUIRE(trainer->TrainFor({0.05, 0}, nullptr, &finished).ToString() == "OK");
  CHECK_FALSE(finished);
  CHECK(trainer->state().progress.step > 0);
  REQUIRE(trainer->TrainFor({0.0, 2}, nullptr, nullptr).ToString() == "OK");
  const auto cancel = [&](const EpochMetrics&) {
    trainer->Cancel();
    return true;
  };
  CHECK(trainer->Train(cancel).code() == StatusCode::kCancelled);
  CHECK(trainer->fitter().placement().reason().empty());
}

TEST_CASE("device trainer: a device that is not there is refused", "[train]") {
  for (const char* name : {"opencl:no such device", "opencl:999"}) {
    TrainerOptions options = Options(ParseDeviceName(name).value());
    const auto trainer =
        Trainer::Create(test::OpenBytes(test::ClassifierBytes(test::Tail::kDense)), options);
    REQUIRE_FALSE(trainer.ok());
    CHECK(trainer.status().message().find("OpenCL") != std::string::npos);
  }
}

TEST_CASE("device trainer: what a device cannot do the CPU does, and says why", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  const Data data = Images(60, 3);
  const auto reason = [&](const TrainerOptions& options) {
    const auto trainer = With(options, data);
    REQUIRE(trainer->Train().ToString() == "OK");
    CHECK(trainer->fitter().placement().place() == "cpu");
    CHECK(trainer->finished());
    return trainer->fitter().placement().reason();
  };
  TrainerOptions options = Options(TestDeviceName());
  options.epochs = 2;
  options.n_layers = 2;
  CHECK(reason(options) == "more than the last layer is trained, and only that trains on a device");
  options.n_layers = 1;
  for (Optimizer optimizer : {Optimizer::kLbfgs, Optimizer::kImprint, Optimizer::kKnn}) {
    options.optimizer = optimizer;
    CHECK(reason(options) ==
          std::string(OptimizerName(optimizer)) +
              " runs on the CPU: only sgd, adam, adamw, ridge and auto use a device");
  }
  CHECK(reason(Options(DeviceName::Cpu())).empty());
}

TEST_CASE("device trainer: auto measures both and takes the faster", "[opencl]") {
  TW_NEED_DEVICE(device);
  TrainerOptions options = Options(DeviceName::Cpu());
  const auto cpu = With(options, Images(120, 3));
  REQUIRE(cpu->Train().ok());
  options.device = DeviceName::Auto();
  const auto train = [&](const std::string& variable) {
    const test::ScopedVariable weighed("TOPWORK_AUTO_DEVICE", variable);
    auto trainer = With(options, Images(120, 3));
    REQUIRE(trainer->Train().ToString() == "OK");
    return trainer;
  };
  const auto chosen = train(TestDeviceName().ToString());
  CHECK(chosen->fitter().placement().reason().find("cpu ") == 0);
  CHECK((chosen->fitter().placement().place() == "cpu" ||
         chosen->fitter().placement().place() == device.info.name));
  CheckSame(*chosen, *cpu);  // the trial leaves nothing behind
  // By itself, only a GPU.
  const auto alone = train("");
  if (device.info.type == DeviceType::kCpu) CHECK(alone->fitter().placement().place() == "cpu");
  CHECK_FALSE(alone->fitter().placement().reason().empty());
}

}  // namespace device_trainer_test
}  // namespace topwork
