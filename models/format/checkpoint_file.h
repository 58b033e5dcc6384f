// A training checkpoint as plain data, and as the bytes of a file.
//
// File: a record file (runtime/base/record_file.h) around a FlatBuffer of
// models/schema/checkpoint.fbs.
#ifndef TOPWORK_MODELS_FORMAT_CHECKPOINT_FILE_H_
#define TOPWORK_MODELS_FORMAT_CHECKPOINT_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/format/training_values.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

// Fields as in the schema; all of them finite and within the sizes that the others give, which
// decoding checks as far as they are told here.
struct CheckpointData {
  // Defined once: they are long, and the compiler would write them out wherever one is made.
  CheckpointData();
  ~CheckpointData();
  CheckpointData(CheckpointData&&) noexcept;
  CheckpointData& operator=(CheckpointData&&) noexcept;
  CheckpointData(const CheckpointData&);
  CheckpointData& operator=(const CheckpointData&);

  std::string model_sha256;
  std::string examples_sha256;
  std::vector<std::string> options;  // "name value"
  int64_t dim = 0;
  int n_classes = 0;
  std::vector<std::string> class_names;  // empty, or n_classes
  TrainingValues values;
  std::vector<int32_t> train;  // indices of examples
  std::vector<int32_t> validation;
#ifndef TW_NO_LEARN
  bool has_new_examples = false;
#endif
  // The examples themselves, where they were asked for: rows, then labels or targets.
  bool has_examples = false;
  std::vector<float> rows;
  std::vector<int32_t> labels;
  std::vector<float> targets;
  std::vector<int32_t> groups;     // empty, or one for each example
  std::vector<std::string> names;  // likewise
#ifndef TW_NO_LEARN
  std::vector<float> negatives;  // rows of examples of no class
#endif
  ReplayState replay;
  // Where a learner wrote it, as in the schema.
  bool is_learner = false;
  double penalty = 0.0;
  int64_t n_chosen = 0;
  std::vector<double> statistics;
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
