// Trainer: puts head, features, optimizer and metrics together.
#include "runtime/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "models/format/write.h"
#include "ports/port.h"
#include "runtime/base/sha256.h"
#include "runtime/train/head_trainer.h"
#include "runtime/train/random.h"
#include "runtime/train/split.h"

namespace topwork {
namespace {

constexpr int64_t kMeasureRows = 256;

}  // namespace

Trainer::Trainer() = default;
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::Create(std::shared_ptr<const Model> model,
                                                 const TrainerOptions& options) {
  TW_RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<Trainer> trainer(new Trainer);
  trainer->model_ = model;
  trainer->options_ = options;
  TW_ASSIGN_OR_RETURN(trainer->head_, FindHead(model->main(), options.output, options.append_head));
  TW_RETURN_IF_ERROR(trainer->ResolveClasses());
  const Head& head = trainer->head_;
  Cut cut;
  cut.value = head.embedding;
  cut.batch = head.batch;
  cut.dim = head.dim;
  cut.n_positions = head.n_positions;
  TW_ASSIGN_OR_RETURN(trainer->extractor_, FeatureExtractor::Create(model, cut, options));
  trainer->cache_ = trainer->extractor_->NewCache(0);
  TW_ASSIGN_OR_RETURN(trainer->head_trainer_,
                      HeadTrainer::Create(head.dim, trainer->n_classes(), trainer->options_,
                                          &trainer->extractor_->pool()));
  if (options.init == HeadInit::kShipped) {
    TW_RETURN_IF_ERROR(trainer->SetWeights(head.shipped_weights, head.shipped_bias));
  }
  trainer->random_state_ = options.seed;
  trainer->learning_rate_ = options.learning_rate;
  return trainer;
}

Status Trainer::ResolveClasses() {
  const size_t n_names = options_.class_names.size();
  if (head_.quantized) {
    const Op& op = model_->main().ops[static_cast<size_t>(head_.op)];
    return Unsupported(
        "the last layer, %s (operator #%d), computes in integers; heads that compute "
        "in float32 can be trained",
        op.name(), op.file_index);
  }
  if (options_.n_classes == 0 && n_names == 0 && head_.appended()) {
    return InvalidArgument(
        "output #%d is an embedding, so the model does not say how many classes there are: give "
        "n_classes or class_names",
        head_.output);
  }
  if (options_.n_classes == 0) {
    // A head of one score tells two classes apart; here each class has its own.
    options_.n_classes = n_names > 0 ? static_cast<int>(n_names) : std::max(2, head_.n_classes);
  }
  if (options_.n_classes < 2) {
    return InvalidArgument(
        "a classifier of %d class%s cannot be trained; give n_classes of 2 or "
        "more",
        options_.n_classes, options_.n_classes == 1 ? "" : "es");
  }
  if (n_names > 0 && n_names != static_cast<size_t>(options_.n_classes)) {
    return InvalidArgument("%zu class names for %d classes", n_names, options_.n_classes);
  }
  if (options_.init == HeadInit::kShipped &&
      (options_.n_classes != head_.n_classes || head_.activation != Activation::kNone)) {
    return InvalidArgument(
        "the new head cannot start from the shipped one, which has %d classes%s; "
        "the new one has %d",
        head_.n_classes, head_.activation != Activation::kNone ? " and a fused activation" : "",
        options_.n_classes);
  }
  return Status::Ok();
}

void Trainer::Cancel() {
  cancel_.store(true);
  extractor_->Cancel();
}

Status Trainer::Extract(const Examples& examples, const FeatureProgress& progress,
                        FeatureCache* cache) {
  const auto watch = [&](int64_t n_done, int64_t n_total) {
    if (cancel_.load()) return false;
    return !progress || progress(n_done, n_total);
  };
  if (cancel_.exchange(false)) return Cancelled("feature extraction was cancelled");
  const Status status = extractor_->Extract(examples, n_classes(), watch, cache);
  if (status.code() == StatusCode::kCancelled) cancel_.store(false);
  return status;
}

Status Trainer::AddExamples(const Examples& examples, const FeatureProgress& progress) {
  if (split_done_) {
    return FailedPrecondition("examples cannot be added once training has begun");
  }
  examples_digest_.clear();
  return Extract(examples, progress, cache_.get());
}

Status Trainer::AddFeatures(const float* features, const int32_t* labels, int64_t n) {
  if (split_done_) {
    return FailedPrecondition("features cannot be added once training has begun");
  }
  examples_digest_.clear();
  TW_RETURN_IF_ERROR(cache_->Reserve(n));
  const int64_t before = cache_->size();
  for (int64_t i = 0; i < n; ++i) {
    Status status;
    if (labels[i] < 0 || labels[i] >= n_classes()) {
      status = InvalidArgument("example %lld has label %d; labels are 0 to %d",
                               static_cast<long long>(i), labels[i], n_classes() - 1);
    } else {
      ExampleTarget target;
      target.label = labels[i];
      status = cache_->Append(features + i * head_.dim, target);
    }
    if (!status.ok()) {
      cache_->Truncate(before);
      return status;
    }
  }
  return Status::Ok();
}

Status Trainer::EnsureSplit() {
  if (split_done_) return Status::Ok();
  if (cache_->size() == 0) {
    return FailedPrecondition("there are no examples: add some before training");
  }
  std::vector<bool> seen(static_cast<size_t>(n_classes()));
  for (int32_t label : cache_->labels()) seen[static_cast<size_t>(label)] = true;
  if (std::count(seen.begin(), seen.end(), true) < 2) {
    return InvalidArgument("all %lld examples are of one class (%d); training needs two or more",
                           static_cast<long long>(cache_->size()), cache_->label(0));
  }
  Split split =
      StratifiedSplit(cache_->labels(), n_classes(), options_.validation_fraction, options_.seed);
  train_ = std::move(split.train);
  validation_ = std::move(split.validation);
  split_done_ = true;
  if (learning_rate_ == 0.0f) learning_rate_ = ChooseLearningRate();
  head_trainer_->set_learning_rate(learning_rate_);
  return Status::Ok();
}

// One Adam step moves every parameter by at most about the learning rate, so a score by
// rate · (1 + Σ|x|).
// A plain SGD step is stable up to 4 / (1 + Σx²): the loss's curvature is at most half of that sum.
float Trainer::ChooseLearningRate() const {
  double absolute = 0.0;
  double squared = 0.0;
  for (int32_t i : train_) {
    const float* row = cache_->row(i);
    for (int d = 0; d < head_.dim; ++d) {
      const double x = static_cast<double>(row[d]);
      absolute += std::fabs(x);
      squared += x * x;
    }
  }
  const double n = static_cast<double>(train_.size());
  double rate = 1.0 / (1.0 + absolute / n);
  if (options_.optimizer == Optimizer::kSgd) {
    rate = 4.0 * (1.0 - static_cast<double>(options_.momentum)) / (1.0 + squared / n);
  }
  if (options_.weight_decay > 0.0f) {
    rate = std::min(rate, 1.0 / static_cast<double>(options_.weight_decay));
  }
  return static_cast<float>(std::max(rate, 1e-12));
}

Status Trainer::StartEpoch() {
  const size_t n = train_.size();
  Random random(random_state_);
  const size_t epoch = static_cast<size_t>(epoch_);
  if (epoch < permutations_.size()) {
    order_ = permutations_[epoch];
    const auto out_of_range = [&](int32_t i) { return i < 0 || static_cast<size_t>(i) >= n; };
    if (order_.empty() || std::any_of(order_.begin(), order_.end(), out_of_range)) {
      order_.clear();
      return InvalidArgument("the permutation of epoch %d does not fit %zu training examples",
                             epoch_ + 1, n);
    }
  } else {
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0);
    random.Shuffle(&order_);
  }
  next_random_state_ = random.state();
  return Status::Ok();
}

Status Trainer::StepImpl(double* out_loss, bool* out_epoch_done) {
  if (order_.empty()) TW_RETURN_IF_ERROR(StartEpoch());
  const size_t n = std::min(static_cast<size_t>(options_.batch_size), order_.size() - position_);
  batch_rows_.resize(n);
  batch_labels_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const int32_t example = train_[static_cast<size_t>(order_[position_ + i])];
    batch_rows_[i] = cache_->row(example);
    batch_labels_[i] = cache_->label(example);
  }
  HeadTrainer::StepResult result;
  const Status status = head_trainer_->Step(batch_rows_.data(), batch_labels_.data(),
                                            static_cast<int64_t>(n), &result);
  if (!status.ok()) {
    return status.WithPrefix(
        StrFormat("epoch %d, step %lld: ", epoch_ + 1, static_cast<long long>(step_ + 1)));
  }
  ++step_;
  position_ += n;
  loss_sum_ += result.loss_sum;
  n_correct_ += result.n_correct;
  *out_loss = result.loss_sum / static_cast<double>(n);
  *out_epoch_done = position_ == order_.size();
  return Status::Ok();
}

Status Trainer::Step(double* out_loss, bool* out_epoch_done) {
  TW_RETURN_IF_ERROR(EnsureSplit());
  const int64_t start = port::NowNanos();
  TW_RETURN_IF_ERROR(StepImpl(out_loss, out_epoch_done));
  if (*out_epoch_done) FinishEpoch();
  const double seconds = static_cast<double>(port::NowNanos() - start) * 1e-9;
  if (*out_epoch_done) {
    history_.back().seconds += seconds;
  } else {
    epoch_seconds_ += seconds;
  }
  return Status::Ok();
}

void Trainer::FinishEpoch() {
  EpochMetrics metrics;
  metrics.epoch = ++epoch_;
  metrics.n_epochs = options_.epochs;
  metrics.step = step_;
  const double n = static_cast<double>(order_.size());
  metrics.train_loss = loss_sum_ / n;
  metrics.train_accuracy = static_cast<double>(n_correct_) / n;
  metrics.has_validation = !validation_.empty();
  if (metrics.has_validation) {
    const Measured measured = Measure(*cache_, validation_, nullptr);
    metrics.validation_loss = measured.loss;
    metrics.validation_accuracy = measured.accuracy;
  }
  metrics.seconds = epoch_seconds_;
  history_.push_back(metrics);
  order_.clear();
  position_ = 0;
  loss_sum_ = 0.0;
  n_correct_ = 0;
  epoch_seconds_ = 0.0;
  random_state_ = next_random_state_;
}

Status Trainer::Train(const EpochCallback& on_epoch) {
  TW_RETURN_IF_ERROR(EnsureSplit());
  while (epoch_ < options_.epochs) {
    if (cancel_.exchange(false)) return Cancelled("training was cancelled");
    double loss = 0.0;
    bool epoch_done = false;
    TW_RETURN_IF_ERROR(Step(&loss, &epoch_done));
    if (epoch_done && on_epoch && !on_epoch(history_.back())) break;
  }
  return Status::Ok();
}

Trainer::Measured Trainer::Measure(const FeatureCache& cache, Span<const int32_t> indices,
                                   MetricsCollector* collector) {
  const size_t n_classes = static_cast<size_t>(this->n_classes());
  std::vector<const float*> rows;
  std::vector<float> logits(static_cast<size_t>(kMeasureRows) * n_classes);
  Measured sum;
  for (size_t first = 0; first < indices.size(); first += kMeasureRows) {
    const size_t n = std::min<size_t>(kMeasureRows, indices.size() - first);
    rows.clear();
    for (size_t i = 0; i < n; ++i) rows.push_back(cache.row(indices[first + i]));
    head_trainer_->Logits(rows.data(), static_cast<int64_t>(n), logits.data());
    for (size_t i = 0; i < n; ++i) {
      const float* row = logits.data() + i * n_classes;
      const int32_t label = cache.label(indices[first + i]);
      if (collector != nullptr) {
        collector->AddLogits(row, label);
        continue;
      }
      sum.loss += CrossEntropy(row, this->n_classes(), label);
      sum.accuracy += std::max_element(row, row + n_classes) - row == label ? 1.0 : 0.0;
    }
  }
  sum.loss /= static_cast<double>(indices.size());
  sum.accuracy /= static_cast<double>(indices.size());
  return sum;
}

Result<Evaluation> Trainer::Evaluate(ExampleSet set) {
  TW_RETURN_IF_ERROR(EnsureSplit());
  std::vector<int32_t> all;
  if (set == ExampleSet::kAll) {
    all.resize(static_cast<size_t>(cache_->size()));
    std::iota(all.begin(), all.end(), 0);
  }
  const std::vector<int32_t>& indices = set == ExampleSet::kTrain        ? train_
                                        : set == ExampleSet::kValidation ? validation_
                                                                         : all;
  if (indices.empty()) {
    return FailedPrecondition("no examples are kept for validation (validation_fraction is %g)",
                              static_cast<double>(options_.validation_fraction));
  }
  MetricsCollector collector(n_classes());
  Measure(*cache_, indices, &collector);
  return collector.Finish();
}

Result<Evaluation> Trainer::Evaluate(const Examples& examples, const FeatureProgress& progress) {
  const std::unique_ptr<FeatureCache> cache = extractor_->NewCache(0, false);
  TW_RETURN_IF_ERROR(Extract(examples, progress, cache.get()));
  if (cache->size() == 0) return InvalidArgument("there are no examples to evaluate");
  std::vector<int32_t> indices(static_cast<size_t>(cache->size()));
  std::iota(indices.begin(), indices.end(), 0);
  MetricsCollector collector(n_classes());
  Measure(*cache, indices, &collector);
  return collector.Finish();
}

Span<const float> Trainer::weights() const {
  return {head_trainer_->parameters().data(), static_cast<size_t>(head_trainer_->n_weights())};
}

Span<const float> Trainer::bias() const {
  return {head_trainer_->parameters().data() + head_trainer_->n_weights(),
          static_cast<size_t>(n_classes())};
}

Status Trainer::SetWeights(Span<const float> weights, Span<const float> bias) {
  if (weights.size() != this->weights().size() || bias.size() != this->bias().size()) {
    return InvalidArgument("%zu weights and %zu biases for a head of %d classes and %d features",
                           weights.size(), bias.size(), n_classes(), head_.dim);
  }
  const auto finite = [](float x) { return std::isfinite(x); };
  if (!std::all_of(weights.begin(), weights.end(), finite) ||
      !std::all_of(bias.begin(), bias.end(), finite)) {
    return NumericError("the weights or biases given are not finite");
  }
  float* parameters = head_trainer_->parameters().data();
  std::copy(weights.begin(), weights.end(), parameters);
  std::copy(bias.begin(), bias.end(), parameters + weights.size());
  return Status::Ok();
}

Result<std::vector<uint8_t>> Trainer::Export() const {
  HeadReplacement replacement = ReplacementFor(model_->main(), head_, options_.loss.loss);
  replacement.n_classes = n_classes();
  replacement.weights = weights();
  replacement.bias = bias();
  replacement.class_names = options_.class_names;
  return ExportWithHead(*model_, replacement);
}

Status Trainer::ExportFile(const std::string& path) const {
  TW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Export());
  const int error = port::WriteFileAtomic(path.c_str(), bytes.data(), bytes.size());
  if (error != 0) {
    return IoError("cannot write '%s': %s", path.c_str(), port::ErrorText(error).c_str());
  }
  return Status::Ok();
}

void Trainer::SetPermutations(std::vector<std::vector<int32_t>> permutations) {
  permutations_ = std::move(permutations);
}

}  // namespace topwork
