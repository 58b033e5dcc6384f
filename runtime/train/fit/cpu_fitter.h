// CpuFitter: mini-batch steps on the CPU.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_CPU_FITTER_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_CPU_FITTER_H_

#include "runtime/train/features/example_rows.h"
#include "runtime/train/fit/epoch_plan.h"
#include "runtime/train/fit/head_fitter.h"

namespace topwork {

class CpuFitter : public HeadFitter {
 public:
  // `plan` must outlive the object.
  CpuFitter(const TrainingContext& context, const EpochPlan* plan)
      : context_(context), plan_(*plan) {}

  // Exactly one step.
  Status Advance(int64_t max_steps, double max_seconds, double* out_loss) override;
  Status Measure(Span<const int32_t> examples, Measured* out) override {
    return MeasureExamples(context_, examples, out);
  }
  size_t bytes() const { return batch_.scratch.size() * sizeof(float); }

 private:
  void AddSmote(size_t first);
  Status Gradient(BatchLoss* out);
  Status MixedGradient(BatchLoss* out);

  const TrainingContext context_;
  const EpochPlan& plan_;
  ExampleRows batch_;
  std::vector<float> made_;  // rows that are no example's own
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_CPU_FITTER_H_
