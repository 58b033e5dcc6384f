// TrainerOptions: everything that a training run depends on, as plain data.
#ifndef TOPWORK_RUNTIME_TRAIN_OPTIONS_H_
#define TOPWORK_RUNTIME_TRAIN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/gpu/launch.h"
#include "runtime/backend/device_name.h"
#include "runtime/base/buffer.h"
#include "runtime/base/status.h"
#include "runtime/train/fit/loss.h"
#include "runtime/train/fit/schedule.h"

namespace topwork {

struct CpuKernels;

// The numbers are those of `tw_optimizer` in the C API and of checkpoints.
enum class Optimizer : int {
  kSgd = 0,    // v ← momentum·v + g;  w ← w − learning_rate·v  (Nesterov: g + momentum·v)
  kAdam = 1,   // with bias correction; epsilon is added to √v̂
  kAdamW = 2,  // Adam with the L2 penalty applied to the weights, not through the gradient
  kLbfgs = 3,  // all examples at once; an epoch is an iteration; last layer or deeper
  kRidge = 4,  // closed form, one epoch; regression, or one-hot targets for classes; last layer
  kImprint = 5,  // normalised mean of each class's embeddings, one epoch; classes; last layer
  // The best of several closed forms and L-BFGS by examples left out (auto/head_selector.h), one
  // epoch; last layer. With an option that only steps or deeper layers have it stands for kAdam,
  // with momentum for kSgd; see ResolveOptimizer.
  kAuto = 6,
  // The examples of each class that are nearest by their cosine (identity/identity_head.h), one epoch;
  // classes; last layer.
  kKnn = 7,
};

// True for those that take mini-batch steps with a learning rate.
inline bool IsFirstOrder(Optimizer optimizer) {
  return kTrainsPlainly || optimizer <= Optimizer::kAdamW;
}
// True for those whose head is fitted anew whenever examples have changed.
inline bool FollowsExamples(Optimizer optimizer) {
  return !kTrainsPlainly && optimizer >= Optimizer::kAuto;
}

constexpr int kMostKnn = 64;

// The numbers are those of `tw_head_init` in the C API.
enum class HeadInit : int {
  kZeros = 0,
  kShipped = 1,  // the model's own head; needs the same number of classes
  kImprint = 2,  // normalised mean embeddings of the training examples, when training begins
};

// Seeded variations of every example, computed once and cached; the first two dimensions of an
// image after the batch are its rows and columns. Needs a model of one input of rank 4 (NHWC).
struct Augmentation {
  Extra<int> n_variants = 0;  // cached per example, beside the example itself; 0: off
  bool flip = false;          // left to right, every second variant by chance
  float crop = 0.0f;        // up to this share of either side is cut off and scaled back, [0, 0.9]
  float brightness = 0.0f;  // up to ± this share of the input's range is added, [0, 1]
  float noise = 0.0f;       // standard deviation of Gaussian noise, as a share of the range, [0, 1]
};

enum class FeatureType : int { kFloat32 = 0, kFloat16 = 1 };

// What makes all classes count the same. The numbers are those of `tw_balance` in the C API.
enum class Balance : int {
  kNone = 0,
  kWeights = 1,  // class weights n / (C · n_c) of the training examples
  // An epoch of a mini-batch optimizer takes as many examples of every class: some again ...
  kRepeat = 2,
  // ... or, in their place, points between one and a neighbour of its class (SMOTE, Chawla et al.
  // 2002): one of the 5 nearest among up to 256 of them.
  kSmote = 3,
};

struct TrainerOptions {
  // Defined once: they are long, and the compiler would write them out wherever one is made.
  TrainerOptions();
  ~TrainerOptions();
  TrainerOptions(TrainerOptions&&) noexcept;
  TrainerOptions& operator=(TrainerOptions&&) noexcept;
  TrainerOptions(const TrainerOptions&);
  TrainerOptions& operator=(const TrainerOptions&);

  // Classes of the new head, ≥ 2. 0: the number of class_names, else that of the shipped head (two
  // for a head of one score).
  int n_classes = 0;
  // Written into the exported model as its labels; empty, or n_classes names.
  std::vector<std::string> class_names;
  Extra<HeadInit> init = HeadInit::kZeros;

  LossOptions loss;
  Extra<Balance> balance_classes = Balance::kNone;  // softmax
  // Mixup of cached rows (Zhang et al. 2018): each mini-batch step takes λ·x + (1 − λ)·x' and both
  // targets, λ from Beta(mixup_alpha, mixup_alpha) and x' another row of the batch. 0: off; in
  // [0.05, 2]. Mini-batch optimizers only.
  Extra<float> mixup_alpha = 0.0f;
  // Examples weigh n / (cells · n_cell), a cell being the examples of one class and group: every group
  // of every class counts the same, which raises the accuracy of the worst one (last-layer
  // re-weighting: Kirichenko, Izmailov, Wilson, "Last layer re-training is sufficient for robustness to
  // spurious correlations", 2023).
  Extra<bool> balance_groups = false;

  Optimizer optimizer = Optimizer::kAuto;
  // 0: chosen from the training features x when training begins, so that a step changes a score by
  // at most about that much: Adam 2.5 / (1 + mean Σ|x|), SGD 4·(1 − momentum) / (1 + mean Σx²).
  float learning_rate = 0.0f;
  float momentum = 0.0f;         // SGD, in [0, 1)
  Extra<bool> nesterov = false;  // SGD with momentum
  float beta1 = 0.9f;            // Adam, in [0, 1)
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  // L2 penalty ½·weight_decay·|w|² on the weights, never on the bias; its gradient is added to the
  // loss's. learning_rate × weight_decay ≤ 1.
  // Ridge: 0 means 1 % of the features' mean square.
  float weight_decay = 0.0f;
  Extra<float> l1 = 0.0f;         // L1 penalty l1·|w| on the weights, through its gradient
  Extra<float> clip_norm = 0.0f;  // largest L2 norm of a step's gradient; 0: not clipped
  ScheduleOptions schedule;       // of the learning rate, first-order optimizers only

  // Early stopping: training ends when the validation loss (the training loss without validation
  // examples) has not fallen by more than min_improvement for `patience` epochs. 0: off.
  Extra<int> patience = 0;
  float min_improvement = 0.0f;
  // The parameters of the best epoch by that loss are restored when training ends; needs patience.
  bool restore_best = true;

  int batch_size = 32;
  int epochs = 20;
  uint64_t seed = 1;  // of the split and of the order of examples
  // Share of the examples of every class, in [0, 1), that is kept out of training; a class keeps at
  // least one example on each side when it has two or more.
  float validation_fraction = 0.2f;
  // When training is over, the head is fitted once more from the start on all examples, validation
  // examples included, for the epochs and with the learning rate that were found. What is told
  // about the examples of the trainer stays that of the head before, which had not seen them. With
  // replay_capacity the head is never fitted again, nor with true here.
  bool keep_held_back = false;

  int output = 0;  // which model output's head is trained
  // How many layers with weights are trained, counted from the output; 1: the last one.
  int n_layers = 1;
  // With n_layers > 1: below the last layer only biases and per-channel scales are trained.
  bool bias_only = false;
  // A dense layer of this many units with ReLU is put between the feature and the last layer, and
  // trained with it; 0: none. Its first weights are drawn from the seed (DrawWeights). An export
  // writes both in float32.
  Extra<int> n_hidden = 0;
  // Share of the hidden layer's outputs that every mini-batch step leaves out, in [0, 1). Solvers
  // of the whole set leave out none.
  Extra<float> dropout = 0.0f;
  // A random projection of the feature to this many numbers with ReLU takes its place; 0: none.
  // Its weights are those of a hidden layer before training, and stay (RanPAC, McDonnell et al.
  // 2023).
  Extra<int> n_projected = 0;
  // kKnn: how many of a class's examples, those nearest, an example is compared with, in [1, 64]; and
  // how many are stored in all.
  int n_neighbours = 1;
  int64_t max_rows = 1024;
  // A model whose output is an embedding gets a new FULLY_CONNECTED + SOFTMAX after that output.
  bool append_head = false;
  // Heads of classes (softmax): the share of examples of the taught kinds that an exported model may
  // refuse as unknown, in [0.005, 0.5]; 0: it refuses nothing, as with other losses. See reject/rejecter.h.
  float reject_rate = 0.0f;
  // An exported model of a quantized network computes the head in float32 instead of integers. A
  // convolution in front of pooling does so unasked.
  bool float_head = false;
  // What inputs are made with, (value − mean) / std, one number or one a channel: recorded in
  // exported models. Empty: what the model says of it stays.
  std::vector<float> input_mean, input_std;

  int n_threads = 0;             // 0: all processors; the results do not depend on it
  int feature_batch_size = 0;    // examples per run of the backbone; 0: chosen
  size_t cache_limit_bytes = 0;  // of features in memory; 0: no limit
  // File for features: those beyond cache_limit_bytes, and all of them for the next run. Empty:
  // none, and examples beyond the limit are refused.
  std::string cache_path;
  // What the caller did to make inputs from examples ("mean 127.5 std 127.5"): part of the file's
  // key.
  std::string preprocessing;
  Extra<FeatureType> feature_type = FeatureType::kFloat32;
  Augmentation augmentation;
  // Online use: at most this many examples are kept, as a class-balanced reservoir. 0: all are
  // kept. Either way examples may be added at any time, and take part from the next epoch on.
  Extra<int64_t> replay_capacity = 0;
  // Of the backbone's session and, with n_layers > 1, of TailNetwork's activations; 0: no limit.
  size_t memory_limit_bytes = 0;
  // Where the last layer takes its steps. "auto" is the device that FindAutoDevice finds if the
  // work is worth a trial and the device's steps turn out faster, else the CPU. What a device
  // cannot do the CPU does, see Trainer::device().
  DeviceName device;
  // Where features are computed, side by side: the CPU (n_threads threads) and devices; none: the
  // CPU. With more than one, which of them computes an example's features is not defined, and their
  // last bits differ. Custom operators run on the CPU alone. "auto" stands alone: the CPU's threads
  // or the device, whichever runs the model faster; see PlaceSession.
  std::vector<DeviceName> extraction_devices;
  Storage extraction_storage = Storage::kFloat32;  // of tensors on the devices
  const Allocator* allocator = nullptr;            // null: default; must outlive the trainer
  const CpuKernels* cpu = nullptr;                 // null: the best of this processor
};

// What kAuto stands for with these options: kAdam where learning_rate, weight_decay, betas, epsilon,
// l1, clip_norm, schedule, patience, batch_size, epochs, init, augmentation, n_layers or an OpenCL
// device is not that of TrainerOptions(), kSgd with momentum; other optimizers stay.
Optimizer ResolveOptimizer(const TrainerOptions& options);

// INVALID_ARGUMENT names the first field that is out of range. n_classes is not looked at.
Status CheckOptions(const TrainerOptions& options);

// Everything that shapes a run beside its examples, as lines of "name value": a checkpoint fits a
// trainer whose lines are the same. Learning rate and number of epochs may change. output and
// append_head: those of the head that was found.
std::vector<std::string> RunLines(const TrainerOptions& options, int output, bool append_head);

const char* OptimizerName(Optimizer optimizer);  // "sgd", "adam", "adamw", "lbfgs", ...

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_OPTIONS_H_
