// HeadDesign: examples as the last layer sees them, gathered for solvers of the whole set.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_HEAD_DESIGN_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_HEAD_DESIGN_H_

#include <vector>

#include "runtime/train/auto/ridge_path.h"
#include "runtime/train/training_context.h"

namespace topwork {

// Rows point into the cache or into `scratch`; they are valid until the cache changes.
struct HeadDesign {
  int64_t n = 0, dim = 0, n_outputs = 0;
  std::vector<int32_t> examples;  // indices into the cache
  std::vector<float> scratch;
  std::vector<const float*> rows;  // inputs of the last layer's weights
  std::vector<int32_t> labels;     // targets of the loss, as in ExampleRows
  std::vector<const float*> values;
  std::vector<float> targets;  // of ridge regression, [n, n_outputs]: 0 or 1, −1 or 1, or values
  std::vector<float> weights;  // by class, or of their own; empty: all 1
  bool has_own_weights = false;
  DeviceProducts* products = nullptr;
  std::vector<int32_t> groups;  // empty: every example is one of its own

  // NUMERIC where a deeper network gives values that are not finite.
  static Result<HeadDesign> Gather(const TrainingContext& context, std::vector<int32_t> examples);
  Design ridge() const {
    return {rows.data(), n, dim, targets, n_outputs, weights, groups, products};
  }
  Targets loss_targets() const {
    return {labels.data(), values.data(), has_own_weights ? weights.data() : nullptr};
  }
  size_t bytes() const;
};

// The examples that are left out together, in ascending order: those of one of `groups`, or one alone
// where it has none (−1) or `groups` is empty.
std::vector<std::vector<int64_t>> LeavingTogether(const HeadDesign& design,
                                                  Span<const int32_t> groups);

// For every example the number of the part, in [0, n_parts), that it is left out with in
// cross-validation: parts of about the same number of examples of each class, in an order that
// `seed` shuffles. Groups stay whole. At most as many parts as there are examples (groups).
std::vector<int32_t> MakeParts(const HeadDesign& design, int n_parts, uint64_t seed);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_HEAD_DESIGN_H_
