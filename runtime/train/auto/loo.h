// Left-out scores: what every example would get from a head that was fitted without it.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_LOO_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_LOO_H_

#include <vector>

#include "runtime/train/auto/head_choice.h"
#include "runtime/train/auto/head_design.h"

namespace topwork {

enum class LooMethod : int {
  kExact = 0,            // by a closed form
  kApproximate = 1,      // by one Newton step
  kCrossValidation = 2,  // by fitting without a fifth of the examples at a time
};

struct LooScores {
  std::vector<int32_t> examples;  // indices into the cache: all of them, in order
  std::vector<float> scores;      // [n, n_classes]: logits, temperature applied; regression: values
  LooMethod method = LooMethod::kExact;
  bool grouped = false;  // an example's whole group was left out with it
};

// For the way in which the trainer's present head was fitted and all of its examples, each left
// out with its group. Exact for ridge regression and nearest means; heads that minimise a loss by
// steps, and deeper layers, are fitted again without a fifth of the examples at a time, which takes
// most of what five trainings take. The trainer's head stays as it is. FAILED_PRECONDITION without
// examples; CANCELLED after a request to stop.
Result<LooScores> LeaveOneOutScores(const TrainingContext& context);

// The same for one way to fit a head, before `choice.scale`: [n, n_outputs] for the design's
// examples. kLogistic: by cross-validation over `parts`.
Status LeftOutOf(const TrainingContext& context, const HeadDesign& design, const HeadChoice& choice,
                 std::vector<float>* out, LooMethod* out_method);

// Fits a head of that kind to the design's examples, before `choice.scale`, into weights
// [n_outputs, dim] and bias [n_outputs] in one array. kLogistic starts at the array's numbers.
Status FitHead(const TrainingContext& context, const HeadDesign& design, const HeadChoice& choice,
               std::vector<float>* parameters);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_LOO_H_
