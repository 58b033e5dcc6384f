// Focal loss, mixup, and classes balanced by repetition and SMOTE.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <string>

#include "tests/runtime/train/trainer_data.h"
#include "tests/runtime/train/training_problem.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace sampling_test {

using test::NewTrainer;
using test::Uniform;

LossOptions Focal(Loss loss, float gamma) {
  LossOptions options;
  options.loss = loss;
  options.focal_gamma = gamma;
  options.class_weights = {1.0f, 0.5f, 2.0f};
  return options;
}

double LossAt(const LossOptions& options, const Targets& targets, std::vector<float> scores) {
  return LossRow(options, targets, 0, 3, 1.0f, scores.data(), nullptr);
}

TEST_CASE("focal loss: value and gradient by its formula", "[train]") {
  Random random(3);
  const float targets_of[] = {1.0f, 0.0f, 0.3f};
  const float* values = targets_of;
  for (Loss loss : {Loss::kSoftmaxCrossEntropy, Loss::kSigmoidCrossEntropy}) {
    for (float gamma : {0.5f, 1.0f, 2.0f, 5.0f}) {
      for (int32_t label = 0; label < 3; ++label) {
        const Targets targets = {&label, &values};
        const LossOptions options = Focal(loss, gamma);
        std::vector<float> scores(3);
        for (float& s : scores) s = 3.0f * Uniform(&random);
        std::vector<float> gradient = scores;
        double hits = 0.0;
        const double value = LossRow(options, targets, 0, 3, 1.0f, gradient.data(), &hits);
        if (loss == Loss::kSoftmaxCrossEntropy) {
          double sum = 0.0;
          for (float s : scores) sum += std::exp(static_cast<double>(s));
          const double p = std::exp(static_cast<double>(scores[static_cast<size_t>(label)])) / sum;
          const double weight =
              static_cast<double>(options.class_weights[static_cast<size_t>(label)]);
          CHECK(value == Approx(-weight * std::pow(1.0 - p, double{gamma}) * std::log(p)));
        }
        for (size_t c = 0; c < 3; ++c) {
          std::vector<float> above = scores, below = scores;
          above[c] += 1.0f / 256;
          below[c] -= 1.0f / 256;
          const double slope =
              (LossAt(options, targets, above) - LossAt(options, targets, below)) * 128.0;
          CHECK(static_cast<double>(gradient[c]) == Approx(slope).epsilon(2e-3).margin(1e-5));
        }
      }
    }
  }
}

TEST_CASE("focal loss: gamma near 0 is cross-entropy, and nothing overflows", "[train]") {
  for (Loss loss : {Loss::kSoftmaxCrossEntropy, Loss::kSigmoidCrossEntropy}) {
    const int32_t label = 1;
    const float targets_of[] = {1.0f, 0.0f, 1.0f};
    const float* values = targets_of;
    const Targets targets = {&label, &values};
    const std::vector<float> scores = {0.5f, -1.0f, 2.0f};
    CHECK(LossAt(Focal(loss, 1e-6f), targets, scores) ==
          Approx(LossAt(Focal(loss, 0.0f), targets, scores)));
    for (float extreme : {-3e4f, 3e4f}) {
      std::vector<float> far = {extreme, -extreme, 0.0f};
      CHECK(std::isfinite(LossRow(Focal(loss, 2.0f), targets, 0, 3, 1.0f, far.data(), nullptr)));
      CHECK(AllFinite({far.data(), far.size()}));
    }
  }
}

// Two features, `n_large` examples of class 0 and two of class 1, at 1 and 3 along the second.
struct Imbalanced {
  std::vector<float> features;
  std::vector<int32_t> labels;
  explicit Imbalanced(int n_large) {
    for (int i = 0; i < n_large + 2; ++i) {
      const bool small = i >= n_large;
      for (int d = 0; d < 8; ++d) features.push_back(0.0f);
      float* row = features.data() + features.size() - 8;
      row[0] = small ? 0.0f : 1.0f;
      row[1] = !small ? 0.0f : i == n_large ? 1.0f : 3.0f;
      labels.push_back(small ? 1 : 0);
    }
  }
};

TrainerOptions Options(Balance balance) {
  TrainerOptions options;
  options.n_classes = 2;
  options.n_threads = 1;
  options.validation_fraction = 0.0f;
  options.balance_classes = balance;
  options.optimizer = Optimizer::kSgd;
  options.learning_rate = 1.0f;
  options.batch_size = 1000;
  options.epochs = 1;
  return options;
}

std::unique_ptr<Trainer> TrainerOf(const TrainerOptions& options, const Imbalanced& data) {
  auto trainer = NewTrainer(options);
  REQUIRE(trainer
              ->AddFeatures(data.features.data(), data.labels.data(),
                            static_cast<int64_t>(data.labels.size()))
              .ToString() == "OK");
  return trainer;
}

TEST_CASE("balance: small classes come again until all count the same", "[train]") {
  const Imbalanced data(21);
  TrainerOptions options = Options(Balance::kRepeat);
  options.batch_size = 4;
  const auto trainer = TrainerOf(options, data);
  double loss = 0.0;
  bool done = false;
  REQUIRE(trainer->Step(&loss, &done).ToString() == "OK");
  std::map<int32_t, int> counts;
  for (int32_t place : trainer->state().order) ++counts[place];
  REQUIRE(trainer->state().order.size() == 42);
  for (int32_t i = 0; i < 21; ++i) CHECK(counts[i] == 1);
  CHECK(counts[21] + counts[22] == 21);
  CHECK(std::abs(counts[21] - counts[22]) == 1);
  int n_steps = 1;
  for (; !done; ++n_steps) REQUIRE(trainer->Step(&loss, &done).ok());
  CHECK(n_steps == 11);
}

// From zero weights a step of rate 1 over all is minus the gradient: for class 1's second feature
// half the mean of its rows' values, times the half of the batch that is of it.
TEST_CASE("balance: SMOTE goes between neighbours of a class", "[train]") {
  const Imbalanced data(22);
  const auto repeated = TrainerOf(Options(Balance::kRepeat), data);
  REQUIRE(repeated->Train().ToString() == "OK");
  CHECK(repeated->state().weights()[8 + 1] == Approx(0.25 * 2.0));
  const auto made = TrainerOf(Options(Balance::kSmote), data);
  double loss = 0.0;
  bool done = false;
  REQUIRE(made->Step(&loss, &done).ToString() == "OK");
  const float weight = made->state().weights()[8 + 1];
  CHECK(weight != repeated->state().weights()[8 + 1]);
  CHECK(weight > 0.25f * 1.2f);
  CHECK(weight < 0.25f * 2.8f);
  CHECK(made->state().weights()[8] == Approx(-0.25));  // class 1 has nothing along the first
  const auto again = TrainerOf(Options(Balance::kSmote), data);
  REQUIRE(again->Train().ok());
  CHECK(again->state().weights()[8 + 1] == weight);
}

// The partners are a permutation, so the biases' gradient is that of the batch itself.
TEST_CASE("mixup: mixes rows and their targets", "[train]") {
  TrainerOptions options = Options(Balance::kNone);
  const Imbalanced data(6);
  const auto plain = TrainerOf(options, data);
  options.mixup_alpha = 0.4f;
  const auto mixed = TrainerOf(options, data);
  REQUIRE(plain->Train().ok());
  REQUIRE(mixed->Train().ToString() == "OK");
  CHECK(mixed->state().bias()[0] == Approx(plain->state().bias()[0]));
  CHECK(mixed->state().bias()[1] == Approx(plain->state().bias()[1]));
  CHECK(mixed->state().weights()[0] > 0.0f);
  CHECK(mixed->state().weights()[0] < plain->state().weights()[0]);
  CHECK(mixed->state().weights()[0] == Approx(-mixed->state().weights()[8]));
}

TEST_CASE("sampling: a checkpoint in the middle of an epoch goes on to the same bits", "[train]") {
  const auto images = test::Images(90, 3);
  for (Balance balance : {Balance::kRepeat, Balance::kSmote}) {
    TrainerOptions options = Options(balance);
    options.n_classes = 3;
    options.batch_size = 16;
    options.epochs = 3;
    options.mixup_alpha = 0.2f;
    options.loss.focal_gamma = 1.0f;
    options.learning_rate = 0.1f;
    test::TrainerData data = images;
    data.y.resize(70);  // fewer of some classes
    data.x.resize(70 * test::kImageFloats);
    for (size_t i = 0; i < 20; ++i) data.y[i] = 0;
    const auto straight = NewTrainer(options);
    REQUIRE(straight->AddExamples(data.examples()).ok());
    REQUIRE(straight->Train().ToString() == "OK");
    const test::TempFolder folder;
    const std::string path = folder / "checkpoint";
    double loss = 0.0;
    bool done = false;
    {
      const auto first = NewTrainer(options);
      REQUIRE(first->AddExamples(data.examples()).ok());
      for (int i = 0; i < 6; ++i) REQUIRE(first->Step(&loss, &done).ok());
      REQUIRE(first->SaveCheckpoint(path, true).ToString() == "OK");
    }
    const auto second = NewTrainer(options);
    REQUIRE(second->RestoreCheckpoint(path).ToString() == "OK");
    REQUIRE(second->Train().ok());
    const Span<const float> a = straight->state().weights(), b = second->state().weights();
    CHECK(std::equal(a.begin(), a.end(), b.begin()));
  }
}

TEST_CASE("sampling: what does not fit is refused", "[train]") {
  const auto refusal = [](const TrainerOptions& options) {
    return CheckOptions(options).message();
  };
  TrainerOptions options;
  options.loss.focal_gamma = -1.0f;
  CHECK(refusal(options).find("focal_gamma is -1") != std::string::npos);
  options.loss.focal_gamma = 2.0f;
  options.loss.label_smoothing = 0.1f;
  CHECK(refusal(options).find("label_smoothing") != std::string::npos);
  options = TrainerOptions();
  options.mixup_alpha = 3.0f;
  CHECK(refusal(options).find("mixup_alpha is 3") != std::string::npos);
  options.mixup_alpha = 0.2f;
  options.optimizer = Optimizer::kLbfgs;
  CHECK(refusal(options).find("lbfgs has none") != std::string::npos);
  options = TrainerOptions();
  options.balance_classes = Balance::kSmote;
  options.loss.loss = Loss::kSigmoidCrossEntropy;
  CHECK(refusal(options).find("one class an example") != std::string::npos);
}

}  // namespace sampling_test
}  // namespace topwork
