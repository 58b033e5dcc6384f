// Examples: where a trainer's examples come from, by a pull callback.
//
// An example is its data for every model input and its target: the index of a class for losses that
// use labels, otherwise one float per output. Examples that have something in common beside their
// class (a writer, a camera, a burst of pictures) may say so by the number of a group.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_EXAMPLES_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_EXAMPLES_H_

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

struct ExampleTarget {
  int32_t label = -1;
  float* values = nullptr;  // room for n_outputs floats; null where labels are used
  int32_t group = -1;       // 0 or more: the number of its group; -1: none
};

struct Examples {
  int64_t count = 0;
  // Fills inputs[k] with example `index`'s data for model input k (Trainer::input(k) says its
  // dtype, shape and bytes for ONE example) and the label or the values of *out. Called at most
  // once per example, in order, on the calling thread.
  std::function<Status(int64_t index, Span<void* const> inputs, ExampleTarget* out)> read;
  // Both or none. `key` names example `index` by a text that is the same in every run (a path with
  // its size and time of change, a content hash). An example whose key is in the feature file is
  // not read; only its target is asked for. Without keys an example is known by the SHA-256 of its
  // data and is always read.
  std::function<Status(int64_t index, std::string* out_key)> key;
  std::function<Status(int64_t index, ExampleTarget* out)> target;

  // Examples that lie in memory: `data` is [count, example] for a model of one input, labels
  // [count], values [count, n_outputs]. Arrays are borrowed until the call that takes the Examples
  // returns.
  static Examples FromArray(const void* data, size_t example_bytes, const int32_t* labels,
                            int64_t count);
  static Examples FromArray(const void* data, size_t example_bytes, const float* values,
                            int64_t n_outputs, int64_t count);
};

// Called after every group of examples; false stops (the call then returns CANCELLED).
using FeatureProgress = std::function<bool(int64_t n_done, int64_t n_total)>;

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_EXAMPLES_H_
