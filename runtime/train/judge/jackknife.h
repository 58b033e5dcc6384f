// JackknifePlus: intervals around the predictions of a ridge regression, from leave-one-out
// residuals (Barber, Candès, Ramdas, Tibshirani, "Predictive inference with the jackknife+", 2021).
//
// With f₋ᵢ the fit without example i and Rᵢ = |tᵢ − f₋ᵢ(xᵢ)|, the interval at x reaches from a low
// quantile of f₋ᵢ(x) − Rᵢ to a high one of f₋ᵢ(x) + Rᵢ. For exchangeable examples it covers at
// least 2·coverage − 1 of the new targets whatever their distribution, and about `coverage` in
// practice. A ridge regression is linear in its targets, f(x) = Σᵢ hᵢ(x)·tᵢ, so that
// f₋ᵢ(x) = f(x) − hᵢ(x)·(tᵢ − f(xᵢ)) / (1 − hᵢ(xᵢ)) exactly; the hᵢ are the fits to n targets that are
// 1 at one example and 0 at the others.
#ifndef TOPWORK_RUNTIME_TRAIN_JUDGE_JACKKNIFE_H_
#define TOPWORK_RUNTIME_TRAIN_JUDGE_JACKKNIFE_H_

#include <cstdint>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"

namespace topwork {

class JackknifePlus {
 public:
  // The most examples: beyond them the hᵢ take too much memory.
  static constexpr int64_t kMaxExamples = 4000;

  // n pointers to dim features and to n_outputs targets, which are borrowed for the call; weights and l2 as
  // SolveRidge takes it. factors: [dim], what features are multiplied by before they are penalised;
  // empty: all 1. INVALID_ARGUMENT for fewer than two examples or more than kMaxExamples,
  // NUMERIC as SolveRidge and where an example determines its own prediction.
  static Result<JackknifePlus> Make(const float* const* rows, const float* const* targets,
                                    Span<const float> weights, Span<const double> factors,
                                    int64_t n, int64_t dim, int64_t n_outputs, double l2,
                                    ThreadPool* pool);

  // The interval of each output for the features x: n_outputs numbers each, infinite where there
  // are fewer than coverage / (1 − coverage) examples. 0 < coverage < 1.
  void Interval(const float* x, double coverage, float* lower, float* upper) const;

 private:
  int64_t n_ = 0, dim_ = 0, n_outputs_ = 0;
  std::vector<float> influence_;   // hᵢ: [n, dim], then [n] constants
  std::vector<double> targets_;    // [n_outputs, n]
  std::vector<double> residuals_;  // [n_outputs, n]: tᵢ − f₋ᵢ(xᵢ)
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_JUDGE_JACKKNIFE_H_
