// ClassImprinter: rows of the last layer made of the mean of a class's examples.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_CLASS_IMPRINTER_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_CLASS_IMPRINTER_H_

#include <vector>

#include "runtime/train/training_context.h"

namespace topwork {

class ClassImprinter {
 public:
  explicit ClassImprinter(const TrainingContext& context) : context_(context) {}

  // The classes that were never trained, if they have examples: their rows become as long as the
  // other rows, with a bias that stands between their own examples and the others'.
  Status ImprintFresh();
  // All classes: the closed form that Optimizer::kImprint stands for.
  Status ImprintAll();
  // Multiplies the last layer by what makes its scores the best logits for the training examples.
  Status FitScale();

 private:
  Status Imprint(const std::vector<int>& classes, double norm);
  Status PlaceBiases(const std::vector<int>& classes);
  double MeanLength() const;

  const TrainingContext context_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_CLASS_IMPRINTER_H_
