// Layers that are added in front of the last one: gradients, what they can learn, where they are
// kept, and the models that come of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "runtime/train/head/tail_network.h"
#include "tests/runtime/train/trainer_data.h"
#include "tests/runtime/train/training_problem.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace hidden_layer_test {

using test::Images;
using test::NewTrainer;
using test::TrainingProblem;

TrainerOptions Options(int n_hidden, int n_projected = 0) {
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = 1;
  options.n_hidden = n_hidden;
  options.n_projected = n_projected;
  options.epochs = 30;
  options.learning_rate = n_hidden > 0 ? 0.01f : 0.0f;
  return options;
}

std::vector<float> Copy(Span<const float> values) { return {values.begin(), values.end()}; }

std::vector<float> Parameters(Trainer* trainer) {
  return Copy(static_cast<const TrainingState&>(trainer->state()).parameters());
}

// The mean loss of a training step.
double LossOf(Trainable* network, const TrainingProblem& problem) {
  BatchLoss loss;
  const Status status = network->ComputeGradient(LossOptions(), problem.rows.data(),
                                                 problem.targets(), problem.n, &loss);
  REQUIRE(status.ToString() == "OK");
  return loss.loss_sum / loss.weight_sum;
}

// Central differences of each array. A step of ReLU's corner within reach would show: few of them.
void CheckGradient(Trainable* network, const TrainingProblem& problem) {
  LossOf(network, problem);
  const std::vector<float> gradient = Copy(network->gradient());
  constexpr float kStep = 1.0f / 512;
  for (const ParameterInfo& info : network->layout()) {
    double difference = 0.0, length = 0.0;
    for (int64_t k = info.offset; k < info.offset + info.size; ++k) {
      float& value = network->parameters()[static_cast<size_t>(k)];
      const float before = value;
      value = before + kStep;
      const double above = LossOf(network, problem);
      value = before - kStep;
      const double below = LossOf(network, problem);
      value = before;
      const double slope = (above - below) / (2.0 * static_cast<double>(kStep));
      const double given = static_cast<double>(gradient[static_cast<size_t>(k)]);
      difference += (slope - given) * (slope - given);
      length += given * given;
    }
    INFO(info.name << ": " << std::sqrt(difference) << " of " << std::sqrt(length));
    CHECK(length > 0.0);
    CHECK(difference <= 4e-4 * length);
  }
}

std::unique_ptr<Trainable> Network(const TrainerOptions& options, ThreadPool* pool) {
  const auto layers =
      TrainedLayers::Find(test::OpenBytes(test::ClassifierBytes(test::Tail::kDense)), options);
  REQUIRE(layers.status().ToString() == "OK");
  std::unique_ptr<Trainable> network;
  REQUIRE(layers->Build(options.n_classes, options, pool, &network).ToString() == "OK");
  return network;
}

TEST_CASE("hidden layer: gradients agree with finite differences, with dropout, too", "[train]") {
  for (float dropout : {0.0f, 0.4f}) {
    TrainerOptions options = Options(6);
    options.dropout = dropout;
    options.batch_size = 16;  // the problem goes through in parts
    ThreadPool pool(1);
    const auto network = Network(options, &pool);
    REQUIRE(network->dim() == 8);
    REQUIRE(network->layout().size() == 4);
    CHECK(network->layout()[0].dims == std::vector<int64_t>{3, 6});
    CHECK(network->layout()[2].name == kHiddenWeights);
    CHECK(network->layout()[2].dims == std::vector<int64_t>{6, 8});
    const TrainingProblem problem(8, 3, 40, 7);
    Random random(3);
    for (float& w : network->parameters()) w += test::Uniform(&random);
    network->set_step(5);
    CheckGradient(network.get(), problem);
  }
}

TEST_CASE("hidden layer: dropout follows from the seed and the step", "[train]") {
  TrainerOptions options = Options(400);
  options.dropout = 0.25f;
  ThreadPool pool(1);
  const auto network = Network(options, &pool);
  const TrainingProblem problem(8, 3, 20, 7);
  for (float& w : network->parameters()) w = 0.01f;  // every unit is alive for positive rows
  std::vector<float> x(8, 1.0f);
  const std::vector<const float*> rows(20, x.data());
  const auto gradient = [&](int64_t step) {
    BatchLoss loss;
    network->set_step(step);
    REQUIRE(
        network->ComputeGradient(LossOptions(), rows.data(), problem.targets(), 20, &loss).ok());
    return Copy(network->gradient());
  };
  const std::vector<float> all = gradient(-1);
  const std::vector<float> first = gradient(0);
  CHECK(first != all);
  CHECK(first != gradient(1));
  CHECK(first == gradient(0));
  // The mean stays: over 20 rows of 400 units, a quarter left out and the rest grown.
  double sum = 0.0, expected = 0.0;
  for (size_t k = 0; k < 400; ++k) {
    sum += static_cast<double>(first[k]);
    expected += static_cast<double>(all[k]);
  }
  CHECK(sum == Approx(expected).epsilon(0.1));
  std::vector<float> scores(60), again(60);
  REQUIRE(network->Scores(rows.data(), 20, scores.data()).ok());
  network->set_step(-1);
  REQUIRE(network->Scores(rows.data(), 20, again.data()).ok());
  CHECK(scores == again);
}

TEST_CASE("hidden layer: first weights are the same on every platform", "[train]") {
  std::vector<float> weights(3);
  DrawWeights(1, 6, {weights.data(), weights.size()});
  CHECK(weights == std::vector<float>{0.133123145f, 0.491563529f, 0.942005515f});
  const TrainingProblem problem(8, 3, 5, 7);
  ThreadPool one(1), three(3);
  for (bool projects : {false, true}) {
    const TrainerOptions options = projects ? Options(0, 40) : Options(40);
    const auto network = Network(options, &one);
    const auto other = Network(options, &three);
    for (size_t k = 0; k < 120; ++k) {
      network->parameters()[k] = other->parameters()[k] = 0.01f * static_cast<float>(k % 7);
    }
    CHECK(LossOf(network.get(), problem) == LossOf(other.get(), problem));
    CHECK(Copy(network->gradient()) == Copy(other->gradient()));
  }
}

// Three classes by the signs of two features, which no single layer can tell apart.
struct Corners {
  std::vector<float> features;
  std::vector<int32_t> labels;
  explicit Corners(int64_t n, uint64_t seed = 11) {
    Random random(seed);
    for (int64_t i = 0; i < n; ++i) {
      const size_t first = features.size();
      for (int d = 0; d < 8; ++d) features.push_back(test::Uniform(&random));
      const bool same = (features[first] > 0.0f) == (features[first + 1] > 0.0f);
      labels.push_back(!same ? 0 : features[first] > 0.0f ? 1 : 2);
      features[first] += features[first] > 0.0f ? 0.2f : -0.2f;
      features[first + 1] += features[first + 1] > 0.0f ? 0.2f : -0.2f;
      labels.back() = labels.back() == 2 ? 1 : labels.back();
    }
  }
};

double AccuracyAfter(TrainerOptions options) {
  options.n_classes = 2;
  const auto trainer = NewTrainer(options);
  const Corners corners(600);
  REQUIRE(trainer->AddFeatures(corners.features.data(), corners.labels.data(), 600).ok());
  const Status status = trainer->Train();
  REQUIRE(status.ToString() == "OK");
  const auto evaluation = trainer->judge().Evaluate(ExampleSet::kValidation);
  REQUIRE(evaluation.ok());
  return evaluation->accuracy;
}

TEST_CASE("hidden layer: every optimizer learns what one layer cannot", "[train]") {
  CHECK(AccuracyAfter(Options(0)) < 0.7);
  for (Optimizer optimizer :
       {Optimizer::kSgd, Optimizer::kAdam, Optimizer::kAdamW, Optimizer::kLbfgs}) {
    TrainerOptions options = Options(24);
    options.optimizer = optimizer;
    options.dropout = 0.1f;
    if (optimizer == Optimizer::kSgd) options.learning_rate = 0.3f;
    INFO(OptimizerName(optimizer));
    CHECK(AccuracyAfter(options) > 0.95);
  }
  for (Optimizer optimizer : {Optimizer::kAdam, Optimizer::kLbfgs, Optimizer::kRidge}) {
    TrainerOptions options = Options(0, 300);
    options.optimizer = optimizer;
    if (optimizer == Optimizer::kLbfgs) options.weight_decay = 1e-3f;
    INFO(OptimizerName(optimizer));
    CHECK(AccuracyAfter(options) > 0.9);
  }
  TrainerOptions imprint = Options(0, 300);
  imprint.optimizer = Optimizer::kImprint;
  CHECK(AccuracyAfter(imprint) > 0.7);
}

TEST_CASE("hidden layer: a restored checkpoint goes on to the same bits", "[train]") {
  TrainerOptions options = Options(12);
  options.dropout = 0.3f;
  options.epochs = 4;
  const auto data = Images(90, 3);
  const auto straight = NewTrainer(options);
  REQUIRE(straight->AddExamples(data.examples()).ok());
  REQUIRE(straight->Train().ok());
  const test::TempFolder folder;
  const std::string path = folder / "checkpoint";
  {
    const auto first = NewTrainer(options);
    REQUIRE(first->AddExamples(data.examples()).ok());
    double loss = 0.0;
    bool done = false;
    for (int i = 0; i < 4; ++i) REQUIRE(first->Step(&loss, &done).ok());
    REQUIRE(first->SaveCheckpoint(path, true).ToString() == "OK");
  }
  const auto second = NewTrainer(options);
  REQUIRE(second->RestoreCheckpoint(path).ToString() == "OK");
  REQUIRE(second->Train().ok());
  CHECK(Parameters(second.get()) == Parameters(straight.get()));
  options.dropout = 0.2f;
  CHECK(NewTrainer(options)->RestoreCheckpoint(path).code() == StatusCode::kFailedPrecondition);
}

TEST_CASE("hidden layer: heads go from trainer to trainer", "[train]") {
  for (bool projects : {false, true}) {
    const TrainerOptions options = projects ? Options(0, 40) : Options(12);
    const auto from = NewTrainer(options);
    REQUIRE(from->AddExamples(Images(90, 3).examples()).ok());
    REQUIRE(from->Train().ok());
    const std::vector<uint8_t> bytes = from->exchange().Encode();
    const auto to = NewTrainer(options);
    REQUIRE(to->exchange().Decode(bytes).ToString() == "OK");
    CHECK(Parameters(to.get()) == Parameters(from.get()));
    CHECK(NewTrainer(Options(0))->exchange().Decode(bytes).code() ==
          StatusCode::kFailedPrecondition);
    TrainerOptions other = options;
    other.seed = 2;
    CHECK(NewTrainer(other)->exchange().Decode(bytes).ok() == !projects);
    TrainerOptions wider = projects ? Options(0, 41) : Options(13);
    CHECK(NewTrainer(wider)->exchange().Decode(bytes).code() == StatusCode::kFailedPrecondition);
  }
}

TEST_CASE("hidden layer: classes come and go", "[train]") {
  for (bool projects : {false, true}) {
    const auto trainer = NewTrainer(projects ? Options(0, 100) : Options(24));
    REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
    REQUIRE(trainer->Train().ok());
    REQUIRE(trainer->classes().Add("fourth").ToString() == "OK");
    REQUIRE(trainer->AddExamples(Images(120, 4, 9).examples()).ok());
    trainer->set_epochs(60);
    REQUIRE(trainer->Train().ToString() == "OK");
    CHECK(test::Accuracy(trainer.get(), Images(80, 4, 33)) > 0.9);
    REQUIRE(trainer->classes().Remove(3).ToString() == "OK");
    CHECK(test::Accuracy(trainer.get(), Images(80, 3, 34)) > 0.9);
  }
}

void CheckExport(const TrainerOptions& options, test::Tail tail) {
  INFO(test::TailName(tail) << " " << options.n_hidden << " " << options.n_projected);
  const auto trainer = NewTrainer(options, tail);
  REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ToString() == "OK");
  REQUIRE(trainer->Train().ToString() == "OK");
  const auto bytes = trainer->Export();
  REQUIRE(bytes.status().ToString() == "OK");
  const auto images = Images(20, 3, 77);
  std::vector<float> expected(60);
  REQUIRE(trainer->judge().Predict(images.examples(), expected.data()).ok());
  const auto model = test::OpenBytes(bytes.value());
  const std::vector<float> got = test::RunModel(model, images.x);
  REQUIRE(got.size() == expected.size());
  const bool gives_scores = tail == test::Tail::kDenseLogits;
  for (size_t i = 0; i < got.size() && !gives_scores; ++i) {
    CHECK(got[i] == Approx(expected[i]).margin(2e-5));
  }
  for (size_t b = 0; b < 20; ++b) {
    const auto best = [&](const std::vector<float>& v) {
      return std::max_element(v.begin() + static_cast<std::ptrdiff_t>(3 * b),
                              v.begin() + static_cast<std::ptrdiff_t>(3 * b + 3)) -
             v.begin();
    };
    CHECK(best(got) == best(expected));
  }
  // The new model has a head like any other.
  TrainerOptions again;
  again.n_layers = options.n_hidden > 0 ? 2 : 1;
  const auto next = Trainer::Create(model, again);
  REQUIRE(next.status().ToString() == "OK");
  CHECK((*next)->head().dim == options.n_hidden + options.n_projected);
}

TEST_CASE("hidden layer: exported models compute what the trainer does", "[train]") {
  for (test::Tail tail : test::kAllTails) {
    if (tail == test::Tail::kConvPoolReshape || tail == test::Tail::kConvMean) continue;
    CheckExport(Options(12), tail);
    CheckExport(Options(0, 30), tail);
  }
  TrainerOptions appended = Options(12);
  appended.append_head = true;
  CheckExport(appended, test::Tail::kDenseLogits);
}

TEST_CASE("hidden layer: below it, layers can be trained as well", "[train]") {
  TrainerOptions options = Options(12);
  options.n_layers = 2;
  const auto trainer = NewTrainer(options);
  CHECK(trainer->state().layout().size() == 6);
  REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ToString() == "OK");
  REQUIRE(trainer->Train().ToString() == "OK");
  CHECK(test::Accuracy(trainer.get(), Images(60, 3, 33)) > 0.9);
  const auto bytes = trainer->Export();
  REQUIRE(bytes.status().ToString() == "OK");
  const auto images = Images(20, 3, 77);
  std::vector<float> expected(60);
  REQUIRE(trainer->judge().Predict(images.examples(), expected.data()).ok());
  const std::vector<float> got = test::RunModel(test::OpenBytes(bytes.value()), images.x);
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).margin(2e-5));
}

TEST_CASE("hidden layer: the golden set compares with the shipped head", "[train]") {
  TrainerOptions options = Options(12);
  options.class_names = {"a", "b", "c"};
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
  REQUIRE(trainer->judge().SetGolden(Images(30, 3, 9).examples()).ToString() == "OK");
  REQUIRE(trainer->Train().ok());
  const auto golden = trainer->judge().CheckGolden();
  REQUIRE(golden.status().ToString() == "OK");
  CHECK(golden->trained > 0.9);
  CHECK(golden->passed);
}

TEST_CASE("hidden layer: what cannot be is refused", "[train]") {
  const auto refusal = [](const TrainerOptions& options, test::Tail tail = test::Tail::kDense) {
    return Trainer::Create(test::OpenBytes(test::ClassifierBytes(tail)), options).status();
  };
  CHECK(refusal(Options(-1)).code() == StatusCode::kInvalidArgument);
  CHECK(refusal(Options(0, 1 << 20)).code() == StatusCode::kInvalidArgument);
  CHECK(refusal(Options(8, 8)).code() == StatusCode::kInvalidArgument);
  TrainerOptions options = Options(8);
  options.dropout = 1.0f;
  CHECK(refusal(options).message().find("dropout is 1") != std::string::npos);
  options = Options(8);
  options.optimizer = Optimizer::kRidge;
  CHECK(refusal(options).message().find("n_hidden is 8") != std::string::npos);
  options = Options(8);
  options.n_classes = 5;
  options.init = HeadInit::kShipped;
  CHECK(refusal(options).code() == StatusCode::kInvalidArgument);
  CHECK(refusal(Options(8), test::Tail::kConvMean).code() == StatusCode::kUnsupported);
}

}  // namespace hidden_layer_test
}  // namespace topwork
