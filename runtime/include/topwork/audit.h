// Audits: doubtful labels, near-duplicates, and which examples to label next.
#ifndef TOPWORK_AUDIT_H_
#define TOPWORK_AUDIT_H_

#include "topwork/base.h"
#include "topwork/examples.h"

#ifdef __cplusplus
extern "C" {
#endif

// An example's label, judged by a head that was fitted without the example.
typedef struct tw_audited_example {
  // In the order in which examples were added.
  int64_t index;
  // Its class.
  int64_t label;
  // The class of the largest score.
  int64_t suggested;
  // The score of its class (a logit) less the largest other one. Below 0: the label may be wrong.
  double margin;
  // That the label is right; see tw_audit.noise.
  double probability;
  // What the example adds to the share of its neighbours that are of the judged example's class, on
  // average (its Shapley value). Below 0: it misleads the others.
  double value;
  // 1: the suggested class is the right one with a probability above one half, and not the label's.
  int32_t is_suspect;
} tw_audited_example;

// Examples of the validation set that are nearly the same as training examples.
typedef struct tw_near_duplicates {
  size_t struct_size;
  // Examples of the validation set that were looked at, and those of them that are.
  int64_t n_checked;
  int64_t n_found;
  // The pair that is most alike, in the order in which the examples were added; -1: there is none.
  int64_t held_back;
  int64_t trained;
  // Of the features of that pair, each minus the mean: 0.98 to 1.
  double cosine;
} tw_near_duplicates;

// What an audit looks at. Zero the struct and set struct_size for the defaults.
typedef struct tw_audit_options {
  size_t struct_size;
  // Nearest features, by their cosine, that an example's value counts; 0: 5.
  int32_t n_neighbours;
  // 1: labels are not judged; only near-duplicates are looked for, with any loss.
  int32_t duplicates_only;
} tw_audit_options;

// An audit of the examples. Pointers are borrowed from the trainer until its next audit.
typedef struct tw_audit {
  size_t struct_size;
  size_t n_examples;
  // The least probable label first.
  const tw_audited_example* examples;
  int64_t n_suspects;
  // The share of labels that are wrong, estimated from the scores: that of the most likely mixture
  // of right labels and labels that stand for any other class.
  double noise;
  // Near-duplicates across the split, which make the figures of the validation set too good: give such
  // examples a common group (tw_examples.groups). Of more than 500 examples in the validation set, or
  // 4000 in the other part, so many are looked at. NULL without a validation set.
  const tw_near_duplicates* near_duplicates;
} tw_audit;

// Judges the label of every example of the trainer (TW_LOSS_SOFTMAX), the validation set included,
// by leaving it out with its group: in closed form where the head has one, else by folds. With more
// than 4096 examples, evenly spaced ones are judged for the values. Looks for near-duplicates, too.
// options NULL: the defaults. Set audit->struct_size first. Errors: FAILED_PRECONDITION without
// examples, UNSUPPORTED with another loss (but for duplicates_only), CANCELLED after
// tw_trainer_cancel. [one]
TW_API tw_status tw_trainer_audit(tw_trainer* trainer, const tw_audit_options* options,
                                  tw_audit* audit);

// An example that is worth a label.
typedef struct tw_suggestion {
  // Among the examples that were given.
  int64_t index;
  // The position of the largest score; -1 with TW_LOSS_MSE and HUBER.
  int64_t predicted;
  // 1 - cosine of its features and the nearest ones that the trainer or an earlier suggestion has,
  // in [0, 2]. 2 if there are none yet.
  double distance;
  // In [0, 1]: 1 less the distance of the two largest probabilities; TW_LOSS_SIGMOID: 1 less that of
  // an output's probability from one half, times 2, for the output most in doubt; other losses: 1.
  double doubt;
} tw_suggestion;

// Chooses n_suggestions of the examples for somebody to label, whose labels and targets are not
// looked at: one after the other that of the largest distance x doubt, the doubt being that of the
// head as it is now (greedy k-centre). Features are not kept. Errors: those of
// tw_trainer_add_examples; INVALID_ARGUMENT for more suggestions than examples. [one]
TW_API tw_status tw_trainer_suggest(tw_trainer* trainer, const tw_examples* examples,
                                    tw_suggestion* suggestions, size_t n_suggestions);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_AUDIT_H_
