// Exact Shapley values of examples for a k-nearest-neighbour classifier.
//
// The game of one judged example: the worth of a set S of other examples is the share of its k
// nearest members that have the judged example's label,
//   v(S) = 1/k · #{the min(k, |S|) members of S nearest to it that have its label}.
// An example's value is its Shapley value, the mean over all orders of what it adds. With the
// others sorted by distance, 1 the nearest, N the farthest, and hit_i = 1 where labels agree:
//   s_N = hit_N · min(k, N) / (k N)
//   s_i = s_{i+1} + (hit_i − hit_{i+1}) / k · min(k, i) / i
// (Jia et al., "Efficient Task-Specific Data Valuation for Nearest Neighbor Algorithms", VLDB 2019,
// theorem 1). The order is that of the cosine between rows.
#ifndef TOPWORK_RUNTIME_TRAIN_AUDIT_KNN_SHAPLEY_H_
#define TOPWORK_RUNTIME_TRAIN_AUDIT_KNN_SHAPLEY_H_

#include <vector>

#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/train/work_watch.h"

namespace topwork {

// Values of one game: out[i] of the example that is the i-th nearest, with hit[i] 1 or 0. k ≥ 1.
void KnnShapleyOfOrder(Span<const uint8_t> hits, int k, Span<double> out);

// With more examples than this, so many of them, evenly spaced, are judged.
constexpr int64_t kMaxJudged = 4096;

// The mean of each example's values over the games in which another example is judged by all but
// itself: rows [n] pointers to dim floats, labels [n], n ≥ 2. Positive: the example helps its
// neighbours; negative: it misleads them. O(n · judged · (dim + log n)) time, 32 · n numbers of
// memory. The same bits for any number of threads. CANCELLED through `watch` (may be null).
Result<std::vector<double>> KnnShapleyValues(const float* const* rows, int64_t dim,
                                             Span<const int32_t> labels, int k, ThreadPool* pool,
                                             WorkWatch* watch);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUDIT_KNN_SHAPLEY_H_
