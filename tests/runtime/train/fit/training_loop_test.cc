// What training does with examples and parameters that come while it runs, or after its end.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/runtime/train/trainer_data.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace training_loop_test {

using test::Images;
using test::NewTrainer;
using test::Parameters;
using test::Trained;
using test::TrainerData;
using test::With;

TrainerOptions Options(Optimizer optimizer) {
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = 1;
  options.optimizer = optimizer;
  options.epochs = 400;
  options.weight_decay = optimizer == Optimizer::kLbfgs ? 1e-2f : 0.0f;
  options.patience = optimizer == Optimizer::kLbfgs ? 0 : 4;
  options.learning_rate = optimizer == Optimizer::kLbfgs ? 0.0f : 0.5f;  // overshoots
  return options;
}

double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return most;
}

TEST_CASE("training loop: after an early end it goes on with new examples", "[train]") {
  const TrainerData third = Images(30, 3, 8);
  for (const Optimizer optimizer : {Optimizer::kLbfgs, Optimizer::kAdam}) {
    for (const bool keep_held_back : {false, true}) {
      CAPTURE(OptimizerName(optimizer), keep_held_back);
      TrainerOptions options = Options(optimizer);
      options.keep_held_back = keep_held_back;
      const auto trainer = Trained(options, Images(40, 2));
      REQUIRE(trainer->state().progress.stopped_early);
      const int n_epochs = trainer->state().progress.epoch;
      REQUIRE(trainer->AddExamples(third.examples()).ToString() == "OK");
      CHECK_FALSE(trainer->finished());
      REQUIRE(trainer->Train().ToString() == "OK");
      CHECK(trainer->state().progress.epoch > n_epochs);
      CHECK(trainer->finished());
      CHECK(test::Accuracy(trainer.get(), Images(90, 3, 77)) > 0.9);
    }
  }
}

TEST_CASE("training loop: a last fit follows examples that come after the last epoch", "[train]") {
  const TrainerData first = Images(40, 3), second = Images(50, 3, 8);
  TrainerOptions options = Options(Optimizer::kAdam);
  options.patience = 0;
  options.epochs = 3;
  const auto trainer = Trained(options, first);
  REQUIRE(trainer->AddExamples(second.examples()).ToString() == "OK");
  REQUIRE(trainer->Train().ToString() == "OK");
  options.validation_fraction = 0.0f;
  options.learning_rate = trainer->state().learning_rate;
  TrainerData all = first;
  all.x.insert(all.x.end(), second.x.begin(), second.x.end());
  all.y.insert(all.y.end(), second.y.begin(), second.y.end());
  CHECK(Parameters(*trainer) == Parameters(*Trained(options, all)));
}

TEST_CASE("training loop: after an early end it goes on from written parameters", "[train]") {
  const TrainerData data = Images(60, 3);
  for (const Optimizer optimizer : {Optimizer::kLbfgs, Optimizer::kAdam}) {
    CAPTURE(OptimizerName(optimizer));
    const auto trainer = Trained(Options(optimizer), data);
    REQUIRE(trainer->state().progress.stopped_early);
    const std::vector<float> trained = Parameters(*trainer);
    const int n_epochs = trainer->state().progress.epoch;
    std::vector<float> zeros(trained.size(), 0.0f);
    REQUIRE(trainer->state().SetParameters(zeros).ToString() == "OK");
    REQUIRE(trainer->Train().ToString() == "OK");
    CHECK(trainer->state().progress.epoch > n_epochs);
    if (optimizer == Optimizer::kLbfgs) CHECK(Difference(Parameters(*trainer), trained) < 1e-2);
    CHECK(test::Accuracy(trainer.get(), Images(90, 3, 77)) > 0.9);
  }
}

TEST_CASE("training loop: the best epoch is one after parameters were written", "[train]") {
  TrainerOptions options = Options(Optimizer::kAdam);
  options.keep_held_back = true;
  const TrainerData data = Images(60, 3);
  const auto trainer = With(options, data);
  REQUIRE(trainer->TrainFor({0.0, 30}, nullptr, nullptr).ToString() == "OK");
  const int best = trainer->state().progress.best_epoch;
  REQUIRE(best > 0);
  std::vector<float> far(Parameters(*trainer).size());
  for (size_t i = 0; i < far.size(); ++i) far[i] = static_cast<float>(i % 7) - 3.0f;
  REQUIRE(trainer->state().SetParameters(far).ToString() == "OK");
  const int n_epochs = trainer->state().progress.epoch;
  REQUIRE(trainer->TrainFor({0.0, 1}, nullptr, nullptr).ToString() == "OK");
  CHECK(trainer->state().progress.best_epoch == n_epochs + 1);
}

TEST_CASE("training loop: examples that come within an epoch wait for the next one", "[train]") {
  const test::TempFile file("within");
  TrainerOptions options = Options(Optimizer::kAdam);
  options.patience = 0;
  options.epochs = 3;
  options.batch_size = 8;
  options.keep_held_back = true;
  for (const bool balance_groups : {false, true}) {
    options.balance_groups = balance_groups;
    const auto whole = With(options, Images(100, 3));
    double loss = 0.0;
    bool done = false;
    REQUIRE(whole->Step(&loss, &done).ToString() == "OK");
    const size_t n_first = whole->set().train().size();
    const TrainerData more = Images(50, 3, 8);
    REQUIRE(whole->AddExamples(more.examples()).ToString() == "OK");
    REQUIRE(whole->Step(&loss, &done).ToString() == "OK");
    CHECK(whole->set().train().size() == n_first);
    REQUIRE(whole->judge().Evaluate(ExampleSet::kAll).ok());
    REQUIRE(whole->SaveCheckpoint(file.path, true).ToString() == "OK");
    const auto resumed = NewTrainer(options);
    REQUIRE(resumed->RestoreCheckpoint(file.path).ToString() == "OK");
    for (Trainer* trainer : {whole.get(), resumed.get()}) {
      REQUIRE(trainer->Train().ToString() == "OK");
      const size_t n = trainer->set().train().size();
      CHECK(n > n_first);
      CHECK(trainer->state().progress.step ==
            static_cast<int64_t>((n_first + 7) / 8 + 2 * ((n + 7) / 8)));
    }
    CHECK(Parameters(*resumed) == Parameters(*whole));
  }
}

TEST_CASE("training loop: L-BFGS begins anew when a bounded memory changes", "[train]") {
  const test::TempFile file("replaced");
  TrainerOptions options = Options(Optimizer::kLbfgs);
  options.replay_capacity = 40;
  options.validation_fraction = 0.0f;
  options.balance_classes = Balance::kWeights;
  TrainerData data = Images(40, 2);
  const auto trainer = Trained(options, data);
  REQUIRE(trainer->state().progress.stopped_early);
  data = Images(60, 3, 8);
  REQUIRE(trainer->AddExamples(data.examples()).ToString() == "OK");
  REQUIRE(trainer->SaveCheckpoint(file.path, true).ToString() == "OK");
  const auto resumed = NewTrainer(options);
  REQUIRE(resumed->RestoreCheckpoint(file.path).ToString() == "OK");
  const auto anew = NewTrainer(options);
  REQUIRE(anew->RestoreCheckpoint(file.path).ToString() == "OK");
  std::vector<float> zeros(Parameters(*anew).size(), 0.0f);
  REQUIRE(anew->state().SetParameters(zeros).ToString() == "OK");
  for (Trainer* each : {trainer.get(), resumed.get(), anew.get()}) {
    REQUIRE(each->Train().ToString() == "OK");
    CHECK(each->state().progress.stopped_early);
    CHECK(each->set().loss().class_weights == anew->set().loss().class_weights);
  }
  CHECK(Parameters(*resumed) == Parameters(*trainer));
  CHECK(Difference(Parameters(*anew), Parameters(*trainer)) < 1e-2);
}

}  // namespace training_loop_test
}  // namespace topwork
