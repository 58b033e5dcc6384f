// TrainingState: what training changes, and so exactly what a checkpoint stores of it: the network,
// its optimizer or solver, the learning rate and the progress.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_TRAINING_STATE_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_TRAINING_STATE_H_

#include <memory>
#include <string>
#include <vector>

#include "models/format/training_values.h"
#include "runtime/train/auto/head_choice.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/fit/solvers.h"
#include "runtime/train/head/trained_layers.h"

namespace topwork {

struct TrainingState {
  // Defined once: they are long, and the compiler would write them out wherever one is made.
  TrainingState();
  ~TrainingState();
  TrainingState(TrainingState&&) noexcept;
  TrainingState& operator=(TrainingState&&) noexcept;

  std::unique_ptr<Trainable> network;
  std::unique_ptr<OptimizerState> optimizer;
  std::unique_ptr<Lbfgs> lbfgs;  // null before its first iteration
  float learning_rate = 0.0f;    // before schedules; 0 while it is still to be chosen
  double temperature = 1.0;      // what scores are divided by
  // Classes that were never trained: they are imprinted when training next begins.
  std::vector<uint8_t> fresh_classes;
  TrainingProgress progress;
  TrainingStart start;
  // After the last fit on all examples: the parameters of before, which have not seen the
  // validation examples. Empty: the network's are those.
  std::vector<float> validated_parameters;
  // The last fit while it is in progress; not stored: it begins anew after a checkpoint.
  std::unique_ptr<TrainingState> last_fit;
  HeadChoice choice;  // of Optimizer::kAuto, once its head is fitted
  // The order of examples of the epoch in progress, as positions in the training set; empty between
  // epochs. It follows from progress.random_state and is not stored.
  std::vector<int32_t> order;
  uint64_t next_random_state = 0;

  // An optimizer at rest around a network that nobody has trained yet.
  static Result<TrainingState> Around(std::unique_ptr<Trainable> network,
                                      const TrainerOptions& options, ThreadPool* pool);
  // The same around a new network of n_classes outputs, whose last layer is zero.
  static Result<TrainingState> Create(const TrainedLayers& layers, int n_classes,
                                      const TrainerOptions& options, ThreadPool* pool);
  // The state that options.init begins with.
  static Result<TrainingState> Begin(const TrainedLayers& layers, const TrainerOptions& options,
                                     ThreadPool* pool);

  // The state that this one began with: for training once more. n_epoch_steps: steps of an epoch.
  Result<TrainingState> BeginAgain(const TrainedLayers& layers, const TrainerOptions& options,
                                   int64_t n_epoch_steps, ThreadPool* pool) const;

  // All but the order, as plain data. Assign: CORRUPT when sizes do not fit the network.
  TrainingValues Values() const;
  Status Assign(const TrainingValues& values);

  // All that is trained, as named arrays in one flat vector.
  const std::vector<ParameterInfo>& layout() const { return network->layout(); }
  const ParameterInfo& InfoOf(const char* name) const;  // the name must exist
  Span<const float> parameters() const;
  // The last layer alone: [n_classes, dim] row-major, and [n_classes].
  Span<const float> weights() const { return Part(InfoOf(kHeadWeights)); }
  Span<const float> bias() const { return Part(InfoOf(kHeadBias)); }
  Span<const float> Part(const ParameterInfo& info) const;

  // All of them, or the one of that name. NOT_FOUND lists the names; NUMERIC where a value is not
  // finite.
  Status SetParameters(Span<const float> values);
  Status SetParameter(const std::string& name, Span<const float> values);
  Status SetWeights(Span<const float> weights, Span<const float> bias);
  // parameters() − base, scaled down to an L2 norm of at most clip_norm (0: not clipped), plus
  // Gaussian noise of standard deviation noise_stddev from `seed`: what a client sends in federated
  // averaging. The generator is not a cryptographic one. out: parameters().size() floats.
  Status ComputeUpdate(Span<const float> base, double clip_norm, double noise_stddev, uint64_t seed,
                       Span<float> out) const;

  // The parameters come from outside: what was gathered about the old ones is void, and training
  // begins here.
  void NoteNewParameters();
  // Examples have changed: what was gathered about the others is void, and training that ended early
  // goes on. moved: see TrainingSet::TakeMoved.
  void NoteNewExamples(bool moved);
  // The last fit on all examples: these parameters take the place of the validated ones. OUT_OF_MEMORY
  // where there is none for both.
  Status TakeLastFit(Span<const float> parameters);
  // Gives a last fit up: training goes on from the validated parameters.
  void DropLastFit();
  // Optimizer::kAuto: the head is to be fitted once more, to other examples.
  void BeginAnew();
  // No epoch is in progress any more: it is over, or its order speaks of examples that have gone.
  void ClearEpoch();
  // Early stopping after Prechelt (1998), by patience: notes an epoch that is over.
  void NoteBest(const EpochMetrics& metrics, const TrainerOptions& options);
  void RestoreBest(const TrainerOptions& options);
  void ForgetBest();

  bool Finished(int n_epochs) const { return progress.stopped_early || progress.epoch >= n_epochs; }
  // The epochs that the parameters have seen: those up to the best one where it is restored.
  int EpochsFound(const TrainerOptions& options) const;
  // Memory held, in bytes.
  size_t bytes() const;
};

// While it lives, the network has the parameters that have not seen the validation examples.
class ValidatedHead {
 public:
  explicit ValidatedHead(TrainingState* state) : state_(*state) { Swap(); }
  ~ValidatedHead() { Swap(); }
  ValidatedHead(const ValidatedHead&) = delete;
  ValidatedHead& operator=(const ValidatedHead&) = delete;

 private:
  void Swap();
  TrainingState& state_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_TRAINING_STATE_H_
