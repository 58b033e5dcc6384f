// What a trainer does beside plain epochs: solvers, other losses, early stopping, changing classes,
// bounded memory, golden sets, head files, deeper layers.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "tests/runtime/train/trainer_data.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace trainer_features_test {

using test::Accuracy;
using test::Images;
using test::NewTrainer;
using test::Parameters;
using test::Tail;
using Data = test::TrainerData;

constexpr size_t kExampleBytes = test::kImageFloats * sizeof(float);

TrainerOptions Options(int n_classes) {
  TrainerOptions options;
  options.n_classes = n_classes;
  options.n_threads = 1;
  options.epochs = 15;
  return options;
}

// What the exported model says of the data, row by row.
std::vector<float> RunExported(Trainer* trainer, const Data& data) {
  const auto bytes = trainer->Export();
  REQUIRE(bytes.status().ToString() == "OK");
  const auto model = Model::OpenMemory(bytes->data(), bytes->size(), true);
  REQUIRE(model.status().ToString() == "OK");
  return test::RunModel(model.value(), data.x);
}

void CheckPredictsAsExported(Trainer* trainer, const Data& data) {
  const std::vector<float> exported = RunExported(trainer, data);
  std::vector<float> predicted(data.y.size() * static_cast<size_t>(trainer->n_classes()));
  REQUIRE(trainer->judge().Predict(data.examples(), predicted.data()).ToString() == "OK");
  REQUIRE(exported.size() == predicted.size());
  for (size_t i = 0; i < exported.size(); ++i) {
    REQUIRE(std::fabs(exported[i] - predicted[i]) < 1e-5f);
  }
}

TEST_CASE("trainer: every optimizer learns the task", "[train]") {
  const Data train = Images(120, 3);
  const Data test = Images(60, 3, 77);
  for (Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam, Optimizer::kAdamW,
                              Optimizer::kLbfgs, Optimizer::kRidge, Optimizer::kImprint}) {
    INFO(OptimizerName(optimizer));
    TrainerOptions options = Options(3);
    options.optimizer = optimizer;
    if (optimizer == Optimizer::kAdamW) options.weight_decay = 0.01f;
    const auto trainer = NewTrainer(options);
    REQUIRE(trainer->AddExamples(train.examples()).ok());
    REQUIRE(trainer->Train().ToString() == "OK");
    CHECK(Accuracy(trainer.get(), test) > 0.9);
    CHECK(trainer->finished());
    CheckPredictsAsExported(trainer.get(), test);
  }
}

TEST_CASE("trainer: L-BFGS reaches a lower loss than many epochs of Adam", "[train]") {
  const Data train = Images(90, 3);
  const auto loss = [&](Optimizer optimizer) {
    TrainerOptions options = Options(3);
    options.optimizer = optimizer;
    options.weight_decay = 1e-3f;
    options.validation_fraction = 0.0f;
    options.epochs = optimizer == Optimizer::kLbfgs ? 200 : 60;
    const auto trainer = NewTrainer(options);
    REQUIRE(trainer->AddExamples(train.examples()).ok());
    REQUIRE(trainer->Train().ToString() == "OK");
    double penalty = 0.0;
    for (float w : trainer->state().weights()) penalty += 0.5e-3 * static_cast<double>(w * w);
    return trainer->judge().Evaluate(ExampleSet::kTrain)->loss + penalty;
  };
  CHECK(loss(Optimizer::kLbfgs) < loss(Optimizer::kAdam));
}

TEST_CASE("trainer: a solver's checkpoint goes on bit for bit", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "checkpoint";
  const Data train = Images(60, 3);
  TrainerOptions options = Options(3);
  options.optimizer = Optimizer::kLbfgs;
  options.epochs = 12;
  const auto whole = NewTrainer(options);
  REQUIRE(whole->AddExamples(train.examples()).ok());
  REQUIRE(whole->Train().ToString() == "OK");
  const auto first = NewTrainer(options);
  REQUIRE(first->AddExamples(train.examples()).ok());
  bool finished = true;
  REQUIRE(first->TrainFor({0.0, 5}, nullptr, &finished).ToString() == "OK");
  CHECK_FALSE(finished);
  CHECK(first->state().progress.epoch == 5);
  REQUIRE(first->SaveCheckpoint(path).ToString() == "OK");
  const auto second = NewTrainer(options);
  REQUIRE(second->AddExamples(train.examples()).ok());
  REQUIRE(second->RestoreCheckpoint(path).ToString() == "OK");
  REQUIRE(second->Train().ToString() == "OK");
  CHECK(Parameters(*second) == Parameters(*whole));
  CHECK(second->state().progress.epoch == whole->state().progress.epoch);
}

TEST_CASE("trainer: several classes an example", "[train]") {
  // Output 0 is "class 0 or 1", output 1 is "class 1 or 2": no example has neither.
  const Data data = Images(120, 3);
  std::vector<float> targets;
  for (int32_t label : data.y) {
    targets.push_back(label <= 1 ? 1.0f : 0.0f);
    targets.push_back(label >= 1 ? 1.0f : 0.0f);
  }
  TrainerOptions options = Options(2);
  options.loss.loss = Loss::kSigmoidCrossEntropy;
  options.optimizer = Optimizer::kLbfgs;
  options.epochs = 60;
  const auto trainer = NewTrainer(options);
  const Examples examples =
      Examples::FromArray(data.x.data(), kExampleBytes, targets.data(), 2, 120);
  REQUIRE(trainer->AddExamples(examples).ToString() == "OK");
  REQUIRE(trainer->Train().ToString() == "OK");
  const auto evaluation = trainer->judge().Evaluate(ExampleSet::kValidation);
  REQUIRE(evaluation.status().ToString() == "OK");
  CHECK(evaluation->accuracy > 0.9);
  CheckPredictsAsExported(trainer.get(), data);
  CHECK(trainer->classes().Add("third").ToString() == "OK");
  CHECK(trainer->n_classes() == 3);
}

TEST_CASE("trainer: numbers as targets", "[train]") {
  const Data data = Images(120, 3);
  std::vector<float> targets;
  for (int32_t label : data.y) targets.push_back(static_cast<float>(label) * 2.5f - 1.0f);
  const Examples examples =
      Examples::FromArray(data.x.data(), kExampleBytes, targets.data(), 1, 120);
  for (Optimizer optimizer : {Optimizer::kRidge, Optimizer::kLbfgs, Optimizer::kAdam}) {
    INFO(OptimizerName(optimizer));
    TrainerOptions options = Options(1);
    options.loss.loss = Loss::kMeanSquaredError;
    options.optimizer = optimizer;
    options.epochs = optimizer == Optimizer::kAdam ? 400 : 100;
    const auto trainer = NewTrainer(options, Tail::kDenseLogits);
    REQUIRE(trainer->AddExamples(examples).ToString() == "OK");
    REQUIRE(trainer->Train().ToString() == "OK");
    const auto evaluation = trainer->judge().Evaluate(ExampleSet::kValidation);
    REQUIRE(evaluation.status().ToString() == "OK");
    CHECK(evaluation->regression.r2 > 0.8);
    CheckPredictsAsExported(trainer.get(), data);
  }
}

TEST_CASE("trainer: early stopping gives back the best weights", "[train]") {
  const Data train = Images(60, 3);
  TrainerOptions options = Options(3);
  options.learning_rate = 0.5f;  // overshoots
  options.epochs = 300;
  options.patience = 4;
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(train.examples()).ok());
  REQUIRE(trainer->Train().ToString() == "OK");
  REQUIRE(trainer->state().progress.stopped_early);
  const std::vector<EpochMetrics>& history = trainer->state().progress.history;
  CHECK(trainer->state().progress.epoch == trainer->state().progress.best_epoch + 4);
  for (const EpochMetrics& m : history) {
    CHECK(m.validation_loss >=
          history[static_cast<size_t>(trainer->state().progress.best_epoch) - 1].validation_loss);
  }
  const auto now = trainer->judge().Evaluate(ExampleSet::kValidation);
  REQUIRE(now.ok());
  const size_t best = static_cast<size_t>(trainer->state().progress.best_epoch) - 1;
  CHECK(now->loss == Approx(history[best].validation_loss).epsilon(1e-6));
}

TEST_CASE("trainer: a callback that stops the last epoch gets the best weights as well",
          "[train]") {
  TrainerOptions options = Options(3);
  options.learning_rate = 0.5f;  // overshoots
  options.epochs = 300;
  options.patience = 4;
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(Images(60, 3).examples()).ok());
  REQUIRE(
      trainer->Train([&](const EpochMetrics&) { return !trainer->state().progress.stopped_early; })
          .ok());
  REQUIRE(trainer->state().progress.stopped_early);
  const auto now = trainer->judge().Evaluate(ExampleSet::kValidation);
  REQUIRE(now.ok());
  const size_t best = static_cast<size_t>(trainer->state().progress.best_epoch) - 1;
  CHECK(now->loss == Approx(trainer->state().progress.history[best].validation_loss).epsilon(1e-6));
}

TEST_CASE("trainer: classes come and go, the others stay as they are", "[train]") {
  TrainerOptions options = Options(3);
  options.class_names = {"a", "b", "c"};
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
  REQUIRE(trainer->Train().ToString() == "OK");
  const std::vector<float> before(trainer->state().weights().begin(),
                                  trainer->state().weights().end());
  const size_t dim = static_cast<size_t>(trainer->set().dim());

  CHECK(trainer->classes().Add("b").code() == StatusCode::kInvalidArgument);
  REQUIRE(trainer->classes().Add("d").ToString() == "OK");
  CHECK(trainer->n_classes() == 4);
  CHECK(std::memcmp(trainer->state().weights().data(), before.data(), 3 * dim * sizeof(float)) ==
        0);
  Data fourth = Images(120, 4, 9);
  REQUIRE(trainer->AddExamples(fourth.examples()).ToString() == "OK");
  double loss = 0.0;
  bool done = false;
  trainer->set_epochs(30);
  REQUIRE(trainer->Step(&loss, &done).ToString() == "OK");
  // The new class starts from the mean of its examples, not from zero.
  CHECK(Accuracy(trainer.get(), fourth) > 0.7);
  REQUIRE(trainer->Train().ToString() == "OK");
  CHECK(Accuracy(trainer.get(), Images(80, 4, 33)) > 0.9);

  const std::vector<float> four(trainer->state().weights().begin(),
                                trainer->state().weights().end());
  const int64_t n = trainer->set().size();
  REQUIRE(trainer->classes().Remove(1).ToString() == "OK");
  CHECK(trainer->options().class_names == std::vector<std::string>{"a", "c", "d"});
  CHECK(trainer->set().size() < n);
  CHECK(std::memcmp(trainer->state().weights().data(), four.data(), dim * sizeof(float)) == 0);
  CHECK(std::memcmp(trainer->state().weights().data() + dim, four.data() + 2 * dim,
                    2 * dim * sizeof(float)) == 0);
  REQUIRE(trainer->classes().Rename(0, "first").ToString() == "OK");
  CHECK(trainer->classes().Rename(0, "d").code() == StatusCode::kInvalidArgument);
  REQUIRE(trainer->classes().Set({"d", "new", "first"}).ToString() == "OK");
  CHECK(std::memcmp(trainer->state().weights().data(), four.data() + 3 * dim,
                    dim * sizeof(float)) == 0);
  CHECK(std::memcmp(trainer->state().weights().data() + 2 * dim, four.data(),
                    dim * sizeof(float)) == 0);
  for (float w : Span<const float>(trainer->state().weights().data() + dim, dim)) CHECK(w == 0.0f);
  const auto exported = trainer->Export();
  REQUIRE(exported.status().ToString() == "OK");
  const auto model = Model::OpenMemory(exported->data(), exported->size(), true);
  REQUIRE(model.ok());
  CHECK((*model)->labels() == std::vector<std::string>{"d", "new", "first"});
}

TEST_CASE("trainer: a bounded memory stays balanced and goes on from its checkpoint", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "checkpoint";
  TrainerOptions options = Options(3);
  options.replay_capacity = 30;
  options.batch_size = 8;
  const auto first = NewTrainer(options);
  REQUIRE(first->AddExamples(Images(200, 2).examples()).ToString() == "OK");
  CHECK(first->set().size() == 30);
  REQUIRE(first->TrainFor({0.0, 2}, nullptr, nullptr).ToString() == "OK");
  Data more = Images(90, 3, 8);
  REQUIRE(first->AddExamples(more.examples()).ToString() == "OK");
  CHECK(first->set().size() == 30);
  std::vector<int> counts(3, 0);
  for (int32_t label : first->set().cache().labels()) ++counts[static_cast<size_t>(label)];
  for (int count : counts) CHECK(count >= 9);
  double loss = 0.0;
  bool done = false;
  REQUIRE(first->Step(&loss, &done).ToString() == "OK");
  REQUIRE(first->SaveCheckpoint(path, true).ToString() == "OK");
  const auto second = NewTrainer(options);
  REQUIRE(second->RestoreCheckpoint(path).ToString() == "OK");
  CHECK(second->set().size() == 30);
  for (const auto& trainer : {first.get(), second.get()}) {
    REQUIRE(trainer->AddExamples(Images(20, 3, 10).examples()).ToString() == "OK");
    REQUIRE(trainer->Train().ToString() == "OK");
  }
  CHECK(Parameters(*second) == Parameters(*first));
  CHECK(Accuracy(second.get(), Images(60, 3, 21)) > 0.85);
}

TEST_CASE("trainer: time and epochs of a call are bounded", "[train]") {
  const auto trainer = NewTrainer(Options(3));
  REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
  bool finished = true;
  REQUIRE(trainer->TrainFor({1e-9, 0}, nullptr, &finished).ok());
  CHECK(trainer->state().progress.step == 1);
  CHECK_FALSE(finished);
  REQUIRE(trainer->TrainFor({0.0, 3}, nullptr, &finished).ok());
  CHECK(trainer->state().progress.epoch == 3);
  const auto cancel = [&](const EpochMetrics&) {
    trainer->Cancel();
    return true;
  };
  CHECK(trainer->TrainFor({0.0, 3}, cancel, &finished).code() == StatusCode::kCancelled);
  CHECK(trainer->state().progress.epoch == 4);
  REQUIRE(trainer->TrainFor({0.0, 0}, nullptr, &finished).ok());
  CHECK(finished);
  CHECK(trainer->state().progress.epoch == 15);
  const auto whole = NewTrainer(Options(3));
  REQUIRE(whole->AddExamples(Images(90, 3).examples()).ok());
  REQUIRE(whole->Train().ok());
  CHECK(Parameters(*trainer) == Parameters(*whole));
}

TEST_CASE("trainer: an export must not do worse than the shipped head", "[train]") {
  TrainerOptions options = Options(5);
  options.init = HeadInit::kShipped;
  options.class_names = {"a", "b", "c", "d", "e"};
  const auto trainer = NewTrainer(options);
  const std::vector<float> shipped = Parameters(*trainer);
  CHECK(trainer->judge().CheckGolden().status().code() == StatusCode::kFailedPrecondition);
  // The golden set says what the shipped head says, so nothing is better than that.
  Data golden = Images(40, 3, 3);
  std::vector<float> scores(golden.y.size() * 5);
  REQUIRE(trainer->judge().Predict(golden.examples(), scores.data()).ok());
  for (size_t i = 0; i < golden.y.size(); ++i) {
    const float* row = scores.data() + i * 5;
    golden.y[i] = static_cast<int32_t>(std::max_element(row, row + 5) - row);
  }
  REQUIRE(trainer->judge().SetGolden(golden.examples()).ToString() == "OK");
  CHECK(trainer->Export().ok());
  std::vector<float> worse = shipped;
  for (float& w : worse) w = -w;
  REQUIRE(trainer->state().SetParameters(worse).ok());
  const auto checked = trainer->judge().CheckGolden();
  REQUIRE(checked.ok());
  CHECK(checked->shipped == 1.0);
  CHECK(checked->trained < 1.0);
  const auto refused = trainer->Export();
  CHECK(refused.status().code() == StatusCode::kFailedPrecondition);
  CHECK(Parameters(*trainer) == shipped);
  CHECK(trainer->Export().ok());
}

TEST_CASE("trainer: confidences are calibrated, decisions stay", "[train]") {
  TrainerOptions options = Options(3);
  options.validation_fraction = 0.5f;
  const auto trainer = NewTrainer(options);
  Data data = Images(120, 3);
  for (size_t i = 0; i < data.y.size(); i += 5) data.y[i] = (data.y[i] + 1) % 3;  // wrong labels
  REQUIRE(trainer->AddExamples(data.examples()).ok());
  REQUIRE(trainer->Train().ok());
  std::vector<float> sharp = Parameters(*trainer);
  for (float& w : sharp) w *= 20.0f;
  REQUIRE(trainer->state().SetParameters(sharp).ok());
  const auto before = trainer->judge().Evaluate(ExampleSet::kValidation);
  const auto calibration = trainer->judge().Calibrate();
  REQUIRE(calibration.status().ToString() == "OK");
  CHECK(trainer->state().temperature > 2.0);
  const auto after = trainer->judge().Evaluate(ExampleSet::kValidation);
  CHECK(after->loss < before->loss);
  CHECK(after->calibration_error < before->calibration_error);
  CHECK(after->top1 == before->top1);
  CheckPredictsAsExported(trainer.get(), data);
}

TEST_CASE("trainer: heads are saved, switched and exchanged", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "head";
  const auto trainer = NewTrainer(Options(3));
  const std::vector<float> empty = Parameters(*trainer);
  const std::vector<uint8_t> zero_head = trainer->exchange().Encode();
  REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
  REQUIRE(trainer->Train().ok());
  const std::vector<float> trained = Parameters(*trainer);
  REQUIRE(trainer->exchange().Save(path).ToString() == "OK");
  REQUIRE(trainer->exchange().Decode(zero_head).ToString() == "OK");
  CHECK(Parameters(*trainer) == empty);
  REQUIRE(trainer->exchange().Load(path).ToString() == "OK");
  CHECK(Parameters(*trainer) == trained);
  const auto other = NewTrainer(Options(4));
  REQUIRE(other->exchange().Load(path).ToString() == "OK");
  CHECK(other->n_classes() == 3);
  const auto foreign = NewTrainer(Options(3), Tail::kDenseNoBias);
  CHECK(foreign->exchange().Load(path).code() == StatusCode::kFailedPrecondition);
  CHECK(trainer->exchange().Load("does_not_exist").code() == StatusCode::kIo);

  std::vector<float> update(trained.size());
  REQUIRE(trainer->state().ComputeUpdate(empty, 0.0, 0.0, 1, update).ok());
  CHECK(update == trained);
  REQUIRE(trainer->state().ComputeUpdate(empty, 0.5, 0.0, 1, update).ok());
  double square = 0.0;
  for (float u : update) square += static_cast<double>(u) * static_cast<double>(u);
  CHECK(std::sqrt(square) == Approx(0.5).epsilon(1e-5));
  std::vector<float> noisy(trained.size());
  REQUIRE(trainer->state().ComputeUpdate(empty, 0.5, 0.1, 7, noisy).ok());
  CHECK(noisy != update);
  CHECK(trainer->state().SetParameter("head/none", update).code() == StatusCode::kNotFound);
  noisy[0] = std::nanf("");
  CHECK(trainer->state().SetParameters(noisy).code() == StatusCode::kNumeric);
  CHECK(Parameters(*trainer) == trained);
}

TEST_CASE("trainer: two layers learn and are exported", "[train]") {
  const Data train = Images(90, 3);
  for (bool bias_only : {false, true}) {
    TrainerOptions options = Options(3);
    options.n_layers = 2;
    options.bias_only = bias_only;
    options.learning_rate = 0.01f;
    options.epochs = 40;
    const auto trainer = NewTrainer(options);
    CHECK(trainer->state().layout().size() == (bias_only ? 3 : 4));
    REQUIRE(trainer->AddExamples(train.examples()).ToString() == "OK");
    REQUIRE(trainer->Train().ToString() == "OK");
    CHECK(Accuracy(trainer.get(), Images(60, 3, 77)) > 0.9);
    CheckPredictsAsExported(trainer.get(), train);
  }
  TrainerOptions options = Options(3);
  options.n_layers = 2;
  options.optimizer = Optimizer::kRidge;
  const auto refused =
      Trainer::Create(test::OpenBytes(test::ClassifierBytes(Tail::kDense)), options);
  CHECK(refused.status().code() == StatusCode::kInvalidArgument);
}

}  // namespace trainer_features_test
}  // namespace topwork
