// A training checkpoint as plain data, and as the bytes of a file.
//
// File: a record file (runtime/base/record_file.h) around a FlatBuffer of
// models/schema/checkpoint.fbs.
#ifndef TOPWORK_MODELS_FORMAT_CHECKPOINT_FILE_H_
#define TOPWORK_MODELS_FORMAT_CHECKPOINT_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

struct CheckpointEpoch {
  int epoch = 0;
  int n_epochs = 0;
  int64_t step = 0;
  double train_loss = 0.0;
  double train_accuracy = 0.0;
  bool has_validation = false;
  double validation_loss = 0.0;
  double validation_accuracy = 0.0;
  double seconds = 0.0;
  double learning_rate = 0.0;
};

// State of a bounded memory of examples (runtime/train/replay.h).
struct CheckpointReplay {
  std::vector<int32_t> labels;  // class of every slot
  std::vector<int64_t> seen;    // examples of every class that were offered
  uint64_t random_state = 0;
};

// Fields as in the schema; all of them finite and within the sizes that the others give, which
// decoding checks as far as they are told here.
struct CheckpointData {
  std::string model_sha256;
  std::string examples_sha256;
  std::vector<std::string> options;  // "name value"
  int64_t dim = 0;
  int n_classes = 0;
  std::vector<std::string> class_names;  // empty, or n_classes
  std::vector<float> parameters;
  std::vector<float> moment1;  // empty, or as many as parameters; likewise moment2
  std::vector<float> moment2;
  int64_t n_updates = 0;
  std::vector<double> solver;
  float learning_rate = 0.0f;
  double temperature = 1.0;
  std::vector<uint8_t> fresh_classes;  // n_classes
  std::vector<int32_t> train;          // indices of examples
  std::vector<int32_t> validation;
  int epoch = 0;
  int64_t step = 0;
  uint64_t random_state = 0;
  uint64_t position = 0;
  double loss_sum = 0.0;
  double weight_sum = 0.0;
  double hits = 0.0;
  double epoch_seconds = 0.0;
  std::vector<CheckpointEpoch> history;
  double best_loss = 0.0;
  int best_epoch = 0;
  std::vector<float> best_parameters;  // empty, or as many as parameters
  bool stopped_early = false;
  bool has_examples = false;
  std::vector<float> rows;
  std::vector<int32_t> labels;
  std::vector<float> values;
  CheckpointReplay replay;
};

// UNSUPPORTED beyond 2 GiB, which the format cannot hold.
Result<std::vector<uint8_t>> EncodeCheckpoint(const CheckpointData& data);
// The same into a file that appears whole or not at all, without a copy in memory.
Status WriteCheckpoint(const std::string& path, const CheckpointData& data);

// OK for the bytes of a checkpoint that nothing has damaged; its contents are not looked at.
Status CheckWhole(Span<const uint8_t> bytes);

// CORRUPT with what is wrong: not a checkpoint, truncated, failed checksum, inconsistent;
// UNSUPPORTED for one of a later format.
Result<CheckpointData> DecodeCheckpoint(Span<const uint8_t> bytes);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_CHECKPOINT_FILE_H_
