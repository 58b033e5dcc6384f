// Conformal p-values and the mixture of power martingales.
#include "runtime/train/monitor/martingale.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace topwork {

ConformalMartingale::ConformalMartingale(std::vector<double> calibration, int64_t window,
                                         uint64_t seed)
    : calibration_(std::move(calibration)), window_(window), random_(seed) {
  std::sort(calibration_.begin(), calibration_.end());
  scores_ = calibration_;
}

double ConformalMartingale::Add(double score) {
  if (n_in_window_ == window_) {
    scores_ = calibration_;
    n_in_window_ = 0;
    std::fill(std::begin(log_wealth_), std::end(log_wealth_), 0.0);
  }
  const auto equal = std::equal_range(scores_.begin(), scores_.end(), score);
  const double n_equal = static_cast<double>(equal.second - equal.first) + 1.0;
  const double n_larger = static_cast<double>(scores_.end() - equal.second);
  const double chance = (static_cast<double>(random_.Next() >> 11) + 0.5) * 0x1p-53;  // in (0, 1)
  const double p = (n_larger + chance * n_equal) / (static_cast<double>(scores_.size()) + 1.0);
  scores_.insert(equal.second, score);
  ++n_in_window_;
  double largest = -HUGE_VAL;
  for (int j = 0; j < kBets; ++j) {
    const double exponent = static_cast<double>(j / 2 + 1) / (kBets / 2);
    const double q = j % 2 == 0 ? p : 1.0 - p;
    log_wealth_[j] += std::log(exponent) + (exponent - 1.0) * std::log(q);
    largest = std::max(largest, log_wealth_[j]);
  }
  double sum = 0.0;
  for (double log_wealth : log_wealth_) sum += std::exp(log_wealth - largest);
  log10_ = (largest + std::log(sum / kBets)) / std::log(10.0);
  return p;
}

}  // namespace topwork
