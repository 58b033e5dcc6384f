// HeadFitter: what takes training's steps. CpuFitter and DeviceFitter take mini-batches,
// WholeSetFitter looks at all examples at once.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_HEAD_FITTER_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_HEAD_FITTER_H_

#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/train/judge/scores.h"

namespace topwork {

// Works on the state of its context: every step it takes is noted in the progress there.
class HeadFitter {
 public:
  virtual ~HeadFitter() = default;

  // Takes one step of the epoch in progress, or more where that is cheaper: max_steps at most, and
  // none after max_seconds (0: no limit) or a request to stop. *out_loss: the last step's mean
  // loss. NUMERIC when a loss or gradient is not finite, with the parameters of before that step.
  virtual Status Advance(int64_t max_steps, double max_seconds, double* out_loss) = 0;
  // Loss and accuracy of examples of the set with the parameters as they are.
  virtual Status Measure(Span<const int32_t> examples, Measured* out) = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_HEAD_FITTER_H_
