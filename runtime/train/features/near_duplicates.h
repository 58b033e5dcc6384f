// Held-back examples that are nearly the same as training examples: pictures of one burst, or the
// same file twice. They make the figures of the held-back examples too good.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_NEAR_DUPLICATES_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_NEAR_DUPLICATES_H_

#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/train/features/feature_cache.h"

namespace topwork {

struct NearDuplicates {
  int64_t n_checked = 0;  // held-back examples that were looked at
  int64_t n_found = 0;    // of these, near-duplicates of a training example
  // The pair that is most alike, as indices into the cache; −1 where none was found.
  int32_t held_back = -1, trained = -1;
  double cosine = 0.0;
};

// Two examples are near-duplicates where the cosine of their features, each minus the mean of all
// that are looked at, is 0.98 or more. Pairs whose random projections to 64 numbers have a cosine of
// 0.9 or more are tested exactly. O(n · dim + n_held_back · n_trained); of more than 500 held-back and
// 4000 training examples so many are taken at even distances. Indices are of `cache`.
NearDuplicates FindNearDuplicates(const FeatureCache& cache, Span<const int32_t> held_back,
                                  Span<const int32_t> trained);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_NEAR_DUPLICATES_H_
