// What tests of Trainer share: seeded images with classes, a trainer of the small classifier, and
// its accuracy.
#ifndef TOPWORK_TESTS_RUNTIME_TRAIN_TRAINER_DATA_H_
#define TOPWORK_TESTS_RUNTIME_TRAIN_TRAINER_DATA_H_

#include <catch2/catch.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/train/trainer.h"
#include "tests/support/classifiers.h"

namespace topwork {
namespace test {

struct TrainerData {
  std::vector<float> x;
  std::vector<int32_t> y;
  Examples examples() const {
    return Examples::FromArray(x.data(), kImageFloats * sizeof(float), y.data(),
                               static_cast<int64_t>(y.size()));
  }
};

inline TrainerData Images(int n, int n_classes, uint64_t seed = 5) {
  TrainerData data;
  MakeImages(n, n_classes, seed, &data.x, &data.y);
  return data;
}

inline std::unique_ptr<Trainer> NewTrainer(const TrainerOptions& options,
                                           Tail tail = Tail::kDense) {
  auto trainer = Trainer::Create(OpenBytes(ClassifierBytes(tail)), options);
  REQUIRE(trainer.status().ToString() == "OK");
  return std::move(trainer.value());
}

// With the examples; and trained on them.
inline std::unique_ptr<Trainer> With(const TrainerOptions& options, const TrainerData& data) {
  std::unique_ptr<Trainer> trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(data.examples()).ToString() == "OK");
  return trainer;
}

inline std::unique_ptr<Trainer> Trained(const TrainerOptions& options, const TrainerData& data) {
  std::unique_ptr<Trainer> trainer = With(options, data);
  REQUIRE(trainer->Train().ToString() == "OK");
  return trainer;
}

inline std::vector<float> Parameters(const Trainer& trainer) {
  return {trainer.state().parameters().begin(), trainer.state().parameters().end()};
}

inline double Accuracy(Trainer* trainer, const TrainerData& data) {
  const auto evaluation = trainer->judge().Evaluate(data.examples());
  REQUIRE(evaluation.status().ToString() == "OK");
  return evaluation->accuracy;
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_TRAIN_TRAINER_DATA_H_
