// TrainerOptions: everything that a training run depends on, as plain data.
#ifndef TOPWORK_RUNTIME_TRAIN_OPTIONS_H_
#define TOPWORK_RUNTIME_TRAIN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/buffer.h"
#include "runtime/base/status.h"

namespace topwork {

struct CpuKernels;

// The numbers are those of `tw_optimizer` in the C API and of checkpoints.
enum class Optimizer : int {
  kSgd = 0,   // v ← momentum·v + g;  w ← w − learning_rate·v  (Nesterov: g + momentum·v)
  kAdam = 1,  // with bias correction; epsilon is added to √v̂
};

// The numbers are those of `tw_head_init` in the C API.
enum class HeadInit : int {
  kZeros = 0,
  kShipped = 1,  // the model's own head; needs the same number of classes
};

struct TrainerOptions {
  // Classes of the new head, ≥ 2. 0: the number of class_names, else that of the shipped head (two
  // for a head of one score).
  int n_classes = 0;
  // Written into the exported model as its labels; empty, or n_classes names.
  std::vector<std::string> class_names;
  HeadInit init = HeadInit::kZeros;

  Optimizer optimizer = Optimizer::kAdam;
  // 0: chosen from the training features x when training begins, so that a step changes a score by
  // at most about one: Adam 1 / (1 + mean Σ|x|), SGD 4·(1 − momentum) / (1 + mean Σx²).
  float learning_rate = 0.0f;
  float momentum = 0.0f;  // SGD, in [0, 1)
  bool nesterov = false;  // SGD with momentum
  float beta1 = 0.9f;     // Adam, in [0, 1)
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  // L2 penalty ½·weight_decay·|w|² on the weights, never on the bias; its gradient is added to the
  // loss's. learning_rate × weight_decay ≤ 1.
  float weight_decay = 0.0f;

  int batch_size = 32;
  int epochs = 20;
  uint64_t seed = 1;  // of the split and of the order of examples
  // Share of the examples of every class, in [0, 1), that is kept out of training; a class keeps at
  // least one example on each side when it has two or more.
  float validation_fraction = 0.2f;

  int output = 0;                        // which model output's head is trained
  int n_threads = 0;                     // 0: all processors; the results do not depend on it
  int feature_batch_size = 0;            // examples per run of the backbone; 0: chosen
  size_t cache_limit_bytes = 0;          // of the feature cache; 0: no limit
  size_t memory_limit_bytes = 0;         // of the backbone's session; 0: no limit
  const Allocator* allocator = nullptr;  // null: default; must outlive the trainer
  const CpuKernels* cpu = nullptr;       // null: the best of this processor
};

// INVALID_ARGUMENT names the first field that is out of range. n_classes is not looked at.
Status CheckOptions(const TrainerOptions& options);

const char* OptimizerName(Optimizer optimizer);  // "sgd", "adam"

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_OPTIONS_H_
