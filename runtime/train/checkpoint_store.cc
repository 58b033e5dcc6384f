// Checkpoint files: what is written, and which generation is read. Taking one over is in
// checkpoint_match.cc.
#include "runtime/train/checkpoint_store.h"

#include <cstring>

#include "models/format/checkpoint_file.h"
#include "runtime/base/file.h"

namespace topwork {
namespace {

std::string PreviousPath(const std::string& path) { return path + ".previous"; }

// The generation before moves to PATH.previous, unless it is damaged: then what lies there is
// better.
Status KeepPrevious(const std::string& path) {
  const Result<MappedBytes> file = MappedBytes::Open(path, "the checkpoint");
  if (!file.ok() || !CheckWhole(file->bytes()).ok()) return Status::Ok();
  return WriteFile(PreviousPath(path), "the checkpoint", {file->bytes()});
}

}  // namespace

Result<CheckpointData> CheckpointStore::Read(const std::string& path, MappedBytes* out_file) {
  TW_ASSIGN_OR_RETURN(*out_file, MappedBytes::Open(path, "the checkpoint"));
  Result<CheckpointData> data = DecodeCheckpoint(out_file->bytes());
  if (!data.ok()) return data.status().WithPrefix("'" + path + "': ");
  return data;
}

Status CheckpointStore::Write(const std::string& path, const char* what, const CheckpointData& data,
                              TrainerFiles* files) {
  TW_RETURN_IF_ERROR(files->Hold(path, what));
  return files->Write(path, what, [&] {
    TW_RETURN_IF_ERROR(KeepPrevious(path));
    return WriteCheckpoint(path, data);
  });
}

Status CheckpointStore::Save(const std::string& path, bool with_examples) const {
  const TrainerOptions& options = *context_.options;
  CheckpointData data;
  data.model_sha256 = context_.layers->model().sha256();
  data.examples_sha256 = context_.set->digest();
  data.options =
      RunLines(options, context_.layers->head().output, context_.layers->head().appended());
  data.dim = context_.set->dim();
  data.n_classes = options.n_classes;
  data.class_names = options.class_names;
  data.values = context_.state->Values();
  data.train = context_.set->train();
  data.validation = context_.set->validation();
#ifndef TW_NO_LEARN
  data.has_new_examples = !context_.set->is_fitted();
  if (context_.set->replay() != nullptr) plan_.KeepOrder(&data.values);
#endif
  if (with_examples) DescribeExamples(&data);
  return Write(path, "the checkpoint", data, &files_);
}

void CheckpointStore::DescribeExamples(CheckpointData* data) const {
  const FeatureCache& cache = context_.set->cache();
  const size_t dim = static_cast<size_t>(cache.dim());
  const size_t n_rows = static_cast<size_t>(cache.n_variants()) + 1;
  data->has_examples = true;
  data->groups.assign(cache.groups().begin(), cache.groups().end());
  data->names = cache.names();
#ifndef TW_NO_LEARN
  data->negatives = rejecter_.NegativeRows();
#endif
  data->rows.resize(static_cast<size_t>(cache.size()) * n_rows * dim);
  float* to = data->rows.data();
  for (int64_t i = 0; i < cache.size(); ++i) {
    for (size_t v = 0; v < n_rows; ++v, to += dim) {
      const float* row = cache.row(i, static_cast<int>(v), to);
      if (row != to) std::memcpy(to, row, dim * sizeof(float));
    }
    if (cache.uses_labels()) {
      data->labels.push_back(cache.label(i));
      continue;
    }
    const float* values = cache.values(i);
    data->targets.insert(data->targets.end(), values, values + cache.n_outputs());
  }
  if (context_.set->replay() != nullptr) data->replay = context_.set->replay()->State();
}

Status CheckpointStore::Restore(const std::string& path) const {
  MappedBytes file;
  const Result<CheckpointData> data = Read(path, &file);
  const Status status = data.ok() ? Adopt(*data) : data.status();
  if (status.ok()) {
    files_.NoteRead(path, file.bytes());
    return status;
  }
  const std::string reason = (data.ok() ? "'" + path + "': " : "") + status.message();
  const Result<CheckpointData> previous = Read(PreviousPath(path), &file);
  if (!previous.ok() || !CheckBelongs(*previous).ok()) return Status(status.code(), reason);
  return Status(
      status.code(),
      StrFormat("{}; the generation before it, '{}', is sound (epoch {}, step {}): restore that",
                reason, PreviousPath(path), previous->values.progress.epoch,
                previous->values.progress.step));
}

}  // namespace topwork
