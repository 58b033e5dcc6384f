// Examples, which trainers, learners, monitors and quantizers read.
#ifndef TOPWORK_EXAMPLES_H_
#define TOPWORK_EXAMPLES_H_

#include "topwork/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Labelled examples, in memory or read one by one. They are borrowed for the call. Zero the struct,
// set struct_size and n_examples, and fill in either data, data_bytes, dtype and labels, or read.
typedef struct tw_examples {
  size_t struct_size;
  int64_t n_examples;
  // For models of one input: the examples one after the other, each in the type and shape of the
  // model's input without its batch dimension (tw_trainer_get_input).
  const void* data;
  size_t data_bytes;
  tw_dtype dtype;
  // With TW_LOSS_SOFTMAX: the class of each, in [0, n_classes).
  const int64_t* labels;
  // With the other losses: n_examples x n_classes numbers.
  const float* targets;
  // In place of data: called once for every index, in order. It writes the example's values for
  // model input k to inputs[k], and its class to *out_label. Another status than OK ends the call
  // with that status.
  tw_status (*read)(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                    int64_t* out_label);
  // In place of read's out_label: writes the example's class (TW_LOSS_SOFTMAX), or its n_values =
  // n_classes targets. It is needed beside read for the other losses, and beside key.
  tw_status (*target)(void* user_data, int64_t index, int64_t* out_label, float* out_values,
                      size_t n_values);
  // Writes a text of at most key_bytes, its NUL included, that names the example in every run (its
  // path, time and size, say): an example whose key is in features.cache_path is not read again.
  // NULL: an example is known by its data.
  tw_status (*key)(void* user_data, int64_t index, char* out_key, size_t key_bytes);
  // Called after each batch of the backbone; returns 0 to go on. May be NULL.
  int32_t (*progress)(void* user_data, int64_t n_done, int64_t n_total);
  // Given to the callbacks.
  void* user_data;
  // Examples of one group (a writer, a camera, a burst of pictures) are not independent: the split
  // keeps them together, and evaluations tell the worst group. A group is any number from 0 on; -1:
  // none. n_examples of them, or `group`, which writes that of an example; both NULL: no groups.
  const int32_t* groups;
  tw_status (*group)(void* user_data, int64_t index, int32_t* out_group);
  // A text for each example that tells it from the others, say the name of its file, without line
  // breaks. n_examples of them, which are copied; NULL: none. A learner needs them, no two alike, and
  // removes examples by them. A model that refuses tells the nearest examples by them
  // (tw_rejection.nearest).
  const char* const* ids;
  // 1, in tw_trainer_add_examples with TW_LOSS_SOFTMAX: the examples belong to no class, for example
  // what else is seen where the model works. A model with reject_rate refuses them more surely, and
  // so is what resembles them. Labels are not looked at, and examples of the same features count once.
  // No other function takes such examples.
  int32_t are_negatives;
} tw_examples;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_EXAMPLES_H_
