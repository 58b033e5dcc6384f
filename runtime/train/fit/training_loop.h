// TrainingLoop: epochs of steps, from where training stands to where it ends.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_TRAINING_LOOP_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_TRAINING_LOOP_H_

#include <functional>

#include "runtime/train/fit/class_imprinter.h"
#include "runtime/train/fit/epoch_plan.h"
#include "runtime/train/fit/fitter_choice.h"

namespace topwork {

// Called after every epoch; false stops: Train then returns OK with what was learnt so far.
using EpochCallback = std::function<bool(const EpochMetrics& metrics)>;

// How far one call of TrainFor goes, the last fit's epochs among the others. Both 0: to the end.
struct TrainBudget {
  double max_seconds = 0.0;  // looked at after every step; at least one step is taken
  int max_epochs = 0;        // epochs finished in this call
};

class TrainingLoop {
 public:
  explicit TrainingLoop(const TrainingContext& context)
      : context_(context), plan_(context), choice_(context, &plan_), imprinter_(context) {}

  // See Trainer. on_epoch is not called for the last fit on all examples.
  Status TrainFor(TrainBudget budget, const EpochCallback& on_epoch);
  // Nothing is left to do.
  bool finished() const { return has_all_epochs() && !WantsLastFit(); }
  Status Step(double* out_loss, bool* out_epoch_done);

  EpochPlan& plan() { return plan_; }
  const FitterChoice& choice() const { return choice_; }

 private:
  Status EnsureReady();
  Status Advance(int64_t max_steps, double max_seconds, double* out_loss, bool* out_epoch_done);
  Status FinishEpoch();
  // *budget becomes what is left of it. *out_goes_on: neither it nor on_epoch ended the call.
  Status TakeEpochs(TrainBudget* budget, const EpochCallback& on_epoch, bool* out_goes_on);
  bool WantsLastFit() const;
  Status FitOnAll(TrainBudget* budget);
  bool has_all_epochs() const {
    return context_.state->Finished(epochs_on_all_ > 0 ? epochs_on_all_ : context_.options->epochs);
  }

  const TrainingContext context_;
  EpochPlan plan_;
  FitterChoice choice_;
  ClassImprinter imprinter_;
  int epochs_on_all_ = 0;  // in FitOnAll: where it ends
};

// The learning rate that suits the training examples' features, where none is given.
Result<float> ChooseLearningRate(const TrainingContext& context);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_TRAINING_LOOP_H_
