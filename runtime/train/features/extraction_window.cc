// ExtractionWindow: reading, looking up and appending of a window's examples.
#include "runtime/train/features/extraction_window.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/contract/selection.h"
#include "runtime/base/sha256.h"

namespace topwork {
namespace {

// Examples found in the file that a window holds beside the staged ones, so that progress is
// reported often.
constexpr int64_t kFoundPerWindow = 256;

Status CheckTarget(const ExampleTarget& target, int64_t index, int64_t n_outputs) {
  if (target.group < -1) {
    return InvalidArgument("example {} has group {}; groups are 0 or more, -1 means none", index,
                           target.group);
  }
  if (target.values == nullptr) {
    if (target.label >= 0 && target.label < n_outputs) return Status::Ok();
    return InvalidArgument("example {} has label {}; labels are 0 to {}", index, target.label,
                           n_outputs - 1);
  }
  for (int64_t o = 0; o < n_outputs; ++o) {
    if (std::isfinite(target.values[o])) continue;
    return InvalidArgument("target {} of example {} is {} or was not given", o, index,
                           target.values[o]);
  }
  return Status::Ok();
}

ExampleId HashKey(const std::string& key) {
  Sha256 sha;
  sha.Update("key", 3);
  sha.Update(key.data(), key.size());
  return sha.Finish();
}

}  // namespace

Status ExtractionWindow::Init(const Config& config, FeatureCache* cache) {
  config_ = config;
  file_ = cache->file();
  n_rows_ = 1 + cache->n_variants();
  example_floats_ = cache->dim() * n_rows_;
  n_values_ = cache->n_outputs();
  for (const TensorView& view : config.inputs) {
    offsets_.push_back(example_bytes_);
    example_bytes_ += AlignUp(view.bytes());
  }
  const size_t n = static_cast<size_t>(config.capacity);
  size_t bytes = 0;
  if (MulOverflow(config.capacity, example_bytes_, &bytes)) {
    return OutOfMemory("{} examples of {} bytes do not fit into the address space", config.capacity,
                       example_bytes_);
  }
  TW_ASSIGN_OR_RETURN(staged_, Buffer::Allocate(bytes, "the examples to extract features of",
                                                config.allocator != nullptr ? *config.allocator
                                                                            : DefaultAllocator()));
  rows_.resize(n * static_cast<size_t>(example_floats_));
  values_.resize((n + (file_ != nullptr ? static_cast<size_t>(kFoundPerWindow) : 0)) *
                 static_cast<size_t>(n_values_));
  return Status::Ok();
}

// Reads the example into the next free stage, or asks for its target alone.
Status ExtractionWindow::ReadTarget(const Examples& examples, int64_t index, bool read,
                                    Entry* entry) {
  ExampleTarget target;
  float* values = values_.data() + n_examples() * n_values_;
  if (n_values_ > 0) {
    target.values = values;
    std::fill_n(values, n_values_, std::numeric_limits<float>::quiet_NaN());
  }
  if (read) {
    std::vector<void*> inputs;
    for (size_t k = 0; k < offsets_.size(); ++k) inputs.push_back(input(n_staged_, k));
    const Span<void* const> span(inputs.data(), inputs.size());
    TW_RETURN_IF_ERROR(examples.read(index, span, &target));
  } else {
    TW_RETURN_IF_ERROR(examples.target(index, &target));
  }
  entry->target.label = target.label;
  entry->target.group = target.group;
  entry->target.values = n_values_ > 0 ? values : nullptr;
  return CheckTarget(entry->target, index, config_.n_outputs);
}

void ExtractionWindow::HashInputs(ExampleId* out) const {
  Sha256 sha;
  for (size_t k = 0; k < offsets_.size(); ++k) {
    sha.Update(input(n_staged_, k), config_.inputs[k].bytes());
  }
  *out = sha.Finish();
}

Status ExtractionWindow::Fill(const Examples& examples, int64_t first, ExtractionCounts* counts) {
  entries_.clear();
  staged_entries_.clear();
  n_staged_ = 0;
  int64_t n_found = 0;
  const bool with_ids = !kTrainsLastAlone && config_.with_ids;
  for (int64_t i = first; i < examples.count; ++i) {
    if (n_staged_ == config_.capacity || n_found == kFoundPerWindow) break;
    Entry entry;
    std::string key;
    bool damaged = false;
    if (with_ids && examples.key) {
      TW_RETURN_IF_ERROR(examples.key(i, &key));
      entry.id = HashKey(key);
      if (file_ != nullptr) TW_RETURN_IF_ERROR(file_->Find(entry.id, &entry.record, &damaged));
    }
    TW_RETURN_IF_ERROR(ReadTarget(examples, i, entry.record < 0, &entry));
    if (with_ids && !examples.key) {
      HashInputs(&entry.id);
      if (file_ != nullptr) TW_RETURN_IF_ERROR(file_->Find(entry.id, &entry.record, &damaged));
    }
    if (entry.record >= 0) {
      ++n_found;
      ++counts->n_from_cache;
    } else {
      entry.staged = n_staged_++;
      staged_entries_.push_back(n_examples());
      ++counts->n_computed;
      if (damaged) ++counts->n_recomputed;
    }
    entries_.push_back(entry);
  }
  return Status::Ok();
}

Status ExtractionWindow::AppendTo(FeatureCache* cache) {
  for (const Entry& entry : entries_) {
    if (entry.record >= 0) {
      TW_RETURN_IF_ERROR(cache->AppendRecord(entry.record, entry.target, entry.id));
    } else {
      TW_RETURN_IF_ERROR(cache->Append(rows_.data() + entry.staged * example_floats_, entry.target,
                                       config_.with_ids ? &entry.id : nullptr));
    }
  }
  return Status::Ok();
}

}  // namespace topwork
