// ExtractionWindow: the examples that an extraction works on together.
//
// Fill reads examples in order. Those that the file holds need no run; the others are staged. The
// workers write rows(); AppendTo then adds all of them to a cache, in order.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_EXTRACTION_WINDOW_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_EXTRACTION_WINDOW_H_

#include <vector>

#include "runtime/tensor/tensor.h"
#include "runtime/train/features/feature_cache.h"

namespace topwork {

// What extractions did, in examples.
struct ExtractionCounts {
  int64_t n_computed = 0;    // run through the backbone
  int64_t n_from_cache = 0;  // found in the file
  int64_t n_recomputed = 0;  // of n_computed: their record in the file was damaged
};

class ExtractionWindow {
 public:
  struct Config {
    std::vector<TensorView> inputs;  // of one example
    int64_t capacity = 1;            // examples that can be staged
    int64_t n_outputs = 0;           // classes, or floats per target
    bool with_ids = false;           // ids are needed
    const Allocator* allocator = nullptr;
  };
  // Makes a window for `cache`, which must outlive it.
  Status Init(const Config& config, FeatureCache* cache);

  // Takes examples from `first` on until there is room for no more.
  Status Fill(const Examples& examples, int64_t first, ExtractionCounts* counts);
  // Adds the examples to the cache.
  Status AppendTo(FeatureCache* cache);

  int64_t n_examples() const { return static_cast<int64_t>(entries_.size()); }
  // Runs of the backbone: n_rows for each staged example, itself and its variants.
  int64_t n_rows() const { return n_rows_; }
  int64_t n_items() const { return n_staged_ * n_rows_; }
  // Data of staged example s for input k.
  uint8_t* input(int64_t s, size_t k) const {
    return staged_.as<uint8_t>() + static_cast<size_t>(s) * example_bytes_ + offsets_[k];
  }
  const ExampleId& id(int64_t s) const {
    return entries_[static_cast<size_t>(staged_entries_[static_cast<size_t>(s)])].id;
  }
  size_t bytes() const { return staged_.size() + (rows_.size() + values_.size()) * sizeof(float); }
  // [n_staged, 1 + n_variants, dim], to be written.
  float* rows() { return rows_.data(); }

 private:
  struct Entry {
    int64_t staged = -1;  // position among the staged, or −1:
    int64_t record = -1;  // of the file
    ExampleId id = {};
    ExampleTarget target;
  };
  Status ReadTarget(const Examples& examples, int64_t index, bool read, Entry* entry);
  void HashInputs(ExampleId* out) const;

  Config config_;
  FeatureFile* file_ = nullptr;
  int64_t n_rows_ = 1;
  int64_t example_floats_ = 0;  // of an example's rows
  int64_t n_values_ = 0;        // floats per target; 0: labels
  std::vector<size_t> offsets_;
  size_t example_bytes_ = 0;  // of a staged example
  Buffer staged_;
  int64_t n_staged_ = 0;
  std::vector<float> rows_;
  std::vector<Entry> entries_;
  std::vector<int64_t> staged_entries_;
  std::vector<float> values_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_EXTRACTION_WINDOW_H_
