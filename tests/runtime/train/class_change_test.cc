// Changing the classes or the examples between two calls of Train: what optimizers, weights and the
// golden set remember must fit the new ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/runtime/train/trainer_data.h"

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
  options.balance_classes = true;
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

}  // namespace class_change_test
}  // namespace topwork
