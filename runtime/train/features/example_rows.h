// ExampleRows: rows and targets of some examples of a cache, as training takes them.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_EXAMPLE_ROWS_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_EXAMPLE_ROWS_H_

#include <vector>

#include "runtime/base/span.h"
#include "runtime/train/features/feature_cache.h"

namespace topwork {

// Pointers that stay valid together until the cache changes or Gather is called again. Rows that
// the cache keeps in float16 are converted.
struct ExampleRows {
  struct Item {
    int32_t example;
    int variant;  // 0: the example itself
  };

  std::vector<float> scratch;
  std::vector<const float*> rows;
  std::vector<int32_t> labels;       // 0 where targets are values
  std::vector<const float*> values;  // null where targets are labels
  std::vector<float> weights;        // empty: all 1

  // n examples; pick(i) names number i. example_weights: of all examples of the cache, or empty.
  void Gather(const FeatureCache& cache, size_t n, FunctionRef<Item(size_t i)> pick,
              Span<const float> example_weights = {}) {
    const size_t row_floats = cache.scratch_floats();
    scratch.resize(n * row_floats);
    rows.resize(n);
    labels.resize(n);
    values.resize(n);
    weights.resize(example_weights.empty() ? 0 : n);
    for (size_t i = 0; i < n; ++i) {
      const Item item = pick(i);
      rows[i] = cache.row(item.example, item.variant, scratch.data() + i * row_floats);
      labels[i] = cache.uses_labels() ? cache.label(item.example) : 0;
      values[i] = cache.uses_labels() ? nullptr : cache.values(item.example);
      if (!weights.empty()) weights[i] = example_weights[static_cast<size_t>(item.example)];
    }
  }
  const float* weights_or_null() const { return weights.empty() ? nullptr : weights.data(); }
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_EXAMPLE_ROWS_H_
