// Checkpoint files: what is written, and which generation is read. Taking one over is in
// checkpoint_match.cc.
#include "runtime/train/checkpoint_store.h"

#include <cstring>

#include "models/format/checkpoint_file.h"
#include "ports/port.h"

namespace topwork {
namespace {

std::string PreviousPath(const std::string& path) { return path + ".previous"; }

Status WriteFile(const std::string& path, Span<const uint8_t> bytes) {
  const int error = port::WriteFileAtomic(path.c_str(), bytes.data(), bytes.size());
  if (error == 0) return Status::Ok();
  return IoError("cannot write checkpoint '%s': %s", path.c_str(), port::ErrorText(error).c_str());
}

// A mapped file that unmaps itself.
struct Mapping {
  port::MappedFile file;
  ~Mapping() { port::UnmapFile(&file); }
  Span<const uint8_t> bytes() const { return {file.data, file.size}; }
};

Result<CheckpointData> ReadCheckpoint(const std::string& path) {
  Mapping mapping;
  const int error = port::MapFile(path.c_str(), &mapping.file);
  if (error != 0) {
    return IoError("cannot read checkpoint '%s': %s", path.c_str(), port::ErrorText(error).c_str());
  }
  Result<CheckpointData> data = DecodeCheckpoint(mapping.bytes());
  if (!data.ok()) return data.status().WithPrefix("'" + path + "': ");
  return data;
}

// The generation before moves to PATH.previous, unless it is damaged: then what lies there is
// better.
Status KeepPrevious(const std::string& path) {
  Mapping mapping;
  if (port::MapFile(path.c_str(), &mapping.file) != 0) return Status::Ok();
  if (!DecodeCheckpoint(mapping.bytes()).ok()) return Status::Ok();
  return WriteFile(PreviousPath(path), mapping.bytes());
}

}  // namespace

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
  if (with_examples) DescribeExamples(&data);
  TW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, EncodeCheckpoint(data));
  TW_RETURN_IF_ERROR(KeepPrevious(path));
  return WriteFile(path, bytes);
}

void CheckpointStore::DescribeExamples(CheckpointData* data) const {
  const FeatureCache& cache = context_.set->cache();
  const size_t dim = static_cast<size_t>(cache.dim());
  const size_t n_rows = static_cast<size_t>(cache.n_variants()) + 1;
  data->has_examples = true;
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
  const Result<CheckpointData> data = ReadCheckpoint(path);
  const Status status = data.ok() ? Adopt(*data) : data.status();
  if (status.ok()) return status;
  const std::string reason = (data.ok() ? "'" + path + "': " : "") + status.message();
  const Result<CheckpointData> previous = ReadCheckpoint(PreviousPath(path));
  if (!previous.ok() || !CheckBelongs(*previous).ok()) return Status(status.code(), reason);
  return Status(
      status.code(),
      StrFormat("%s; the generation before it, '%s', is sound (epoch %d, step %lld): restore that",
                reason.c_str(), PreviousPath(path).c_str(), previous->values.progress.epoch,
                static_cast<long long>(previous->values.progress.step)));
}

}  // namespace topwork
