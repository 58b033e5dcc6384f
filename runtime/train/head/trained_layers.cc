// Finding the layers to train, and building them.
#include "runtime/train/head/trained_layers.h"

#include <algorithm>
#include <utility>

#include "runtime/train/head/dense_head.h"
#include "runtime/train/head/tail_network.h"
#include "runtime/train/identity/identity_head.h"

namespace topwork {

Result<TrainedLayers> TrainedLayers::Find(std::shared_ptr<const Model> model,
                                          const TrainerOptions& options) {
  TrainedLayers layers;
  const Graph& graph = model->main();
  layers.model_ = std::move(model);
  layers.added_ = AddedBy(options);
  // The weights are read where they are asked for.
  TW_ASSIGN_OR_RETURN(layers.head_, FindHead(graph, options.output, options.append_head, false));
  layers.head_.shipped_bias = std::vector<float>();
  if (layers.added_.n_units > 0 && layers.head_.n_positions > 1) {
    return Unsupported(
        "the last layer is a convolution in front of pooling: a layer between it and its feature "
        "would not be the same after pooling");
  }
  if (kTrainsLastAlone || options.n_layers == 1) {
    if (layers.added_.n_units == 0) return layers;
    layers.tail_.n_layers = 1;
    layers.tail_.dim = layers.head_.dim;
    return layers;
  }
  if (layers.head_.appended()) {
    return InvalidArgument("the head is added after the output, which is one layer; n_layers is {}",
                           options.n_layers);
  }
  const Trained trained = options.bias_only ? Trained::kBiasAndScale : Trained::kAll;
  TW_ASSIGN_OR_RETURN(layers.tail_, FindTail(graph, layers.head_, options.n_layers, trained));
  return layers;
}

Cut TrainedLayers::cut() const {
  if (tail_.cut >= 0) return {tail_.cut, tail_.batch, tail_.dim, 1};
  return {head_.feature, head_.batch, head_.dim, head_.n_positions};
}

Status TrainedLayers::Build(int n_classes, const TrainerOptions& options, ThreadPool* pool,
                            std::unique_ptr<Trainable>* out) const {
  // Without an added layer, as the model was shipped, features alone may still go in.
  if (options.optimizer == Optimizer::kKnn) {
    TW_ASSIGN_OR_RETURN(*out, NewIdentityHead(head_.dim, n_classes, options, pool));
    return Status::Ok();
  }
  const bool only_head = kTrainsLastAlone || (tail_.cut < 0 && AddedBy(options).n_units == 0);
  if (only_head) {
    TW_ASSIGN_OR_RETURN(
        *out, DenseHead::Create(head_.dim, n_classes, options.allocator, options.cpu, pool));
    return Status::Ok();
  }
  TW_ASSIGN_OR_RETURN(*out,
                      TailNetwork::Create(model_->main(), head_, tail_, n_classes, options, pool));
  for (const ParameterInfo& info : (*out)->layout()) {
    if (info.name != kHeadWeights && info.name != kHeadBias) continue;
    float* part = (*out)->parameters().data() + info.offset;
    std::fill(part, part + info.size, 0.0f);
  }
  return Status::Ok();
}

Status TrainedLayers::BuildShipped(const TrainerOptions& given, ThreadPool* pool,
                                   std::unique_ptr<Trainable>* out) const {
  TrainerOptions options = given;
  options.n_hidden = options.n_projected = 0;
  options.optimizer = Optimizer::kAuto;  // no stored examples
  TW_RETURN_IF_ERROR(Build(head_.n_classes, options, pool, out));
  Trainable* network = out->get();
  std::vector<float> weights, bias;
  TW_RETURN_IF_ERROR(ReadShippedHead(model_->main(), head_, &weights, &bias));
  for (const ParameterInfo& info : network->layout()) {
    if (info.name != kHeadWeights && info.name != kHeadBias) continue;
    const std::vector<float>& shipped = info.name == kHeadWeights ? weights : bias;
    std::copy(shipped.begin(), shipped.end(), network->parameters().data() + info.offset);
  }
  return Status::Ok();
}

std::vector<int> TrainedLayers::ShippedClassMap(const TrainerOptions& options) const {
  const size_t n_shipped = static_cast<size_t>(head_.n_classes);
  std::vector<int> map(n_shipped, -1);
  const std::vector<std::string>& labels = model_->labels();
  const std::vector<std::string>& names = options.class_names;
  const bool by_name = labels.size() == n_shipped && !names.empty();
  for (size_t c = 0; c < n_shipped; ++c) {
    if (by_name) {
      const auto found = std::find(names.begin(), names.end(), labels[c]);
      if (found != names.end()) map[c] = static_cast<int>(found - names.begin());
    } else if (head_.n_classes == options.n_classes) {
      map[c] = static_cast<int>(c);
    }
  }
  return map;
}

}  // namespace topwork
