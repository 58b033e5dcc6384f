// Options of training.
#ifndef TOPWORK_TRAIN_OPTIONS_H_
#define TOPWORK_TRAIN_OPTIONS_H_

#include "topwork/base.h"
#include "topwork/evaluate.h"

#ifdef __cplusplus
extern "C" {
#endif

// The first three take steps on mini-batches, with a learning rate; the others look at all examples
// at once, and have none.
typedef enum tw_optimizer TW_ENUM_INT {
  TW_OPTIMIZER_SGD = 0,
  TW_OPTIMIZER_ADAM = 1,
  TW_OPTIMIZER_ADAMW = 2,    // Adam with weight_decay apart from the gradient
  TW_OPTIMIZER_LBFGS = 3,    // an epoch is an iteration
  TW_OPTIMIZER_RIDGE = 4,    // the closed form; last layer only; over after one epoch
  TW_OPTIMIZER_IMPRINT = 5,  // normalized mean features, TW_LOSS_SOFTMAX; otherwise as RIDGE
  // Tries ridge regression, L-BFGS, their mean and imprinting with many penalties, and takes what
  // does best on examples left out; over after one epoch. It stands for SGD with momentum, and for
  // ADAM where learning_rate, betas, epsilon, a penalty, clip_norm, a schedule, patience,
  // batch_size, n_epochs, head.init, n_layers, n_hidden, augmentation or an OpenCL device is not the
  // default. tw_trainer_info tells which it is.
  TW_OPTIMIZER_AUTO = 6,
  // Nearest neighbours: the examples themselves are stored as unit vectors, and a class scores by those
  // of it that are most like the input (cosine). For faces and other identities of few pictures. With
  // TW_LOSS_SOFTMAX; otherwise as RIDGE. The exported model computes it by stock operators, with rows
  // stored as its last layer was (int8 for integers) and a float32 output; it is trained again from the
  // model that it was made of.
  TW_OPTIMIZER_KNN = 7
} tw_optimizer;

typedef enum tw_head_init TW_ENUM_INT {
  TW_HEAD_INIT_ZEROS = 0,
  TW_HEAD_INIT_SHIPPED = 1,  // the model's own head; n_classes must be the same
  TW_HEAD_INIT_IMPRINT = 2   // the normalized mean feature of each class
} tw_head_init;

// How the learning rate of a first-order optimizer changes after its warm-up.
typedef enum tw_schedule TW_ENUM_INT {
  TW_SCHEDULE_CONSTANT = 0,
  TW_SCHEDULE_STEP = 1,    // it is multiplied by step_factor every step_epochs
  TW_SCHEDULE_COSINE = 2,  // it falls to 0 at the last step along half a cosine
  TW_SCHEDULE_LINEAR = 3   // it falls to 0 at the last step along a line
} tw_schedule;

typedef enum tw_feature_type TW_ENUM_INT {
  TW_FEATURE_FLOAT32 = 0,
  TW_FEATURE_FLOAT16 = 1  // half the memory
} tw_feature_type;

// Which layers are trained, and how they begin.
typedef struct tw_head_options {
  // The model's output that the head leads to, by its name (see tw_model_find_output); NULL: the
  // first one.
  const char* output;
  // The signature whose subgraph is trained, and exported among the others as they were; NULL: the
  // main subgraph. Its inputs are in the order of the subgraph. Class names are written into an
  // exported model for the main subgraph alone.
  const char* signature;
  tw_head_init init;
  // Layers with weights that are trained, counted from the last; default 1. With more than one, all
  // of them compute in float32 while they are trained. Weights stored as float16, or as int8 where
  // the layer's input is float32, are stored as such again. Layers that compute in integers are
  // UNSUPPORTED (the text says how many can be trained), as are operators without a gradient.
  int32_t n_layers;
  // 1: below the last layer only biases and scales are trained.
  int32_t bias_only;
  // 1: the model's output holds features, and gets a new layer behind it.
  int32_t append;
  // 1: the new head of a quantized model computes in float32. That of a convolution in front of
  // pooling always does.
  int32_t keep_in_float;
  // Above 0: a dense layer of so many units with ReLU is put in front of the last layer and trained
  // with it, by any optimizer but RIDGE, IMPRINT and KNN. The exported model has both, in float32.
  int32_t n_hidden;
  // Of the hidden layer's outputs, the share that each step on a mini-batch leaves out, in [0, 1).
  float dropout;
  // Above 0: the last layer reads so many numbers in place of the feature, a random projection of it
  // with ReLU, which follows from the trainer's seed and is not trained. With n_layers 1 and
  // n_hidden 0. The exported model has it as a layer of its own, in float32.
  int32_t n_projected;
  // TW_OPTIMIZER_KNN: of each class so many examples, the most similar, count by their mean similarity,
  // in [1, 64]; 0 (default): 1. A class of fewer examples counts by all of them.
  int32_t n_neighbours;
  // TW_OPTIMIZER_KNN: examples that are stored in all; 0 (default): 1024. Of more, those are stored
  // that are farthest from one another, evenly over the classes; tw_trainer_info.choice_reason tells.
  int32_t max_rows;
  uint64_t reserved[1];
} tw_head_options;

typedef enum tw_balance TW_ENUM_INT {
  TW_BALANCE_NONE = 0,
  TW_BALANCE_WEIGHTS = 1,  // weights in the loss
  TW_BALANCE_REPEAT = 2,   // examples of small classes come again; first-order optimizers
  TW_BALANCE_SMOTE = 3     // points between two neighbours of a class in place of repetitions
} tw_balance;

typedef struct tw_loss_options {
  tw_loss kind;
  // TW_LOSS_SOFTMAX and SIGMOID, in [0, 1).
  float label_smoothing;
  // TW_LOSS_HUBER, above 0; default 1.
  float huber_delta;
  // n_classes positive numbers that weigh classes in the loss; or NULL.
  const float* class_weights;
  // What makes all classes count the same; with TW_LOSS_SOFTMAX.
  tw_balance balance_classes;
  // 1: weights that make all groups (tw_examples.groups) of each class count the same, which helps the
  // worst of them. Excludes class_weights and balance_classes.
  int32_t balance_groups;
  // Focal loss of TW_LOSS_SOFTMAX and SIGMOID: what is right with probability p counts
  // (1 - p)^focal_gamma times; in [0, 10], 0: off. Not with label_smoothing.
  float focal_gamma;
  // Mixup: steps take mixtures of two examples' features and targets, whose share is drawn from
  // Beta(mixup_alpha, mixup_alpha); in [0.05, 2], 0: off. First-order optimizers.
  float mixup_alpha;
  uint64_t reserved[3];
} tw_loss_options;

typedef struct tw_optimizer_options {
  // Default TW_OPTIMIZER_AUTO.
  tw_optimizer kind;
  // 0 (default): chosen from the features when training begins. Adam's rate then falls as with
  // TW_SCHEDULE_COSINE, unless another schedule than TW_SCHEDULE_CONSTANT is asked for.
  float learning_rate;
  // TW_OPTIMIZER_SGD, in [0, 1).
  float momentum;
  // TW_OPTIMIZER_SGD with momentum: 1 looks ahead.
  int32_t nesterov;
  // TW_OPTIMIZER_ADAM and ADAMW, as the next two; default 0.9.
  float beta1;
  // Default 0.999.
  float beta2;
  // Default 1e-8.
  float epsilon;
  // L2 penalty on the weights, not on the biases.
  float weight_decay;
  // L1 penalty on the weights, by first-order optimizers.
  float l1;
  // Largest L2 norm of a step's gradient; 0: no limit.
  float clip_norm;
  uint64_t reserved[4];
} tw_optimizer_options;

typedef struct tw_schedule_options {
  tw_schedule kind;
  // The learning rate rises to its value over these steps.
  int32_t warmup_steps;
  // TW_SCHEDULE_STEP; default 10.
  int32_t step_epochs;
  // TW_SCHEDULE_STEP, in (0, 1]; default 0.1.
  float step_factor;
  uint64_t reserved[4];
} tw_schedule_options;

// Early stopping: training ends when the loss on the validation set (on all examples if there is
// none) has not fallen by more than min_improvement for `patience` epochs.
typedef struct tw_stopping_options {
  // 0: off.
  int32_t patience;
  float min_improvement;
  // 1: the weights of the last epoch stay; 0: those of the best one come back.
  int32_t keep_last;
  uint64_t reserved[4];
} tw_stopping_options;

// Variants of each example that are made once and whose features are kept beside its own. Each
// epoch trains on one of them, taken by chance. For models of one input [1, height, width,
// channels].
typedef struct tw_augmentation_options {
  // Of each example; 0: none.
  int32_t n_variants;
  // 1: half of them are mirrored, left to right.
  int32_t flip;
  // Up to this share of each side is cut off, in [0, 0.9].
  float crop;
  // Up to this share of the input's range is added or taken away, in [0, 1].
  float brightness;
  // Standard deviation as a share of the input's range, in [0, 1].
  float noise;
  uint64_t reserved[4];
} tw_augmentation_options;

// How features are computed and where they are kept.
typedef struct tw_feature_options {
  tw_feature_type type;
  // File that keeps features for the next run, and those beyond cache_limit_bytes; NULL: none.
  const char* cache_path;
  // Of features in memory; 0: no limit.
  size_t cache_limit_bytes;
  // What the application did to make inputs from its data ("mean 127.5 std 127.5"): features that
  // were made otherwise are not taken from the file. NULL: nothing to say.
  const char* preprocessing;
  // Examples in a run of the backbone; 0: chosen.
  int32_t batch_size;
  // Where features are computed, side by side: names of devices, separated by commas, as in
  // "cpu,opencl:0,opencl:1". Whichever is done takes the next examples, so with several devices the
  // last digits depend on chance. NULL: tw_trainer_options.device.
  const char* devices;
  // Of the backbone, wherever it runs. Features that were computed with one are not used with the
  // other.
  tw_precision precision;
  uint64_t reserved[4];
} tw_feature_options;

// How the application makes inputs, (value - mean) / std: recorded in exported models.
typedef struct tw_input_scale {
  const float* mean;
  const float* std;
  // Numbers in each: 1, or one for each channel; 0: the model's own record stays.
  int32_t n;
  uint64_t reserved[2];
} tw_input_scale;

// What a training run depends on. Call tw_trainer_options_init first, then change what is needed.
typedef struct tw_trainer_options {
  size_t struct_size;
  // Of the new head, 2 or more; 0 (default): as many as the model has (2 if the model has 1).
  int64_t n_classes;
  // n_classes labels for the exported model; NULL: none.
  const char* const* class_names;
  tw_head_options head;
  tw_loss_options loss;
  tw_optimizer_options optimizer;
  tw_schedule_options schedule;
  tw_stopping_options stopping;
  // Default 20.
  int32_t n_epochs;
  // Examples in a training step; default 32.
  int32_t batch_size;
  // Of splitting and shuffling; default 1.
  uint64_t seed;
  // Of each class's examples, in [0, 1); default 0.2.
  float validation_fraction;
  // 0 (default): when training is over, the head is fitted once more from the start on all examples,
  // the validation set included, for the epochs and with the learning rate that were found.
  // Judgements on the validation set stay those of the head before, which has not seen it. 1: not.
  int32_t keep_held_back;
  tw_augmentation_options augmentation;
  tw_feature_options features;
  tw_input_scale input_scale;
  // Above 0: at most so many examples are kept of those that arrive, chosen by chance and balanced
  // over the classes. 0 (default): all are kept.
  int64_t replay_capacity;
  // 0 (default): one for each processor; results do not depend on it.
  int32_t n_threads;
  // Where features are computed and the head takes its steps. The CPU still does what a device
  // cannot (optimizers without mini-batches, but for the products of features of ridge and the
  // automatic head; n_layers above 1); tw_trainer_info says why. "auto",
  // and NULL (default): a GPU does either work if there is one, the work is worth a trial, and the
  // trial finds it faster. On the CPU results are the same bits on every run; devices differ from
  // it in the last digits.
  const char* device;
  // Of the backbone's session and, with n_layers above 1, of the activations of one mini-batch
  // (which are then computed again where that saves memory); 0 (default): as for sessions, and no
  // limit for the activations.
  size_t memory_limit_bytes;
  // NULL: the operating system's.
  const tw_allocator* allocator;
  // TW_LOSS_SOFTMAX: the share of examples of the taught kinds that an exported model may refuse as
  // unknown, in [0.005, 0.5]; 0 (default): it refuses nothing. See tw_rejection.
  float reject_rate;
} tw_trainer_options;

// Fills *options with the defaults. struct_size is the caller's sizeof(tw_trainer_options). [any]
TW_API tw_status tw_trainer_options_init(tw_trainer_options* options, size_t struct_size);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_TRAIN_OPTIONS_H_
