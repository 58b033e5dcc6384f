// FeatureCache: what the frozen part of a model says about each example, kept for training.
//
// An example is n_rows = 1 + n_variants rows of dim floats (row 0: the example itself, then its
// augmented variants), stored as fp32 or fp16, and a target: a label, or n_outputs floats. Rows lie
// in memory blocks of at most limit_bytes in all; labels, values and ids (up to 48 bytes and
// n_outputs floats an example) come on top. Pointers are valid until the cache is changed. One
// thread at a time.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURE_CACHE_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURE_CACHE_H_

#include <array>
#include <string>
#include <vector>

#include "runtime/base/buffer.h"
#include "runtime/base/span.h"
#include "runtime/train/examples.h"
#include "runtime/train/options.h"

namespace topwork {

// SHA-256 of an example's key or data; all zeros: unknown.
using ExampleId = std::array<uint8_t, 32>;

struct FeatureCacheOptions {
  int64_t dim = 0;
  int n_variants = 0;
  FeatureType type = FeatureType::kFloat32;
  int64_t n_outputs = 0;                 // floats in a target; 0: targets are labels
  size_t limit_bytes = 0;                // of rows in memory; 0: no limit
  const Allocator* allocator = nullptr;  // null: default
};

class FeatureCache {
 public:
  explicit FeatureCache(const FeatureCacheOptions& options);

  int64_t dim() const { return options_.dim; }
  int n_variants() const { return options_.n_variants; }
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  bool uses_labels() const { return options_.n_outputs == 0; }
  int64_t n_outputs() const { return options_.n_outputs; }
  // Bytes of rows in memory, at most the limit.
  size_t bytes() const { return bytes_; }

  // Row `variant` in [0, n_variants] of example i: dim floats. Rows in fp16 are converted into
  // `scratch` (dim floats; may be null for fp32).
  const float* row(int64_t i, int variant = 0, float* scratch = nullptr) const;
  int32_t label(int64_t i) const { return labels_[static_cast<size_t>(i)]; }
  Span<const int32_t> labels() const { return labels_; }
  Span<int32_t> mutable_labels() { return labels_; }
  const float* values(int64_t i) const { return values_.data() + i * options_.n_outputs; }
  const ExampleId& id(int64_t i) const { return ids_[static_cast<size_t>(i)]; }

  // Makes room for n more examples. OUT_OF_MEMORY names the limit and what is needed.
  Status Reserve(int64_t n_more);
  // Adds one example: rows [1 + n_variants, dim], its target, its id (may be null). NUMERIC when a
  // feature is not finite, or does not fit into fp16.
  Status Append(const float* rows, const ExampleTarget& target, const ExampleId* id = nullptr);
  // Puts another example in the place of example i.
  Status Replace(int64_t i, const float* rows, const ExampleTarget& target,
                 const ExampleId* id = nullptr);
  // Forgets all examples from `size` on.
  void Truncate(int64_t size);
  // Keeps the examples at `indices` (distinct, in [0, size())), in that order, and no others.
  void Keep(Span<const int64_t> indices);
  // Values of `from.size()` outputs in place of the present ones: new output o is what output
  // from[o] was, or 0 where from[o] is −1. Only where targets are values.
  void MapOutputs(Span<const int32_t> from);

  // Lower-case hex SHA-256 of all rows as stored, then all targets, in order.
  std::string digest() const;

 private:
  size_t ElementBytes() const { return options_.type == FeatureType::kFloat16 ? 2 : 4; }
  int64_t ExampleFloats() const { return options_.dim * (1 + options_.n_variants); }
  size_t ExampleBytes() const { return static_cast<size_t>(ExampleFloats()) * ElementBytes(); }
  Status CheckRows(const float* rows, int64_t i) const;
  void Store(const float* rows, uint8_t* to) const;
  void SetTarget(int64_t i, const ExampleTarget& target, const ExampleId* id);
  // The stored rows of example i.
  const uint8_t* StoredRows(int64_t i) const;
  uint8_t* Slot(int64_t slot) const;
  // Grows the blocks by one, within the limit.
  Status AddBlock();

  FeatureCacheOptions options_;
  const Allocator& allocator_;
  int64_t slots_per_block_ = 1;
  std::vector<Buffer> blocks_;  // all of slots_per_block_ examples, the last perhaps of fewer
  size_t bytes_ = 0;
  std::vector<int64_t> free_slots_;  // taken from the back
  std::vector<int64_t> entries_;     // slot of each example
  std::vector<int32_t> labels_;      // empty where targets are values
  std::vector<float> values_;
  std::vector<ExampleId> ids_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURE_CACHE_H_
