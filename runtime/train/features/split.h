// The split into training and validation examples: stratified and seeded.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_SPLIT_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_SPLIT_H_

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/base/span.h"

namespace topwork {

struct Split {
  std::vector<int32_t> train;  // indices into the labels, ascending
  std::vector<int32_t> validation;
};

struct SplitOptions {
  int n_classes = 0;
  float validation_fraction = 0.0f;  // in [0, 1)
  uint64_t seed = 0;
};

// Of every class's n examples, n · validation_fraction (rounded) go to validation; a class of two
// or more keeps at least one on each side, unless validation_fraction is 0. Labels in [0,
// n_classes).
Split StratifiedSplit(Span<const int32_t> labels, const SplitOptions& options);

// The same where the examples of a group stay together: a group that is in `held_back` already goes
// where that says (1: to validation, 0: to training). The others go to validation, in an order by chance, where
// that brings the shares of the classes nearer to validation_fraction and leaves each class an
// example to train on; then a class without a validation example gives its smallest group that may
// go. Examples of group −1 are groups of their own. Without any group that may go, and none held
// back: StratifiedSplit. `groups`: as many as labels.
Split GroupSplit(Span<const int32_t> labels, Span<const int32_t> groups,
                 const std::map<int64_t, int64_t>& held_back, const SplitOptions& options);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_SPLIT_H_
