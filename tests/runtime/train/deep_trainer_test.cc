// Training more than the last layer: new classes, numbers that overflow, a limit on memory.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/runtime/train/trainer_data.h"

namespace topwork {
namespace deep_trainer_test {

using test::Accuracy;
using test::Images;
using test::NewTrainer;
using Data = test::TrainerData;

TrainerOptions Options(int n_classes) {
  TrainerOptions options;
  options.n_classes = n_classes;
  options.n_threads = 1;
  options.n_layers = 2;
  options.learning_rate = 0.01f;
  options.epochs = 30;
  return options;
}

TEST_CASE("trainer: a new class of a deeper network starts from its embeddings", "[train]") {
  for (FeatureType type : {FeatureType::kFloat32, FeatureType::kFloat16}) {
    TrainerOptions options = Options(3);
    options.feature_type = type;
    const auto trainer = NewTrainer(options);
    REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
    REQUIRE(trainer->Train().ToString() == "OK");
    REQUIRE(trainer->classes().Add("fourth").ToString() == "OK");
    const Data four = Images(120, 4, 9);
    REQUIRE(trainer->AddExamples(four.examples()).ToString() == "OK");
    trainer->set_epochs(60);
    double loss = 0.0;
    bool done = false;
    REQUIRE(trainer->Step(&loss, &done).ToString() == "OK");
    CHECK(Accuracy(trainer.get(), four) > 0.7);
    const Span<const float> row = trainer->state().weights().subspan(
        3 * static_cast<size_t>(trainer->head().dim), static_cast<size_t>(trainer->head().dim));
    CHECK(std::any_of(row.begin(), row.end(), [](float w) { return std::fabs(w) > 0.05f; }));
    REQUIRE(trainer->Train().ToString() == "OK");
    CHECK(Accuracy(trainer.get(), Images(80, 4, 33)) > 0.9);
  }
}

TEST_CASE("trainer: a deeper network can start imprinted", "[train]") {
  TrainerOptions options = Options(3);
  options.init = HeadInit::kImprint;
  options.learning_rate = 1e-6f;
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
  double loss = 0.0;
  bool done = false;
  REQUIRE(trainer->Step(&loss, &done).ToString() == "OK");
  CHECK(Accuracy(trainer.get(), Images(60, 3, 33)) > 0.8);
}

TEST_CASE("trainer: a loss that overflows names the first value that did", "[train]") {
  const auto trainer = NewTrainer(Options(3));
  REQUIRE(trainer->AddExamples(Images(90, 3).examples()).ok());
  const ParameterInfo conv = trainer->state().layout()[2];
  const std::vector<float> shipped(trainer->state().parameters().begin(),
                                   trainer->state().parameters().end());
  const auto overflow = [&](float inside, float last) {
    std::vector<float> values = shipped;
    std::fill_n(values.begin() + conv.offset, conv.size, inside);
    std::fill_n(values.begin(), trainer->state().weights().size(), last);
    REQUIRE(trainer->state().SetParameters(values).ok());
    double loss = 0.0;
    bool done = false;
    const Status status = trainer->Step(&loss, &done);
    CHECK(status.code() == StatusCode::kNumeric);
    const std::vector<float> now(trainer->state().parameters().begin(),
                                 trainer->state().parameters().end());
    CHECK(now == values);
    CHECK(trainer->state().progress.step == 0);
    return status.message();
  };
  const std::string inner = overflow(3e38f, 1.0f);
  INFO(inner);
  CHECK(inner.find("the output of CONV_2D (operator #0), overflows") != std::string::npos);
  const std::string last = overflow(1e20f, 1e30f);
  INFO(last);
  CHECK(last.find("'head/logits', the output of the last layer, overflows") != std::string::npos);
}

}  // namespace deep_trainer_test
}  // namespace topwork
