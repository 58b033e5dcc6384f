// Which examples to label next: far from what is known and from each other, and in doubt.
#ifndef TOPWORK_RUNTIME_TRAIN_AUDIT_CHOICE_H_
#define TOPWORK_RUNTIME_TRAIN_AUDIT_CHOICE_H_

#include <vector>

#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"

namespace topwork {

struct ChoiceProblem {
  const float* const* rows;  // [n] pointers to dim floats
  int64_t n = 0, dim = 0;
  const float* const* known = nullptr;  // [n_known] rows of examples that have a label already
  int64_t n_known = 0;
  Span<const float> doubt;  // [n], 0: sure, 1: in doubt; empty: all the same
};

struct Suggestion {
  int64_t index = 0;
  int32_t predicted = -1;  // what the caller of ChooseExamples fills in
  // To the nearest one that is known or was chosen before, when it was chosen: 1 − cosine, in
  // [0, 2]. 2 for the first one where nothing is known.
  double distance = 0.0;
  double doubt = 1.0;
};

// Greedy k-centre: the next one is always that of the largest distance × doubt, with distances to
// the nearest one that is known or chosen (Gonzalez, "Clustering to minimize the maximum intercluster
// distance", 1985; Sener and Savarese, "Active Learning for Convolutional Neural Networks: A Core-Set
// Approach", ICLR 2018, for choosing what to label). Where nothing is known yet, the first one is the
// one most in doubt. Equals go by their number. At most `count`, at most n. INVALID_ARGUMENT for a
// doubt outside [0, 1].
Result<std::vector<Suggestion>> ChooseExamples(const ChoiceProblem& problem, int64_t count,
                                               ThreadPool* pool);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUDIT_CHOICE_H_
