// A training checkpoint as plain data, and as the bytes of a file.
//
// File: a container (models/format/container.h) with magic "TWCKPT1\n" around a FlatBuffer of
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
};

struct CheckpointData {
  std::string model_sha256;
  std::string examples_sha256;
  int output = 0;
  int dim = 0;
  int n_classes = 0;
  std::vector<std::string> class_names;
  int optimizer = 0;
  int batch_size = 0;
  uint64_t seed = 0;
  float validation_fraction = 0.0f;
  std::vector<float> parameters;  // [n_classes, dim], then [n_classes]
  std::vector<float> moment1;
  std::vector<float> moment2;
  int64_t n_updates = 0;
  int epoch = 0;
  int64_t step = 0;
  uint64_t random_state = 0;
  uint64_t position = 0;
  double loss_sum = 0.0;
  int64_t n_correct = 0;
  double epoch_seconds = 0.0;
  std::vector<CheckpointEpoch> history;
};

std::vector<uint8_t> EncodeCheckpoint(const CheckpointData& data);

// CORRUPT with what is wrong: not a checkpoint, truncated, failed checksum, inconsistent;
// UNSUPPORTED for one of a later format.
Result<CheckpointData> DecodeCheckpoint(Span<const uint8_t> bytes);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_CHECKPOINT_FILE_H_
