// FeatureCache: the features of each example, kept for training.
//
// An example is n_rows = 1 + n_variants rows of dim floats (row 0 is the example itself, the others
// are its augmented variants), stored as float32 or float16, a target: a label, or n_outputs
// floats, and a group. Rows lie in memory blocks of at most limit_bytes in all; further rows lie in the mapped
// file. Labels, values, groups and ids (up to 52 bytes and n_outputs floats an example) are not counted in
// the limit. Pointers are valid until this cache, or another one with the same file, is changed.
// One thread at a time.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_FEATURE_CACHE_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_FEATURE_CACHE_H_

#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/selection.h"
#include "runtime/base/buffer.h"
#include "runtime/base/span.h"
#include "runtime/train/features/examples.h"
#include "runtime/train/features/feature_file.h"
#include "runtime/train/options.h"

namespace topwork {

struct FeatureCacheOptions {
  int64_t dim = 0;
  Extra<int> n_variants = 0;
  Extra<FeatureType> type = FeatureType::kFloat32;
  int64_t n_outputs = 0;                 // floats in a target; 0: targets are labels
  size_t limit_bytes = 0;                // of rows in memory; 0: no limit
  const Allocator* allocator = nullptr;  // null: default
  // Null: no file, and examples beyond the limit are refused. Its rows_bytes must be ExampleBytes
  // of these options.
  std::shared_ptr<FeatureFile> file;

  // Bytes of one example's rows as stored.
  size_t ExampleBytes() const {
    const size_t element = type == FeatureType::kFloat16 ? 2 : 4;
    return static_cast<size_t>(dim) * static_cast<size_t>(1 + n_variants) * element;
  }
};

class FeatureCache {
 public:
  explicit FeatureCache(const FeatureCacheOptions& options);

  int64_t dim() const { return options_.dim; }
  FeatureType type() const { return options_.type; }
  int n_variants() const { return options_.n_variants; }
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  bool uses_labels() const { return kTrainsPlainly || options_.n_outputs == 0; }
  int64_t n_outputs() const { return options_.n_outputs; }
  // Null when there is none.
  FeatureFile* file() const { return kTrainsLastAlone ? nullptr : options_.file.get(); }
  // Bytes of rows in memory, at most the limit.
  size_t bytes() const { return bytes_; }

  // Changes whenever rows, targets or their order may have changed. No two caches of a process
  // share a version, so equal versions mean equal contents.
  uint64_t version() const { return version_; }

  // Bytes of targets, ids and places.
  size_t index_bytes() const;

  // Row `variant` in [0, n_variants] of example i: dim floats. Rows in fp16 are converted into
  // `scratch` (scratch_floats() floats; may be null for fp32).
  const float* row(int64_t i, int variant = 0, float* scratch = nullptr) const;
  // What row() needs: dim() in fp16, 0 in fp32.
  size_t scratch_floats() const {
    return options_.type == FeatureType::kFloat16 ? static_cast<size_t>(options_.dim) : 0;
  }
  int32_t label(int64_t i) const { return labels_[static_cast<size_t>(i)]; }
  Span<const int32_t> labels() const { return labels_; }
  Span<int32_t> mutable_labels() {
    NoteChange();
    return labels_;
  }
  const float* values(int64_t i) const { return values_.data() + i * options_.n_outputs; }
  // ExampleTarget::group of example i.
  int32_t group(int64_t i) const { return groups().empty() ? -1 : groups_[static_cast<size_t>(i)]; }
  // Of all examples; empty where none has a group.
  Span<const int32_t> groups() const {
    return kTrainsPlainly ? Span<const int32_t>() : Span<const int32_t>(groups_);
  }
  // Different groups; examples without one are not counted.
  int64_t n_groups() const;
  const ExampleId& id(int64_t i) const { return ids_[static_cast<size_t>(i)]; }
  // What a person calls the examples, "cat/0012.png"; a name that is empty: it has none. All empty:
  // none has one.
  const std::vector<std::string>& names() const { return names_; }
  void SetName(int64_t i, const std::string& name);

  // Makes room for n more examples. OUT_OF_MEMORY names the limit and what is needed.
  Status Reserve(int64_t n_more);
  // Adds one example: rows [1 + n_variants, dim], its target, its id (may be null). NUMERIC when a
  // feature is not finite, or does not fit into fp16. With a file, examples with an id are written
  // to it for the next run, others only when memory is full; IO when that fails.
  Status Append(const float* rows, const ExampleTarget& target, const ExampleId* id = nullptr);
  // The same for an example whose rows are a record of the file.
  Status AppendRecord(int64_t record, const ExampleTarget& target, const ExampleId& id);
  // Replaces example i by another one. It is written to the file only when memory is full.
  Status Replace(int64_t i, const float* rows, const ExampleTarget& target,
                 const ExampleId* id = nullptr);
  // Forgets all examples from `size` on.
  void Truncate(int64_t size);
  // Keeps the examples at `indices` (distinct, in [0, size())), in that order, and no others.
  void Keep(Span<const int64_t> indices);
  // Replaces the values by those of `from.size()` outputs: new output o is the largest of what the
  // outputs from[o] were, 0 where there are none. Only where targets are values.
  void MapOutputs(const std::vector<std::vector<int32_t>>& from);

  // Lower-case hex SHA-256 of all rows as stored, then all targets, then all groups if there are
  // any, in order.
  std::string digest() const;

 private:
  void NoteChange();
  size_t ElementBytes() const { return options_.type == FeatureType::kFloat16 ? 2 : 4; }
  int64_t ExampleFloats() const { return options_.dim * (1 + options_.n_variants); }
  Status CheckRows(const float* rows, int64_t i) const;
  void Store(const float* rows, uint8_t* to) const;
  void AddEntry(int64_t place, const ExampleTarget& target, const ExampleId* id);
  void SetTarget(int64_t i, const ExampleTarget& target, const ExampleId* id);
  void ForgetGroupsIfNone();
  const uint8_t* StoredRows(int64_t i) const;
  uint8_t* Slot(int64_t slot) const;
  bool HasRoom() const;
  Status AddBlock();
  Status Spill(const uint8_t* stored, const ExampleId* id, int64_t* out_record);
  Status PlaceRows(const float* rows, const ExampleId* id, bool keep, int64_t* out_place);

  FeatureCacheOptions options_;
  uint64_t version_ = 0;
  const Allocator& allocator_;
  size_t example_bytes_ = 0;
  int64_t slots_per_block_ = 1;
  std::vector<Buffer> blocks_;  // all of slots_per_block_ examples, the last perhaps of fewer
  size_t bytes_ = 0;
  std::vector<int64_t> free_slots_;  // taken from the back
  std::vector<int64_t> entries_;     // place of each example: its slot, or −1 − its record
  std::vector<uint8_t> stored_;      // one example's rows on their way to the file
  std::vector<int32_t> labels_;      // empty where targets are values
  std::vector<float> values_;
  std::vector<int32_t> groups_;  // empty while no example has one
  std::vector<ExampleId> ids_;
  std::vector<std::string> names_;  // empty while no example has one
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_FEATURE_CACHE_H_
