// FitterChoice: who takes the next steps, the CPU or a device, and why.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_FITTER_CHOICE_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_FITTER_CHOICE_H_

#include <memory>
#include <string>

#include "runtime/backend/placement.h"
#include "runtime/train/auto/auto_fitter.h"
#include "runtime/train/fit/cpu_fitter.h"
#include "runtime/train/fit/device_fitter.h"
#include "runtime/train/fit/whole_set_fitter.h"

namespace topwork {

class FitterChoice {
 public:
  // `plan` must outlive the object.
  FitterChoice(const TrainingContext& context, const EpochPlan* plan);

  // NOT_FOUND or UNSUPPORTED for a device of the options that is not there.
  static Status CheckDevice(const TrainerOptions& options);

  // For the next steps of the epoch in progress; a device is looked for once an epoch.
  HeadFitter* Choose();
  // Who was chosen last.
  HeadFitter* chosen();
  // To be called after every use of who was chosen: a device that has failed is given up.
  void DropFailedDevice();

  // Where the steps are taken, and why. Known after the first step; before it the CPU without a
  // reason.
  const Placement& placement() const { return placement_; }
  // What has crossed the bus since features were last uploaded; all 0 on the CPU.
  DeviceTraffic traffic() const {
    return device_ != nullptr ? device_->traffic() : DeviceTraffic();
  }
  size_t device_bytes() const { return device_ != nullptr ? device_->bytes() : 0; }
  size_t bytes() const { return cpu_.bytes(); }
  const AutoFitter& automatic() const { return automatic_; }
  // Why the head is what it is; may be empty.
  const std::string& reason() const {
    return automatic_.reason().empty() ? whole_set_.note() : automatic_.reason();
  }

 private:
  std::string WhyNotOnDevice() const;
  void EnsureDevice();
  void EnsureProducts();
  void LeaveDevice(const std::string& reason);
  bool DeviceIsFaster();

  const TrainingContext context_;
  const EpochPlan& plan_;
  CpuFitter cpu_;
  WholeSetFitter whole_set_;
  AutoFitter automatic_;
  std::unique_ptr<DeviceFitter> device_;  // null: the CPU
  Placement placement_;
  bool is_left_to_cpu_ = false;  // for good: a device has failed, or is slower
  int epoch_ = -1;               // in which a device was last looked for
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_FITTER_CHOICE_H_
