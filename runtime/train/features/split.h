// The split into training and validation examples: stratified and seeded.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_SPLIT_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_SPLIT_H_

#include <cstdint>
#include <vector>

#include "runtime/base/span.h"

namespace topwork {

struct Split {
  std::vector<int32_t> train;  // indices into the labels, ascending
  std::vector<int32_t> validation;
};

// Of every class's n examples, n · validation_fraction (rounded) go to validation; a class of two
// or more keeps at least one on each side, unless validation_fraction is 0. Labels in [0,
// n_classes).
Split StratifiedSplit(Span<const int32_t> labels, int n_classes, float validation_fraction,
                      uint64_t seed);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_SPLIT_H_
