// The choice between the CPU and a device: by what either can do, and by a trial.
#include "runtime/train/fit/fitter_choice.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ports/port.h"

namespace topwork {
namespace {

const char kAuto[] = "auto";
// Below this much work a trial, and the device's programs, cost more than they can bring: about a
// second of one core.
constexpr double kMinTrialFlops = 2e10;
// A trial of either side; the better of two counts.
constexpr double kTrialSeconds = 0.02;

bool IsAuto(const std::string& device) {
  return device == kAuto || device.compare(0, sizeof(kAuto), std::string(kAuto) + ":") == 0;
}

// "auto:mali" means the device "opencl:mali", "auto" the best GPU.
std::string ChoiceOf(const std::string& device) {
  return IsAuto(device) ? "opencl" + device.substr(sizeof(kAuto) - 1) : device;
}

}  // namespace

FitterChoice::FitterChoice(const TrainingContext& context, const EpochPlan* plan)
    : context_(context), plan_(*plan), cpu_(context, plan), whole_set_(context) {}

Status FitterChoice::CheckDevice(const TrainerOptions& options) {
  if (options.device.empty() || IsAuto(options.device)) return Status::Ok();
  return opencl::Workspace::Find(options.device).status();
}

HeadFitter* FitterChoice::chosen() {
  if (!IsFirstOrder(context_.options->optimizer)) return &whole_set_;
  if (device_ != nullptr) return device_.get();
  return &cpu_;
}

HeadFitter* FitterChoice::Choose() {
  if (device_ != nullptr || epoch_ != context_.state->progress.epoch) EnsureDevice();
  return chosen();
}

std::string FitterChoice::WhyNotOnDevice() const {
  const TrainerOptions& options = *context_.options;
  if (context_.layers->deep()) {
    return StrFormat("n_layers is %d: only the last layer trains on a device", options.n_layers);
  }
  if (!IsFirstOrder(options.optimizer)) {
    return StrFormat("%s looks at all examples at once: only sgd, adam and adamw run on a device",
                     OptimizerName(options.optimizer));
  }
  if (options.device != kAuto || decided_) return "";
  // Before anything of OpenCL is touched: loading it takes time and memory.
  const double flops = 4.0 * static_cast<double>(context_.set->dim()) * context_.n_classes() *
                       static_cast<double>(context_.set->train().size()) *
                       (options.epochs - context_.state->progress.epoch);
  if (flops < kMinTrialFlops) {
    return StrFormat("%.3g GFLOP of training are too few to try a device", flops * 1e-9);
  }
  const Status gpu = opencl::Workspace::Find(ChoiceOf(options.device)).status();
  return gpu.ok() ? "" : gpu.message();
}

void FitterChoice::LeaveDevice(const std::string& reason) {
  device_.reset();
  decided_ = true;
  state_ = {"cpu", reason};
}

void FitterChoice::DropFailedDevice() {
  if (device_ == nullptr || device_->failure().empty()) return;
  LeaveDevice(std::string(device_->failure()));
}

// Makes device_ ready for the examples that there are now, or leaves it null with the reason.
void FitterChoice::EnsureDevice() {
  const std::string& asked = context_.options->device;
  epoch_ = context_.state->progress.epoch;
  if (asked.empty() || (decided_ && device_ == nullptr)) return;
  const std::string why_not = WhyNotOnDevice();
  if (!why_not.empty()) {
    state_ = {"cpu", why_not};  // more examples may change it
    return;
  }
  const int64_t n_positions = static_cast<int64_t>(
      std::max(context_.state->order.size(), context_.set->validation().size()));
  if (device_ != nullptr && device_->Fits(n_positions)) return;
  device_.reset();  // its memory first
  Result<std::unique_ptr<DeviceFitter>> device =
      DeviceFitter::Create(ChoiceOf(asked), context_, n_positions, &plan_, &cpu_);
  if (!device.ok()) return LeaveDevice(device.status().message());
  device_ = std::move(device.value());
  state_.name = device_->name();
  if (!IsAuto(asked) || decided_) return;
  decided_ = true;
  if (!DeviceIsFaster()) device_.reset();
}

// Takes the same steps on both and gives everything back as it was.
bool FitterChoice::DeviceIsFaster() {
  TrainingState& state = *context_.state;
  const TrainingValues before = state.Values();
  double seconds[2] = {0.0, 0.0};  // a step, on the CPU and on the device
  std::string failure;
  for (int trial = 0; trial < 4 && failure.empty(); ++trial) {
    const bool on_device = trial % 2 == 1;
    HeadFitter* fitter = on_device ? static_cast<HeadFitter*>(device_.get()) : &cpu_;
    const int64_t start = port::NowNanos();
    double loss = 0.0;
    Status status;
    do {
      status = fitter->Advance(std::numeric_limits<int64_t>::max(), kTrialSeconds, &loss);
    } while (!on_device && status.ok() && state.progress.position < state.order.size() &&
             port::SecondsSince(start) < kTrialSeconds);
    const int64_t n = std::max<int64_t>(1, state.progress.step - before.progress.step);
    const double per_step = port::SecondsSince(start) / static_cast<double>(n);
    failure = device_->failure().empty() ? status.message() : device_->failure();
    double& best = seconds[on_device ? 1 : 0];
    best = trial < 2 ? per_step : std::min(best, per_step);
    const Status restored = state.Assign(before);
    if (!restored.ok()) failure = restored.message();
  }
  if (!failure.empty()) {
    state_ = {"cpu", "the trial on the device failed: " + failure};
    return false;
  }
  const bool faster = seconds[1] < seconds[0];
  state_.reason = StrFormat("measured: %.1f us a step on the CPU, %.1f us on '%s'",
                            seconds[0] * 1e6, seconds[1] * 1e6, state_.name.c_str());
  if (!faster) state_.name = "cpu";
  return faster;
}

}  // namespace topwork
