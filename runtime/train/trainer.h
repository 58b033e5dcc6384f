// Trainer: re-trains the last layers of a stock model on the caller's examples.
//
//   Create → AddExamples (features, once) → Train → Evaluate → Export
// The frozen part runs once per example; training works on the cached rows alone. On the CPU the
// same bits come out for any number of threads. One thread at a time; Cancel() alone may be called
// from any thread. Nothing is written to the model that was opened; Export makes a new one.
#ifndef TOPWORK_RUNTIME_TRAIN_TRAINER_H_
#define TOPWORK_RUNTIME_TRAIN_TRAINER_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "runtime/train/features/examples.h"
#include "runtime/train/features/extractor.h"
#include "runtime/train/features/feature_cache.h"
#include "runtime/train/features/replay.h"
#include "runtime/train/head/head.h"
#include "runtime/train/head/tail.h"
#include "runtime/train/head/trainable.h"
#include "runtime/train/judge/calibration.h"
#include "runtime/train/judge/metrics.h"
#include "runtime/train/options.h"
#include "runtime/train/trainer_files.h"

namespace topwork {

class DeviceHead;
class Lbfgs;
class OptimizerState;
struct DeviceSteps;
struct DeviceTraffic;
struct CheckpointData;
struct HeadData;

// Called after every epoch; false stops: Train then returns OK with what was learnt so far.
using EpochCallback = std::function<bool(const EpochMetrics& metrics)>;

enum class ExampleSet : int { kTrain = 0, kValidation = 1, kAll = 2 };

// How far one call of TrainFor goes. Both 0: to options().epochs.
struct TrainBudget {
  double max_seconds = 0.0;  // looked at after every step; at least one step is taken
  int max_epochs = 0;        // epochs finished in this call
};

// Bytes that a trainer holds, and those that came and went. total is their sum: what the run up to
// now has needed at most, exports and checkpoints apart.
struct TrainerMemory {
  size_t backbone_bytes = 0;  // arena, scratch and packed weights of the frozen part
  size_t cache_bytes = 0;     // features in memory
  size_t head_bytes = 0;      // parameters, gradient, moments, mini-batch; targets and order
  size_t working_bytes = 0;   // the most at one time: examples being read, a solver's systems
  size_t total_bytes = 0;
  size_t cache_file_bytes = 0;  // on disk, not counted in the total
  size_t device_bytes = 0;      // in a device's own memory, not counted in the total
};

// Where the steps of the last layer are taken.
struct TrainerDevice {
  std::string name = "cpu";  // or that of the device
  // Why it is the CPU where another was asked for, or what a measurement chose; else empty.
  std::string reason;
};

// The new head, as an export stores it, against the shipped one on the kept set.
struct GoldenResult {
  int64_t n_examples = 0;
  double shipped = 0.0;  // top-1 accuracy; regression and sigmoid: minus the mean loss
  double trained = 0.0;
  bool passed = false;  // trained ≥ shipped
};

// What storing the head in the model's own types does to it.
struct ExportCheck {
  int64_t n_examples = 0;
  double before = 0.0;  // as trained; accuracy or minus the mean loss, as in GoldenResult
  double after = 0.0;   // as the exported model computes it
};

class Trainer {
 public:
  // Finds the head and plans the model below it. UNSUPPORTED when the model has no trainable head
  // (the message says what was found instead), INVALID_ARGUMENT for options out of range, NOT_FOUND
  // or UNSUPPORTED for a device that is not there.
  static Result<std::unique_ptr<Trainer>> Create(std::shared_ptr<const Model> model,
                                                 const TrainerOptions& options);
  ~Trainer();

  const Model& model() const { return *model_; }
  const Head& head() const { return head_; }
  const TrainerOptions& options() const { return options_; }
  // Classes, or outputs where an example's target is one float per output.
  int n_classes() const { return options_.n_classes; }
  int64_t dim() const { return network_->dim(); }  // floats in a cached row
  int n_inputs() const { return extractor_->n_inputs(); }
  // dtype, shape (batch of 1), quantization and bytes() of input k of one example; no data.
  const TensorView& input(int k) const { return extractor_->input(k); }
  const std::string& input_name(int k) const { return extractor_->input_name(k); }

  // Runs the frozen part on every example and keeps the features. All or nothing. May be called
  // between any two other calls; examples added in the middle of an epoch take part from the next.
  // With options().replay_capacity the memory stays bounded and balanced (ReplayMemory).
  Status AddExamples(const Examples& examples, const FeatureProgress& progress = nullptr);
  // Features made elsewhere: [n, dim()] row-major, copied.
  Status AddFeatures(const float* features, const int32_t* labels, int64_t n);
  int64_t n_examples() const { return cache_->size(); }
  // Known after the first call that needs the split (Train, Evaluate of kTrain or kValidation).
  int64_t n_train() const { return static_cast<int64_t>(train_.size()); }
  int64_t n_validation() const { return static_cast<int64_t>(validation_.size()); }
  const FeatureCache& cache() const { return *cache_; }
  const FeatureExtractor& extractor() const { return *extractor_; }

  // Trains from the current state to options().epochs, or until early stopping. INVALID_ARGUMENT
  // when the examples hold fewer than two classes; NUMERIC when a loss or gradient stops being
  // finite, with the parameters as they were before that step; CANCELLED after Cancel(), between
  // steps. Can be called again after any of these.
  Status Train(const EpochCallback& on_epoch = nullptr);
  // The same for a bounded time: pause by letting it return, resume by calling it again.
  // *out_finished (may be null): nothing is left to do.
  Status TrainFor(const TrainBudget& budget, const EpochCallback& on_epoch, bool* out_finished);
  // One optimizer step on the next mini-batch, at most; *out_epoch_done says that it ended an
  // epoch. First-order optimizers only.
  Status Step(double* out_loss, bool* out_epoch_done);
  // Makes Train, AddExamples or Evaluate in progress, or the next one if none is, return CANCELLED.
  void Cancel();
  // Known after the first step; before it the CPU without a reason.
  const TrainerDevice& device() const { return device_state_; }
  // What has crossed the bus since features were last uploaded; all 0 on the CPU.
  DeviceTraffic device_traffic() const;
  // Changes how many epochs Train goes up to, in all.
  void set_epochs(int epochs) { options_.epochs = epochs; }
  int epoch() const { return progress_.epoch; }    // epochs completed
  int64_t step() const { return progress_.step; }  // optimizer steps taken
  // The one in use before schedules; 0 while it is still to be chosen from the features.
  float learning_rate() const { return learning_rate_; }
  const std::vector<EpochMetrics>& history() const { return progress_.history; }
  bool stopped_early() const { return progress_.stopped_early; }
  bool finished() const { return progress_.stopped_early || progress_.epoch >= options_.epochs; }
  int best_epoch() const { return progress_.best_epoch; }  // 0: none yet

  // Class changes; class losses only. What other classes have learnt stays, bit for bit. A new
  // class starts from the imprinted mean of its examples when training next begins.
  Status AddClass(const std::string& name);
  // Its examples are dropped and the classes behind it move up. Two classes must remain.
  Status RemoveClass(int index);
  Status RenameClass(int index, const std::string& name);
  // Replaces the label set: names that exist already keep their parameters and examples.
  Status SetClasses(const std::vector<std::string>& names);

  Result<Evaluation> Evaluate(ExampleSet set);
  // Features of these examples are computed and not kept.
  Result<Evaluation> Evaluate(const Examples& examples, const FeatureProgress& progress = nullptr);
  // Scores of examples as the exported model would give them (probabilities behind softmax and
  // sigmoid losses): [examples.count, n_classes()]. Targets are not looked at.
  Status Predict(const Examples& examples, float* out_scores);
  // The `count` examples of the set with the largest loss, worst first.
  Result<std::vector<WorstExample>> Worst(ExampleSet set, int count);
  // Chooses the temperature that scores are divided by (evaluation, prediction, export) so that
  // confidences are right on the validation examples; softmax and sigmoid losses. Training sets it
  // back to 1.
  Result<Calibration> Calibrate();
  double temperature() const { return temperature_; }

  // A kept set that an export must not do worse on than the shipped head. Classes are matched by
  // name with the model's labels, or by index where there are no names.
  Status SetGolden(const Examples& examples, const FeatureProgress& progress = nullptr);
  // FAILED_PRECONDITION without a golden set.
  Result<GoldenResult> CheckGolden();
  // Accuracy before and after storing; kValidation means all where no example is held back.
  Result<ExportCheck> CheckExport(ExampleSet set);

  // All that is trained, as named arrays in one flat vector.
  const std::vector<ParameterInfo>& layout() const { return network_->layout(); }
  Span<const float> parameters() const;
  // All of them, or the one of that name. NOT_FOUND lists the names; NUMERIC where a value is not
  // finite.
  Status SetParameters(Span<const float> values);
  Status SetParameter(const std::string& name, Span<const float> values);
  // The last layer alone: [n_classes, head().dim] row-major, and [n_classes].
  Span<const float> weights() const;
  Span<const float> bias() const;
  Status SetWeights(Span<const float> weights, Span<const float> bias);
  // parameters() − base, scaled down to an L2 norm of at most clip_norm (0: not clipped), plus
  // Gaussian noise of standard deviation noise_stddev from `seed`: what a client sends in federated
  // averaging. The generator is not a cryptographic one. out: parameters().size() floats.
  Status ExportUpdate(Span<const float> base, double clip_norm, double noise_stddev, uint64_t seed,
                      Span<float> out) const;

  // The head alone (a file of 50 KiB for 1280 × 10), for many heads on one backbone. Loading
  // changes the classes to the file's, and sets the optimizer and the record of the best epoch
  // back. Errors: CORRUPT; FAILED_PRECONDITION for a head of another model or layer, and for one of
  // other classes than the examples, the golden set or class_weights.
  std::vector<uint8_t> EncodeHead() const;
  Status DecodeHead(Span<const uint8_t> bytes);
  Status SaveHead(const std::string& path) const;  // refused like SaveCheckpoint
  Status LoadHead(const std::string& path);

  // Holds a checkpoint or head file, whether it exists yet or not, until the trainer is destroyed:
  // no other trainer, here or in another program, can then hold it or save to it.
  // FAILED_PRECONDITION while another one does; the message names the process.
  Status HoldFile(const std::string& path) { return files_.Hold(path, "the file"); }
  // Everything that a bit-identical continuation needs. Without examples in the file, add the same
  // ones before RestoreCheckpoint. The file written before stays as `path`.previous. The file is
  // held from then on. FAILED_PRECONDITION while another trainer holds it, and when somebody has
  // written it since this one read or saved it.
  Status SaveCheckpoint(const std::string& path, bool with_examples = false);
  // CORRUPT for a damaged file; FAILED_PRECONDITION for one of another model, other examples or
  // other options. On failure the trainer is as it was.
  Status RestoreCheckpoint(const std::string& path);

  // The whole model with the new head, as a .tflite; the rest is unchanged bit for bit. With a
  // golden set: FAILED_PRECONDITION when the head does worse than the shipped one; the parameters
  // then go back to the last ones that passed.
  Result<std::vector<uint8_t>> Export();
  // The same into a file, written atomically.
  Status ExportFile(const std::string& path);

  TrainerMemory memory() const;

  // The batches of the next epochs in place of the shuffle: one permutation of the training
  // examples' positions each (for comparison with other programs).
  void SetPermutations(std::vector<std::vector<int32_t>> permutations);

 private:
  // Where training stands. The order of an epoch follows from the generator's state at its start.
  struct Progress {
    int epoch = 0;
    int64_t step = 0;
    uint64_t random_state = 0;
    uint64_t next_random_state = 0;
    std::vector<int32_t> order;  // of the epoch in progress; empty between epochs
    size_t position = 0;         // examples of it already used
    double loss_sum = 0.0;       // over the examples of the epoch in progress
    double weight_sum = 0.0;
    double hits = 0.0;
    double seconds = 0.0;
    double best_loss = std::numeric_limits<double>::infinity();
    int best_epoch = 0;
    std::vector<float> best_parameters;
    bool stopped_early = false;
    std::vector<EpochMetrics> history;
  };
  struct Measured {
    double loss = 0.0;
    double accuracy = 0.0;
  };

  Trainer();
  Status FindLayers();
  Status ResolveClasses();
  bool deep() const { return options_.n_layers > 1; }
  Cut CutOfLayers() const;
  Status BuildNetwork(int n_classes, std::unique_ptr<Trainable>* out) const;
  Status BuildShipped(std::unique_ptr<Trainable>* out) const;
  Status Restart();  // network and optimizer for options_.n_classes, from options_.init
  ThreadPool& pool() const { return extractor_->pool(); }
  int64_t FindLayout(const std::string& name) const;

  Status Extract(const Examples& examples, const FeatureProgress& progress, FeatureCache* cache);
  Status AddToReplay(const FeatureCache& fresh);
  Status ExtractUnlabelled(const Examples& examples, FeatureCache* cache);
  std::unique_ptr<FeatureCache> NewCache(bool with_variants) const;
  void NoteWorking(size_t bytes) { working_bytes_ = std::max(working_bytes_, bytes); }
  Status EnsureSplit();
  Status EnsureReady();
  Status CheckTrainable() const;
  void SplitNewExamples();
  void UpdateClassWeights();
  Status ImprintFreshClasses();
  Status PlaceBiases(const std::vector<int>& classes);
  float ChooseLearningRate() const;

  // training.cc
  Status StartEpoch();
  int VariantOf(int32_t example) const;
  void GatherBatch(size_t n);
  Status FinishEpoch();
  Status Advance(int64_t max_steps, double max_seconds, double* out_loss, bool* out_epoch_done);
  float LearningRateAt(int64_t step) const;
  Status StepImpl(double* out_loss);
  void NoteBest(const EpochMetrics& metrics);
  void RestoreBest();
  void ForgetBest();
  int64_t TotalSteps() const;
  ScheduleOptions schedule() const;  // in force
  Status TrainSteps(const TrainBudget& budget, const EpochCallback& on_epoch);
  Status Measure(const FeatureCache& cache, Span<const int32_t> indices, Measured* out);

  // device_training.cc
  Status CheckDevice() const;
  std::string WhyNotOnDevice() const;
  void EnsureDevice();
  void LeaveDevice(const std::string& reason);
  bool DeviceIsFaster();
  void PlanDeviceSteps(int64_t max_steps, DeviceSteps* out) const;
  Status DeviceRun(int64_t max_steps, double max_seconds, double* out_loss, bool* out_done);
  Status MeasureOnDevice(Span<const int32_t> indices, Measured* out);

  // whole_set.cc: optimizers that look at all examples at once
  struct TrainRows;
  void GatherTrain(size_t first, size_t n, TrainRows* out) const;
  Status WholeGradient(double* out_value);
  Status Solve(const TrainBudget& budget, const EpochCallback& on_epoch);
  Status SolveLbfgs(const TrainBudget& budget, const EpochCallback& on_epoch);
  Status SolveRidgeHead();
  Status ImprintHead();
  Status EmbeddingsOf(Span<const int32_t> examples, std::vector<float>* scratch,
                      std::vector<const float*>* out);
  Status ImprintClasses(const std::vector<int>& classes, double norm);
  Status FitScale();
  Status EndWholeEpoch(int64_t start_nanos);

  // classes.cc
  struct ClassChange {
    std::string name;
    int old_index = -1;  // −1: new
  };
  Status ChangeClasses(const std::vector<ClassChange>& classes);
  Status CheckClassChange() const;
  void RelabelExamples(const std::vector<int32_t>& new_labels);
  std::vector<std::string> NamesOrNumbers() const;

  // evaluate.cc
  Result<std::vector<int32_t>> IndicesOf(ExampleSet set);
  Result<Evaluation> EvaluateRows(const FeatureCache& cache, Span<const int32_t> indices);
  Status ForEachScores(Trainable* network, const FeatureCache& cache, Span<const int32_t> indices,
                       FunctionRef<void(int32_t index, const float* scores)> visit);
  Result<double> Quality(Trainable* network, const FeatureCache& cache, Span<const int32_t> indices,
                         const std::vector<int>& class_map,
                         const std::function<void(float* scores)>& change = nullptr);
  std::vector<int> ShippedClassMap() const;
  std::vector<int> Identity() const;
  void RoundShippedScores(float* scores) const;
  Result<Calibration> FitScores(Span<const int32_t> indices);

  // export.cc
  void NoteNewParameters();
  Span<const float> Part(const char* name) const;
  Status CheckHead(const HeadData& data) const;
  HeadFormat StoredFormat() const;
  class AsStored;
  void RoundParameters();
  Status MeasureScores(float* out_min, float* out_max);
  Result<double> ExportedQuality(const FeatureCache& cache, Span<const int32_t> indices);
  Status PassGolden();
  void ScaledHead(std::vector<float>* weights, std::vector<float>* bias) const;

  // checkpoint.cc
  const std::string& ExamplesDigest();
  Status CheckBelongs(const CheckpointData& data);
  std::vector<std::string> RunOptions() const;
  void DescribeProgress(CheckpointData* data) const;
  void DescribeExamples(CheckpointData* data) const;
  Result<std::unique_ptr<FeatureCache>> ExamplesOf(const CheckpointData& data) const;
  Status Adopt(const CheckpointData& data);
  Status AdoptProgress(const CheckpointData& data);

  std::shared_ptr<const Model> model_;
  TrainerOptions options_;
  Head head_;
  Tail tail_;  // with more than one layer
  std::unique_ptr<FeatureExtractor> extractor_;
  std::unique_ptr<FeatureCache> cache_;
  std::unique_ptr<ReplayMemory> replay_;
  std::unique_ptr<Trainable> network_;
  std::unique_ptr<OptimizerState> optimizer_;
  std::unique_ptr<Lbfgs> lbfgs_;
  std::unique_ptr<DeviceHead> device_;  // null: the CPU
  TrainerDevice device_state_;
  bool device_decided_ = false;  // against a device, or by measuring
  int device_epoch_ = -1;        // in which a device was last looked for
  LossOptions loss_;             // of the options, with balanced weights
  float learning_rate_ = 0.0f;
  double temperature_ = 1.0;
  std::vector<bool> fresh_classes_;  // to be imprinted when training next begins
  int64_t n_split_ = 0;              // examples that are in train_ or validation_
  std::vector<int32_t> train_;       // indices into the cache
  std::vector<int32_t> validation_;  // indices into the cache
  std::vector<std::vector<int32_t>> permutations_;
  std::string examples_digest_;
  std::unique_ptr<FeatureCache> golden_;
  std::vector<float> accepted_;  // parameters that last passed the golden set; may be empty
  double accepted_temperature_ = 1.0;
  size_t working_bytes_ = 0;
  mutable TrainerFiles files_;
  std::atomic<bool> cancel_{false};
  std::atomic<bool> extracting_{false};

  Progress progress_;
  std::vector<const float*> batch_rows_;
  std::vector<float> batch_scratch_;
  std::vector<int32_t> batch_labels_;
  std::vector<const float*> batch_values_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_TRAINER_H_
