// SignProjection: rows of many numbers as rows of at most 64, whose distances are nearly the same but
// for a common factor (Achlioptas, "Database-friendly random projections", 2003).
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_SIGN_PROJECTION_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_SIGN_PROJECTION_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/train/random.h"

namespace topwork {

class SignProjection {
 public:
  // Of n_features ≥ 1 numbers. Where these are 64 or fewer they stay as they are.
  SignProjection(int64_t n_features, uint64_t seed)
      : width_(static_cast<size_t>(std::min<int64_t>(n_features, 64))),
        signs_(n_features > 64 ? static_cast<size_t>(n_features) : 0) {
    Random random(seed);
    for (uint64_t& signs : signs_) signs = random.Next();
  }

  size_t width() const { return width_; }
  // width() numbers of scale · row, summed in float64.
  std::vector<float> Project(const float* row, double scale) const;

 private:
  size_t width_;
  std::vector<uint64_t> signs_;  // of a feature, a bit for each output; empty: none
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_SIGN_PROJECTION_H_
