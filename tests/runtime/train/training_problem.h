// A seeded random problem for tests of losses, heads and optimizers: rows, labels and values.
#ifndef TOPWORK_TESTS_RUNTIME_TRAIN_TRAINING_PROBLEM_H_
#define TOPWORK_TESTS_RUNTIME_TRAIN_TRAINING_PROBLEM_H_

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "runtime/train/head/dense_head.h"
#include "runtime/train/random.h"

namespace topwork {
namespace test {

inline float Uniform(Random* random) {  // in [-1, 1)
  return static_cast<float>(static_cast<double>(random->Next() >> 11) / 4503599627370496.0 - 1.0);
}

struct TrainingProblem {
  int64_t dim, n_outputs, n;
  std::vector<float> x, values;
  std::vector<int32_t> labels;
  std::vector<const float*> rows, value_rows;

  TrainingProblem(int64_t dim, int64_t n_outputs, int64_t n, uint64_t seed)
      : dim(dim), n_outputs(n_outputs), n(n) {
    Random random(seed);
    for (int64_t i = 0; i < n * dim; ++i) x.push_back(Uniform(&random));
    for (int64_t i = 0; i < n * n_outputs; ++i) values.push_back(Uniform(&random) > 0 ? 1.f : 0.f);
    for (int64_t i = 0; i < n; ++i) {
      labels.push_back(static_cast<int32_t>(random.Below(static_cast<uint64_t>(n_outputs))));
      rows.push_back(x.data() + i * dim);
      value_rows.push_back(values.data() + i * n_outputs);
    }
  }
  TrainingProblem(const TrainingProblem&) = delete;

  Targets targets() const { return {labels.data(), value_rows.data()}; }

  std::unique_ptr<DenseHead> NewHead(ThreadPool* pool, const CpuKernels* cpu = nullptr) const {
    auto head = DenseHead::Create(dim, n_outputs, nullptr, cpu, pool);
    REQUIRE(head.status().ToString() == "OK");
    return std::move(head.value());
  }
};

inline void Randomize(DenseHead* head, uint64_t seed) {
  Random random(seed);
  for (float& w : head->parameters()) w = Uniform(&random);
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_TRAIN_TRAINING_PROBLEM_H_
