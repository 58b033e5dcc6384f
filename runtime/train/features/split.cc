// Stratified split.
#include "runtime/train/features/split.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/random.h"

namespace topwork {

Split StratifiedSplit(Span<const int32_t> labels, int n_classes, float validation_fraction,
                      uint64_t seed) {
  std::vector<std::vector<int32_t>> classes(static_cast<size_t>(n_classes));
  for (size_t i = 0; i < labels.size(); ++i) {
    classes[static_cast<size_t>(labels[i])].push_back(static_cast<int32_t>(i));
  }
  Random random(seed);
  Split split;
  for (std::vector<int32_t>& members : classes) {
    const size_t n = members.size();
    size_t n_validation = 0;
    if (validation_fraction > 0.0f && n >= 2) {
      const double share = static_cast<double>(n) * static_cast<double>(validation_fraction);
      n_validation = std::clamp<size_t>(static_cast<size_t>(std::lround(share)), 1, n - 1);
    }
    random.Shuffle(&members);
    const auto middle = members.begin() + static_cast<std::ptrdiff_t>(n_validation);
    split.validation.insert(split.validation.end(), members.begin(), middle);
    split.train.insert(split.train.end(), middle, members.end());
  }
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

}  // namespace topwork
