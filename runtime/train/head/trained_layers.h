// TrainedLayers: which layers of a model are trained, and networks made of them.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_TRAINED_LAYERS_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_TRAINED_LAYERS_H_

#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/selection.h"
#include "models/format/model.h"
#include "runtime/train/features/backbone.h"
#include "runtime/train/head/head.h"
#include "runtime/train/head/tail.h"
#include "runtime/train/head/trainable.h"
#include "runtime/train/options.h"

namespace topwork {

class TrainedLayers {
 public:
  // Finds the head of options.output and the options.n_layers − 1 layers below it. UNSUPPORTED says
  // what was found instead.
  static Result<TrainedLayers> Find(std::shared_ptr<const Model> model,
                                    const TrainerOptions& options);

  const Model& model() const { return *model_; }
  const Head& head() const { return head_; }
  const Tail& tail() const { return tail_; }  // without operators unless deep()
  // More than the last layer: the network is a TailNetwork.
  bool deep() const { return !kTrainsLastAlone && tail_.n_layers > 0; }
  // All that is trained is the last layer, behind the feature or a random projection of it.
  bool only_last() const { return !deep() || (tail_.cut < 0 && !added_.trained); }
  const AddedLayer& added() const { return added_; }
  // D of the last layer's weights.
  int head_dim() const { return added_.n_units > 0 ? added_.n_units : head_.dim; }
  Cut cut() const;  // where the backbone ends

  // A network of n_classes outputs whose last layer is zero; other layers are as shipped. `pool`
  // and the options' allocator must outlive it.
  Status Build(int n_classes, const TrainerOptions& options, ThreadPool* pool,
               std::unique_ptr<Trainable>* out) const;
  // The network as the model has it.
  Status BuildShipped(const TrainerOptions& options, ThreadPool* pool,
                      std::unique_ptr<Trainable>* out) const;

  // For every class of the shipped head the new class of the same name, or −1. Where either has no
  // names, classes are the same by their index if there are as many.
  std::vector<int> ShippedClassMap(const TrainerOptions& options) const;

 private:
  std::shared_ptr<const Model> model_;
  Head head_;
  Tail tail_;
  AddedLayer added_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_TRAINED_LAYERS_H_
