// Temperature scaling (Guo et al., "On Calibration of Modern Neural Networks", 2017): one scalar T
// by which all logits are divided, so that probabilities tell the share of right answers. The
// order of the scores, and so every decision, stays as it was.
#ifndef TOPWORK_RUNTIME_TRAIN_JUDGE_CALIBRATION_H_
#define TOPWORK_RUNTIME_TRAIN_JUDGE_CALIBRATION_H_

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/train/fit/loss.h"

namespace topwork {

// Held-out logits that are all on the right side would make T → 0, and all on the wrong one T → ∞.
constexpr double kMinTemperature = 0.01;
constexpr double kMaxTemperature = 100.0;

struct Calibration {
  double temperature = 1.0;  // in [kMinTemperature, kMaxTemperature]
  bool at_bound = false;     // the loss still falls beyond it
  double loss_before = 0.0;  // mean cross-entropy of the logits, and of the logits / T
  double loss_after = 0.0;
  double error_before = 0.0;  // expected calibration error, likewise
  double error_after = 0.0;
};

// A temperature alone: Calibration's first two fields.
struct Temperature {
  double value = 1.0;
  bool at_bound = false;
};

// T that minimises the mean cross-entropy of logits / T. The loss is convex in β = 1 / T; its
// derivative's zero is found by Newton's method, hastened, inside a shrinking bracket, in double precision.
// `logits` is [n, n_outputs] of examples that were not trained on; targets are labels for softmax,
// values for sigmoid. INVALID_ARGUMENT for no examples or a regression, NUMERIC for logits that are
// not finite.
Result<Calibration> FitTemperature(Loss loss, const float* logits, const Targets& targets,
                                   int64_t n, int64_t n_outputs);
// The same T to the share `tolerance` of it, without what the logits lose by it.
Result<Temperature> FindTemperature(Loss loss, const float* logits, const Targets& targets,
                                    int64_t n, int64_t n_outputs, double tolerance);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_JUDGE_CALIBRATION_H_
