// The last fit: when training is over, the head is fitted once more on all examples.
#include <catch2/catch.hpp>

#include "tests/runtime/train/trainer_data.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace last_fit_test {

using test::Images;
using test::NewTrainer;
using test::Parameters;
using test::Trained;
using test::TrainerData;
using test::With;

TrainerOptions Options(Optimizer optimizer = Optimizer::kAdam) {
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = 1;
  options.optimizer = optimizer;
  options.learning_rate = 0.02f;
  options.batch_size = 7;
  options.epochs = 4;
  return options;
}

double ValidationLoss(Trainer* trainer) {
  const auto evaluation = trainer->judge().Evaluate(ExampleSet::kValidation);
  REQUIRE(evaluation.status().ToString() == "OK");
  return evaluation->loss;
}

TEST_CASE("last fit: the head is the one that all examples give, the figures are those of before",
          "[train]") {
  const TrainerData data = Images(60, 3);
  for (Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam, Optimizer::kLbfgs,
                              Optimizer::kRidge, Optimizer::kImprint}) {
    INFO(OptimizerName(optimizer));
    TrainerOptions options = Options(optimizer);
    options.balance_classes = optimizer == Optimizer::kAdam ? Balance::kWeights : Balance::kNone;
    const auto fitted = Trained(options, data);
    options.keep_held_back = true;
    const auto kept = Trained(options, data);
    options.validation_fraction = 0.0f;
    const auto all = Trained(options, data);
    CHECK(fitted->set().validation().size() == 12);
    CHECK(Parameters(*fitted) == Parameters(*all));
    CHECK(Parameters(*fitted) != Parameters(*kept));
    CHECK(fitted->state().validated_parameters == Parameters(*kept));
    CHECK(kept->state().validated_parameters.empty());
    CHECK(all->state().validated_parameters.empty());

    CHECK(ValidationLoss(fitted.get()) == ValidationLoss(kept.get()));
    CHECK(fitted->state().progress.history.size() == kept->state().progress.history.size());
    CHECK(fitted->state().progress.history.back().validation_loss ==
          kept->state().progress.history.back().validation_loss);
    CHECK(fitted->judge().CheckExport(ExampleSet::kValidation)->before ==
          kept->judge().CheckExport(ExampleSet::kValidation)->before);
    CHECK(fitted->judge().Calibrate()->temperature == kept->judge().Calibrate()->temperature);
    CHECK(fitted->judge().Worst(ExampleSet::kAll, 1)->at(0).loss ==
          kept->judge().Worst(ExampleSet::kAll, 1)->at(0).loss);
    // Judging leaves the head as it is.
    CHECK(Parameters(*fitted) == Parameters(*all));
    fitted->state().temperature = 1.0;
    const TrainerData fresh = Images(30, 3, 9);
    CHECK(fitted->judge().Evaluate(fresh.examples())->loss ==
          all->judge().Evaluate(fresh.examples())->loss);
    CHECK(*fitted->Export() == *all->Export());
  }
}

TEST_CASE("last fit: it takes as many epochs as early stopping found", "[train]") {
  const TrainerData data = Images(60, 3);
  TrainerOptions options = Options();
  options.learning_rate = 0.5f;  // overshoots
  options.epochs = 300;
  options.patience = 4;
  const auto fitted = Trained(options, data);
  const int found = fitted->state().progress.best_epoch;
  REQUIRE(fitted->state().progress.stopped_early);
  REQUIRE(found > 0);
  options.patience = 0;
  options.epochs = found;
  options.validation_fraction = 0.0f;
  CHECK(Parameters(*fitted) == Parameters(*Trained(options, data)));
}

TEST_CASE("last fit: it begins where training began", "[train]") {
  const TrainerData data = Images(60, 3);
  TrainerOptions options = Options();
  const std::vector<float> given = Parameters(*Trained(options, Images(30, 3, 77)));
  const auto fitted = With(options, data);
  options.validation_fraction = 0.0f;
  const auto all = With(options, data);
  for (Trainer* trainer : {fitted.get(), all.get()}) {
    REQUIRE(trainer->state().SetParameters(given).ToString() == "OK");
    REQUIRE(trainer->Train().ToString() == "OK");
  }
  CHECK(Parameters(*fitted) == Parameters(*all));
  // Parameters that come after the last epoch are nobody's result.
  REQUIRE(fitted->state().SetParameters(given).ToString() == "OK");
  REQUIRE(fitted->Train().ToString() == "OK");
  CHECK(Parameters(*fitted) == given);
}

TEST_CASE("last fit: training goes on from where it was", "[train]") {
  const TrainerData data = Images(60, 3);
  TrainerOptions options = Options();
  const auto whole = Trained(options, data);
  options.epochs = 2;
  const auto parts = Trained(options, data);
  REQUIRE_FALSE(parts->state().validated_parameters.empty());
  parts->set_epochs(4);
  REQUIRE(parts->Train().ToString() == "OK");
  CHECK(Parameters(*parts) == Parameters(*whole));
  CHECK(parts->state().validated_parameters == whole->state().validated_parameters);
}

TEST_CASE("last fit: a checkpoint keeps both heads", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "checkpoint";
  const TrainerData data = Images(60, 3);
  TrainerOptions options = Options();
  options.epochs = 2;
  const auto first = Trained(options, data);
  REQUIRE(first->SaveCheckpoint(path).ToString() == "OK");
  const auto second = With(options, data);
  REQUIRE(second->RestoreCheckpoint(path).ToString() == "OK");
  CHECK(Parameters(*second) == Parameters(*first));
  CHECK(ValidationLoss(second.get()) == ValidationLoss(first.get()));
  for (Trainer* trainer : {first.get(), second.get()}) {
    trainer->set_epochs(4);
    REQUIRE(trainer->Train().ToString() == "OK");
  }
  CHECK(Parameters(*second) == Parameters(*first));
}

TEST_CASE("last fit: it can be cancelled, and is made up for", "[train]") {
  const TrainerData data = Images(60, 3);
  const auto whole = Trained(Options(), data);
  const auto trainer = With(Options(), data);
  const Status status = trainer->Train([&](const EpochMetrics& metrics) {
    if (metrics.epoch == metrics.n_epochs) trainer->Cancel();
    return true;
  });
  CHECK(status.code() == StatusCode::kCancelled);
  CHECK(trainer->state().validated_parameters.empty());
  CHECK(Parameters(*trainer) == whole->state().validated_parameters);
  REQUIRE(trainer->Train().ToString() == "OK");
  CHECK(Parameters(*trainer) == Parameters(*whole));
}

TEST_CASE("last fit: it keeps to the limits of a call, and goes on from there", "[train]") {
  const TrainerData data = Images(60, 3);
  for (const Optimizer optimizer : {Optimizer::kAdam, Optimizer::kLbfgs}) {
    const auto whole = Trained(Options(optimizer), data);
    const auto trainer = With(Options(optimizer), data);
    bool finished = false;
    int n_told = 0, n_calls = 0;
    const auto count = [&](const EpochMetrics&) { return ++n_told > 0; };
    for (; !finished; ++n_calls) {
      REQUIRE(n_calls < 100);
      REQUIRE(trainer->TrainFor({0.0, 1}, count, &finished).ToString() == "OK");
      CHECK(finished == trainer->finished());
    }
    CHECK(n_told == 4);
    CHECK(n_calls == 8);
    CHECK(Parameters(*trainer) == Parameters(*whole));
    CHECK(trainer->state().validated_parameters == whole->state().validated_parameters);

    const auto timed = With(Options(optimizer), data);
    const int64_t n_steps = optimizer == Optimizer::kAdam ? 4 * 7 + 4 * 9 : 8;
    for (n_calls = 0, finished = false; !finished; ++n_calls) {
      REQUIRE(n_calls < 100);
      REQUIRE(timed->TrainFor({1e-9, 0}, nullptr, &finished).ToString() == "OK");
    }
    CHECK(n_calls == n_steps);
    CHECK(Parameters(*timed) == Parameters(*whole));
  }
}

TEST_CASE("last fit: a stop at the last epoch comes before it, a change ends it", "[train]") {
  const TrainerData data = Images(60, 3), more = Images(30, 3, 8);
  const auto whole = Trained(Options(), data);
  const auto trainer = With(Options(), data);
  bool finished = true;
  const auto stop = [](const EpochMetrics& metrics) { return metrics.epoch < metrics.n_epochs; };
  REQUIRE(trainer->TrainFor({}, stop, &finished).ToString() == "OK");
  CHECK_FALSE(finished);
  CHECK(trainer->state().validated_parameters.empty());
  REQUIRE(trainer->TrainFor({0.0, 2}, nullptr, &finished).ToString() == "OK");
  REQUIRE(trainer->state().last_fit != nullptr);
  CHECK(trainer->state().last_fit->progress.epoch == 2);
  CHECK(Parameters(*trainer) == whole->state().validated_parameters);
  REQUIRE(trainer->AddExamples(more.examples()).ToString() == "OK");
  CHECK(trainer->state().last_fit == nullptr);
  REQUIRE(trainer->TrainFor({0.0, 2}, nullptr, &finished).ToString() == "OK");
  REQUIRE(trainer->state().last_fit != nullptr);
  REQUIRE(trainer->state().SetParameters(Parameters(*whole)).ToString() == "OK");
  CHECK(trainer->state().last_fit == nullptr);
  CHECK(trainer->finished());
}

TEST_CASE("last fit: classes that come later take part, the others stay as they are", "[train]") {
  TrainerOptions options = Options();
  const auto trainer = Trained(options, Images(60, 3));
  const std::vector<float> before = Parameters(*trainer);
  REQUIRE(trainer->classes().Add("new").ToString() == "OK");
  const int dim = trainer->head().dim;
  const Span<const float> weights = trainer->state().weights();
  REQUIRE(weights.size() == static_cast<size_t>(4 * dim));
  CHECK(std::vector<float>(weights.begin(), weights.begin() + 3 * dim) ==
        std::vector<float>(before.begin(), before.begin() + 3 * dim));
  CHECK_FALSE(trainer->state().validated_parameters.empty());
  TrainerData more = Images(40, 4, 8);
  REQUIRE(trainer->AddExamples(more.examples()).ToString() == "OK");
  trainer->set_epochs(8);
  REQUIRE(trainer->Train().ToString() == "OK");
  CHECK_FALSE(trainer->state().validated_parameters.empty());
  CHECK(test::Accuracy(trainer.get(), Images(40, 4, 21)) > 0.8);
}

TEST_CASE("last fit: a bounded memory of examples is never fitted again", "[train]") {
  TrainerOptions options = Options();
  options.replay_capacity = 40;
  const auto trainer = Trained(options, Images(60, 3));
  REQUIRE_FALSE(trainer->set().validation().empty());
  CHECK(trainer->state().validated_parameters.empty());
}

}  // namespace last_fit_test
}  // namespace topwork
