// Learners: exact adding and forgetting, without epochs.
//
// A learner teaches the last layer of a model new classes without epochs: its head is ridge
// regression on standardised features, which follows from sums over the examples. Adding, removing
// or re-labelling an example changes the sums, and the head becomes the one that solving anew from
// the remaining examples would give, to about ten digits. Files of several devices merge into the
// head of all their examples together.
#ifndef TOPWORK_LEARN_H_
#define TOPWORK_LEARN_H_

#include "topwork/base.h"
#include "topwork/examples.h"
#include "topwork/train_options.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a learner works. Zero the struct and set struct_size for the defaults.
typedef struct tw_learner_options {
  size_t struct_size;
  // How the backbone runs, which head is taught, and class_names to begin with (none are needed).
  // What shapes training is not looked at; the loss is TW_LOSS_SOFTMAX, n_layers 1, and there is no
  // augmentation. NULL: the defaults.
  const tw_trainer_options* trainer;
  // The memory to go on with: a file of tw_learner_save, or of tw_trainer_save_checkpoint with examples
  // (those without an id get "#0", "#1" and so on). Its classes take the place of class_names; its
  // negatives (tw_examples.are_negatives) come along. It is held as tw_trainer_hold_file does, and need
  // not exist yet. NULL: the learner begins without examples.
  const char* memory_path;
  // 1: the memory is only read: it is not held, and must exist.
  int32_t read_only;
  // 1: features of examples are not kept, only their sums, of n_features x (n_features + 1) / 2
  // numbers. Such examples have no ids; one is removed by giving it again (tw_selection.examples).
  int32_t statistics_only;
  // Ridge penalty on the weights of standardised features. 0: the memory's; where it has none, chosen
  // by leave-one-out (by groups if there are any) when the head is first needed, and again when the
  // examples have doubled or halved since. Below 0: chosen, whatever the memory has.
  double penalty;
} tw_learner_options;

// Makes a learner. options NULL: the defaults. Nothing in *options is needed afterwards, but for the
// allocator's user_data. The caller owns *out_learner. Errors: those of tw_trainer_create;
// UNSUPPORTED for a loss, layers or augmentation that a learner does not have; of the memory IO,
// CORRUPT (the text names the sound file before, if there is one), FAILED_PRECONDITION for a file of
// another model or last layer, and while another learner or trainer holds it. [any]
TW_API tw_status tw_learner_create(const tw_model* model, const tw_learner_options* options,
                                   tw_learner** out_learner);

// Frees the learner. NULL is allowed. [one]
TW_API void tw_learner_free(tw_learner* learner);

// As tw_trainer_get_input. [one]
TW_API tw_status tw_learner_get_input(const tw_learner* learner, size_t index,
                                      tw_tensor_info* info);

// Writes classes, features, ids and sums, negatives and the head. statistics_only 1: sums in place of
// features and ids, and no negatives, for a file that leaves the device (the sums still tell something
// of the examples); the learner itself keeps them. The file appears complete or not at all; the one before stays as
// PATH.previous. tw_trainer_load takes it, too, unless it has examples without features. Errors: those
// of tw_trainer_save_checkpoint; FAILED_PRECONDITION without classes. [one]
TW_API tw_status tw_learner_save(tw_learner* learner, const char* path, int32_t statistics_only);

// Replaces the classes by n_names others, as tw_trainer_set_classes does: becomes tells for each of the
// present classes which of the new ones it becomes, -1: none, it is removed with its examples; NULL: by
// name. Any number of classes may remain. Errors: INVALID_ARGUMENT (a name stands twice or is empty);
// FAILED_PRECONDITION if features of examples of a removed class are not kept. [one]
TW_API tw_status tw_learner_set_classes(tw_learner* learner, const char* const* names,
                                        const int64_t* becomes, size_t n_names);

// Computes the features of examples and learns them; after a failure none is learnt. Each needs an
// id that is not there yet (tw_examples.ids), but not with statistics_only. Labels are numbers of
// classes. Errors: those of tw_trainer_add_examples; INVALID_ARGUMENT for an id that is there already.
// [one]
TW_API tw_status tw_learner_add(tw_learner* learner, const tw_examples* examples);

// Some of a learner's examples: those with one of the ids, those of one of the groups
// (tw_examples.groups), and, of those whose features are not kept, the ones that are given again.
// Zero the struct and set struct_size.
typedef struct tw_selection {
  size_t struct_size;
  const char* const* ids;
  size_t n_ids;
  const int32_t* groups;
  size_t n_groups;
  // NULL: none.
  const tw_examples* examples;
} tw_selection;

// Removes the examples of the selection. After a failure none is removed. Errors: NOT_FOUND for an id
// or a group without an example; those of tw_trainer_add_examples; FAILED_PRECONDITION if one that is
// given again cannot be among those that were learnt (that it was can not always be told). [one]
TW_API tw_status tw_learner_remove(tw_learner* learner, const tw_selection* selection);

// Gives the examples of the selection the class `label`. After a failure nothing is changed. Errors:
// those of tw_learner_remove; INVALID_ARGUMENT if there is no such class. [one]
TW_API tw_status tw_learner_relabel(tw_learner* learner, const tw_selection* selection,
                                    int64_t label);

// Adds the classes (by name), examples and negatives of another file of the same model. What is in
// both counts once. *out_n_same (may be NULL): examples that are. After a failure nothing is changed.
// Errors: IO, CORRUPT; FAILED_PRECONDITION for a file of another model or last layer, and if two
// examples of one id differ. [one]
TW_API tw_status tw_learner_merge(tw_learner* learner, const char* path, int64_t* out_n_same);

// Writes the probabilities of n_examples x n_classes (n_scores in all) to `scores`. The head is made
// of the present examples where it is not up to date. Errors: those of tw_trainer_predict;
// FAILED_PRECONDITION if fewer than two classes have examples, NUMERIC (the penalty is too small).
// [one]
TW_API tw_status tw_learner_predict(tw_learner* learner, const tw_examples* examples, float* scores,
                                    size_t n_scores);

// As tw_trainer_cancel, for the call that computes features. [any]
TW_API tw_status tw_learner_cancel(tw_learner* learner);

// As tw_trainer_export; what it refuses (reject_rate) needs the features of all examples, and without
// them it refuses nothing. The caller owns *out_model. Errors: those of tw_learner_predict, too. [one]
TW_API tw_status tw_learner_export(tw_learner* learner, tw_model** out_model);

// An example whose features are kept.
typedef struct tw_learner_example {
  const char* id;
  int64_t label;
  // -1: none.
  int32_t group;
} tw_learner_example;

// What a learner has and holds. Pointers are borrowed from it until it changes or tells again.
typedef struct tw_learner_info {
  size_t struct_size;
  int64_t n_classes;
  const char* const* class_names;
  // Examples of each class.
  const int64_t* class_counts;
  int64_t n_examples;
  // Those whose features are kept.
  int64_t n_kept;
  // n_kept of them, in the order in which they came.
  const tw_learner_example* examples;
  int64_t n_features;
  // 0: still to be chosen.
  double penalty;
  // Examples that it was chosen for; 0: it was given.
  int64_t n_chosen;
  // The weights' relative error by rounding, as it was last measured. Beyond 1e-10 the head is solved
  // anew.
  double drift;
  // How often it was.
  int64_t n_solved;
  // 1: the head is up to date; 0: it is solved anew when it is next needed.
  int32_t is_solved;
  size_t memory_bytes;
} tw_learner_info;

// Tells what the learner has and holds. Set info->struct_size first. [one]
TW_API tw_status tw_learner_get_info(tw_learner* learner, tw_learner_info* info);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_LEARN_H_
