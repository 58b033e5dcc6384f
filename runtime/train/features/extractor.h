// FeatureExtractor: runs the backbone on examples and fills a feature cache.
//
// The model is cut at one value. Its elements, as floats and averaged over n_positions, are an
// example's row. Several sessions of one thread each share one plan and work on different examples
// at the same time. On two processors that is no slower than one session of many threads, and it
// scales better with more (figures: BENCHMARKS.md). One thread at a time; Cancel() alone may be
// called from any thread.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_EXTRACTOR_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_EXTRACTOR_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/train/features/extraction_window.h"
#include "runtime/train/features/extraction_workers.h"
#include "runtime/train/options.h"

namespace topwork {

class FeatureExtractor {
 public:
  // Of `options`: what ExtractionWorkers::Create takes, cache_limit_bytes, cache_path,
  // preprocessing, feature_type, augmentation and seed. The file at cache_path is opened here; see
  // FeatureFile::Open.
  static Result<std::unique_ptr<FeatureExtractor>> Create(std::shared_ptr<const Model> model,
                                                          const Cut& cut,
                                                          const TrainerOptions& options);

  int n_inputs() const { return first().n_inputs(); }
  // dtype, shape (with a batch of 1) and quantization of input k of one example; no data.
  const TensorView& input(int k) const { return first().input(k); }
  const std::string& input_name(int k) const { return first().input_name(k); }
  // Examples per run of the backbone.
  int batch_size() const { return first().batch(); }
  const Cut& cut() const { return first().cut(); }
  // See ExtractionWorkers.
  ThreadPool& pool() { return workers_->pool(); }
  size_t memory_bytes() const { return workers_->memory_bytes(); }
  size_t packed_bytes() const { return workers_->packed_bytes(); }
  // How many batches each worker has computed up to now; see ExtractionWorkers::place.
  const ExtractionWorkers& workers() const { return *workers_; }
  const std::vector<int64_t>& n_by_worker() const { return n_by_worker_; }
  // The most memory that examples took on their way through the model.
  size_t staging_bytes() const { return staging_bytes_; }

  // An empty cache for this extractor's rows; n_values: floats per target, 0 for labels. Caches of
  // one extractor share its file. Without variants (for evaluation) only the examples themselves
  // are run; where variants are configured, such a cache has no file.
  std::unique_ptr<FeatureCache> NewCache(int64_t n_values, bool with_variants = true) const;
  // Counts of all extractions up to now.
  const ExtractionCounts& counts() const { return counts_; }

  // Computes the rows of all examples and appends them to `cache`, one of NewCache; on failure
  // and cancellation the cache is as it was, but the file keeps what was computed. Labels must lie
  // in [0, n_outputs), values must be finite.
  Status Extract(const Examples& examples, int64_t n_outputs, const FeatureProgress& progress,
                 FeatureCache* cache);
  // Makes the Extract in progress return CANCELLED; does nothing when there is none.
  void Cancel();

 private:
  FeatureExtractor() = default;
  Status OpenFile();
  FeatureCacheOptions CacheOptions(int64_t n_values) const;
  const Backbone& first() const { return workers_->first(); }
  Status MakeWindow(int64_t n_outputs, FeatureCache* cache, ExtractionWindow* window);
  void LoadItem(const ExtractionWindow& window, int64_t item, int position, Backbone* backbone);
  Status CheckBatch(const ExtractionWindow& window);
  Status RunTask(int64_t task, Backbone* backbone, ExtractionWindow* window);
  Status RunWindow(ExtractionWindow* window);
  Status ExtractAll(const Examples& examples, int64_t n_outputs, const FeatureProgress& progress,
                    FeatureCache* cache);
  void FinishExtracting();

  std::shared_ptr<const Model> model_;
  TrainerOptions options_;
  std::unique_ptr<ExtractionWorkers> workers_;
  std::shared_ptr<FeatureFile> file_;  // null without cache_path
  ExtractionCounts counts_;
  std::vector<int64_t> n_by_worker_;
  size_t staging_bytes_ = 0;
  bool batch_checked_ = false;
  std::mutex mutex_;  // of the two below, and of Cancel against the end of Extract
  bool extracting_ = false;
  std::atomic<bool> cancelled_{false};
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_EXTRACTOR_H_
