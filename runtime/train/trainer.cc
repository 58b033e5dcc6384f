// Trainer: creation and memory. Examples are in trainer_examples.cc, the loop in fit/
// (trainer_start, training, device_training, whole_set), judging in judge/evaluate.cc; the rest of
// the class is in classes.cc, parameters.cc, head_exchange.cc, export.cc, checkpoint.cc and
// checkpoint_adopt.cc.
#include "runtime/train/trainer.h"

#include <algorithm>
#include <utility>

#include "models/format/constants.h"
#include "runtime/base/printable.h"
#include "runtime/train/fit/device_head.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/fit/solvers.h"
#include "runtime/train/head/dense_head.h"
#include "runtime/train/head/tail_network.h"

namespace topwork {

Trainer::Trainer() = default;
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::Create(std::shared_ptr<const Model> model,
                                                 const TrainerOptions& options) {
  TW_RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<Trainer> trainer(new Trainer);
  trainer->model_ = model;
  trainer->options_ = options;
  TW_RETURN_IF_ERROR(trainer->CheckDevice());
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
  // Often larger than all that is trained; read again where it is asked for.
  head_.shipped_weights = std::vector<float>();
  head_.shipped_bias = std::vector<float>();
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
  for (std::string& name : options_.class_names) name = Printable(name);
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
  std::vector<float> shipped;
  for (const ParameterInfo& info : network->layout()) {
    const bool weights = info.name == kHeadWeights;
    if (!weights && (info.name != kHeadBias || head_.bias < 0)) continue;
    TW_RETURN_IF_ERROR(ReadFloats(model_->main(), weights ? head_.weights : head_.bias, &shipped));
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

TrainerMemory Trainer::memory() const {
  TrainerMemory memory;
  memory.backbone_bytes = extractor_->memory_bytes() + extractor_->packed_bytes();
  memory.cache_bytes = cache_->bytes() + (golden_ != nullptr ? golden_->bytes() : 0);
  if (cache_->file() != nullptr) memory.cache_file_bytes = cache_->file()->bytes();
  const size_t n_floats = batch_scratch_.size() + progress_.best_parameters.size() +
                          accepted_.size() + progress_.order.size() + train_.size() +
                          validation_.size();
  memory.head_bytes = network_->bytes() + optimizer_->bytes() +
                      (lbfgs_ != nullptr ? lbfgs_->bytes() : 0) + cache_->index_bytes() +
                      n_floats * sizeof(float);
  memory.working_bytes = working_bytes_;
  if (device_ != nullptr) memory.device_bytes = device_->bytes();
  memory.total_bytes =
      memory.backbone_bytes + memory.cache_bytes + memory.head_bytes + memory.working_bytes;
  return memory;
}

void Trainer::SetPermutations(std::vector<std::vector<int32_t>> permutations) {
  permutations_ = std::move(permutations);
}

}  // namespace topwork
