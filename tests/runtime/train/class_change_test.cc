// Changing the classes or the examples between two calls of Train: what optimizers, weights and the
// golden set remember must fit the new ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "tests/runtime/train/trainer_data.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace class_change_test {

using test::Accuracy;
using test::Images;
using test::NewTrainer;
using Data = test::TrainerData;

TrainerOptions Options(int n_classes) {
  TrainerOptions options;
  options.n_classes = n_classes;
  options.n_threads = 1;
  options.epochs = 15;
  return options;
}

TEST_CASE("trainer: L-BFGS goes on after classes and examples have changed", "[train]") {
  TrainerOptions options = Options(3);
  options.optimizer = Optimizer::kLbfgs;
  options.weight_decay = 1e-3f;
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
  REQUIRE(trainer->TrainFor({0.0, 4}, nullptr, nullptr).ToString() == "OK");
  REQUIRE(trainer->classes().Add("fourth").ToString() == "OK");
  REQUIRE(trainer->AddExamples(Images(120, 4, 9).examples()).ok());
  trainer->set_epochs(40);
  REQUIRE(trainer->TrainFor({0.0, 8}, nullptr, nullptr).ToString() == "OK");
  CHECK(Accuracy(trainer.get(), Images(80, 4, 33)) > 0.9);
  REQUIRE(trainer->classes().Remove(0).ToString() == "OK");
  REQUIRE(trainer->Train().ToString() == "OK");
  Data three = Images(80, 4, 34);
  Data kept;
  for (size_t i = 0; i < three.y.size(); ++i) {
    if (three.y[i] == 0) continue;
    const auto row = three.x.begin() + static_cast<std::ptrdiff_t>(48 * i);
    kept.x.insert(kept.x.end(), row, row + 48);
    kept.y.push_back(three.y[i] - 1);
  }
  CHECK(Accuracy(trainer.get(), kept) > 0.9);
}

TEST_CASE("trainer: L-BFGS ends with the best parameters, too", "[train]") {
  TrainerOptions options = Options(3);
  options.optimizer = Optimizer::kLbfgs;
  options.epochs = 200;
  options.patience = 2;
  options.validation_fraction = 0.5f;
  const auto trainer = NewTrainer(options);
  Data data = Images(60, 3);
  for (size_t i = 0; i < data.y.size(); i += 4) data.y[i] = (data.y[i] + 1) % 3;  // wrong labels
  REQUIRE(trainer->AddExamples(data.examples()).ok());
  REQUIRE(trainer->Train().ToString() == "OK");
  REQUIRE(trainer->state().progress.stopped_early);
  const size_t best = static_cast<size_t>(trainer->state().progress.best_epoch) - 1;
  REQUIRE(best + 1 < trainer->state().progress.history.size());
  const auto now = trainer->judge().Evaluate(ExampleSet::kValidation);
  REQUIRE(now.ok());
  CHECK(now->loss == Approx(trainer->state().progress.history[best].validation_loss).epsilon(1e-6));
}

TEST_CASE("trainer: a solver is cancelled inside an iteration", "[train]") {
  TrainerOptions options = Options(3);
  options.optimizer = Optimizer::kLbfgs;
  options.epochs = 50;
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
  bool cancelled = false;
  // Between two iterations: the next one is cut short and leaves no trace.
  const Status status = trainer->Train([&](const EpochMetrics& m) {
    if (m.epoch == 3) {
      trainer->Cancel();
      cancelled = true;
    }
    return true;
  });
  CHECK(cancelled);
  CHECK(status.code() == StatusCode::kCancelled);
  CHECK(trainer->state().progress.epoch == 3);
  REQUIRE(trainer->Train().ToString() == "OK");
  const auto whole = NewTrainer(options);
  REQUIRE(whole->AddExamples(Images(90, 3).examples()).ok());
  REQUIRE(whole->Train().ok());
  CHECK(std::equal(trainer->state().parameters().begin(), trainer->state().parameters().end(),
                   whole->state().parameters().begin()));
}

TEST_CASE("trainer: balanced weights follow the classes", "[train]") {
  TrainerOptions options = Options(2);
  options.balance_classes = Balance::kWeights;
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(Images(60, 2).examples()).ok());
  REQUIRE(trainer->TrainFor({0.0, 2}, nullptr, nullptr).ok());
  // No examples of the new classes: nothing is split anew, the weights still have one a class.
  REQUIRE(trainer->classes().Add("c").ok());
  REQUIRE(trainer->classes().Add("d").ok());
  REQUIRE(trainer->Train().ToString() == "OK");
  CHECK(trainer->state().progress.history.size() == 15);
  for (const EpochMetrics& m : trainer->state().progress.history)
    CHECK(std::isfinite(m.train_loss));
  CHECK(Accuracy(trainer.get(), Images(40, 2, 7)) > 0.9);
}

TEST_CASE("trainer: a golden set goes on guarding when classes are added and removed", "[train]") {
  TrainerOptions options = Options(5);
  options.init = HeadInit::kShipped;
  options.class_names = {"a", "b", "c", "d", "e"};
  const auto trainer = NewTrainer(options);
  Data golden = Images(40, 3, 3);
  std::vector<float> scores(golden.y.size() * 5);
  REQUIRE(trainer->judge().Predict(golden.examples(), scores.data()).ok());
  for (size_t i = 0; i < golden.y.size(); ++i) {
    const float* row = scores.data() + i * 5;
    golden.y[i] = static_cast<int32_t>(std::max_element(row, row + 5) - row);
  }
  const int32_t said = golden.y[0];
  const int unsaid = static_cast<int>(std::count(golden.y.begin(), golden.y.end(), 4) == 0 ? 4 : 0);
  REQUIRE(trainer->judge().SetGolden(golden.examples()).ToString() == "OK");
  REQUIRE(trainer->classes().Add("f").ToString() == "OK");
  REQUIRE(trainer->classes().Remove(unsaid).ToString() == "OK");
  const auto checked = trainer->judge().CheckGolden();
  REQUIRE(checked.status().ToString() == "OK");
  CHECK(checked->n_examples ==
        40 - std::count(golden.y.begin(), golden.y.end(), static_cast<int32_t>(unsaid)));
  CHECK(checked->trained <= checked->shipped);
  std::vector<float> worse(trainer->state().parameters().begin(),
                           trainer->state().parameters().end());
  for (float& w : worse) w = -w;
  REQUIRE(trainer->state().SetParameters(worse).ok());
  CHECK(trainer->Export().status().code() == StatusCode::kFailedPrecondition);
  CHECK(said >= 0);
}

// Examples with any number of classes: the pattern's own, and "any" for two of the three.
struct Tagged {
  Data data;
  std::vector<float> values;
  int n_outputs = 0;
  Tagged(int n, const std::vector<std::vector<int>>& outputs, uint64_t seed = 5)
      : data(Images(n, 3, seed)), n_outputs(static_cast<int>(outputs.size())) {
    for (int32_t label : data.y) {
      for (const std::vector<int>& patterns : outputs) {
        const bool has = std::count(patterns.begin(), patterns.end(), label) > 0;
        values.push_back(has ? 1.0f : 0.0f);
      }
    }
  }
  Examples examples() const {
    return Examples::FromArray(data.x.data(), test::kImageFloats * sizeof(float), values.data(),
                               n_outputs, static_cast<int64_t>(data.y.size()));
  }
};

TrainerOptions SigmoidOptions() {
  TrainerOptions options = Options(3);
  options.loss.loss = Loss::kSigmoidCrossEntropy;
  options.class_names = {"a", "b", "c"};
  options.epochs = 40;
  return options;
}

double Accuracy(Trainer* trainer, const Tagged& tagged) {
  const auto evaluation = trainer->judge().Evaluate(tagged.examples());
  REQUIRE(evaluation.status().ToString() == "OK");
  return evaluation->accuracy;
}

TEST_CASE("trainer: classes of a sigmoid head come and go", "[train]") {
  const auto trainer = NewTrainer(SigmoidOptions());
  REQUIRE(trainer->AddExamples(Tagged(90, {{0}, {1}, {2}}).examples()).ok());
  REQUIRE(trainer->Train().ToString() == "OK");
  const std::vector<float> before(trainer->state().weights().begin(),
                                  trainer->state().weights().end());
  REQUIRE(trainer->classes().Add("any").ToString() == "OK");
  CHECK(trainer->set().size() == 90);
  CHECK(trainer->set().cache().values(0)[3] == 0.0f);
  CHECK(std::equal(before.begin(), before.end(), trainer->state().weights().begin()));
  REQUIRE(trainer->classes().Remove(1).ToString() == "OK");
  CHECK(trainer->classes().names() == std::vector<std::string>{"a", "c", "any"});
  CHECK(trainer->set().size() == 90);  // an example can be of no class
  REQUIRE(trainer->classes().Rename(2, "both").ToString() == "OK");
  CHECK(std::equal(before.begin(), before.begin() + 8, trainer->state().weights().begin()));
  // New examples teach the new class against those that were there without it.
  const Tagged more(300, {{0}, {2}, {0, 2}}, 9);
  REQUIRE(trainer->AddExamples(more.examples()).ToString() == "OK");
  trainer->set_epochs(200);
  REQUIRE(trainer->Train().ToString() == "OK");
  CHECK(Accuracy(trainer.get(), Tagged(60, {{0}, {2}, {0, 2}}, 33)) > 0.8);
  const auto exported = trainer->Export();
  REQUIRE(exported.status().ToString() == "OK");
  CHECK(test::OpenBytes(exported.value())->labels() == std::vector<std::string>{"a", "c", "both"});
  REQUIRE(trainer->classes().Set({"both"}).ToString() == "OK");  // one class is enough
  CHECK(trainer->classes().Remove(0).code() == StatusCode::kInvalidArgument);
}

TEST_CASE("trainer: names that are no UTF-8 keep their classes, and all keep the calibration",
          "[train]") {
  TrainerOptions options = Options(3);
  options.class_names = {"caf\xe9", "a\tb", "c"};
  const auto trainer = test::Trained(options, Images(90, 3));
  REQUIRE(trainer->judge().Calibrate().ok());
  const double temperature = trainer->state().temperature;
  CHECK(temperature != 1.0);
  REQUIRE(trainer->classes().Set({"c", "a\tb", "caf\xe9"}).ToString() == "OK");
  CHECK(trainer->set().size() == 90);
  CHECK(trainer->state().temperature == temperature);
  Data reversed = Images(60, 3, 33);
  for (int32_t& label : reversed.y) label = 2 - label;
  CHECK(Accuracy(trainer.get(), reversed) > 0.9);
  CHECK(trainer->classes().Add("caf\xe9").message().find("already") != std::string::npos);
  CHECK(trainer->classes().Rename(0, "a\tb").message().find("another class") != std::string::npos);
}

TEST_CASE("trainer: two classes become one", "[train]") {
  SECTION("of any number an example") {
    const auto trainer = NewTrainer(SigmoidOptions());
    REQUIRE(trainer->AddExamples(Tagged(90, {{0}, {1}, {2}}).examples()).ok());
    REQUIRE(trainer->Train().ok());
    const std::vector<float> old(trainer->state().weights().begin(),
                                 trainer->state().weights().end());
    REQUIRE(trainer->classes().Set({"b", "c"}, {1, 0, 1}).ToString() == "OK");
    CHECK(trainer->classes().names() == std::vector<std::string>{"b", "c"});
    for (size_t d = 0; d < 8; ++d) {
      CHECK(trainer->state().weights()[d] == old[8 + d]);
      CHECK(trainer->state().weights()[8 + d] == Approx(0.5 * (old[d] + old[16 + d])));
    }
    const Tagged expected(90, {{1}, {0, 2}});
    for (int64_t i = 0; i < 90; ++i) {
      const float* values = trainer->set().cache().values(i);
      CHECK(std::equal(values, values + 2, expected.values.begin() + 2 * i));
    }
    trainer->set_epochs(150);
    REQUIRE(trainer->Train().ToString() == "OK");
    CHECK(Accuracy(trainer.get(), Tagged(60, {{1}, {0, 2}}, 33)) > 0.9);
  }
  SECTION("of one class an example") {
    const auto trainer = NewTrainer(Options(3));
    REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
    REQUIRE(trainer->Train().ok());
    REQUIRE(trainer->classes().Set({"0", "1"}, {0, 1, 0}).ToString() == "OK");
    CHECK(trainer->set().size() == 90);
    trainer->set_epochs(60);
    REQUIRE(trainer->Train().ToString() == "OK");
    Data merged = Images(60, 3, 33);
    for (int32_t& label : merged.y) label = label == 2 ? 0 : label;
    CHECK(test::Accuracy(trainer.get(), merged) > 0.9);
    CHECK(trainer->classes().Set({"a", "b"}, {0}).code() == StatusCode::kInvalidArgument);
    CHECK(trainer->classes().Set({"a", "b"}, {0, 2}).code() == StatusCode::kInvalidArgument);
    CHECK(trainer->classes().Set({"a"}, {0, 0}).message().find("two are needed") !=
          std::string::npos);
  }
}

TEST_CASE("trainer: a checkpoint brings the classes of a sigmoid head along", "[train]") {
  const auto trainer = NewTrainer(SigmoidOptions());
  REQUIRE(trainer->AddExamples(Tagged(90, {{0}, {1}, {2}}).examples()).ok());
  REQUIRE(trainer->classes().Add("any").ToString() == "OK");
  REQUIRE(trainer->Train().ok());
  const test::TempFolder folder;
  const std::string path = folder / "checkpoint", copy = folder / "copy";
  REQUIRE(trainer->SaveCheckpoint(path, true).ToString() == "OK");
  const auto other = NewTrainer(SigmoidOptions());
  // The file is held by the trainer that saved it.
  test::WriteWhole(copy, test::ReadWhole(path));
  REQUIRE(other->RestoreCheckpoint(copy).ToString() == "OK");
  CHECK(other->n_classes() == 4);
  CHECK(other->set().cache().digest() == trainer->set().cache().digest());
  CHECK(std::equal(trainer->state().weights().begin(), trainer->state().weights().end(),
                   other->state().weights().begin()));
  REQUIRE(other->AddExamples(Tagged(30, {{0}, {1}, {2}, {0, 2}}, 8).examples()).ToString() == "OK");
}

}  // namespace class_change_test
}  // namespace topwork
