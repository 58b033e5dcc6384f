// The choice between the CPU and a device: by what either can do, and by a trial.
#include "runtime/train/fit/fitter_choice.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/contract/selection.h"
#include "ports/port.h"
#include "runtime/backend/devices.h"

namespace topwork {
namespace {

// Below this much work a trial, and the device's programs, cost more than they can bring: about a
// second of one core.
constexpr double kMinTrialFlops = 2e10;
// A trial of either side; the better of two counts.
constexpr double kTrialSeconds = 0.02;

// The device to open.
Result<DeviceName> NameToOpen(const DeviceName& wanted) {
  if (!wanted.is_auto()) return wanted;
  TW_ASSIGN_OR_RETURN(const FoundDevice found, FindAutoDevice());
  return found.name;
}

// Whose closed form begins with the products of features, which a device can compute.
bool HasProducts(Optimizer optimizer) {
  return !kTrainsLastAlone && (optimizer == Optimizer::kRidge || optimizer == Optimizer::kAuto);
}

// Nanoseconds of a small product, the second of two: the first one compiles.
double NanosOfProducts(ThreadPool* pool, DeviceProducts* device) {
  constexpr int64_t kDepth = 256, kSize = 512;
  const auto ones = [](int64_t, int64_t, int64_t n, double* to) { std::fill_n(to, n, 1.0); };
  TiledMatrix sums;
  if (!sums.Allocate(kSize, kSize, "a trial").ok()) return 0.0;
  int64_t start = 0;
  for (int i = 0; i < 2; ++i) {
    start = port::NowNanos();
    if (!AddSquare(kDepth, kSize, ones, pool, &sums, device).ok()) return 0.0;
  }
  return static_cast<double>(port::NowNanos() - start);
}

}  // namespace

FitterChoice::FitterChoice(const TrainingContext& context, const EpochPlan* plan)
    : context_(context),
      plan_(*plan),
      cpu_(context, plan),
      whole_set_(context),
      automatic_(context),
      placement_(context.options->device) {}

Status FitterChoice::CheckDevice(const TrainerOptions& options) {
  if (!options.device.is_opencl()) return Status::Ok();
  return FindDevice(options.device).status();
}

HeadFitter* FitterChoice::chosen() {
  if (context_.options->optimizer == Optimizer::kAuto) return &automatic_;
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
    return "more than the last layer is trained, and only that trains on a device";
  }
  if (options.balance_groups) return "examples with weights of their own train on the CPU";
  if (!IsFirstOrder(options.optimizer) && !HasProducts(options.optimizer)) {
    return StrFormat("{} runs on the CPU: only sgd, adam, adamw, ridge and auto use a device",
                     OptimizerName(options.optimizer));
  }
  if (options.loss.focal_gamma > 0.0f || options.mixup_alpha > 0.0f ||
      options.balance_classes == Balance::kSmote) {
    return "focal loss, mixup and SMOTE run on the CPU";
  }
  if (placement_.is_final()) return "";
  if (!kHasTrials && kHasOpenCl) return kBuiltWithoutTrials;
  // Before anything of OpenCL is touched: loading it takes time and memory.
  const double n = static_cast<double>(context_.set->train().size());
  const double dim = static_cast<double>(context_.set->dim());
  const double flops = HasProducts(options.optimizer)
                           ? n * dim * std::min(n, dim)
                           : 4.0 * n * dim * context_.n_classes() *
                                 (options.epochs - context_.state->progress.epoch);
  const std::string too_little = WhyTooLittle(flops, kMinTrialFlops);
  if (!too_little.empty()) return too_little;
  const Status found = FindAutoDevice().status();
  return found.ok() ? "" : found.message();
}

void FitterChoice::LeaveDevice(const std::string& reason) {
  device_.reset();
  context_.products->Close();
  is_left_to_cpu_ = true;
  placement_.GiveUp(reason);
}

void FitterChoice::DropFailedDevice() {
  const std::string& failure =
      device_ != nullptr ? device_->failure() : context_.products->failure();
  if (!failure.empty() && !is_left_to_cpu_) LeaveDevice(std::string(failure));
}

// Makes device_ ready for the examples that there are now, or leaves it null with the reason.
void FitterChoice::EnsureDevice() {
  epoch_ = context_.state->progress.epoch;
  if (placement_.wanted().is_cpu() || is_left_to_cpu_) return;
  const std::string why_not = WhyNotOnDevice();
  if (!why_not.empty()) return placement_.StayOnCpu(why_not);  // more examples may change it
  if (!kHasOpenCl) return;
  if (HasProducts(context_.options->optimizer)) return EnsureProducts();
  const int64_t n_positions = static_cast<int64_t>(
      std::max(context_.state->order.size(), context_.set->validation().size()));
  if (device_ != nullptr && device_->Fits(n_positions)) return;
  device_.reset();  // its memory first
  const Result<DeviceName> name = NameToOpen(placement_.wanted());
  if (!name.ok()) return LeaveDevice(name.status().message());
  Result<std::unique_ptr<DeviceFitter>> device =
      DeviceFitter::Create(name.value(), context_, n_positions, &plan_, &cpu_);
  if (!device.ok()) return LeaveDevice(device.status().message());
  device_ = std::move(device.value());
  placement_.Use(device_->name());
  if (kHasTrials && !placement_.is_final() && !DeviceIsFaster()) {
    device_.reset();
    is_left_to_cpu_ = true;
  }
}

void FitterChoice::EnsureProducts() {
  DeviceProducts* const products = context_.products;
  if (products->is_open()) return;
  const Result<DeviceName> name = NameToOpen(placement_.wanted());
  const Status opened = name.ok() ? products->Open(name.value()) : name.status();
  if (!opened.ok()) return LeaveDevice(opened.message());
  placement_.Use(products->name());
  if (placement_.is_final()) return;
  const double on_device = NanosOfProducts(context_.pool, products);
  const double on_cpu = NanosOfProducts(context_.pool, nullptr);
  if (!products->failure().empty()) return LeaveDevice(products->failure());
  if (placement_.Decide(on_cpu, on_device, "product")) return;
  products->Close();
  is_left_to_cpu_ = true;
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
    placement_.GiveUp("the trial on the device failed: " + failure);
    return false;
  }
  return placement_.Decide(seconds[0] * 1e9, seconds[1] * 1e9, "step");
}

}  // namespace topwork
