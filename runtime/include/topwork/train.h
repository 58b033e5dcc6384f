// Training: a new head for a model, from labelled examples.
//
// A trainer finds the model's head and computes, with the backbone, the features of labelled
// examples. It trains a new head on them and exports the model with it. As a rule the head is the
// model's last layer; tw_head_options.n_layers asks for more layers. A part of the examples, the
// validation set, is never trained on; it tells how good the head is. In a library built without
// training, tw_trainer_create gives UNSUPPORTED.
#ifndef TOPWORK_TRAIN_H_
#define TOPWORK_TRAIN_H_

#include "topwork/base.h"
#include "topwork/evaluate.h"
#include "topwork/examples.h"
#include "topwork/model.h"
#include "topwork/train_options.h"

#ifdef __cplusplus
extern "C" {
#endif

// Finds the model's head, cuts the model in front of it and plans the backbone. options NULL: the
// defaults. Nothing in *options is needed afterwards, but for the allocator's user_data. The caller
// owns *out_trainer. Errors: UNSUPPORTED if the model has no head that can be replaced (the text
// says what was found), those of tw_session_create. [any]
TW_API tw_status tw_trainer_create(const tw_model* model, const tw_trainer_options* options,
                                   tw_trainer** out_trainer);

// Frees the trainer and its features. NULL is allowed. [one]
TW_API void tw_trainer_free(tw_trainer* trainer);

// Tells name, type, shape and size of a model input for ONE example (a batch of 1). Set
// info->struct_size first. [one]
TW_API tw_status tw_trainer_get_input(const tw_trainer* trainer, size_t index,
                                      tw_tensor_info* info);

// Computes the features of examples and keeps them; after a failure none of the examples is kept.
// May be called at any time: examples that are added in the middle of an epoch take part from the
// next one. Errors: CANCELLED, OUT_OF_MEMORY (cache_limit_bytes as well), NUMERIC (a feature is not
// finite), IO (cache_path), UNSUPPORTED (negatives with another loss than TW_LOSS_SOFTMAX), and what
// read, target and key return. [one]
TW_API tw_status tw_trainer_add_examples(tw_trainer* trainer, const tw_examples* examples);

// An epoch of training.
typedef struct tw_trainer_progress {
  size_t struct_size;
  // From 1.
  int64_t epoch;
  int64_t n_epochs;
  // Since training began.
  int64_t n_steps_done;
  // Mean over the epoch.
  double train_loss;
  // 0 to 1, while the weights changed.
  double train_accuracy;
  // 0: there is no validation set, and the next two are 0.
  int32_t has_validation;
  // At the end of the epoch.
  double validation_loss;
  double validation_accuracy;
  // That the epoch took.
  double seconds;
  // Of the epoch's last step; 0 if the optimizer has none.
  double learning_rate;
} tw_trainer_progress;

// Called after every epoch. Returns 0 to go on, and another value to stop.
typedef int32_t (*tw_progress_function)(void* user_data, const tw_trainer_progress* progress);

// How far tw_trainer_fit trains. Zero the struct and set struct_size.
typedef struct tw_fit_options {
  size_t struct_size;
  // That are done in the end, counted from the beginning; 0: the trainer's.
  int32_t n_epochs;
  // Of this call; 0: no limit.
  int32_t max_epochs;
  // Of this call, looked at after each step; 0: no limit.
  double max_seconds;
  // May be NULL.
  tw_progress_function progress;
  void* user_data;
} tw_fit_options;

// Trains until all epochs are done, or early stopping ends training, or a limit of options is
// reached; it goes on from there when called again. options NULL: no limit. *out_is_finished (may
// be NULL) is 1 if nothing is left to do. A stop by progress is OK. The last fit on all examples
// takes its epochs from the limits, too, without progress; a checkpoint does not hold one that is
// not over, which then begins anew. A closed form is one step. The result is the same for any
// number of threads. Errors: FAILED_PRECONDITION without examples, INVALID_ARGUMENT if all are of
// one class, CANCELLED after tw_trainer_cancel, NUMERIC (the weights stay as they were before the
// faulty step). [one]
TW_API tw_status tw_trainer_fit(tw_trainer* trainer, const tw_fit_options* options,
                                int32_t* out_is_finished);

// Makes the call in progress on this trainer (one that adds, trains, evaluates or predicts) return
// CANCELLED soon. Without one nothing happens. The trainer must not be freed meanwhile. [any]
TW_API tw_status tw_trainer_cancel(tw_trainer* trainer);

// Judges the head as it is now on the examples, whose features are not kept. examples NULL: on the
// validation set, of which the n_worst examples with the largest loss are named. Set
// evaluation->struct_size first. Its arrays are borrowed from the trainer until its next
// evaluation. Errors: those of tw_trainer_add_examples; FAILED_PRECONDITION if there is no
// validation set. [one]
TW_API tw_status tw_trainer_evaluate(tw_trainer* trainer, const tw_examples* examples,
                                     int32_t n_worst, tw_evaluation* evaluation);

// How intervals around predictions do, made from the training examples, on the validation set.
typedef struct tw_interval_check {
  size_t struct_size;
  int64_t n_examples;
  // Share of the targets inside, 0 to 1.
  double coverage;
  double mean_width;
} tw_interval_check;

// Writes intervals around the predictions of a regression that TW_OPTIMIZER_RIDGE, or AUTO by ridge
// regression, has fitted to all examples: n_examples x n_classes numbers (n_values in all) to
// `lower` and to `upper`. About `coverage` (0.9, say) of new targets lie inside; 2 x coverage - 1
// at least, whatever the data, if the new examples are of the same kind (jackknife+, Barber et al.
// 2021). Infinite where there are too few examples for the coverage. `check` may be NULL; set its
// struct_size first. examples, lower and upper NULL with n_values 0: the check alone. Errors: those
// of tw_trainer_predict; FAILED_PRECONDITION for another loss or optimizer, and for a check without
// validation set; INVALID_ARGUMENT for more than 4000 examples. [one]
TW_API tw_status tw_trainer_predict_intervals(tw_trainer* trainer, const tw_examples* examples,
                                              double coverage, float* lower, float* upper,
                                              size_t n_values, tw_interval_check* check);

// Computes the outputs that the exported model would give, and writes n_examples x n_classes
// numbers (n_scores in all) to `scores`: probabilities with TW_LOSS_SOFTMAX and SIGMOID. Labels,
// targets and target are not looked at. Errors: those of tw_trainer_add_examples. [one]
TW_API tw_status tw_trainer_predict(tw_trainer* trainer, const tw_examples* examples, float* scores,
                                    size_t n_scores);

// Temperature scaling: losses and errors on the validation set.
typedef struct tw_calibration {
  size_t struct_size;
  double temperature;
  double loss_before;
  double loss_after;
  // Expected calibration error.
  double error_before;
  double error_after;
} tw_calibration;

// Chooses the temperature that scores are divided by from now on (in evaluation, prediction and
// export), so that confidences are right on the validation set. More training sets it back to 1.
// calibration may be NULL; set its struct_size first. Errors: FAILED_PRECONDITION if there is no
// validation set, INVALID_ARGUMENT for a regression. [one]
TW_API tw_status tw_trainer_calibrate(tw_trainer* trainer, tw_calibration* calibration);

// Keeps the features of a golden set. As long as the new head does worse on it than the shipped
// one, tw_trainer_export fails with FAILED_PRECONDITION, and the weights go back to the last ones
// that passed. Classes are matched by name with the model's labels, or by number if there are no
// names. Errors: those of tw_trainer_add_examples; INVALID_ARGUMENT if no class matches. [one]
TW_API tw_status tw_trainer_set_golden(tw_trainer* trainer, const tw_examples* examples);

// What an export would change. A quality is the accuracy, or minus the mean loss if an example's
// target is not one class.
typedef struct tw_export_check {
  size_t struct_size;
  // Of the validation set, or all if there is none.
  int64_t n_examples;
  // Quality of the head as it was trained.
  double trained;
  // Quality of the head as the exported model stores it.
  double exported;
  // Examples of the golden set; 0 if there is none.
  int64_t n_golden;
  // Quality of the shipped head on the golden set.
  double golden_shipped;
  // Quality of the new head on it, as the exported model stores it.
  double golden_exported;
} tw_export_check;

// Tells what an export would change, and whether the golden set lets it pass. Set
// check->struct_size first. [one]
TW_API tw_status tw_trainer_check_export(tw_trainer* trainer, tw_export_check* check);

// Makes a model of the backbone, the new head and its class names. It can be run at once, and
// tw_model_save writes it to a file. A head of dynamic range is stored in float32, with a warning
// in the log, where a common runtime would compute wrongly with its int8 weights. The caller owns *out_model. Errors: FAILED_PRECONDITION
// (tw_trainer_set_golden), UNSUPPORTED if the model's format cannot hold the head. [one]
TW_API tw_status tw_trainer_export(tw_trainer* trainer, tw_model** out_model);

// Replaces the classes by n_names others. becomes: for each of the present classes, which of the new
// ones it becomes; -1: none, it is removed. Several may become one. NULL: a class becomes the one of
// its name, or none. A class that becomes another keeps its weights and examples, whatever the name;
// where several become one, its weights begin with their mean. TW_LOSS_SOFTMAX: classes are removed
// with their examples, new ones begin with the mean feature of their examples, and two must remain.
// TW_LOSS_SIGMOID: examples lose the removed classes and do not have the new ones, which begin with
// zeros. Errors: INVALID_ARGUMENT (a name stands twice or is empty), FAILED_PRECONDITION (another
// loss, class_weights). [one]
TW_API tw_status tw_trainer_set_classes(tw_trainer* trainer, const char* const* names,
                                        const int64_t* becomes, size_t n_names);

// An array of numbers that is trained: "head/weights", "head/bias", those of deeper layers.
typedef struct tw_parameter_info {
  const char* name;
  int32_t rank;
  int64_t dims[8];
  int64_t n_values;
} tw_parameter_info;

// Where features are computed.
typedef struct tw_feature_worker {
  // "cpu", or the name of an OpenCL device.
  const char* place;
  // That it has computed.
  int64_t n_batches;
} tw_feature_worker;

// A way to fit the last layer that TW_OPTIMIZER_AUTO has tried. Loss and accuracy are those of
// every example with a head that was fitted without it (without its group); ways without a closed
// form are fitted five times, without a fifth of the examples each.
typedef struct tw_trainer_candidate {
  const char* name;
  // Sigmoid: share of right outputs; regression: 0.
  double accuracy;
  double loss;
  double seconds;
  // 1: this one was taken.
  int32_t is_chosen;
} tw_trainer_candidate;

// What an export found about refusing (tw_trainer_options.reject_rate).
typedef struct tw_rejection_summary {
  size_t struct_size;
  // Examples, each judged as if it had not been taught, from which the thresholds come.
  int64_t n_calibrated;
  // Examples in the exported model.
  int64_t n_stored;
  // Negatives that were added; equal ones count once.
  int64_t n_negatives;
  // Shares refused. Fewer examples than 1 / reject_rate - 1 refuse nothing.
  double known_refused;
  double negatives_refused;
} tw_rejection_summary;

// What a trainer has and holds. Pointers are borrowed from the trainer: valid until examples are
// added, classes change, a head or checkpoint is loaded, or the trainer is freed.
typedef struct tw_trainer_info {
  size_t struct_size;
  // The shipped one, which the new one replaces.
  const tw_head_info* head;
  // Of the model: as many buffers are given to tw_examples.read.
  int64_t n_inputs;
  // Numbers of a feature vector.
  int64_t n_features;
  int64_t n_classes;
  // n_classes; NULL if the classes have no names.
  const char* const* class_names;
  // Arrays that are trained.
  size_t n_parameters;
  const tw_parameter_info* parameters;
  // Numbers in these arrays together.
  int64_t n_values;
  // Added so far, the validation set included.
  int64_t n_examples;
  // In the validation set; 0 until training or an evaluation has begun.
  int64_t n_validation;
  // Examples whose features came from cache_path.
  int64_t n_cached;
  int64_t n_epochs_done;
  int64_t n_steps_done;
  // 1: all epochs are done, or early stopping has ended training.
  int32_t is_finished;
  // 1: the head was fitted once more on all examples, see keep_held_back.
  int32_t fitted_on_all;
  // With patience: the epoch of the lowest loss; else 0.
  int64_t best_epoch;
  // In use; 0 while it is still to be chosen.
  double learning_rate;
  // That scores are divided by; 1 without tw_trainer_calibrate.
  double temperature;
  // Where the last steps were taken: "cpu", or the name of an OpenCL device.
  const char* device;
  // Why it is not another one; may be "".
  const char* device_reason;
  size_t n_workers;
  const tw_feature_worker* workers;
  // Why features are computed there; may be "".
  const char* worker_note;
  // Memory in bytes. memory_bytes is what the run up to now has needed at most, exports and
  // checkpoints apart: the sum of backbone_bytes, cache_bytes, training_bytes and working_bytes.
  size_t memory_bytes;
  // The backbone's sessions.
  size_t backbone_bytes;
  // Features in memory.
  size_t cache_bytes;
  // Weights, gradient, optimizer and mini-batch.
  size_t training_bytes;
  // The most at one time: examples being read, a solver's systems.
  size_t working_bytes;
  // In the memory of an OpenCL device; not part of memory_bytes.
  size_t device_bytes;
  // On disk.
  size_t cache_file_bytes;
  // Different groups of the examples added so far (tw_examples.groups).
  int64_t n_groups;
  // What TW_OPTIMIZER_AUTO stands for with the trainer's options; else the options' own.
  tw_optimizer optimizer;
  // Of the last choice of TW_OPTIMIZER_AUTO; 0 before it and after a checkpoint was loaded.
  size_t n_candidates;
  const tw_trainer_candidate* candidates;
  // Why that one was taken; with TW_OPTIMIZER_KNN how many examples are stored, where that is not all;
  // else "".
  const char* choice_reason;
  // Of the last tw_trainer_export; NULL before one that refuses.
  const tw_rejection_summary* rejection;
} tw_trainer_info;

// Tells what the trainer has and holds. Set info->struct_size first. [one]
TW_API tw_status tw_trainer_get_info(const tw_trainer* trainer, tw_trainer_info* info);

// Copies the array `name` to `values`; n_values must be its size. name NULL: all arrays, one after
// the other. Errors: NOT_FOUND. [one]
TW_API tw_status tw_trainer_read_parameter(const tw_trainer* trainer, const char* name,
                                           float* values, size_t n_values);

// Sets the array `name`, or all of them (name NULL). Errors: NOT_FOUND, NUMERIC (a value is not
// finite). [one]
TW_API tw_status tw_trainer_write_parameter(tw_trainer* trainer, const char* name,
                                            const float* values, size_t n_values);

// Writes to `update` all parameters minus `base` (n_values numbers each, as read with name NULL),
// scaled down to an L2 norm of at most clip_norm (0: not scaled), plus Gaussian noise of standard
// deviation noise_stddev drawn from `seed`: what a client of federated averaging sends. The noise
// generator is not a cryptographic one. [one]
TW_API tw_status tw_trainer_compute_update(const tw_trainer* trainer, const float* base,
                                           size_t n_values, double clip_norm, double noise_stddev,
                                           uint64_t seed, float* update);

// Holds a checkpoint or head file for this trainer, whether it exists yet or not, until the trainer
// is destroyed: no other trainer, in this program or another one, can then hold it or save to it.
// Hold a file before you load it, if you mean to save to it again. Reading is always allowed.
// Errors: IO, FAILED_PRECONDITION while another trainer holds it: the text names its process. [one]
TW_API tw_status tw_trainer_hold_file(tw_trainer* trainer, const char* path);

// Writes the head alone, with class names and temperature, so that many heads go with one model.
// The file appears complete or not at all. Errors: IO. [one]
TW_API tw_status tw_trainer_save_head(const tw_trainer* trainer, const char* path);

// Writes a checkpoint: weights, optimizer state, counters, the state of shuffling, and with
// with_examples 1 the features of all examples, negatives among them, and their labels, so that
// training can go on from the file alone. The file appears complete or not at all; the one before
// stays as PATH.previous. The trainer holds it from then on (tw_trainer_hold_file). Errors: IO,
// FAILED_PRECONDITION while another trainer holds the file, and when another has written it since
// this one loaded or saved it. [one]
TW_API tw_status tw_trainer_save_checkpoint(tw_trainer* trainer, const char* path,
                                            int32_t with_examples);

// Reads a file of tw_trainer_save_head, tw_trainer_save_checkpoint or tw_learner_save; its content
// tells which. After a failure nothing is changed.
// - A head takes the place of the present one. The classes become the file's, and the optimizer
//   begins afresh.
// - A checkpoint of the same model and options: training goes on as if it had never been interrupted.
//   One without examples needs the same ones to have been added before; one with examples brings them
//   along, and their classes; its negatives join those that were added before.
// Errors: IO, CORRUPT (the text names the sound file of the generation before, if there is one),
// FAILED_PRECONDITION for a file of another model, output, loss or layers, for a head of other classes
// than those of examples that were added already, and for a checkpoint of other options or examples.
// [one]
TW_API tw_status tw_trainer_load(tw_trainer* trainer, const char* path);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_TRAIN_H_
