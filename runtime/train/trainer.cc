// Trainer: creation, examples, and the split. The loop is in training.cc and whole_set.cc, the rest
// of the class in classes.cc, evaluate.cc, export.cc and checkpoint.cc.
#include "runtime/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "runtime/train/dense_head.h"
#include "runtime/train/optimizer.h"
#include "runtime/train/solvers.h"
#include "runtime/train/split.h"
#include "runtime/train/tail_network.h"

namespace topwork {
namespace {

// Of networks of several layers, whose scale the cached rows do not tell.
constexpr float kDeepAdamRate = 1e-3f;
constexpr float kDeepSgdRate = 1e-2f;

}  // namespace

Trainer::Trainer() = default;
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::Create(std::shared_ptr<const Model> model,
                                                 const TrainerOptions& options) {
  TW_RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<Trainer> trainer(new Trainer);
  trainer->model_ = model;
  trainer->options_ = options;
  TW_RETURN_IF_ERROR(trainer->FindLayers());
  TW_RETURN_IF_ERROR(trainer->ResolveClasses());
  TW_ASSIGN_OR_RETURN(trainer->extractor_,
                      FeatureExtractor::Create(model, trainer->CutOfLayers(), trainer->options_));
  TW_RETURN_IF_ERROR(trainer->Restart());
  trainer->cache_ = trainer->NewCache(true);
  if (options.replay_capacity > 0) {
    trainer->replay_.reset(new ReplayMemory(options.replay_capacity, options.seed));
  }
  trainer->progress_.random_state = options.seed;
  trainer->learning_rate_ = options.learning_rate;
  return trainer;
}

Status Trainer::FindLayers() {
  const Graph& graph = model_->main();
  TW_ASSIGN_OR_RETURN(head_, FindHead(graph, options_.output, options_.append_head));
  if (!deep()) return Status::Ok();
  if (head_.appended()) {
    return InvalidArgument(
        "the head is appended behind the output, which is one layer; n_layers is %d",
        options_.n_layers);
  }
  const Trained trained = options_.bias_only ? Trained::kBiasAndScale : Trained::kAll;
  TW_ASSIGN_OR_RETURN(tail_, FindTail(graph, head_, options_.n_layers, trained));
  return Status::Ok();
}

Cut Trainer::CutOfLayers() const {
  if (deep()) return {tail_.cut, tail_.batch, tail_.dim, 1};
  return {head_.embedding, head_.batch, head_.dim, head_.n_positions};
}

Status Trainer::ResolveClasses() {
  const size_t n_names = options_.class_names.size();
  const bool labels = UsesLabels(options_.loss.loss);
  if (options_.n_classes == 0 && n_names == 0 && head_.appended()) {
    return InvalidArgument("a head behind an embedding needs n_classes or class_names");
  }
  if (options_.n_classes == 0) {
    // A head of one score tells two classes apart; here each class has its own.
    const int shipped = labels ? std::max(2, head_.n_classes) : std::max(1, head_.n_classes);
    options_.n_classes = n_names > 0 ? static_cast<int>(n_names) : shipped;
  }
  if (labels && options_.n_classes < 2) {
    return InvalidArgument(
        "a classifier of %d class%s cannot be trained; give n_classes of 2 or more",
        options_.n_classes, options_.n_classes == 1 ? "" : "es");
  }
  if (options_.n_classes < 1) return InvalidArgument("n_classes is %d", options_.n_classes);
  if (n_names > 0 && n_names != static_cast<size_t>(options_.n_classes)) {
    return InvalidArgument("%zu class names for %d classes", n_names, options_.n_classes);
  }
  const size_t n_weights = options_.loss.class_weights.size();
  if (n_weights > 0 && n_weights != static_cast<size_t>(options_.n_classes)) {
    return InvalidArgument("%zu class weights for %d classes", n_weights, options_.n_classes);
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

// A network for n_classes outputs whose last layer is zero, other layers as shipped.
Status Trainer::BuildNetwork(int n_classes, std::unique_ptr<Trainable>* out) const {
  if (deep()) {
    TW_ASSIGN_OR_RETURN(
        *out, TailNetwork::Create(model_->main(), head_, tail_, n_classes, options_, &pool()));
    for (const ParameterInfo& info : (*out)->layout()) {
      if (info.name != kHeadWeights && info.name != kHeadBias) continue;
      float* part = (*out)->parameters().data() + info.offset;
      std::fill(part, part + info.size, 0.0f);
    }
    return Status::Ok();
  }
  TW_ASSIGN_OR_RETURN(
      *out, DenseHead::Create(head_.dim, n_classes, options_.allocator, options_.cpu, &pool()));
  return Status::Ok();
}

// The network as the model has it.
Status Trainer::BuildShipped(std::unique_ptr<Trainable>* out) const {
  TW_RETURN_IF_ERROR(BuildNetwork(head_.n_classes, out));
  Trainable* network = out->get();
  for (const ParameterInfo& info : network->layout()) {
    const bool weights = info.name == kHeadWeights;
    if (!weights && info.name != kHeadBias) continue;
    const std::vector<float>& shipped = weights ? head_.shipped_weights : head_.shipped_bias;
    std::copy(shipped.begin(), shipped.end(), network->parameters().data() + info.offset);
  }
  return Status::Ok();
}

Status Trainer::Restart() {
  const bool shipped = options_.init == HeadInit::kShipped;
  TW_RETURN_IF_ERROR(shipped ? BuildShipped(&network_) : BuildNetwork(n_classes(), &network_));
  TW_ASSIGN_OR_RETURN(optimizer_, OptimizerState::Create(options_, network_->layout(), &pool()));
  fresh_classes_.assign(static_cast<size_t>(n_classes()), options_.init == HeadInit::kImprint);
  loss_ = options_.loss;
  if (shipped) accepted_.assign(parameters().begin(), parameters().end());
  return Status::Ok();
}

std::unique_ptr<FeatureCache> Trainer::NewCache(bool with_variants) const {
  return extractor_->NewCache(UsesLabels(options_.loss.loss) ? 0 : n_classes(), with_variants);
}

void Trainer::Cancel() {
  cancel_.store(true);
  if (extracting_.load()) extractor_->Cancel();
}

Status Trainer::Extract(const Examples& examples, const FeatureProgress& progress,
                        FeatureCache* cache) {
  const auto watch = [&](int64_t n_done, int64_t n_total) {
    if (cancel_.load()) return false;
    return !progress || progress(n_done, n_total);
  };
  if (cancel_.exchange(false)) return Cancelled("feature extraction was cancelled");
  extracting_.store(true);
  const Status status = extractor_->Extract(examples, n_classes(), watch, cache);
  extracting_.store(false);
  if (status.code() == StatusCode::kCancelled) cancel_.store(false);
  return status;
}

// Examples whose targets nobody asks for.
Status Trainer::ExtractUnlabelled(const Examples& examples, FeatureCache* cache) {
  Examples unlabelled = examples;
  const int n_values = UsesLabels(options_.loss.loss) ? 0 : n_classes();
  const auto fill = [n_values](ExampleTarget* target) {
    target->label = 0;
    for (int i = 0; i < n_values; ++i) target->values[i] = 0.0f;
    return Status::Ok();
  };
  unlabelled.read = [=](int64_t index, Span<void* const> inputs, ExampleTarget* target) {
    TW_RETURN_IF_ERROR(examples.read(index, inputs, target));
    return fill(target);
  };
  if (examples.key) {
    unlabelled.target = [=](int64_t, ExampleTarget* target) { return fill(target); };
  }
  return Extract(unlabelled, nullptr, cache);
}

Status Trainer::AddExamples(const Examples& examples, const FeatureProgress& progress) {
  examples_digest_.clear();
  if (replay_ == nullptr) return Extract(examples, progress, cache_.get());
  const std::unique_ptr<FeatureCache> fresh = NewCache(true);
  TW_RETURN_IF_ERROR(Extract(examples, progress, fresh.get()));
  return AddToReplay(*fresh);
}

// Offers every new example to the memory, which says where it goes, if anywhere.
Status Trainer::AddToReplay(const FeatureCache& fresh) {
  const int64_t n_rows = fresh.n_variants() + 1;
  std::vector<float> rows(static_cast<size_t>(n_rows * dim()));
  for (int64_t i = 0; i < fresh.size(); ++i) {
    TW_RETURN_IF_ERROR(cache_->Reserve(1));
    const int64_t slot = replay_->Offer(fresh.uses_labels() ? fresh.label(i) : 0);
    if (slot < 0) continue;
    for (int64_t v = 0; v < n_rows; ++v) {
      float* to = rows.data() + v * dim();
      const float* row = fresh.row(i, static_cast<int>(v), to);
      if (row != to) std::copy(row, row + dim(), to);
    }
    ExampleTarget target;
    std::vector<float> values;
    if (fresh.uses_labels()) {
      target.label = fresh.label(i);
    } else {
      values.assign(fresh.values(i), fresh.values(i) + n_classes());
      target.values = values.data();
    }
    TW_RETURN_IF_ERROR(slot < cache_->size() ? cache_->Replace(slot, rows.data(), target)
                                             : cache_->Append(rows.data(), target));
  }
  return Status::Ok();
}

Status Trainer::AddFeatures(const float* features, const int32_t* labels, int64_t n) {
  if (!cache_->uses_labels() || cache_->n_variants() > 0) {
    return FailedPrecondition(
        "features with labels suit the softmax loss without augmentation; the loss is '%s'",
        LossName(options_.loss.loss));
  }
  for (int64_t i = 0; i < n; ++i) {
    if (labels[i] >= 0 && labels[i] < n_classes()) continue;
    return InvalidArgument("example %lld has label %d; labels are 0 to %d",
                           static_cast<long long>(i), labels[i], n_classes() - 1);
  }
  examples_digest_.clear();
  const std::unique_ptr<FeatureCache> fresh = replay_ != nullptr ? NewCache(true) : nullptr;
  FeatureCache* to = fresh != nullptr ? fresh.get() : cache_.get();
  const int64_t before = to->size();
  TW_RETURN_IF_ERROR(to->Reserve(n));
  for (int64_t i = 0; i < n; ++i) {
    ExampleTarget target;
    target.label = labels[i];
    const Status status = to->Append(features + i * dim(), target);
    if (status.ok()) continue;
    to->Truncate(before);
    return status;
  }
  return fresh != nullptr ? AddToReplay(*fresh) : Status::Ok();
}

Status Trainer::CheckTrainable() const {
  if (cache_->size() == 0) {
    return FailedPrecondition("there are no examples: add some before training");
  }
  if (!cache_->uses_labels()) return Status::Ok();
  const Span<const int32_t> labels = cache_->labels();
  const int32_t first = labels[0];
  if (std::any_of(labels.begin(), labels.end(), [=](int32_t label) { return label != first; })) {
    return Status::Ok();
  }
  return InvalidArgument("all %lld examples are of one class (%d); training needs two or more",
                         static_cast<long long>(cache_->size()), first);
}

// Examples that came since the last split are split among themselves; sets once made stay.
void Trainer::SplitNewExamples() {
  const int64_t n_new = cache_->size() - n_split_;
  if (n_new == 0) return;
  const bool values = !cache_->uses_labels();
  std::vector<int32_t> labels(static_cast<size_t>(n_new), 0);
  for (int64_t i = 0; i < n_new && !values; ++i) {
    labels[static_cast<size_t>(i)] = cache_->label(n_split_ + i);
  }
  const Split split =
      StratifiedSplit(labels, values ? 1 : n_classes(), options_.validation_fraction,
                      options_.seed + static_cast<uint64_t>(n_split_));
  const int32_t offset = static_cast<int32_t>(n_split_);
  for (int32_t i : split.train) train_.push_back(offset + i);
  for (int32_t i : split.validation) validation_.push_back(offset + i);
  n_split_ = cache_->size();
  UpdateClassWeights();
}

Status Trainer::EnsureSplit() {
  TW_RETURN_IF_ERROR(CheckTrainable());
  SplitNewExamples();
  return Status::Ok();
}

// n / (C · n_c), as scikit-learn's class_weight="balanced"; a class without examples weighs 1.
void Trainer::UpdateClassWeights() {
  if (!options_.balance_classes) return;
  std::vector<int64_t> counts(static_cast<size_t>(n_classes()), 0);
  for (int32_t i : train_) ++counts[static_cast<size_t>(cache_->label(i))];
  loss_.class_weights.clear();
  for (int64_t count : counts) {
    const double weight = static_cast<double>(train_.size()) /
                          (static_cast<double>(n_classes()) * static_cast<double>(count));
    loss_.class_weights.push_back(count > 0 ? static_cast<float>(weight) : 1.0f);
  }
}

// Ready to step: examples split, learning rate chosen, new classes imprinted.
Status Trainer::EnsureReady() {
  TW_RETURN_IF_ERROR(EnsureSplit());
  if (learning_rate_ == 0.0f) learning_rate_ = ChooseLearningRate();
  return ImprintFreshClasses();
}

// Rows of classes that were never trained start from their examples' mean: as long as the other
// rows, with a bias that stands between their own examples and the others'.
Status Trainer::ImprintFreshClasses() {
  if (std::count(fresh_classes_.begin(), fresh_classes_.end(), true) == 0 || deep()) {
    return Status::Ok();
  }
  std::vector<int64_t> counts(fresh_classes_.size(), 0);
  for (int32_t i : train_) ++counts[static_cast<size_t>(cache_->label(i))];
  std::vector<int> classes;
  int n_old = 0;
  double norm = 0.0;
  for (size_t c = 0; c < fresh_classes_.size(); ++c) {
    if (fresh_classes_[c]) {
      if (counts[c] > 0) classes.push_back(static_cast<int>(c));
      continue;
    }
    const float* row = weights().data() + static_cast<int64_t>(c) * head_.dim;
    double square = 0.0;
    for (int d = 0; d < head_.dim; ++d) {
      square += static_cast<double>(row[d]) * static_cast<double>(row[d]);
    }
    norm += std::sqrt(square);
    ++n_old;
  }
  if (classes.empty()) return Status::Ok();
  const bool all_fresh = norm == 0.0;
  TW_RETURN_IF_ERROR(ImprintClasses(classes, all_fresh ? 1.0 : norm / n_old));
  TW_RETURN_IF_ERROR(all_fresh ? FitScale() : PlaceBiases(classes));
  for (int c : classes) fresh_classes_[static_cast<size_t>(c)] = false;
  return Status::Ok();
}

// The bias of each class: the middle between what its own examples need to win on average, and what
// the others' allow.
Status Trainer::PlaceBiases(const std::vector<int>& classes) {
  float* bias =
      network_->parameters().data() + layout()[static_cast<size_t>(FindLayout(kHeadBias))].offset;
  for (int c : classes) {
    double needed[2] = {0.0, 0.0};  // of the others' examples, of its own
    int64_t n[2] = {0, 0};
    TW_RETURN_IF_ERROR(
        ForEachScores(network_.get(), *cache_, train_, [&](int32_t i, const float* scores) {
          const size_t own = cache_->label(i) == c ? 1 : 0;
          double best = -std::numeric_limits<double>::infinity();
          for (int k = 0; k < n_classes(); ++k) {
            if (k != c && !fresh_classes_[static_cast<size_t>(k)]) {
              best = std::max(best, static_cast<double>(scores[k]));
            }
          }
          needed[own] += best - static_cast<double>(scores[c]);
          ++n[own];
        }));
    if (n[0] == 0 || n[1] == 0) continue;
    bias[c] = static_cast<float>(
        0.5 * (needed[0] / static_cast<double>(n[0]) + needed[1] / static_cast<double>(n[1])));
  }
  return Status::Ok();
}

// One Adam step moves every parameter by at most about the learning rate, so a score by
// rate · (1 + Σ|x|).
// A plain SGD step is stable up to 4 / (1 + Σx²): the loss's curvature is at most half of that sum.
float Trainer::ChooseLearningRate() const {
  const bool sgd = options_.optimizer == Optimizer::kSgd;
  if (deep()) return sgd ? kDeepSgdRate : kDeepAdamRate;
  double absolute = 0.0;
  double squared = 0.0;
  std::vector<float> scratch(static_cast<size_t>(dim()));
  for (int32_t i : train_) {
    const float* row = cache_->row(i, 0, scratch.data());
    for (int64_t d = 0; d < dim(); ++d) {
      const double x = static_cast<double>(row[d]);
      absolute += std::fabs(x);
      squared += x * x;
    }
  }
  const double n = static_cast<double>(train_.size());
  double rate = 1.0 / (1.0 + absolute / n);
  if (sgd) rate = 4.0 * (1.0 - static_cast<double>(options_.momentum)) / (1.0 + squared / n);
  // The mean squared error has twice the curvature of the logistic losses' bound of ½, and more.
  if (sgd && IsRegression(options_.loss.loss)) rate *= 0.125 * n_classes();
  if (options_.weight_decay > 0.0f) {
    rate = std::min(rate, 1.0 / static_cast<double>(options_.weight_decay));
  }
  return static_cast<float>(std::max(rate, 1e-12));
}

TrainerMemory Trainer::memory() const {
  TrainerMemory memory;
  memory.backbone_bytes = extractor_->memory_bytes() + extractor_->packed_bytes();
  memory.cache_bytes = cache_->bytes() + (golden_ != nullptr ? golden_->bytes() : 0);
  if (cache_->file() != nullptr) memory.cache_file_bytes = cache_->file()->bytes();
  memory.head_bytes = network_->bytes() + optimizer_->bytes() +
                      batch_scratch_.size() * sizeof(float) +
                      progress_.best_parameters.size() * sizeof(float);
  memory.total_bytes = memory.backbone_bytes + memory.cache_bytes + memory.head_bytes;
  return memory;
}

void Trainer::SetPermutations(std::vector<std::vector<int32_t>> permutations) {
  permutations_ = std::move(permutations);
}

}  // namespace topwork
