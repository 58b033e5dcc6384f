// What a trainer's examples and head say about labels: which are probably wrong, what each example
// is worth, and which examples without a label are worth one.
#ifndef TOPWORK_RUNTIME_TRAIN_AUDIT_AUDIT_H_
#define TOPWORK_RUNTIME_TRAIN_AUDIT_AUDIT_H_

#include <vector>

#include "runtime/train/audit/choice.h"
#include "runtime/train/audit/labels.h"
#include "runtime/train/training_context.h"

namespace topwork {

// All examples of the trainer by the scores that LeaveOneOutScores gives them, with their k-nearest-
// neighbour Shapley values. UNSUPPORTED where an example has more
// than one class or none; the errors of LeaveOneOutScores and KnnShapleyValues.
Result<LabelAudit> AuditExamples(const TrainingContext& context, int n_neighbours);

// `count` of the examples that ChooseExamples takes, with the trainer's examples as those known.
// Softmax: doubt is 1 − (p₁ − p₂) of the two largest probabilities; sigmoid: 1 − |2p − 1| of the
// output nearest to one half; other losses: 1. Features are not kept, targets not looked at.
Result<std::vector<Suggestion>> SuggestExamples(const TrainingContext& context,
                                                const Examples& examples,
                                                const FeatureProgress& progress, int64_t count);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUDIT_AUDIT_H_
