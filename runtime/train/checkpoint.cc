// Checkpoint files: what is written, and which generation is read.
#include <algorithm>
#include <cstring>
#include <utility>

#include "models/format/checkpoint_file.h"
#include "runtime/base/file.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/fit/solvers.h"
#include "runtime/train/trainer.h"

namespace topwork {
namespace {

std::string PreviousPath(const std::string& path) { return path + ".previous"; }

Result<CheckpointData> ReadCheckpoint(const std::string& path, MappedBytes* out_file) {
  TW_ASSIGN_OR_RETURN(*out_file, MappedBytes::Open(path, "the checkpoint"));
  Result<CheckpointData> data = DecodeCheckpoint(out_file->bytes());
  if (!data.ok()) return data.status().WithPrefix("'" + path + "': ");
  return data;
}

// The generation before moves to PATH.previous, unless it is damaged: then what lies there is
// better.
Status KeepPrevious(const std::string& path) {
  const Result<MappedBytes> file = MappedBytes::Open(path, "the checkpoint");
  if (!file.ok() || !CheckWhole(file->bytes()).ok()) return Status::Ok();
  return WriteFile(PreviousPath(path), "the checkpoint", {file->bytes()});
}

std::vector<float> ToVector(Span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

const std::string& Trainer::ExamplesDigest() {
  if (examples_digest_.empty()) examples_digest_ = cache_->digest();
  return examples_digest_;
}

void Trainer::DescribeProgress(CheckpointData* data) const {
  const Progress& p = progress_;
  data->epoch = p.epoch;
  data->step = p.step;
  data->random_state = p.random_state;
  data->position = p.position;
  data->loss_sum = p.loss_sum;
  data->weight_sum = p.weight_sum;
  data->hits = p.hits;
  data->epoch_seconds = p.seconds;
  data->best_loss = p.best_epoch > 0 ? p.best_loss : 0.0;
  data->best_epoch = p.best_epoch;
  data->best_parameters = p.best_parameters;
  data->stopped_early = p.stopped_early;
  for (const EpochMetrics& m : p.history) {
    data->history.push_back({m.epoch, m.n_epochs, m.step, m.train_loss, m.train_accuracy,
                             m.has_validation, m.validation_loss, m.validation_accuracy, m.seconds,
                             m.learning_rate});
  }
}

Status Trainer::SaveCheckpoint(const std::string& path, bool with_examples) {
  CheckpointData data;
  data.model_sha256 = model_->sha256();
  data.examples_sha256 = ExamplesDigest();
  data.options = RunOptions();
  data.dim = dim();
  data.n_classes = n_classes();
  data.class_names = options_.class_names;
  data.parameters = ToVector(parameters());
  data.moment1 = ToVector(optimizer_->moment1());
  data.moment2 = ToVector(optimizer_->moment2());
  data.n_updates = optimizer_->n_updates();
  if (lbfgs_ != nullptr) data.solver = lbfgs_->State();
  data.learning_rate = learning_rate_;
  data.temperature = temperature_;
  data.fresh_classes.assign(fresh_classes_.begin(), fresh_classes_.end());
  data.train = train_;
  data.validation = validation_;
  DescribeProgress(&data);
  if (with_examples) DescribeExamples(&data);
  TW_RETURN_IF_ERROR(files_.Hold(path, "the checkpoint"));
  return files_.Write(path, "the checkpoint", [&] {
    TW_RETURN_IF_ERROR(KeepPrevious(path));
    return WriteCheckpoint(path, data);
  });
}

void Trainer::DescribeExamples(CheckpointData* data) const {
  const size_t dim = static_cast<size_t>(this->dim());
  const size_t n_rows = static_cast<size_t>(cache_->n_variants()) + 1;
  data->has_examples = true;
  data->rows.resize(static_cast<size_t>(cache_->size()) * n_rows * dim);
  float* to = data->rows.data();
  for (int64_t i = 0; i < cache_->size(); ++i) {
    for (size_t v = 0; v < n_rows; ++v, to += dim) {
      const float* row = cache_->row(i, static_cast<int>(v), to);
      if (row != to) std::memcpy(to, row, dim * sizeof(float));
    }
    if (cache_->uses_labels()) {
      data->labels.push_back(cache_->label(i));
      continue;
    }
    const float* values = cache_->values(i);
    data->values.insert(data->values.end(), values, values + n_classes());
  }
  if (replay_ != nullptr) data->replay = replay_->State();
}

Status Trainer::RestoreCheckpoint(const std::string& path) {
  MappedBytes file;
  const Result<CheckpointData> data = ReadCheckpoint(path, &file);
  const Status status = data.ok() ? Adopt(*data) : data.status();
  if (status.ok()) {
    files_.NoteRead(path, file.bytes());
    return status;
  }
  const std::string reason = (data.ok() ? "'" + path + "': " : "") + status.message();
  const Result<CheckpointData> previous = ReadCheckpoint(PreviousPath(path), &file);
  if (!previous.ok() || !CheckBelongs(*previous).ok()) return Status(status.code(), reason);
  return Status(
      status.code(),
      StrFormat("%s; the generation before it, '%s', is sound (epoch %d, step %lld): restore that",
                reason.c_str(), PreviousPath(path).c_str(), previous->epoch,
                static_cast<long long>(previous->step)));
}

}  // namespace topwork
