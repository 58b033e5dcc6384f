// Left-out scores against trainers that never saw the example.
#include "runtime/train/auto/loo.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/runtime/train/trainer_data.h"

namespace topwork {
namespace loo_test {

using test::Images;
using test::NewTrainer;
using test::Trained;
using test::TrainerData;

constexpr int kClasses = 3;

TrainerOptions Options(Optimizer optimizer) {
  TrainerOptions options;
  options.n_classes = kClasses;
  options.n_threads = 1;
  options.optimizer = optimizer;
  options.validation_fraction = 0.0f;
  return options;
}

TrainerData Without(const TrainerData& data, size_t b) {
  TrainerData rest = data;
  const auto at = static_cast<std::ptrdiff_t>(b);
  const auto floats = static_cast<std::ptrdiff_t>(test::kImageFloats);
  rest.x.erase(rest.x.begin() + at * floats, rest.x.begin() + (at + 1) * floats);
  rest.y.erase(rest.y.begin() + at);
  return rest;
}

// The cosine of the angle between two rows of scores: a head's scale follows from all examples.
double Cosine(const float* a, const float* b) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (int c = 0; c < kClasses; ++c) {
    ab += static_cast<double>(a[c]) * static_cast<double>(b[c]);
    aa += static_cast<double>(a[c]) * static_cast<double>(a[c]);
    bb += static_cast<double>(b[c]) * static_cast<double>(b[c]);
  }
  return ab / std::sqrt(aa * bb);
}

double AccuracyOf(const LooScores& left_out, const std::vector<int32_t>& labels) {
  int hits = 0;
  for (size_t b = 0; b < labels.size(); ++b) {
    const float* row = left_out.scores.data() + b * kClasses;
    if (std::max_element(row, row + kClasses) - row == labels[b]) ++hits;
  }
  return hits / static_cast<double>(labels.size());
}

LooScores LeftOut(Trainer* trainer) {
  Result<LooScores> scores = trainer->LeaveOneOut();
  REQUIRE(scores.status().ToString() == "OK");
  return std::move(scores.value());
}

TEST_CASE("left-out scores: ridge and imprinting are those of heads without the example",
          "[train]") {
  const TrainerData data = Images(24, kClasses);
  const double n = static_cast<double>(data.y.size());
  for (Optimizer optimizer : {Optimizer::kRidge, Optimizer::kImprint}) {
    INFO(OptimizerName(optimizer));
    TrainerOptions options = Options(optimizer);
    const bool ridge = optimizer == Optimizer::kRidge;
    options.weight_decay = ridge ? 0.05f : 0.0f;
    const auto trainer = Trained(options, data);
    const LooScores left_out = LeftOut(trainer.get());
    CHECK(left_out.method == LooMethod::kExact);
    REQUIRE(left_out.scores.size() == data.y.size() * kClasses);
    // The penalty of a ridge head is a share of the number of examples.
    options.weight_decay = static_cast<float>(options.weight_decay * n / (n - 1.0));
    for (size_t b = 0; b < data.y.size(); b += 5) {
      const auto other = Trained(options, Without(data, b));
      std::vector<float> scores(kClasses);
      const FeatureCache& cache = trainer->set().cache();
      const float* row = cache.row(static_cast<int64_t>(b));
      REQUIRE(other->state().network->Scores(&row, 1, scores.data()).ToString() == "OK");
      CHECK(Cosine(scores.data(), left_out.scores.data() + b * kClasses) > 1.0 - 1e-6);
    }
  }
}

TEST_CASE("left-out scores: one Newton step comes near to fits without the example", "[train]") {
  const TrainerData data = Images(24, kClasses);
  const double n = static_cast<double>(data.y.size());
  TrainerOptions options = Options(Optimizer::kLbfgs);
  options.epochs = 500;
  options.weight_decay = 0.01f;
  const auto trainer = Trained(options, data);
  const LooScores left_out = LeftOut(trainer.get());
  CHECK(left_out.method == LooMethod::kApproximate);
  options.weight_decay = static_cast<float>(0.01 * n / (n - 1.0));
  double error = 0.0, change = 0.0;  // of the scores' differences from the first class
  for (size_t b = 0; b < data.y.size(); ++b) {
    const auto other = Trained(options, Without(data, b));
    float without[kClasses], with[kClasses];
    const float* row = trainer->set().cache().row(static_cast<int64_t>(b));
    REQUIRE(other->state().network->Scores(&row, 1, without).ToString() == "OK");
    REQUIRE(trainer->state().network->Scores(&row, 1, with).ToString() == "OK");
    const float* got = left_out.scores.data() + b * kClasses;
    for (int c = 1; c < kClasses; ++c) {
      error += std::fabs(static_cast<double>(got[c] - got[0] - without[c] + without[0]));
      change += std::fabs(static_cast<double>(with[c] - with[0] - without[c] + without[0]));
    }
  }
  CHECK(change > 0.1);
  CHECK(error < 0.1 * change);
}

// Examples of `data` but those that `without` names, each with its group, for a softmax or a sigmoid.
Examples Rest(const TrainerData& data, const std::vector<float>* targets, int n_groups, int without,
              std::vector<int64_t>* kept) {
  kept->clear();
  const int64_t n = static_cast<int64_t>(data.y.size());
  for (int64_t b = 0; b < n; ++b) {
    if (b % n_groups != without) kept->push_back(b);
  }
  const Examples all = targets == nullptr
                           ? data.examples()
                           : Examples::FromArray(data.x.data(), test::kImageFloats * sizeof(float),
                                                 targets->data(), kClasses, n);
  Examples rest = all;
  rest.count = static_cast<int64_t>(kept->size());
  const std::vector<int64_t> indices = *kept;
  rest.read = [=](int64_t index, Span<void* const> inputs, ExampleTarget* target) {
    const int64_t b = indices[static_cast<size_t>(index)];
    TW_RETURN_IF_ERROR(all.read(b, inputs, target));
    if (n_groups < n) target->group = static_cast<int32_t>(b % n_groups);
    return Status::Ok();
  };
  return rest;
}

// How far left-out scores are from those of fits without the group, as a share of what leaving it
// out changes.
double NewtonError(const TrainerData& data, const std::vector<float>* targets, int n_groups) {
  TrainerOptions options = Options(Optimizer::kLbfgs);
  if (targets != nullptr) options.loss.loss = Loss::kSigmoidCrossEntropy;
  options.epochs = 500;
  const auto fit = [&](int without, std::vector<int64_t>* kept) {
    const Examples rest = Rest(data, targets, n_groups, without, kept);
    const double share = static_cast<double>(data.y.size()) / static_cast<double>(rest.count);
    options.weight_decay = static_cast<float>(0.01 * share);
    std::unique_ptr<Trainer> trainer = NewTrainer(options);
    REQUIRE(trainer->AddExamples(rest).ToString() == "OK");
    REQUIRE(trainer->Train().ToString() == "OK");
    return trainer;
  };
  std::vector<int64_t> kept;
  const auto trainer = fit(-1, &kept);
  const LooScores left_out = LeftOut(trainer.get());
  CHECK(left_out.method == LooMethod::kApproximate);
  double error = 0.0, change = 0.0;
  for (int group = 0; group < n_groups; ++group) {
    const auto other = fit(group, &kept);
    for (size_t b = static_cast<size_t>(group); b < data.y.size();
         b += static_cast<size_t>(n_groups)) {
      float without[kClasses], with[kClasses];
      const float* row = trainer->set().cache().row(static_cast<int64_t>(b));
      REQUIRE(other->state().network->Scores(&row, 1, without).ToString() == "OK");
      REQUIRE(trainer->state().network->Scores(&row, 1, with).ToString() == "OK");
      const float* got = left_out.scores.data() + b * kClasses;
      for (int c = 0; c < kClasses; ++c) {
        const bool softmax = targets == nullptr;  // only differences of its scores matter
        const auto of = [&](const float* v) {
          return static_cast<double>(softmax ? v[c] - v[0] : v[c]);
        };
        error += std::fabs(of(got) - of(without));
        change += std::fabs(of(with) - of(without));
      }
    }
  }
  CHECK(change > 0.1);
  return error / change;
}

TEST_CASE("left-out scores: one Newton step for sigmoids and for groups, too", "[train]") {
  const TrainerData data = Images(24, kClasses);
  std::vector<float> targets;
  for (size_t b = 0; b < data.y.size(); ++b) {
    for (int c = 0; c < kClasses; ++c) targets.push_back(data.y[b] == c ? 1.0f : 0.0f);
  }
  CHECK(NewtonError(data, &targets, 24) < 0.1);
  CHECK(NewtonError(data, nullptr, 8) < 0.25);
  CHECK(NewtonError(data, &targets, 8) < 0.25);
}

TEST_CASE("left-out scores: they are of the present head's size", "[train]") {
  const TrainerData data = Images(60, kClasses);
  for (Optimizer optimizer : {Optimizer::kRidge, Optimizer::kImprint, Optimizer::kLbfgs}) {
    INFO(OptimizerName(optimizer));
    TrainerOptions options = Options(optimizer);
    options.weight_decay =
        optimizer == Optimizer::kImprint ? 0.0f : 10.0f;  // hardly depends on one
    const auto trainer = Trained(options, data);
    const LooScores left_out = LeftOut(trainer.get());
    const LooScores halved = [&] {
      trainer->state().temperature = 2.0;
      return LeftOut(trainer.get());
    }();
    std::vector<float> scores(kClasses);
    for (size_t b = 0; b < data.y.size(); ++b) {
      const float* row = trainer->set().cache().row(static_cast<int64_t>(b));
      REQUIRE(trainer->state().network->Scores(&row, 1, scores.data()).ToString() == "OK");
      for (size_t c = 0; c < kClasses; ++c) {
        const size_t at = b * kClasses + c;
        CHECK(left_out.scores[at] == Approx(scores[c]).epsilon(0.2).margin(0.1));
        CHECK(halved.scores[at] == Approx(left_out.scores[at] / 2).margin(1e-6));
      }
    }
  }
}

TEST_CASE("left-out scores: labels that mean nothing are not learnt, and the head stays",
          "[train]") {
  TrainerData data = Images(90, kClasses);
  for (size_t b = 0; b < data.y.size(); ++b) data.y[b] = static_cast<int32_t>(b * b / 7 % kClasses);
  for (Optimizer optimizer : {Optimizer::kAdam, Optimizer::kLbfgs, Optimizer::kRidge}) {
    INFO(OptimizerName(optimizer));
    TrainerOptions options = Options(optimizer);
    options.epochs = 60;
    if (optimizer == Optimizer::kRidge) options.weight_decay = 1e-4f;
    const auto trainer = Trained(options, data);
    const std::vector<float> before(trainer->state().parameters().begin(),
                                    trainer->state().parameters().end());
    const double trained = test::Accuracy(trainer.get(), data);
    const LooScores left_out = LeftOut(trainer.get());
    CHECK(left_out.method ==
          (optimizer == Optimizer::kRidge ? LooMethod::kExact : LooMethod::kCrossValidation));
    CHECK(AccuracyOf(left_out, data.y) < trained - 0.05);
    CHECK(AccuracyOf(left_out, data.y) < 0.55);
    CHECK(std::vector<float>(trainer->state().parameters().begin(),
                             trainer->state().parameters().end()) == before);
    CHECK(trainer->set().train().size() == 90);
  }
}

TEST_CASE("left-out scores: refused without examples", "[train]") {
  const auto trainer = NewTrainer(Options(Optimizer::kRidge));
  CHECK(trainer->LeaveOneOut().status().code() == StatusCode::kFailedPrecondition);
}

}  // namespace loo_test
}  // namespace topwork
