// Features: what the frozen part of a model says about each example, computed once.
//
// FeatureCache keeps embeddings in memory as float32 [N, D] with their labels, under a byte limit.
// FeatureExtractor runs the model cut below its head and fills the cache.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_H_

#include <functional>
#include <memory>
#include <vector>

#include "runtime/session/session.h"
#include "runtime/train/head.h"
#include "runtime/train/options.h"

namespace topwork {

// Where examples come from, by a pull callback.
struct Examples {
  int64_t count = 0;
  // Fills inputs[k] with example `index`'s data for model input k (Trainer::input(k) says its
  // dtype, shape and bytes for ONE example) and *out_label with its class. Called once per example,
  // in order, on the calling thread.
  std::function<Status(int64_t index, Span<void* const> inputs, int32_t* out_label)> read;

  // Examples that lie in memory: `data` is [count, example] for a model of one input. Both arrays
  // are borrowed until the call that takes the Examples returns.
  static Examples FromArray(const void* data, size_t example_bytes, const int32_t* labels,
                            int64_t count);
};

// Called after every batch of examples; false stops (the call then returns CANCELLED).
using FeatureProgress = std::function<bool(int64_t n_done, int64_t n_total)>;

class FeatureCache {
 public:
  // limit_bytes 0: no limit.
  FeatureCache(int dim, size_t limit_bytes, const Allocator& allocator);

  int dim() const { return dim_; }
  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  const float* row(int64_t i) const { return rows_.as<float>() + i * dim_; }
  int32_t label(int64_t i) const { return labels_[static_cast<size_t>(i)]; }
  Span<const int32_t> labels() const { return labels_; }
  size_t bytes() const { return rows_.size(); }

  // Makes room for n more rows. OUT_OF_MEMORY names the limit and what is needed.
  Status Reserve(int64_t n_more);
  // Appends one row, which must have been reserved. NUMERIC when a feature is not finite.
  Status Append(const float* row, int32_t label);
  // Forgets all rows from `size` on.
  void Truncate(int64_t size) { labels_.resize(static_cast<size_t>(size)); }

 private:
  const int dim_;
  const size_t limit_bytes_;
  const Allocator& allocator_;
  Buffer rows_;
  std::vector<int32_t> labels_;
};

class FeatureExtractor {
 public:
  // The model is cut at head.embedding. `head` is copied.
  static Result<std::unique_ptr<FeatureExtractor>> Create(std::shared_ptr<const Model> model,
                                                          const Head& head,
                                                          const TrainerOptions& options);

  int n_inputs() const { return session_->n_inputs(); }
  // dtype, shape (with a batch of 1) and quantization of input k of one example; no data.
  const TensorView& input(int k) const { return inputs_[static_cast<size_t>(k)]; }
  const std::string& input_name(int k) const { return session_->input_name(k); }
  // Examples per run of the backbone.
  int batch_size() const { return batch_size_; }
  Session& session() { return *session_; }

  // Computes the features of all examples and appends them to `cache`; on failure and cancellation
  // the cache is as it was. Labels must lie in [0, n_classes).
  Status Extract(const Examples& examples, int n_classes, const FeatureProgress& progress,
                 FeatureCache* cache);

 private:
  FeatureExtractor() = default;
  Status ChooseBatch(int requested);
  Status ReadBatch(const Examples& examples, int64_t first, int n, int n_classes, int32_t* labels);
  Status AppendBatch(int n, const int32_t* labels, FeatureCache* cache);
  bool TryBatch(int batch);
  std::vector<uint8_t> SaveInputs(int n) const;
  void LoadInputs(const std::vector<uint8_t>& saved, int first, int n);
  Status RunFirstBatch(int n, const int32_t* labels, FeatureCache* cache);
  Status ExtractAll(const Examples& examples, int n_classes, const FeatureProgress& progress,
                    FeatureCache* cache);

  Head head_;
  std::unique_ptr<Session> session_;
  std::vector<TensorView> inputs_;
  std::vector<float> row_;  // one dequantized, averaged embedding
  std::vector<float> map_;  // one example's dequantized map
  int batch_size_ = 1;
  bool batch_checked_ = false;
  bool batched_ = false;  // the first dimension of every input counts examples
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_H_
