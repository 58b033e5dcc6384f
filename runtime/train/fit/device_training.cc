// The trainer's steps on a device: what goes there, for how long, and what stays on the CPU.
//
// The host's parameters and moments are right whenever the trainer is not in the middle of a run.
// A device that fails gives the run up: the CPU takes its steps again from where the run began.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ports/port.h"
#include "runtime/train/fit/device_head.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/head/dense_head.h"
#include "runtime/train/trainer.h"

namespace topwork {
namespace {

const char kAuto[] = "auto";
// Below this much work a trial, and the device's programs, cost more than they can bring: about a
// second of one core.
constexpr double kMinTrialFlops = 2e10;
// Between two looks at the clock and at Cancel().
constexpr double kRunSeconds = 0.025;
constexpr int64_t kFirstRun = 8;
// A trial of either side; the better of two counts.
constexpr double kTrialSeconds = 0.02;

bool IsAuto(const std::string& device) {
  return device == kAuto || device.compare(0, sizeof(kAuto), std::string(kAuto) + ":") == 0;
}

// "auto:mali" means the device "opencl:mali", "auto" the best GPU.
std::string ChoiceOf(const std::string& device) {
  return IsAuto(device) ? "opencl" + device.substr(sizeof(kAuto) - 1) : device;
}

HeadValues ValuesOf(Trainable* network, const OptimizerState& optimizer) {
  return {network->parameters(), optimizer.moment1(), optimizer.moment2()};
}

}  // namespace

DeviceTraffic Trainer::device_traffic() const {
  return device_ != nullptr ? device_->traffic() : DeviceTraffic();
}

Status Trainer::CheckDevice() const {
  if (options_.device.empty() || IsAuto(options_.device)) return Status::Ok();
  return opencl::Workspace::Find(options_.device).status();
}

std::string Trainer::WhyNotOnDevice() const {
  if (deep()) {
    return StrFormat("n_layers is %d: only the last layer trains on a device", options_.n_layers);
  }
  if (!IsFirstOrder(options_.optimizer)) {
    return StrFormat("%s looks at all examples at once: only sgd, adam and adamw run on a device",
                     OptimizerName(options_.optimizer));
  }
  if (options_.device != kAuto || device_decided_) return "";
  // Before anything of OpenCL is touched: loading it takes time and memory.
  const double flops = 4.0 * static_cast<double>(dim()) * n_classes() *
                       static_cast<double>(train_.size()) * (options_.epochs - progress_.epoch);
  if (flops < kMinTrialFlops) {
    return StrFormat("%.3g GFLOP of training are too few to try a device", flops * 1e-9);
  }
  const Status gpu = opencl::Workspace::Find(ChoiceOf(options_.device)).status();
  return gpu.ok() ? "" : gpu.message();
}

void Trainer::LeaveDevice(const std::string& reason) {
  device_.reset();
  device_decided_ = true;
  device_state_ = {"cpu", reason};
}

// Makes device_ ready for the examples that there are now, or leaves it null with the reason.
void Trainer::EnsureDevice() {
  device_epoch_ = progress_.epoch;
  if (options_.device.empty() || (device_decided_ && device_ == nullptr)) return;
  const std::string why_not = WhyNotOnDevice();
  if (!why_not.empty()) {
    device_state_ = {"cpu", why_not};  // more examples may change it
    return;
  }
  const int64_t n_positions =
      static_cast<int64_t>(std::max(progress_.order.size(), validation_.size()));
  const bool weighted = !loss_.class_weights.empty();
  if (device_ != nullptr && device_->Fits(*cache_, n_classes(), weighted, n_positions)) return;
  device_.reset();  // its memory first
  Result<std::unique_ptr<DeviceHead>> device = DeviceHead::Create(
      ChoiceOf(options_.device), options_, *cache_, n_classes(), weighted, n_positions);
  if (!device.ok()) return LeaveDevice(device.status().message());
  device_ = std::move(device.value());
  device_state_.name = device_->name();
  if (!IsAuto(options_.device) || device_decided_) return;
  device_decided_ = true;
  if (!DeviceIsFaster()) device_.reset();
}

// Takes the same steps on both and gives everything back as it was.
bool Trainer::DeviceIsFaster() {
  const HeadValues values = ValuesOf(network_.get(), *optimizer_);
  std::vector<float> before[3];
  const Span<float> parts[3] = {values.parameters, values.moment1, values.moment2};
  for (int i = 0; i < 3; ++i) before[i].assign(parts[i].begin(), parts[i].end());
  const int64_t n_updates = optimizer_->n_updates();
  const Progress progress = progress_;
  const double temperature = temperature_;
  double seconds[2] = {0.0, 0.0};  // a step, on the CPU and on the device
  std::string failure;
  for (int trial = 0; trial < 4 && failure.empty(); ++trial) {
    const bool on_device = trial % 2 == 1;
    int64_t n = 0;
    double loss = 0.0;
    bool done = true;
    const int64_t start = port::NowNanos();
    Status status;
    if (on_device) {
      status = DeviceRun(std::numeric_limits<int64_t>::max(), kTrialSeconds, &loss, &done);
      n = progress_.step - progress.step;
    }
    while (!on_device && status.ok() && progress_.position < progress_.order.size() &&
           (n == 0 || port::SecondsSince(start) < kTrialSeconds)) {
      status = StepImpl(&loss);
      ++n;
    }
    if (!status.ok() || !done) failure = done ? status.message() : device_state_.reason;
    const double per_step =
        port::SecondsSince(start) / static_cast<double>(std::max<int64_t>(1, n));
    double& best = seconds[on_device ? 1 : 0];
    best = trial < 2 ? per_step : std::min(best, per_step);
    for (int i = 0; i < 3; ++i) std::copy(before[i].begin(), before[i].end(), parts[i].begin());
    optimizer_->set_n_updates(n_updates);
    progress_ = progress;
    temperature_ = temperature;
  }
  if (!failure.empty()) {
    device_state_ = {"cpu", "the trial on the device failed: " + failure};
    return false;
  }
  const bool faster = seconds[1] < seconds[0];
  device_state_.reason = StrFormat("measured: %.1f us a step on the CPU, %.1f us on '%s'",
                                   seconds[0] * 1e6, seconds[1] * 1e6, device_state_.name.c_str());
  if (!faster) device_state_.name = "cpu";
  return faster;
}

// The next steps of the epoch in progress.
void Trainer::PlanDeviceSteps(int64_t max_steps, DeviceSteps* out) const {
  const size_t batch = static_cast<size_t>(options_.batch_size);
  size_t position = progress_.position;
  for (int64_t k = 0; k < max_steps && position < progress_.order.size(); ++k) {
    const size_t end = std::min(position + batch, progress_.order.size());
    double weight_sum = 0.0;
    for (; position < end; ++position) {
      const int32_t example = train_[static_cast<size_t>(progress_.order[position])];
      out->AddPosition(*cache_, example, VariantOf(example));
      const int32_t label = cache_->uses_labels() ? cache_->label(example) : 0;
      weight_sum += RowWeight(loss_, {&label, nullptr}, 0);
    }
    out->AddStep(OptimizerState::RatesOf(options_, LearningRateAt(progress_.step + k),
                                         optimizer_->n_updates() + k + 1),
                 weight_sum);
  }
}

namespace {

// Runs steps in portions that grow to kRunSeconds, until `stop` says so.
Status RunInPortions(DeviceHead* device, int64_t n_steps, FunctionRef<bool()> stop) {
  int64_t portion = kFirstRun;
  for (int64_t done = 0; done < n_steps;) {
    const int64_t n = std::min(portion, n_steps - done);
    const int64_t start = port::NowNanos();
    TW_RETURN_IF_ERROR(device->Run(n));
    const double seconds = port::SecondsSince(start);
    done += n;
    if (stop()) break;
    if (seconds < 0.5 * kRunSeconds) portion *= 2;
    if (seconds > 2.0 * kRunSeconds) portion = std::max<int64_t>(1, portion / 2);
  }
  return Status::Ok();
}

// Sums over the steps taken, and what the refused one is refused for.
struct StepSums {
  double loss = 0.0, hits = 0.0, weight = 0.0;
  double last_loss = 0.0;
  size_t n_positions = 0;
};

StepSums SumSteps(const DeviceSteps& steps, const DeviceHead::Outcome& outcome) {
  StepSums sums;
  for (size_t k = 0; k < static_cast<size_t>(outcome.n_steps); ++k) {
    const size_t first = static_cast<size_t>(steps.spans[2 * k]);
    sums.n_positions = first + static_cast<size_t>(steps.spans[2 * k + 1]);
    double loss = 0.0;
    for (size_t p = first; p < sums.n_positions; ++p) {
      loss += static_cast<double>(outcome.losses[2 * p]);
      sums.hits += static_cast<double>(outcome.losses[2 * p + 1]);
    }
    sums.loss += loss;
    sums.weight += steps.weights[k];
    sums.last_loss = loss / steps.weights[k];
  }
  return sums;
}

Status RefusedStep(const DeviceSteps& steps, const DeviceHead::Outcome& outcome, Loss loss) {
  if (outcome.halt == kHeadBadWeights) return GradientTooLarge(kHeadWeights);
  if (outcome.halt == kHeadBadBias) return GradientTooLarge(kHeadBias);
  const size_t k = static_cast<size_t>(outcome.n_steps);
  const size_t first = static_cast<size_t>(steps.spans[2 * k]);
  int32_t row = 0;
  while (row + 1 < steps.spans[2 * k + 1] &&
         std::isfinite(outcome.losses[2 * (first + static_cast<size_t>(row))])) {
    ++row;
  }
  return LossNotFinite(loss, row);
}

}  // namespace

// *out_done false: the device failed, nothing has changed, and the CPU is to go on.
Status Trainer::DeviceRun(int64_t max_steps, double max_seconds, double* out_loss, bool* out_done) {
  *out_done = false;
  DeviceSteps steps;
  PlanDeviceSteps(max_steps, &steps);
  const HeadValues values = ValuesOf(network_.get(), *optimizer_);
  const int64_t start = port::NowNanos();
  const auto stop = [&] {
    return cancel_.load() || (max_seconds > 0.0 && port::SecondsSince(start) >= max_seconds);
  };
  DeviceHead::Outcome outcome;
  Status status = device_->Begin(steps, loss_.class_weights, values);
  if (status.ok()) status = RunInPortions(device_.get(), steps.n_steps(), stop);
  if (status.ok()) status = device_->End(values, &outcome);
  if (!status.ok()) {
    LeaveDevice("the device failed: " + status.message());
    return Status::Ok();
  }
  *out_done = true;
  const StepSums sums = SumSteps(steps, outcome);
  optimizer_->set_n_updates(optimizer_->n_updates() + outcome.n_steps);
  if (outcome.n_steps > 0) temperature_ = 1.0;
  progress_.step += outcome.n_steps;
  progress_.position += sums.n_positions;
  progress_.loss_sum += sums.loss;
  progress_.weight_sum += sums.weight;
  progress_.hits += sums.hits;
  *out_loss = sums.last_loss;
  if (outcome.halt == kHeadGoes) return Status::Ok();
  return RefusedStep(steps, outcome, options_.loss.loss)
      .WithPrefix(StrFormat("epoch %d, step %lld: ", progress_.epoch + 1,
                            static_cast<long long>(progress_.step + 1)));
}

// As Measure, of examples in the trainer's own cache.
Status Trainer::MeasureOnDevice(Span<const int32_t> indices, Measured* out) {
  DeviceSteps steps;
  double weights = 0.0;
  for (size_t i = 0; i < indices.size(); ++i) {
    steps.AddPosition(*cache_, indices[i], 0);
    const int32_t label = cache_->uses_labels() ? cache_->label(indices[i]) : 0;
    weights += RowWeight(loss_, {&label, nullptr}, 0);
    const bool full = (i + 1) % static_cast<size_t>(options_.batch_size) == 0;
    if (full || i + 1 == indices.size()) steps.AddStep({0.0f, 0.0f, 0.0f, 0.0f}, 1.0);
  }
  std::vector<float> losses;
  const Status status =
      device_->Evaluate(steps, loss_.class_weights, ValuesOf(network_.get(), *optimizer_), &losses);
  if (!status.ok()) {
    LeaveDevice("the device failed: " + status.message());
    return Measure(*cache_, indices, out);
  }
  Measured sum;
  for (size_t i = 0; i < indices.size(); ++i) {
    sum.loss += static_cast<double>(losses[2 * i]);
    sum.accuracy += static_cast<double>(losses[2 * i + 1]);
  }
  out->loss = sum.loss / weights;
  out->accuracy = sum.accuracy / static_cast<double>(indices.size());
  return Status::Ok();
}

}  // namespace topwork
