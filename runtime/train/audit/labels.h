// Which labels are probably wrong, by scores of a head that was fitted without the example.
//
// An example's label is taken for a draw from a model of symmetric noise: with the probability
// 1 − e it is the true class c, else each other class is equally likely; c has the probability
// p(c) = softmax(s · scores)(c). The share e of wrong labels and the scale s are those of the largest
// posterior probability, with the prior Beta(4, 58) on e (as if 3 wrong labels had been seen among
// 60). Then, for the label l of n classes,
//   P(label)            = (1 − e) p(l) + e / (n − 1) · (1 − p(l))
//   P(l is right)       = (1 − e) p(l) / P(label)
//   P(c is the true one) = e / (n − 1) · p(c) / P(label)        c ≠ l
// (The mixture of Goldberger and Ben-Reuven, "Training deep neural-networks using a noise adaptation
// layer", ICLR 2017, with one number for the noise.)
#ifndef TOPWORK_RUNTIME_TRAIN_AUDIT_LABELS_H_
#define TOPWORK_RUNTIME_TRAIN_AUDIT_LABELS_H_

#include <cstdint>
#include <vector>

#include "runtime/base/span.h"

namespace topwork {

struct AuditedExample {
  int32_t index = 0;  // among the scores' rows
  int32_t label = 0;
  int32_t suggested = 0;     // the class of the largest score; ties go to the lower one
  double margin = 0.0;       // the score of the label less the largest other score
  double probability = 0.0;  // that the label is right
  bool is_suspect = false;   // the suggested class is the true one with more than one half
  double value = 0.0;        // see knn_shapley.h
};

struct LabelAudit {
  std::vector<AuditedExample> examples;  // the least probable label first, equal ones as they came
  double noise = 0.0;                    // e
  double scale = 1.0;                    // s, one of 25 from 0.5 to 40
};

// scores: [n, n_classes] logits, n_classes ≥ 2; labels [n] in [0, n_classes). Values stay 0.
LabelAudit AuditLabels(Span<const float> scores, Span<const int32_t> labels);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUDIT_LABELS_H_
