// DeviceHead: buffers, uploads and runs; the arithmetic is that of kernels/train/head_*.cl.
#include "runtime/train/fit/device_head.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/elementwise.h"
#include "runtime/base/hash64.h"
#include "runtime/tensor/tensor.h"

namespace topwork {
namespace {

// Floats of features that are converted or copied at a time on their way to the device.
constexpr size_t kStagingFloats = size_t{1} << 20;
// Launches that gather before they are sent to the device.
constexpr int64_t kUnsentLaunches = 16;

HeadLoss HeadLossOf(Loss loss) {
  switch (loss) {
    case Loss::kSoftmaxCrossEntropy:
      return HeadLoss::kSoftmax;
    case Loss::kSigmoidCrossEntropy:
      return HeadLoss::kSigmoid;
    case Loss::kMeanSquaredError:
      return HeadLoss::kSquared;
    case Loss::kHuber:
      break;
  }
  return HeadLoss::kHuber;
}

uint64_t HashOf(const HeadValues& values) {
  uint64_t hash = 0;
  for (const Span<float>& part : {values.parameters, values.moment1, values.moment2}) {
    hash = Hash64(part.data(), part.size() * sizeof(float), hash);
  }
  return hash;
}

HeadLaunch LaunchOf(const TrainerOptions& options, const FeatureCache& cache, int64_t n_outputs,
                    bool has_class_weights, int64_t n_positions) {
  HeadLaunch op;
  op.dim = static_cast<int32_t>(cache.dim());
  op.n_outputs = static_cast<int32_t>(n_outputs);
  op.batch = static_cast<int32_t>(std::min<int64_t>(options.batch_size, n_positions));
  op.storage = cache.type() == FeatureType::kFloat16 ? Storage::kFloat16 : Storage::kFloat32;
  op.loss = HeadLossOf(options.loss.loss);
  op.label_smoothing = options.loss.label_smoothing;
  op.huber_delta = options.loss.huber_delta;
  op.has_class_weights = has_class_weights;
  op.adam = options.optimizer != Optimizer::kSgd;
  op.momentum = options.momentum;
  op.nesterov = options.nesterov;
  op.beta1 = options.beta1;
  op.beta2 = options.beta2;
  op.epsilon = options.epsilon;
  op.weight_decay = options.optimizer == Optimizer::kAdamW ? 0.0f : options.weight_decay;
  op.l1 = options.l1;
  op.clip_norm = options.clip_norm;
  return op;
}

// The largest magnitude; a NaN is infinite.
double Largest(const float* values, size_t n, double so_far) {
  for (size_t i = 0; i < n; ++i) {
    const double x = std::fabs(static_cast<double>(values[i]));
    if (!(x <= so_far)) so_far = std::isnan(x) ? std::numeric_limits<double>::infinity() : x;
  }
  return so_far;
}

// Every index that kernels compute as an int, and the number of work-items, must be one.
Status CheckSizes(const FeatureCache& cache, int64_t n_outputs, int64_t n_positions) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 64;
  const int64_t n_rows = cache.size() * (1 + cache.n_variants());
  if (cache.dim() < kMost && n_outputs < kMost && (cache.dim() + 1) * n_outputs < kMost * 32 &&
      n_rows < kMost && n_positions < kMost) {
    return Status::Ok();
  }
  return Unsupported("{} rows of {} features for {} outputs are too many", n_rows, cache.dim(),
                     n_outputs);
}

}  // namespace

void DeviceSteps::AddPosition(const FeatureCache& cache, int32_t example, int variant) {
  order.push_back(example * (1 + cache.n_variants()) + variant);
  order.push_back(example);
}

void DeviceSteps::AddStep(const OptimizerState::Rates& r, double weight_sum) {
  const int32_t first = spans.empty() ? 0 : spans[spans.size() - 2] + spans.back();
  spans.push_back(first);
  spans.push_back(static_cast<int32_t>(n_positions()) - first);
  weights.push_back(weight_sum);
  const float scale = static_cast<float>(1.0 / weight_sum);
  float row[kNumHeadRates] = {};
  row[kHeadLearningRate] = r.learning_rate;
  row[kHeadCorrection1] = r.correction1;
  row[kHeadCorrection2] = r.correction2;
  row[kHeadKeep] = r.keep;
  row[kHeadScale] = scale;
  rates.insert(rates.end(), row, row + kNumHeadRates);
}

Result<std::unique_ptr<DeviceHead>> DeviceHead::Create(const DeviceName& name,
                                                       const TrainerOptions& options,
                                                       const FeatureCache& cache, int64_t n_outputs,
                                                       bool has_class_weights, int64_t n_positions,
                                                       Groups groups) {
  TW_RETURN_IF_ERROR(CheckSizes(cache, n_outputs, n_positions));
  std::unique_ptr<DeviceHead> head(new DeviceHead);
  head->launch_ = LaunchOf(options, cache, n_outputs, has_class_weights, n_positions);
  head->n_positions_ = n_positions;
  TW_ASSIGN_OR_RETURN(head->workspace_, Workspace::Open(name));
  head->launch_.group = HeadGroup(head->workspace_->info().max_work_group);
  if (head->launch_.group == 0) {
    return Unsupported("'{}' allows work-groups of {} items, training needs 64", head->name(),
                       head->workspace_->info().max_work_group);
  }
  TW_RETURN_IF_ERROR(head->AddBuffers(options, cache));
  TW_RETURN_IF_ERROR(head->Record(groups));
  TW_RETURN_IF_ERROR(head->UploadFeatures(cache));
  TW_RETURN_IF_ERROR(head->UploadTargets(cache));
  head->cache_version_ = cache.version();
  return head;
}

bool DeviceHead::Fits(const FeatureCache& cache, int64_t n_outputs, bool has_class_weights,
                      int64_t n_positions) const {
  return cache_version_ == cache.version() && launch_.n_outputs == n_outputs &&
         launch_.has_class_weights == has_class_weights && n_positions <= n_positions_;
}

// All elements are of four bytes.
Result<LaunchArgument> DeviceHead::NewBuffer(int64_t n, const char* what) {
  TW_ASSIGN_OR_RETURN(const int32_t buffer,
                      workspace_->AddBuffer(static_cast<size_t>(n) * 4, what));
  return LaunchArgument::Buffer(buffer);
}

Status DeviceHead::AddBuffers(const TrainerOptions& options, const FeatureCache& cache) {
  HeadLaunch& op = launch_;
  const int64_t n_outputs = op.n_outputs, batch = op.batch;
  const int64_t n = (static_cast<int64_t>(op.dim) + 1) * n_outputs;
  const int64_t n_steps = n_positions_;  // at most: one position each
  has_moment2_ = op.adam;
  has_moment1_ = op.adam || options.momentum > 0.0f;
  const int64_t n_rows = cache.size() * (1 + cache.n_variants());
  const size_t feature_bytes = static_cast<size_t>(n_rows * op.dim) * StorageBytes(op.storage);
  TW_ASSIGN_OR_RETURN(const int32_t features, workspace_->AddBuffer(feature_bytes, "features"));
  op.features = LaunchArgument::Buffer(features);
  using H = HeadLaunch;
  const struct {
    LaunchArgument H::*argument;
    int64_t n;
    const char* what;
  } buffers[] = {{&H::targets, cache.size() * (cache.uses_labels() ? 1 : n_outputs), "targets"},
                 {&H::class_weights, n_outputs, "class weights"},
                 {&H::parameters, n, "parameters"},
                 {&H::gradient, n, "gradient"},
                 {&H::moment1, has_moment1_ ? n : 1, "moments"},
                 {&H::moment2, has_moment2_ ? n : 1, "moments"},
                 {&H::scores, batch * ScorePitch(op), "scores"},
                 {&H::parts, HeadParts(op), "scores"},
                 {&H::details, HeadDetails(op), "scores"},
                 {&H::order, 2 * n_positions_, "order"},
                 {&H::spans, 2 * n_steps, "steps"},
                 {&H::rates, kNumHeadRates * n_steps, "steps"},
                 {&H::state, kNumHeadStates, "state"},
                 {&H::losses, 2 * n_positions_, "losses"},
                 {&H::sums, HeadSums(op), "sums"}};
  for (const auto& buffer : buffers) {
    TW_ASSIGN_OR_RETURN(op.*buffer.argument, NewBuffer(buffer.n, buffer.what));
  }
  op.other_parameters = op.parameters;
  op.other_moment1 = op.moment1;
  op.other_moment2 = op.moment2;
  return Status::Ok();
}

Status DeviceHead::RecordLaunches(Span<const Launch> launches, std::vector<int>* recordings) {
  recorded_launches_.push_back(static_cast<int64_t>(launches.size()));
  TW_ASSIGN_OR_RETURN(const int recording, workspace_->Record(launches));
  recordings->push_back(recording);
  return Status::Ok();
}

Status DeviceHead::Record(Groups groups) {
  HeadLaunch plain = launch_;
  plain.label_smoothing = 0.0f;
  const int32_t most = groups == Groups::kBest ? StepsPerLaunch(launch_) : 0;
  for (int32_t n = 1; n <= most; n *= 2) {
    const Launch steps = MakeHeadSteps(launch_, n, true), losses = MakeHeadSteps(plain, n, false);
    TW_RETURN_IF_ERROR(RecordLaunches({&steps, 1}, &steps_));
    TW_RETURN_IF_ERROR(RecordLaunches({&losses, 1}, &evaluations_));
  }
  one_group_ = most > 0;
  if (one_group_) return Status::Ok();
  TW_RETURN_IF_ERROR(RecordLaunches(MakeHeadStep(launch_, true), &steps_));
  return RecordLaunches(MakeHeadEvaluation(plain), &evaluations_);
}

Status DeviceHead::RecordLateSteps() {
  late_steps_.clear();
  HeadLaunch op = launch_;
  const int64_t n = (static_cast<int64_t>(op.dim) + 1) * op.n_outputs;
  LaunchArgument* const others[] = {&op.other_parameters, &op.other_moment1, &op.other_moment2};
  const bool needed[] = {true, has_moment1_, has_moment2_};
  for (int i = 0; i < 3; ++i) {
    TW_ASSIGN_OR_RETURN(*others[i], NewBuffer(needed[i] ? n : 1, "late updates"));
  }
  TW_RETURN_IF_ERROR(RecordLaunches(MakeHeadStep(op, false), &late_steps_));
  const Launch end = MakeHeadEnd(op);
  return RecordLaunches({&end, 1}, &late_end_);
}

Status DeviceHead::Submit(int recording) {
  const int64_t n = recorded_launches_[static_cast<size_t>(recording)];
  n_launches_ += n;
  n_unsent_ += n;
  const bool send = n_unsent_ >= kUnsentLaunches;
  if (send) n_unsent_ = 0;
  return workspace_->Submit(recording, send);
}

Status DeviceHead::SubmitSteps(const std::vector<int>& doublings, int64_t n_steps) {
  for (size_t i = doublings.size(); i-- > 0;) {
    for (; n_steps >= int64_t{1} << i; n_steps -= int64_t{1} << i) {
      TW_RETURN_IF_ERROR(Submit(doublings[i]));
    }
  }
  return Status::Ok();
}

Status DeviceHead::Up(const LaunchArgument& to, const void* data, size_t bytes, uint64_t* kind) {
  *kind += bytes;
  return workspace_->Upload(to.buffer, 0, data, bytes);
}

Status DeviceHead::Down(const LaunchArgument& from, void* data, size_t bytes, uint64_t* kind) {
  *kind += bytes;
  return workspace_->Download(from.buffer, 0, data, bytes);
}

Status DeviceHead::UploadFeatures(const FeatureCache& cache) {
  const size_t dim = static_cast<size_t>(cache.dim());
  const size_t element = StorageBytes(launch_.storage);
  const bool half = launch_.storage == Storage::kFloat16;
  const int64_t n_rows = cache.size() * (1 + cache.n_variants());
  const size_t chunk =
      std::min(std::max<size_t>(1, kStagingFloats / dim), static_cast<size_t>(n_rows));
  std::vector<float> staging(chunk * dim);
  std::vector<uint16_t> halves(half ? chunk * dim : 0);
  size_t gathered = 0, sent = 0;
  for (int64_t i = 0, row = 0; i < cache.size(); ++i) {
    for (int v = 0; v <= cache.n_variants(); ++v, ++row) {
      float* to = staging.data() + gathered * dim;
      const float* from = cache.row(i, v, to);
      if (from != to) std::copy(from, from + dim, to);
      if (++gathered < chunk && row + 1 < n_rows) continue;
      const size_t n = gathered * dim;
      bounds_.feature = Largest(staging.data(), n, bounds_.feature);
      // The rows were halves before: nothing is lost.
      if (half) {
        BestCpuKernels().elementwise->float_to_half(staging.data(), halves.data(),
                                                    static_cast<int64_t>(n));
      }
      const void* data = half ? static_cast<const void*>(halves.data()) : staging.data();
      TW_RETURN_IF_ERROR(
          workspace_->Upload(launch_.features.buffer, sent * element, data, n * element));
      traffic_.features += n * element;
      sent += n;
      gathered = 0;
    }
  }
  return Status::Ok();
}

Status DeviceHead::UploadTargets(const FeatureCache& cache) {
  const size_t n = static_cast<size_t>(cache.size());
  if (cache.uses_labels()) {
    return Up(launch_.targets, cache.labels().data(), n * 4, &traffic_.features);
  }
  // Values of all examples lie one after the other.
  const size_t n_values = n * static_cast<size_t>(cache.n_outputs());
  bounds_.target = Largest(cache.values(0), n_values, 0.0);
  return Up(launch_.targets, cache.values(0), n_values * 4, &traffic_.features);
}

Status DeviceHead::UploadValues(const HeadValues& values) {
  const uint64_t hash = HashOf(values);
  if (holds_values_ && hash == values_hash_) return Status::Ok();
  holds_values_ = false;
  const size_t bytes = values.parameters.size() * sizeof(float);
  uint64_t* kind = &traffic_.values;
  TW_RETURN_IF_ERROR(Up(launch_.parameters, values.parameters.data(), bytes, kind));
  if (has_moment1_) {
    TW_RETURN_IF_ERROR(Up(launch_.moment1, values.moment1.data(), bytes, kind));
  }
  if (has_moment2_) {
    TW_RETURN_IF_ERROR(Up(launch_.moment2, values.moment2.data(), bytes, kind));
  }
  holds_values_ = true;
  values_hash_ = hash;
  return Status::Ok();
}

Status DeviceHead::UploadTables(const DeviceSteps& steps, Span<const float> class_weights) {
  uint64_t* kind = &traffic_.tables;
  const int32_t state[kNumHeadStates] = {};
  TW_RETURN_IF_ERROR(Up(launch_.order, steps.order.data(), steps.order.size() * 4, kind));
  TW_RETURN_IF_ERROR(Up(launch_.spans, steps.spans.data(), steps.spans.size() * 4, kind));
  TW_RETURN_IF_ERROR(Up(launch_.rates, steps.rates.data(), steps.rates.size() * 4, kind));
  if (launch_.has_class_weights) {
    TW_RETURN_IF_ERROR(
        Up(launch_.class_weights, class_weights.data(), class_weights.size() * 4, kind));
  }
  return Up(launch_.state, state, sizeof(state), kind);
}

Status DeviceHead::Begin(const DeviceSteps& steps, Span<const float> class_weights,
                         const HeadValues& values) {
  TW_RETURN_IF_ERROR(UploadValues(values));
  TW_RETURN_IF_ERROR(UploadTables(steps, class_weights));
  bounds_.class_weight = class_weights.empty() ? 1.0 : 0.0;
  bounds_.class_weight = Largest(class_weights.data(), class_weights.size(), bounds_.class_weight);
  bounds_.scale = 0.0;
  for (size_t k = kHeadScale; k < steps.rates.size(); k += kNumHeadRates) {
    bounds_.scale = Largest(&steps.rates[k], 1, bounds_.scale);
  }
  is_late_ = !one_group_ && !MayUpdateAtOnce(launch_, bounds_);
  if (is_late_ && late_end_.empty()) TW_RETURN_IF_ERROR(RecordLateSteps());
  spans_ = steps.spans;
  n_begun_ = 0;
  return Status::Ok();
}

Status DeviceHead::Run(int64_t n_steps) {
  holds_values_ = false;  // until they have come down
  n_begun_ += n_steps;
  TW_RETURN_IF_ERROR(SubmitSteps(is_late_ ? late_steps_ : steps_, n_steps));
  n_unsent_ = 0;
  return workspace_->Finish();
}

Status DeviceHead::End(const HeadValues& values, Outcome* out) {
  if (is_late_) TW_RETURN_IF_ERROR(Submit(late_end_[0]));
  int32_t state[kNumHeadStates] = {};
  TW_RETURN_IF_ERROR(Down(launch_.state, state, sizeof(state), &traffic_.tables));
  out->n_steps = state[kHeadStep];
  out->halt = static_cast<HeadHalt>(state[kHeadHalt]);
  if (is_late_ && out->halt != kHeadGoes) --out->n_steps;  // counted before it was refused
  const int64_t n_run = std::min(n_begun_, out->n_steps + (out->halt != kHeadGoes ? 1 : 0));
  if (n_run < 1 || out->n_steps > n_begun_ || (out->halt == kHeadGoes && n_run < n_begun_)) {
    return InternalError("'{}' took {} steps of {}", name(), out->n_steps, n_begun_);
  }
  const size_t last = static_cast<size_t>(n_run - 1);
  out->losses.resize(2 * static_cast<size_t>(spans_[2 * last] + spans_[2 * last + 1]));
  TW_RETURN_IF_ERROR(
      Down(launch_.losses, out->losses.data(), out->losses.size() * 4, &traffic_.losses));
  // Into memory of its own first: a device that is lost on the way leaves the host's values whole.
  std::vector<float> parts[3];
  const Span<float> to[3] = {values.parameters, values.moment1, values.moment2};
  const LaunchArgument* from[3] = {&launch_.parameters, &launch_.moment1, &launch_.moment2};
  for (int i = 0; i < 3; ++i) {
    parts[i].resize(to[i].size());
    TW_RETURN_IF_ERROR(Down(*from[i], parts[i].data(), to[i].size() * 4, &traffic_.values));
  }
  for (int i = 0; i < 3; ++i) std::copy(parts[i].begin(), parts[i].end(), to[i].begin());
  holds_values_ = true;
  values_hash_ = HashOf(values);
  return Status::Ok();
}

Status DeviceHead::Evaluate(const DeviceSteps& steps, Span<const float> class_weights,
                            const HeadValues& values, std::vector<float>* out_losses) {
  TW_RETURN_IF_ERROR(UploadValues(values));
  TW_RETURN_IF_ERROR(UploadTables(steps, class_weights));
  TW_RETURN_IF_ERROR(SubmitSteps(evaluations_, steps.n_steps()));
  out_losses->resize(steps.order.size());
  return Down(launch_.losses, out_losses->data(), out_losses->size() * 4, &traffic_.losses);
}

DeviceTraffic DeviceHead::traffic() const {
  DeviceTraffic traffic = traffic_;
  traffic.total = workspace_->uploaded_bytes() + workspace_->downloaded_bytes();
  return traffic;
}

}  // namespace topwork
