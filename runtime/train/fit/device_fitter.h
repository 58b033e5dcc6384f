// DeviceFitter: mini-batch steps on a device, by DeviceHead.
//
// The host's parameters and moments are right whenever no call is in progress. A device that fails
// gives the run up: nothing of it has changed then, and the CPU takes its steps again.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_DEVICE_FITTER_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_DEVICE_FITTER_H_

#include <memory>
#include <string>

#include "runtime/train/fit/device_head.h"
#include "runtime/train/fit/epoch_plan.h"
#include "runtime/train/fit/head_fitter.h"

namespace topwork {

class DeviceFitter : public HeadFitter {
 public:
  // Opens the device that `name` stands for, for runs of at most n_positions examples. The errors
  // are reasons not to train there. `plan` and `cpu`, who goes on when the device fails, must
  // outlive the object.
  static Result<std::unique_ptr<DeviceFitter>> Create(const DeviceName& name,
                                                      const TrainingContext& context,
                                                      int64_t n_positions, const EpochPlan* plan,
                                                      HeadFitter* cpu);

  Status Advance(int64_t max_steps, double max_seconds, double* out_loss) override;
  Status Measure(Span<const int32_t> examples, Measured* out) override;

  // True when it can run so many examples of what the set now holds.
  bool Fits(int64_t n_positions) const;
  // Why the device failed; empty while it works.
  const std::string& failure() const { return failure_; }
  const std::string& name() const { return device_->name(); }
  size_t bytes() const { return device_->bytes(); }
  DeviceTraffic traffic() const { return device_->traffic(); }

 private:
  DeviceFitter(const TrainingContext& context, const EpochPlan* plan, HeadFitter* cpu,
               std::unique_ptr<DeviceHead> device);
  void PlanSteps(int64_t max_steps, DeviceSteps* out) const;
  Status TakeSteps(const DeviceSteps& steps, double max_seconds, DeviceHead::Outcome* out);
  HeadValues Values() const;

  const TrainingContext context_;
  const EpochPlan& plan_;
  HeadFitter& cpu_;
  std::unique_ptr<DeviceHead> device_;
  std::string failure_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_DEVICE_FITTER_H_
