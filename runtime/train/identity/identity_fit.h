// What Optimizer::kKnn stores of the training examples, and how each fares without itself.
#ifndef TOPWORK_RUNTIME_TRAIN_IDENTITY_IDENTITY_FIT_H_
#define TOPWORK_RUNTIME_TRAIN_IDENTITY_IDENTITY_FIT_H_

#include <string>
#include <vector>

#include "models/format/head_format.h"
#include "runtime/train/auto/head_design.h"
#include "runtime/train/training_context.h"

namespace topwork {

// UNSUPPORTED for kKnn in a library that was built without TOPWORK_LEARN.
Status CheckIdentityOptions(const TrainerOptions& options);

// Makes the context's network one of its training examples: all, or of more than options.max_rows so
// many, evenly over the classes and by k-centre in each. The scale suits the scores of examples that
// were left out (with their group). *out_note: how many are stored, where that is not all.
// INVALID_ARGUMENT for more classes than rows.
Status FitIdentity(const TrainingContext& context, std::string* out_note);

// Logits [n, n_outputs] of each example without itself and its group, by the network's scale.
Result<std::vector<float>> IdentityLeftOut(const TrainingContext& context,
                                           const HeadDesign& design);

// The storage in which rows are exported: that of the shipped head, with int8 for all integers.
HeadStorage IdentityStorage(const HeadFormat& format);
// The network's rows as they are after storing, and its scale divided by the temperature.
void RoundIdentity(const TrainingContext& context);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_IDENTITY_IDENTITY_FIT_H_
