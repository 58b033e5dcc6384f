// TrainingContext: what the parts of a trainer work on together. The trainer owns all of it.
#ifndef TOPWORK_RUNTIME_TRAIN_TRAINING_CONTEXT_H_
#define TOPWORK_RUNTIME_TRAIN_TRAINING_CONTEXT_H_

#include <vector>

#include "runtime/train/features/training_set.h"
#include "runtime/train/fit/device_products.h"
#include "runtime/train/fit/training_state.h"
#include "runtime/train/head/trained_layers.h"
#include "runtime/train/options.h"
#include "runtime/train/work_watch.h"

namespace topwork {

struct TrainingContext {
  TrainerOptions* options;  // n_classes and class_names are those of the moment
  const TrainedLayers* layers;
  TrainingSet* set;
  TrainingState* state;
  WorkWatch* watch;
  ThreadPool* pool;
  DeviceProducts* products;  // open where the device computes those of closed forms

  int n_classes() const { return options->n_classes; }
  // Puts new examples into the set's two parts; an epoch in progress goes on with those it has.
  Status EnsureSplit() const { return set->Split(!state->order.empty()); }
  Result<std::vector<int32_t>> IndicesOf(ExampleSet examples) const {
    TW_RETURN_IF_ERROR(EnsureSplit());
    return set->IndicesOf(examples);
  }
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_TRAINING_CONTEXT_H_
