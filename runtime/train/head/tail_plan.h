// TailPlan: the order of a TailGraph's forward and backward steps for one batch size, and where
// every activation and gradient lies.
//
// With n_segments > 1 only the values that cross a border between segments are kept from the
// forward pass; those inside a segment are computed again before its backward steps (Chen et al.
// 2016, "Training deep nets with sublinear memory cost"). The same kernels run on the same numbers,
// so the results are the same bits.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_PLAN_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_PLAN_H_

#include <memory>
#include <vector>

#include "runtime/plan/prepare.h"
#include "runtime/train/head/tail_graph.h"

namespace topwork {

struct TailStep {
  enum Kind { kForward, kLoss, kBackward };
  Kind kind = kForward;
  int node = -1;  // −1 for kLoss
  // Places in the arena, in bytes, −1 where there is none: of the inputs, of their gradients, of
  // the output and its gradient. Of kLoss: the logits and their gradient.
  std::vector<int64_t> inputs, input_gradients;
  int64_t output = -1, output_gradient = -1;
  uint32_t accumulate = 0;  // see BackwardContext
};

struct TailPlan {
  int64_t n_rows = 0;
  bool backward = false;
  int n_segments = 1;
  // By node: the prepared operator and its tensors. A node's views hold shapes; data is filled in
  // at each step.
  struct Prepared {
    std::vector<TensorView> inputs;
    std::vector<const TensorView*> input_pointers;  // into inputs, null where left out
    TensorView output;
    std::shared_ptr<OpState> state;
    std::vector<std::shared_ptr<const Buffer>> packed;
  };
  std::vector<Prepared> nodes;
  std::vector<TailStep> steps;
  int64_t cut = 0;     // place of the rows
  int64_t logits = 0;  // place of the scores, after the last forward step
  uint64_t arena_bytes = 0;
  size_t scratch_bytes = 0;  // after the arena
  uint64_t bytes() const { return arena_bytes + scratch_bytes; }
};

struct TailPlanOptions {
  int64_t n_rows = 1;
  bool backward = true;
  size_t limit_bytes = 0;  // for arena and scratch; 0: none
  ThreadPool* pool = nullptr;
  const CpuKernels* cpu = nullptr;
};

// One segment where that keeps the limit, else the number near √nodes or the first other one that
// does. OUT_OF_MEMORY says what is needed at least.
Result<std::unique_ptr<TailPlan>> MakeTailPlan(const TailGraph& graph,
                                               const TailPlanOptions& options);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_PLAN_H_
