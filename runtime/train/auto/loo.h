// Left-out scores: what every example would get from a head that was fitted without it.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_LOO_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_LOO_H_

#include <memory>
#include <vector>

#include "runtime/train/auto/head_choice.h"
#include "runtime/train/auto/head_design.h"
#include "runtime/train/auto/logistic.h"

namespace topwork {

enum class LooMethod : int {
  kExact = 0,            // by a closed form
  kApproximate = 1,      // by one Newton step
  kCrossValidation = 2,  // by fitting without a part of the examples at a time
};

struct LooScores {
  std::vector<int32_t> examples;  // indices into the cache: all of them, in order
  std::vector<float> scores;      // [n, n_classes]: logits, temperature applied; regression: values
  LooMethod method = LooMethod::kExact;
  bool grouped = false;  // an example's whole group was left out with it
};

// For the way in which the trainer's present head was fitted and all of its examples, each left
// out with its group. Exact for ridge regression and nearest means; by one Newton step for softmax
// heads at the minimum of a penalised loss where that is cheap (CanApproximate); other heads are
// fitted again without a fifth of the examples at a time, which takes most of what five trainings
// take; logistic ones of few examples without a twentieth. The trainer's head stays as it is.
// FAILED_PRECONDITION without examples; CANCELLED after a request to stop.
Result<LooScores> LeaveOneOutScores(const TrainingContext& context);

// The parts that cross-validation leaves out, see MakeParts.
constexpr int kLooParts = 5;

// What one use of a design leaves for the next; made where it is missing.
struct HeadStart {
  std::vector<float> ridge;                  // the choice's ridge head without its scale
  LowerTriangle gram;                        // of the choice's scaling, for `logistic`
  std::unique_ptr<LogisticFitter> logistic;  // of the choice's scaling
};

// Left-out logits of heads of that choice, [n, n_outputs] for the design's examples: groups are
// left out whole; the logistic share is cross-validated.
Status LeftOutOf(const TrainingContext& context, const HeadDesign& design, const HeadChoice& choice,
                 HeadStart* start, std::vector<float>* out, LooMethod* out_method);

// Scores of nearest means (ImprintRow) without the example's group, or without the example alone
// where `groups` is empty: [n, n_outputs].
void LeftOutMeans(const HeadDesign& design, Span<const int32_t> groups, std::vector<float>* out);

// fit(part, scores): scores [n, n_outputs] of all examples by a head fitted without the part. Those
// of the part's own examples come into *out.
Status CrossValidate(const HeadDesign& design, Span<const int32_t> parts,
                     FunctionRef<Status(int32_t part, Span<float> scores)> fit,
                     std::vector<float>* out);

// Fits a head of that choice to the design's examples, into weights [n_outputs, dim] and bias
// [n_outputs] in one array.
Status FitHead(const TrainingContext& context, const HeadDesign& design, const HeadChoice& choice,
               HeadStart* start, std::vector<float>* parameters);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_LOO_H_
