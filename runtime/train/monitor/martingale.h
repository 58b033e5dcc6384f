// ConformalMartingale: a running test of whether examples still come from where the calibration
// examples came from.
//
// Every example has a nonconformity score, larger where the example is stranger. Its conformal
// p-value is its rank among the calibration scores and those of the window so far, ties broken by
// chance (Vovk, Gammerman, Shafer, "Algorithmic Learning in a Random World", 2005). While
// calibration and new examples are exchangeable, the p-values of a window are independent and
// uniform, so that a bet against them is a martingale. The bets are power martingales, the product
// of e·q^(e − 1), in equal parts for e = 0.1, 0.2 … 1 and q = p, 1 − p: small p-values are strange
// examples, large ones are all too ordinary (a covered lens, the same picture again and again). By Ville's inequality it passes 1 / rate in a
// window with a probability of at most `rate`. Every window begins anew with a stake of 1.
#ifndef TOPWORK_RUNTIME_TRAIN_MONITOR_MARTINGALE_H_
#define TOPWORK_RUNTIME_TRAIN_MONITOR_MARTINGALE_H_

#include <cstdint>
#include <vector>

#include "runtime/train/random.h"

namespace topwork {

class ConformalMartingale {
 public:
  // `window` ≥ 1 examples.
  ConformalMartingale(std::vector<double> calibration, int64_t window, uint64_t seed);

  // Takes the next example's score and returns its p-value, in (0, 1).
  double Add(double score);

  // log10 of the martingale; 0 before the first example.
  double log10() const { return log10_; }
  int64_t n_in_window() const { return n_in_window_; }
  const std::vector<double>& calibration() const { return calibration_; }  // ascending

 private:
  static constexpr int kBets = 20;

  std::vector<double> calibration_;
  std::vector<double> scores_;  // of the calibration and the window, ascending
  int64_t window_;
  int64_t n_in_window_ = 0;
  double log_wealth_[kBets] = {};
  double log10_ = 0.0;
  Random random_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_MONITOR_MARTINGALE_H_
