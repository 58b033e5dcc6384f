// Heads and checkpoints that bring other classes along than the trainer has.
#include <catch2/catch.hpp>

#include "runtime/train/trainer.h"
#include "tests/support/classifiers.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace exchange_test {

constexpr size_t kExampleBytes = 48 * sizeof(float);

struct Data {
  std::vector<float> x, values;
  std::vector<int32_t> y;
  explicit Data(int n_outputs) {
    test::MakeImages(60, 3, 5, &x, &y);
    for (int32_t label : y) {
      for (int o = 0; o < n_outputs; ++o) values.push_back(o % 3 == label ? 1.0f : 0.0f);
    }
  }
  Examples labels() const { return Examples::FromArray(x.data(), kExampleBytes, y.data(), 60); }
  Examples targets(int n_outputs) const {
    return Examples::FromArray(x.data(), kExampleBytes, values.data(), n_outputs, 60);
  }
};

std::unique_ptr<Trainer> NewTrainer(int n_classes, Loss loss = Loss::kSoftmaxCrossEntropy,
                                    std::vector<float> class_weights = {}) {
  TrainerOptions options;
  options.n_classes = n_classes;
  options.n_threads = 1;
  options.epochs = 5;
  options.patience = 2;
  options.loss.loss = loss;
  options.keep_held_back = true;  // both heads are compared on examples of their own
  options.loss.class_weights = std::move(class_weights);
  auto trainer =
      Trainer::Create(test::OpenBytes(test::ClassifierBytes(test::Tail::kDense)), options);
  REQUIRE(trainer.status().ToString() == "OK");
  return std::move(trainer.value());
}

TEST_CASE("head: one with more outputs is loaded before examples of as many numbers", "[train]") {
  const Data data(4);
  const auto from = NewTrainer(4, Loss::kSigmoidCrossEntropy);
  REQUIRE(from->AddExamples(data.targets(4)).ToString() == "OK");
  REQUIRE(from->Train().ToString() == "OK");
  const auto to = NewTrainer(2, Loss::kSigmoidCrossEntropy);
  REQUIRE(to->exchange().Decode(from->exchange().Encode()).ToString() == "OK");
  CHECK(to->n_classes() == 4);
  REQUIRE(to->AddExamples(data.targets(4)).ToString() == "OK");
  CHECK(to->judge().Evaluate(ExampleSet::kAll)->loss ==
        Approx(from->judge().Evaluate(ExampleSet::kAll)->loss));
  CHECK(to->Train().ToString() == "OK");
}

TEST_CASE("head: one of other classes is refused where something depends on them", "[train]") {
  const Data data(0);
  const std::vector<uint8_t> four = NewTrainer(4)->exchange().Encode();
  const auto guarded = NewTrainer(5);
  REQUIRE(guarded->judge().SetGolden(data.labels()).ToString() == "OK");
  const Status golden = guarded->exchange().Decode(four);
  CHECK(golden.code() == StatusCode::kFailedPrecondition);
  CHECK(golden.message().find("golden set") != std::string::npos);
  const auto weighted = NewTrainer(3, Loss::kSoftmaxCrossEntropy, {1.0f, 2.0f, 3.0f});
  const Status weights = weighted->exchange().Decode(four);
  CHECK(weights.code() == StatusCode::kFailedPrecondition);
  CHECK(weights.message().find("class_weights") != std::string::npos);
  CHECK(weighted->n_classes() == 3);
}

TEST_CASE("head: the record of the best epoch is not that of the head before", "[train]") {
  const Data data(0);
  const auto trainer = NewTrainer(3);
  REQUIRE(trainer->AddExamples(data.labels()).ok());
  const std::vector<uint8_t> zeros = trainer->exchange().Encode();
  REQUIRE(trainer->Train().ToString() == "OK");
  REQUIRE(trainer->state().progress.best_epoch > 0);
  REQUIRE(trainer->exchange().Decode(zeros).ToString() == "OK");
  CHECK(trainer->state().progress.best_epoch == 0);
  CHECK_FALSE(trainer->state().progress.stopped_early);
}

TEST_CASE("checkpoint: with its examples it brings classes along, but not other numbers",
          "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "checkpoint";
  const Data data(2);
  auto three = NewTrainer(3);
  REQUIRE(three->AddExamples(data.labels()).ok());
  REQUIRE(three->Train().ok());
  REQUIRE(three->SaveCheckpoint(path, true).ToString() == "OK");
  three.reset();
  const auto four = NewTrainer(4);
  REQUIRE(four->RestoreCheckpoint(path).ToString() == "OK");
  CHECK(four->n_classes() == 3);

  auto two = NewTrainer(2, Loss::kSigmoidCrossEntropy);
  REQUIRE(two->AddExamples(data.targets(2)).ok());
  REQUIRE(two->Train().ok());
  REQUIRE(two->SaveCheckpoint(path, true).ToString() == "OK");
  auto other = NewTrainer(5, Loss::kSigmoidCrossEntropy);
  REQUIRE(other->RestoreCheckpoint(path).ToString() == "OK");
  CHECK(other->n_classes() == 2);
  two.reset();
  other.reset();
  auto numbers = NewTrainer(2, Loss::kMeanSquaredError);
  REQUIRE(numbers->AddExamples(data.targets(2)).ok());
  REQUIRE(numbers->Train().ok());
  REQUIRE(numbers->SaveCheckpoint(path, true).ToString() == "OK");
  numbers.reset();
  const auto five = NewTrainer(5, Loss::kMeanSquaredError);
  const Status refused = five->RestoreCheckpoint(path);
  CHECK(refused.code() == StatusCode::kFailedPrecondition);
  CHECK(refused.message().find("n_classes 2, this trainer has 5") != std::string::npos);
  const auto again = NewTrainer(2, Loss::kMeanSquaredError);
  REQUIRE(again->RestoreCheckpoint(path).ToString() == "OK");
  CHECK(again->set().size() == 60);
}

}  // namespace exchange_test
}  // namespace topwork
