// The automatic head: what it chooses, when it is solved anew, and what it stands for.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>

#include "runtime/train/random.h"
#include "tests/runtime/train/trainer_data.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace auto_test {

using test::Images;
using test::NewTrainer;
using test::Parameters;
using test::Trained;
using test::TrainerData;
using test::With;

TrainerOptions Options(int n_threads = 1) {
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = n_threads;
  return options;
}

const std::vector<CandidateReport>& Candidates(const Trainer& trainer) {
  return trainer.fitter().automatic().candidates();
}

int64_t NumChosen(const Trainer& trainer) {
  return std::count_if(Candidates(trainer).begin(), Candidates(trainer).end(),
                       [](const CandidateReport& c) { return c.chosen; });
}

TrainerData Joined(TrainerData a, const TrainerData& b) {
  a.x.insert(a.x.end(), b.x.begin(), b.x.end());
  a.y.insert(a.y.end(), b.y.begin(), b.y.end());
  return a;
}

TEST_CASE("auto: the default chooses a head, fits it to all examples, and it is right", "[train]") {
  const TrainerData data = Images(60, 3);
  const auto trainer = Trained(Options(), data);
  CHECK(trainer->options().optimizer == Optimizer::kAuto);
  CHECK(Candidates(*trainer).size() == 4);
  CHECK(NumChosen(*trainer) == 1);
  CHECK(!trainer->fitter().automatic().reason().empty());
  CHECK(trainer->finished());
  CHECK(trainer->set().validation().size() == 12);
  CHECK(!trainer->state().validated_parameters.empty());
  CHECK(test::Accuracy(trainer.get(), Images(90, 3, 77)) > 0.95);

  TrainerOptions all = Options();
  all.validation_fraction = 0.0f;
  CHECK(Parameters(*Trained(all, data)) == Parameters(*trainer));
}

TEST_CASE("auto: the number of threads changes no bit", "[train]") {
  const TrainerData data = Images(80, 3);
  CHECK(Parameters(*Trained(Options(1), data)) == Parameters(*Trained(Options(3), data)));
}

TEST_CASE("auto: more examples solve the head anew, a bounded memory's, too", "[train]") {
  const TrainerData first = Images(40, 3);
  const TrainerData second = Images(50, 3, 8);
  TrainerOptions options = Options();
  options.validation_fraction = 0.0f;
  const auto trainer = Trained(options, first);
  const std::vector<float> before = Parameters(*trainer);
  REQUIRE(trainer->Train().ToString() == "OK");  // nothing new
  CHECK(Parameters(*trainer) == before);
  REQUIRE(trainer->AddExamples(second.examples()).ToString() == "OK");
  REQUIRE(trainer->Train().ToString() == "OK");
  CHECK(Parameters(*trainer) == Parameters(*Trained(options, Joined(first, second))));
  CHECK(trainer->state().progress.epoch == 1);

  options = Options();
  options.replay_capacity = 30;
  const auto memory = Trained(options, first);
  CHECK(memory->set().size() == 30);
  CHECK(!memory->state().validated_parameters.empty());
  const std::vector<float> kept = Parameters(*memory);
  REQUIRE(memory->AddExamples(second.examples()).ToString() == "OK");
  REQUIRE(memory->Train().ToString() == "OK");
  CHECK(memory->set().size() == 30);
  CHECK(Parameters(*memory) != kept);
}

TEST_CASE("auto: a checkpoint brings back the head and its left-out scores", "[train]") {
  const TrainerData data = Images(60, 3);
  const test::TempFolder folder;
  const std::string path = folder / "auto.ckpt";
  const auto trainer = Trained(Options(), data);
  REQUIRE(trainer->SaveCheckpoint(path).ToString() == "OK");
  const Result<LooScores> scores = trainer->LeaveOneOut();
  REQUIRE(scores.status().ToString() == "OK");

  const auto other = With(Options(), data);
  REQUIRE(other->RestoreCheckpoint(path).ToString() == "OK");
  CHECK(Parameters(*other) == Parameters(*trainer));
  CHECK(other->finished());
  CHECK(other->LeaveOneOut()->scores == scores->scores);
  REQUIRE(other->Train().ToString() == "OK");
  CHECK(Parameters(*other) == Parameters(*trainer));

  TrainerOptions adam = Options();
  adam.optimizer = Optimizer::kAdam;
  CHECK(With(adam, data)->RestoreCheckpoint(path).code() == StatusCode::kFailedPrecondition);
}

// Written before the last fit, before training, and with examples that have come since the fit.
TEST_CASE("auto: a checkpoint of any moment goes on to the head of the uninterrupted run",
          "[train]") {
  const TrainerData data = Images(60, 3), more = Images(40, 3, 8);
  const test::TempFolder folder;
  const auto trainer = With(Options(), data);
  REQUIRE(trainer->judge().Evaluate(ExampleSet::kValidation).ok());  // the split is made
  REQUIRE(trainer->SaveCheckpoint(folder / "before", true).ToString() == "OK");
  const Status status = trainer->Train(
      [&](const EpochMetrics&) { return trainer->SaveCheckpoint(folder / "between", true).ok(); });
  REQUIRE(status.ToString() == "OK");
  for (const char* name : {"before", "between"}) {
    CAPTURE(name);
    const auto resumed = NewTrainer(Options());
    REQUIRE(resumed->RestoreCheckpoint(folder / name).ToString() == "OK");
    REQUIRE(resumed->Train().ToString() == "OK");
    CHECK(Parameters(*resumed) == Parameters(*trainer));
    CHECK(resumed->LeaveOneOut()->scores == trainer->LeaveOneOut()->scores);
  }
  REQUIRE(trainer->AddExamples(more.examples()).ToString() == "OK");
  REQUIRE(trainer->SaveCheckpoint(folder / "after", true).ToString() == "OK");
  const auto resumed = NewTrainer(Options());
  REQUIRE(resumed->RestoreCheckpoint(folder / "after").ToString() == "OK");
  for (Trainer* each : {trainer.get(), resumed.get()}) {
    REQUIRE(each->Train().ToString() == "OK");
    CHECK(NumChosen(*each) == 1);
  }
  CHECK(Parameters(*resumed) == Parameters(*trainer));
}

// Six examples whose labels mean nothing, ten times each: alone, none is ever left out.
TEST_CASE("auto: groups are left out whole", "[train]") {
  TrainerData data = Images(6, 3);
  data.y = {0, 2, 1, 2, 1, 0};
  const TrainerData once = data;
  for (int i = 1; i < 10; ++i) data = Joined(data, once);
  double accuracy[2] = {0.0, 0.0};
  for (const bool grouped : {false, true}) {
    const auto trainer = NewTrainer(Options());
    Examples examples = data.examples();
    const auto read = examples.read;
    examples.read = [=](int64_t index, Span<void* const> inputs, ExampleTarget* target) {
      TW_RETURN_IF_ERROR(read(index, inputs, target));
      if (grouped) target->group = static_cast<int32_t>(index % 6);
      return Status::Ok();
    };
    REQUIRE(trainer->AddExamples(examples).ToString() == "OK");
    REQUIRE(trainer->Train().ToString() == "OK");
    for (const CandidateReport& c : Candidates(*trainer)) {
      accuracy[grouped ? 1 : 0] = std::max(accuracy[grouped ? 1 : 0], c.accuracy);
    }
    CHECK(trainer->LeaveOneOut()->grouped == grouped);
  }
  CHECK(accuracy[0] > 0.95);
  CHECK(accuracy[1] < 0.7);
}

TEST_CASE("auto: regression and several classes an example", "[train]") {
  const TrainerData data = Images(60, 3);
  for (Loss loss : {Loss::kMeanSquaredError, Loss::kHuber, Loss::kSigmoidCrossEntropy}) {
    INFO(LossName(loss));
    TrainerOptions options = Options();
    options.loss.loss = loss;
    std::vector<float> targets;
    for (int32_t y : data.y) {
      for (int c = 0; c < 3; ++c) targets.push_back(y == c ? 1.0f : 0.0f);
    }
    const auto trainer = NewTrainer(options);
    REQUIRE(trainer
                ->AddExamples(Examples::FromArray(data.x.data(), test::kImageFloats * sizeof(float),
                                                  targets.data(), 3, 60))
                .ToString() == "OK");
    REQUIRE(trainer->Train().ToString() == "OK");
    CHECK(NumChosen(*trainer) == 1);
    const auto judged = trainer->judge().Evaluate(ExampleSet::kValidation);
    REQUIRE(judged.status().ToString() == "OK");
    CHECK(judged->loss < (loss == Loss::kSigmoidCrossEntropy ? 0.2 : 0.1));
  }
}

// A class that a third of the examples have, and one in ten at random, which nothing tells.
TEST_CASE("auto: mean left-out probabilities are the shares of the classes", "[train]") {
  const int n = 120;
  const TrainerData data = Images(n, 3);
  TrainerOptions options = Options();
  options.n_classes = 2;
  options.loss.loss = Loss::kSigmoidCrossEntropy;
  Random random(3);
  std::vector<float> targets;
  for (int32_t y : data.y) {
    targets.push_back(y == 0 ? 1.0f : 0.0f);
    targets.push_back(random.Below(10) == 0 ? 1.0f : 0.0f);
  }
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer
              ->AddExamples(Examples::FromArray(data.x.data(), test::kImageFloats * sizeof(float),
                                                targets.data(), 2, n))
              .ToString() == "OK");
  REQUIRE(trainer->Train().ToString() == "OK");
  const Result<LooScores> left_out = trainer->LeaveOneOut();
  REQUIRE(left_out.status().ToString() == "OK");
  for (size_t c = 0; c < 2; ++c) {
    double sum = 0.0, loss = 0.0, n_have = 0.0;
    for (size_t b = 0; b < static_cast<size_t>(n); ++b) {
      const bool has = targets[2 * b + c] > 0.0f;
      const double p = 1.0 / (1.0 + std::exp(-static_cast<double>(left_out->scores[2 * b + c])));
      sum += p;
      loss -= std::log(has ? p : 1.0 - p);
      n_have += has ? 1.0 : 0.0;
    }
    const double share = n_have / n;
    const double of_share = -share * std::log(share) - (1.0 - share) * std::log(1.0 - share);
    INFO("class " << c << ": share " << share << ", mean " << sum / n << ", loss " << loss / n);
    CHECK(std::fabs(sum / n - share) < 2.0 * std::sqrt(share * (1.0 - share) / n));
    CHECK(loss / n < (c == 0 ? 0.3 * of_share : 1.1 * of_share));
  }
}

TEST_CASE("auto: little time still gives a head", "[train]") {
  const auto trainer = With(Options(), Images(60, 3));
  bool finished = false;
  REQUIRE(trainer->TrainFor({1e-9, 0}, nullptr, &finished).ToString() == "OK");
  CHECK(finished);
  CHECK(Candidates(*trainer).size() == 1);
  CHECK(test::Accuracy(trainer.get(), Images(90, 3, 77)) > 0.9);
}

TEST_CASE("auto: options of steps ask for adam, momentum for sgd", "[train]") {
  CHECK(ResolveOptimizer(Options()) == Optimizer::kAuto);
  TrainerOptions options = Options();
  options.momentum = 0.9f;
  CHECK(ResolveOptimizer(options) == Optimizer::kSgd);
  const std::vector<void (*)(TrainerOptions*)> changes = {
      [](TrainerOptions* o) { o->learning_rate = 0.1f; },
      [](TrainerOptions* o) { o->weight_decay = 0.1f; },
      [](TrainerOptions* o) { o->epochs = 7; },
      [](TrainerOptions* o) { o->batch_size = 7; },
      [](TrainerOptions* o) { o->patience = 2; },
      [](TrainerOptions* o) { o->schedule.schedule = Schedule::kCosine; },
      [](TrainerOptions* o) { o->init = HeadInit::kImprint; },
      [](TrainerOptions* o) { o->n_layers = 2; },
      [](TrainerOptions* o) { o->clip_norm = 1.0f; }};
  for (const auto& change : changes) {
    options = Options();
    change(&options);
    CHECK(ResolveOptimizer(options) == Optimizer::kAdam);
    options.optimizer = Optimizer::kLbfgs;
    CHECK(ResolveOptimizer(options) == Optimizer::kLbfgs);
  }
  const auto trainer = With(Options(), Images(30, 3));
  double loss = 0.0;
  bool done = false;
  CHECK(trainer->Step(&loss, &done).code() == StatusCode::kFailedPrecondition);
}

}  // namespace auto_test
}  // namespace topwork
