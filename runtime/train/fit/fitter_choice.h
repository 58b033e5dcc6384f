// FitterChoice: who takes the next steps, the CPU or a device, and why.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_FITTER_CHOICE_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_FITTER_CHOICE_H_

#include <memory>
#include <string>

#include "runtime/train/fit/cpu_fitter.h"
#include "runtime/train/fit/device_fitter.h"
#include "runtime/train/fit/whole_set_fitter.h"

namespace topwork {

// Where the steps of the last layer are taken.
struct TrainerDevice {
  std::string name = "cpu";  // or that of the device
  // Why it is the CPU where another was asked for, or what a measurement chose; else empty.
  std::string reason;
};

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

  // Known after the first step; before it the CPU without a reason.
  const TrainerDevice& device() const { return state_; }
  // What has crossed the bus since features were last uploaded; all 0 on the CPU.
  DeviceTraffic traffic() const {
    return device_ != nullptr ? device_->traffic() : DeviceTraffic();
  }
  size_t device_bytes() const { return device_ != nullptr ? device_->bytes() : 0; }
  size_t bytes() const { return cpu_.bytes(); }

 private:
  std::string WhyNotOnDevice() const;
  void EnsureDevice();
  void LeaveDevice(const std::string& reason);
  bool DeviceIsFaster();

  const TrainingContext context_;
  const EpochPlan& plan_;
  CpuFitter cpu_;
  WholeSetFitter whole_set_;
  std::unique_ptr<DeviceFitter> device_;  // null: the CPU
  TrainerDevice state_;
  bool decided_ = false;  // against a device, or by measuring
  int epoch_ = -1;        // in which a device was last looked for
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_FITTER_CHOICE_H_
