// The steps of a run on a device: its tables, how long it goes on, and what came of it.
#include "runtime/train/fit/device_fitter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ports/port.h"
#include "runtime/train/head/dense_head.h"

namespace topwork {
namespace {

// Between two looks at the clock and at requests to stop.
constexpr double kRunSeconds = 0.025;
constexpr int64_t kFirstRun = 8;

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

std::string FailureOf(const Status& status) { return "the device failed: " + status.message(); }

}  // namespace

DeviceFitter::DeviceFitter(const TrainingContext& context, const EpochPlan* plan, HeadFitter* cpu,
                           std::unique_ptr<DeviceHead> device)
    : context_(context), plan_(*plan), cpu_(*cpu), device_(std::move(device)) {}

Result<std::unique_ptr<DeviceFitter>> DeviceFitter::Create(const DeviceName& name,
                                                           const TrainingContext& context,
                                                           int64_t n_positions,
                                                           const EpochPlan* plan, HeadFitter* cpu) {
  TW_ASSIGN_OR_RETURN(
      std::unique_ptr<DeviceHead> device,
      DeviceHead::Create(name, *context.options, context.set->cache(), context.n_classes(),
                         !context.set->loss().class_weights.empty(), n_positions));
  return std::unique_ptr<DeviceFitter>(new DeviceFitter(context, plan, cpu, std::move(device)));
}

bool DeviceFitter::Fits(int64_t n_positions) const {
  return device_->Fits(context_.set->cache(), context_.n_classes(),
                       !context_.set->loss().class_weights.empty(), n_positions);
}

HeadValues DeviceFitter::Values() const {
  const TrainingState& state = *context_.state;
  return {state.network->parameters(), state.optimizer->moment1(), state.optimizer->moment2()};
}

// The next steps of the epoch in progress.
void DeviceFitter::PlanSteps(int64_t max_steps, DeviceSteps* out) const {
  const TrainingState& state = *context_.state;
  const FeatureCache& cache = context_.set->cache();
  const size_t batch = static_cast<size_t>(context_.options->batch_size);
  size_t position = static_cast<size_t>(state.progress.position);
  for (int64_t k = 0; k < max_steps && position < state.order.size(); ++k) {
    const size_t end = std::min(position + batch, state.order.size());
    double weight_sum = 0.0;
    for (; position < end; ++position) {
      const ExampleRows::Item item = plan_.ItemAt(position);
      out->AddPosition(cache, item.example, item.variant);
      const int32_t label = cache.uses_labels() ? cache.label(item.example) : 0;
      weight_sum += RowWeight(context_.set->loss(), {&label, nullptr}, 0);
    }
    const float rate = static_cast<float>(plan_.LearningRateAt(state.progress.step + k));
    out->AddStep(
        OptimizerState::RatesOf(*context_.options, rate, state.optimizer->n_updates() + k + 1),
        weight_sum);
  }
}

Status DeviceFitter::TakeSteps(const DeviceSteps& steps, double max_seconds,
                               DeviceHead::Outcome* out) {
  const HeadValues values = Values();
  const int64_t start = port::NowNanos();
  const auto stop = [&] {
    return context_.watch->cancelled() ||
           (max_seconds > 0.0 && port::SecondsSince(start) >= max_seconds);
  };
  TW_RETURN_IF_ERROR(device_->Begin(steps, context_.set->loss().class_weights, values));
  TW_RETURN_IF_ERROR(RunInPortions(device_.get(), steps.n_steps(), stop));
  return device_->End(values, out);
}

Status DeviceFitter::Advance(int64_t max_steps, double max_seconds, double* out_loss) {
  if (!failure_.empty()) return cpu_.Advance(max_steps, max_seconds, out_loss);
  DeviceSteps steps;
  PlanSteps(max_steps, &steps);
  DeviceHead::Outcome outcome;
  const Status status = TakeSteps(steps, max_seconds, &outcome);
  if (!status.ok()) {
    failure_ = FailureOf(status);
    return cpu_.Advance(max_steps, max_seconds, out_loss);
  }
  TrainingState& state = *context_.state;
  const StepSums sums = SumSteps(steps, outcome);
  state.optimizer->set_n_updates(state.optimizer->n_updates() + outcome.n_steps);
  if (outcome.n_steps > 0) state.temperature = 1.0;
  state.progress.step += outcome.n_steps;
  state.progress.position += sums.n_positions;
  state.progress.loss_sum += sums.loss;
  state.progress.weight_sum += sums.weight;
  state.progress.hits += sums.hits;
  *out_loss = sums.last_loss;
  if (outcome.halt == kHeadGoes) return Status::Ok();
  return RefusedStep(steps, outcome, context_.options->loss.loss)
      .WithPrefix(
          StrFormat("epoch {}, step {}: ", state.progress.epoch + 1, state.progress.step + 1));
}

Status DeviceFitter::Measure(Span<const int32_t> examples, Measured* out) {
  if (!failure_.empty()) return cpu_.Measure(examples, out);
  const FeatureCache& cache = context_.set->cache();
  const LossOptions& loss = context_.set->loss();
  const size_t batch = static_cast<size_t>(context_.options->batch_size);
  DeviceSteps steps;
  double weights = 0.0;
  for (size_t i = 0; i < examples.size(); ++i) {
    steps.AddPosition(cache, examples[i], 0);
    const int32_t label = cache.uses_labels() ? cache.label(examples[i]) : 0;
    weights += RowWeight(loss, {&label, nullptr}, 0);
    const bool full = (i + 1) % batch == 0;
    if (full || i + 1 == examples.size()) steps.AddStep({0.0f, 0.0f, 0.0f, 0.0f}, 1.0);
  }
  std::vector<float> losses;
  const Status status = device_->Evaluate(steps, loss.class_weights, Values(), &losses);
  if (!status.ok()) {
    failure_ = FailureOf(status);
    return cpu_.Measure(examples, out);
  }
  Measured sum;
  for (size_t i = 0; i < examples.size(); ++i) {
    sum.loss += static_cast<double>(losses[2 * i]);
    sum.accuracy += static_cast<double>(losses[2 * i + 1]);
  }
  out->loss = sum.loss / weights;
  out->accuracy = sum.accuracy / static_cast<double>(examples.size());
  return Status::Ok();
}

}  // namespace topwork
