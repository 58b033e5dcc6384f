// FeatureExtractor: runs the frozen part of a model on examples and fills a feature cache.
//
// The model is cut at one value; its elements, as floats and averaged over n_positions, are an
// example's row. Several sessions of one thread each share the model's packed weights and work on
// different examples at the same time, which is faster than one session of many threads (figures in
// README.md). One thread at a time; Cancel() alone may be called from any thread.
#ifndef TOPWORK_RUNTIME_TRAIN_EXTRACTOR_H_
#define TOPWORK_RUNTIME_TRAIN_EXTRACTOR_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/train/backbone.h"
#include "runtime/train/examples.h"
#include "runtime/train/feature_cache.h"
#include "runtime/train/options.h"

namespace topwork {

class FeatureExtractor {
 public:
  // Uses of `options`: n_threads, feature_batch_size, memory_limit_bytes (of all sessions
  // together), augmentation, seed, allocator, cpu.
  static Result<std::unique_ptr<FeatureExtractor>> Create(std::shared_ptr<const Model> model,
                                                          const Cut& cut,
                                                          const TrainerOptions& options);

  int n_inputs() const { return backbones_[0]->n_inputs(); }
  // dtype, shape (with a batch of 1) and quantization of input k of one example; no data.
  const TensorView& input(int k) const { return backbones_[0]->input(k); }
  const std::string& input_name(int k) const { return backbones_[0]->input_name(k); }
  // Examples per run of the backbone.
  int batch_size() const { return backbones_[0]->batch(); }
  const Cut& cut() const { return backbones_[0]->cut(); }
  // n_threads threads, free between calls of Extract.
  ThreadPool& pool() { return pool_ ? *pool_ : backbones_[0]->session().pool(); }
  // Sessions' memory now held: activations and scratch, without packed weights.
  size_t memory_bytes() const;

  // Computes the rows of all examples and appends them to `cache`, whose dim and number of variants
  // must be this extractor's; on failure and cancellation the cache is as it was. Labels must lie
  // in [0, n_outputs), values must be finite.
  Status Extract(const Examples& examples, int64_t n_outputs, const FeatureProgress& progress,
                 FeatureCache* cache);
  // Makes the Extract in progress return CANCELLED; nothing when none is.
  void Cancel();

 private:
  struct Window;  // examples that are worked on together
  FeatureExtractor() = default;
  Status AddBackbones();
  Status MakeWindow(const FeatureCache& cache, Window* window);
  Status FillWindow(const Examples& examples, int64_t first, int64_t n_outputs, Window* window);
  void LoadItem(const Window& window, int64_t item, int position, Backbone* backbone);
  Status CheckBatch(const Window& window);
  Status RunTask(int64_t task, Backbone* backbone, Window* window);
  Status RunWindow(Window* window);
  Status ExtractAll(const Examples& examples, int64_t n_outputs, const FeatureProgress& progress,
                    FeatureCache* cache);
  void FinishExtracting();

  std::shared_ptr<const Model> model_;
  TrainerOptions options_;
  std::vector<std::unique_ptr<Backbone>> backbones_;  // one per thread at most
  std::unique_ptr<ThreadPool> pool_;                  // null where backbones_[0] has all threads
  bool batch_checked_ = false;
  std::mutex mutex_;  // of the two below, and of Cancel against the end of Extract
  bool extracting_ = false;
  std::atomic<bool> cancelled_{false};
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_EXTRACTOR_H_
