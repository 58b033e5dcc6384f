// WholeSetFitter: optimizers that look at all training examples at once: L-BFGS, ridge regression,
// imprinting, nearest neighbours.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_WHOLE_SET_FITTER_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_WHOLE_SET_FITTER_H_

#include <string>

#include "runtime/train/features/example_rows.h"
#include "runtime/train/fit/class_imprinter.h"
#include "runtime/train/fit/head_fitter.h"

namespace topwork {

// A step is an epoch: an iteration of L-BFGS, or all of a closed form.
class WholeSetFitter : public HeadFitter {
 public:
  explicit WholeSetFitter(const TrainingContext& context)
      : context_(context), imprinter_(context) {}

  Status Advance(int64_t max_steps, double max_seconds, double* out_loss) override;
  Status Measure(Span<const int32_t> examples, Measured* out) override {
    return MeasureExamples(context_, examples, out);
  }
  // What the last fit left out; may be empty.
  const std::string& note() const { return note_; }

 private:
  void Gather(size_t first, size_t n, ExampleRows* out) const;
  Status Gradient(double* out_value);
  Status SumGradients(std::vector<double>* sum, BatchLoss* total);
  Status IterateLbfgs(double* out_loss);
  Status SolveHead();

  const TrainingContext context_;
  ClassImprinter imprinter_;
  std::string note_;
};

// λ of Optimizer::kRidge in ½ Σ |error|² + ½ λ |W|²: weight_decay times the number of rows, or
// where none is given a share of the features' mean square.
double RidgePenalty(const TrainerOptions& options, const std::vector<const float*>& rows,
                    int64_t dim);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_WHOLE_SET_FITTER_H_
