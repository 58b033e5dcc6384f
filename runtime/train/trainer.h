// Trainer: re-trains the last layer of a stock model on the caller's examples.
//
//   Create → AddExamples (features, once) → Train → Evaluate → Export
// Loss: softmax cross-entropy. The same bits come out for any number of threads. One thread at a
// time; Cancel() alone may be called from any thread. Nothing is written to the model that was
// opened; Export makes a new one.
#ifndef TOPWORK_RUNTIME_TRAIN_TRAINER_H_
#define TOPWORK_RUNTIME_TRAIN_TRAINER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/train/extractor.h"
#include "runtime/train/head.h"
#include "runtime/train/metrics.h"
#include "runtime/train/options.h"

namespace topwork {

class HeadTrainer;
struct CheckpointData;

// Called after every epoch; false stops: Train then returns OK with what was learnt so far.
using EpochCallback = std::function<bool(const EpochMetrics& metrics)>;

enum class ExampleSet : int { kTrain = 0, kValidation = 1, kAll = 2 };

class Trainer {
 public:
  // Finds the head and plans the model below it. UNSUPPORTED when the model has no trainable head
  // (the message says what was found instead), INVALID_ARGUMENT for options out of range.
  static Result<std::unique_ptr<Trainer>> Create(std::shared_ptr<const Model> model,
                                                 const TrainerOptions& options);
  ~Trainer();

  const Model& model() const { return *model_; }
  const Head& head() const { return head_; }
  const TrainerOptions& options() const { return options_; }
  int n_classes() const { return options_.n_classes; }
  int n_inputs() const { return extractor_->n_inputs(); }
  // dtype, shape (batch of 1), quantization and bytes() of input k of one example; no data.
  const TensorView& input(int k) const { return extractor_->input(k); }
  const std::string& input_name(int k) const { return extractor_->input_name(k); }

  // Runs the backbone on every example and keeps the features. All or nothing. May be called again
  // until training starts.
  Status AddExamples(const Examples& examples, const FeatureProgress& progress = nullptr);
  // Features made elsewhere: [n, head().dim] row-major, copied.
  Status AddFeatures(const float* features, const int32_t* labels, int64_t n);
  int64_t n_examples() const { return cache_->size(); }
  // After the first call that needs the split (Train, Evaluate of kTrain or kValidation).
  int64_t n_train() const { return static_cast<int64_t>(train_.size()); }
  int64_t n_validation() const { return static_cast<int64_t>(validation_.size()); }
  const FeatureCache& cache() const { return *cache_; }

  // Trains from the current state to options().epochs. INVALID_ARGUMENT when the examples hold
  // fewer than two classes; NUMERIC when a loss or gradient stops being finite, with the weights as
  // they were before that step; CANCELLED after Cancel(), between steps. Can be called again after
  // any of these.
  Status Train(const EpochCallback& on_epoch = nullptr);
  // One optimizer step on the next mini-batch, at most; *out_epoch_done says that it ended an
  // epoch.
  Status Step(double* out_loss, bool* out_epoch_done);
  // Makes Train, AddExamples or Evaluate in progress, or the next one if none is, return CANCELLED.
  void Cancel();
  // Changes how many epochs Train goes up to, in all.
  void set_epochs(int epochs) { options_.epochs = epochs; }
  int epoch() const { return epoch_; }    // epochs completed
  int64_t step() const { return step_; }  // optimizer steps taken
  // The one in use; 0 while it is still to be chosen from the features.
  float learning_rate() const { return learning_rate_; }
  const std::vector<EpochMetrics>& history() const { return history_; }

  Result<Evaluation> Evaluate(ExampleSet set);
  // Features of these examples are computed and not kept.
  Result<Evaluation> Evaluate(const Examples& examples, const FeatureProgress& progress = nullptr);

  // The head as it is now: [n_classes, dim] row-major, and [n_classes].
  Span<const float> weights() const;
  Span<const float> bias() const;
  Status SetWeights(Span<const float> weights, Span<const float> bias);

  // Everything that a bit-identical continuation needs, except the examples: add the same ones
  // before RestoreCheckpoint. The file written before stays as `path`.previous.
  Status SaveCheckpoint(const std::string& path);
  // CORRUPT for a damaged file; FAILED_PRECONDITION for one of another model, other examples or
  // other options. On failure the trainer is as it was.
  Status RestoreCheckpoint(const std::string& path);

  // The whole model with the new head, as a .tflite. The backbone is unchanged bit for bit.
  Result<std::vector<uint8_t>> Export() const;
  // The same into a file, written atomically.
  Status ExportFile(const std::string& path) const;

  // The batches of the next epochs in place of the shuffle: one permutation of the training
  // examples' positions each (for comparison with other programs).
  void SetPermutations(std::vector<std::vector<int32_t>> permutations);

 private:
  Trainer();
  Status ResolveClasses();
  Status EnsureSplit();
  float ChooseLearningRate() const;
  Status StartEpoch();
  void FinishEpoch();
  Status StepImpl(double* out_loss, bool* out_epoch_done);
  Status Extract(const Examples& examples, const FeatureProgress& progress, FeatureCache* cache);
  struct Measured {
    double loss = 0.0;
    double accuracy = 0.0;
  };
  // Mean loss and accuracy over rows of a cache; with a collector everything goes there instead.
  Measured Measure(const FeatureCache& cache, Span<const int32_t> indices,
                   MetricsCollector* collector);
  const std::string& ExamplesDigest();
  Status CheckBelongs(const CheckpointData& data);
  Status Adopt(const CheckpointData& data);

  std::shared_ptr<const Model> model_;
  TrainerOptions options_;
  Head head_;
  std::unique_ptr<FeatureExtractor> extractor_;
  std::unique_ptr<FeatureCache> cache_;
  std::unique_ptr<HeadTrainer> head_trainer_;
  float learning_rate_ = 0.0f;
  bool split_done_ = false;
  std::vector<int32_t> train_;       // indices into the cache
  std::vector<int32_t> validation_;  // indices into the cache
  std::vector<std::vector<int32_t>> permutations_;
  std::string examples_digest_;
  std::atomic<bool> cancel_{false};

  // Progress. The order of an epoch follows from the generator's state at its start.
  int epoch_ = 0;
  int64_t step_ = 0;
  uint64_t random_state_ = 0;
  uint64_t next_random_state_ = 0;
  std::vector<int32_t> order_;  // of the epoch in progress; empty between epochs
  size_t position_ = 0;         // examples of it already used
  double loss_sum_ = 0.0;       // over the examples of the epoch in progress
  int64_t n_correct_ = 0;
  double epoch_seconds_ = 0.0;
  std::vector<EpochMetrics> history_;
  std::vector<const float*> batch_rows_;
  std::vector<int32_t> batch_labels_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_TRAINER_H_
