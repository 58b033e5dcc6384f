// Trainer: re-trains the last layers of a stock model on the caller's examples.
//
//   Create → AddExamples (features, once) → Train → judge().Evaluate → Export
// The backbone runs once per example; training works on the cached rows alone. On the CPU the same
// bits come out for any number of threads. One thread at a time; Cancel() alone may be called from
// any thread. Nothing is written to the model that was opened; Export makes a new one.
#ifndef TOPWORK_RUNTIME_TRAIN_TRAINER_H_
#define TOPWORK_RUNTIME_TRAIN_TRAINER_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/train/audit/audit.h"
#include "runtime/train/auto/loo.h"
#include "runtime/train/checkpoint_store.h"
#include "runtime/train/classes.h"
#include "runtime/train/exporter.h"
#include "runtime/train/features/training_set.h"
#include "runtime/train/fit/training_loop.h"
#include "runtime/train/head_exchange.h"
#include "runtime/train/judge/judge.h"

namespace topwork {

// Bytes that a trainer holds, and those that came and went. total is their sum: what the run up to
// now has needed at most, exports and checkpoints apart.
struct TrainerMemory {
  size_t backbone_bytes = 0;  // arena, scratch and packed weights
  size_t cache_bytes = 0;     // features in memory
  size_t head_bytes = 0;      // parameters, gradient, moments, mini-batch; targets and order
  size_t working_bytes = 0;   // the most at one time: examples being read, a solver's systems
  size_t total_bytes = 0;
  size_t cache_file_bytes = 0;  // on disk, not counted in the total
  size_t device_bytes = 0;      // in a device's own memory, not counted in the total
};

// Owns the parts that do the work and hands them out.
class Trainer {
 public:
  // Finds the head and plans the model below it. UNSUPPORTED when the model has no trainable head
  // (the message says what was found instead), INVALID_ARGUMENT for options out of range, NOT_FOUND
  // or UNSUPPORTED for a device that is not there.
  static Result<std::unique_ptr<Trainer>> Create(std::shared_ptr<const Model> model,
                                                 const TrainerOptions& options);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  const Model& model() const { return layers_.model(); }
  const Head& head() const { return layers_.head(); }
  const TrainerOptions& options() const { return options_; }
  // Classes, or outputs where an example's target is one float per output.
  int n_classes() const { return options_.n_classes; }
  int n_inputs() const { return extractor_->n_inputs(); }
  // dtype, shape (batch of 1), quantization and bytes() of input k of one example; no data.
  const TensorView& input(int k) const { return extractor_->input(k); }
  const std::string& input_name(int k) const { return extractor_->input_name(k); }

  const FeatureExtractor& extractor() const { return *extractor_; }
  const TrainingSet& set() const { return set_; }
  ThreadPool& pool() { return extractor_->pool(); }
  TrainingState& state() { return state_; }
  const TrainingState& state() const { return state_; }
  const FitterChoice& fitter() const { return loop_.choice(); }  // the device, and why it is that
  Classes& classes() { return classes_; }
  Judge& judge() { return judge_; }
  HeadExchange& exchange() { return exchange_; }
  // Of options().reject_rate: examples of no class, what came of it.
  Rejecter& rejecter() { return rejecter_; }
  const Rejecter& rejecter() const { return rejecter_; }

  // Runs the backbone on every example and keeps the features. All or nothing. May be called
  // between any two other calls; examples added in the middle of an epoch take part from the next.
  // With options().replay_capacity the memory stays bounded and balanced (ReplayMemory).
  Status AddExamples(const Examples& examples, const FeatureProgress& progress = nullptr) {
    return NoteAdded(set_.Add(examples, progress));
  }
  // Computes the features of examples that are not kept here; `cache` is one of set().NewCache.
  Status Extract(const Examples& examples, const FeatureProgress& progress, FeatureCache* cache) {
    return set_.Extract(examples, progress, cache);
  }
  // Replaces all examples.
  void AdoptExamples(TrainingSet::Contents contents) { set_.Adopt(std::move(contents)); }
  // See TrainingSet::SetNames.
  Status SetExampleNames(const std::vector<std::string>& names) { return set_.SetNames(names); }
  // Features made elsewhere: [n, set().dim()] row-major, copied.
  Status AddFeatures(const float* features, const int32_t* labels, int64_t n) {
    return NoteAdded(set_.AddFeatures(features, labels, n));
  }

  // What every example would get from a head fitted without it (auto/loo.h).
  Result<LooScores> LeaveOneOut() { return LeaveOneOutScores(context()); }

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
  Status Step(double* out_loss, bool* out_epoch_done) {
    return loop_.Step(out_loss, out_epoch_done);
  }
  // Makes Train, AddExamples or Evaluate in progress return CANCELLED; does nothing without one.
  void Cancel() { set_.Cancel(); }
  // Changes how many epochs Train goes up to, in all.
  void set_epochs(int epochs) { options_.epochs = epochs; }
  bool finished() const { return loop_.finished(); }
  // The batches of the next epochs in place of the shuffle: one permutation of the training
  // examples' positions each (for comparison with other programs).
  void SetPermutations(std::vector<std::vector<int32_t>> permutations) {
    loop_.plan().SetPermutations(std::move(permutations));
  }

  // See audit/audit.h.
  Result<LabelAudit> Audit(int n_neighbours) { return AuditExamples(context(), n_neighbours); }
  Result<std::vector<Suggestion>> Suggest(const Examples& examples, const FeatureProgress& progress,
                                          int64_t count) {
    return SuggestExamples(context(), examples, progress, count);
  }

  // Holds a checkpoint or head file, whether it exists yet or not, until the trainer is destroyed:
  // no other trainer, here or in another program, can then hold it or save to it.
  // FAILED_PRECONDITION while another one does; the message names the process.
  Status HoldFile(const std::string& path) { return files_.Hold(path, "the file"); }
  // Everything that a bit-identical continuation needs. Without examples in the file, add the same
  // ones before RestoreCheckpoint. The file written before stays as `path`.previous. The file is
  // held from then on. FAILED_PRECONDITION while another trainer holds it, and when somebody has
  // written it since this one read or saved it.
  Status SaveCheckpoint(const std::string& path, bool with_examples = false) const {
    return checkpoints_.Save(path, with_examples);
  }
  // CORRUPT for a damaged file; FAILED_PRECONDITION for one of another model, other examples or
  // other options. On failure the trainer is as it was.
  Status RestoreCheckpoint(const std::string& path) { return checkpoints_.Restore(path); }
  // A head of HeadExchange, or a checkpoint: what the file's header says.
  Status Load(const std::string& path);

  // The whole model with the new head, as a .tflite; the rest is unchanged bit for bit. With a
  // golden set: FAILED_PRECONDITION when the head does worse than the shipped one; the parameters
  // then go back to the last ones that passed.
  Result<std::vector<uint8_t>> Export() { return exporter_.Export(); }
  // The same into a file, written atomically.
  Status ExportFile(const std::string& path) { return exporter_.ExportFile(path); }

  TrainerMemory memory() const;
  // What its parts work on.
  TrainingContext context() {
    return {&options_, &layers_, &set_, &state_, &watch_, &extractor_->pool(), &products_};
  }

 private:
  Trainer(const TrainerOptions& options, TrainedLayers layers,
          std::unique_ptr<FeatureExtractor> extractor, TrainingState state);
  Status NoteAdded(Status status);

  TrainerOptions options_;
  const TrainedLayers layers_;
  const std::unique_ptr<FeatureExtractor> extractor_;
  WorkWatch watch_;
  DeviceProducts products_;
  TrainingSet set_;
  TrainingState state_;
  TrainingLoop loop_;
  Judge judge_;
  Rejecter rejecter_;
  Exporter exporter_;
  TrainerFiles files_;
  Classes classes_;
  HeadExchange exchange_;
  CheckpointStore checkpoints_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_TRAINER_H_
