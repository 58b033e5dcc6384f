// TrainingSet: the examples that a trainer has, as features, and which of them it trains on.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_TRAINING_SET_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_TRAINING_SET_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/selection.h"
#include "models/format/training_values.h"
#include "runtime/train/features/extractor.h"
#include "runtime/train/features/feature_cache.h"
#include "runtime/train/features/replay.h"
#include "runtime/train/work_watch.h"

namespace topwork {

enum class ExampleSet : int { kTrain = 0, kValidation = 1, kAll = 2 };

// For each new class the old ones that it takes over; none: it is new.
using ClassSources = std::vector<std::vector<int32_t>>;

// One thread at a time; Cancel() alone may be called from any thread.
class TrainingSet {
 public:
  // All three must outlive the object. options->n_classes may change between calls, see ChangeClasses.
  TrainingSet(const TrainerOptions* options, FeatureExtractor* extractor, WorkWatch* watch);

  const FeatureCache& cache() const { return *cache_; }
  int64_t size() const { return cache_->size(); }
  int64_t dim() const { return cache_->dim(); }  // floats in a row

  // Runs the backbone on every example and keeps the features. All or nothing. With
  // options.replay_capacity the memory stays bounded and balanced (ReplayMemory).
  Status Add(const Examples& examples, const FeatureProgress& progress);
  // Features made elsewhere: [n, dim()] row-major, copied.
  Status AddFeatures(const float* features, const int32_t* labels, int64_t n);

  // Names of the examples that were added last, or of all (FeatureCache::names). INVALID_ARGUMENT for
  // another number of names.
  Status SetNames(const std::vector<std::string>& names);

  // For examples that are not kept: a cache of their own, and what fills it. Variants of examples
  // are for training alone.
  std::unique_ptr<FeatureCache> NewCache(bool with_variants) const;
  Status Extract(const Examples& examples, const FeatureProgress& progress, FeatureCache* cache);
  // The same where nobody asks for the targets.
  Status ExtractUnlabelled(const Examples& examples, const FeatureProgress& progress,
                           FeatureCache* cache);
  // The call in progress returns CANCELLED.
  void Cancel();

  // Splits the examples that came since the last call among themselves; sets once made stay. The
  // examples of a group stay together (GroupSplit). in_epoch: new ones wait for a later call.
  // FAILED_PRECONDITION without examples, INVALID_ARGUMENT when all are of one class.
  Status Split(bool in_epoch);
  // Since the last call an example that took another one's place has moved to the part that its group
  // is in, so an epoch in progress cannot go on.
  bool TakeMoved() { return std::exchange(moved_, false); }
  const std::vector<int32_t>& train() const { return train_; }  // indices into the cache
  const std::vector<int32_t>& validation() const { return validation_; }
  Result<std::vector<int32_t>> IndicesOf(ExampleSet set) const;
  // The loss to train with: that of the options, with balanced class weights where asked for.
  const LossOptions& loss() const { return loss_; }
  // Of every example of the cache, with options.balance_groups: their mean over the training examples
  // is 1. Empty: all are 1.
  Span<const float> example_weights() const { return example_weights_; }

  // While it lives, these examples (in ascending order) are the training examples and none are for
  // validation; without a list all examples are.
  class OnlyForTraining {
   public:
    explicit OnlyForTraining(TrainingSet* set);
    OnlyForTraining(TrainingSet* set, std::vector<int32_t> examples);
    ~OnlyForTraining();
    OnlyForTraining(const OnlyForTraining&) = delete;
    OnlyForTraining& operator=(const OnlyForTraining&) = delete;

   private:
    TrainingSet& set_;
    std::vector<int32_t> train_, validation_;
  };

  // Lower-case hex SHA-256 of all examples.
  const std::string& digest();

  // Classes have changed, see KeepClasses. options->n_classes is the new number already.
  void ChangeClasses(const ClassSources& sources);
  // The number of outputs has changed while there are no examples.
  void Clear() { cache_ = NewCache(true); }

  // What a checkpoint holds of the set.
  struct Contents {
    std::unique_ptr<FeatureCache> cache;   // null: the present examples stay
    std::unique_ptr<ReplayMemory> replay;  // likewise
    std::vector<int32_t> train, validation;
    bool is_fitted = true;  // see is_fitted()
  };
  void Adopt(Contents contents);
  // Null without replay_capacity.
  const ReplayMemory* replay() const { return kTrainsLastAlone ? nullptr : replay_.get(); }

  // NoteFit was called, or a checkpoint adopted that says so and all of whose examples are in train()
  // or validation(), after the examples last changed.
  bool is_fitted() const { return is_fitted_; }
  void NoteFit() { is_fitted_ = true; }

  // Bytes of the indices of both sets.
  size_t index_bytes() const { return (train_.size() + validation_.size()) * sizeof(int32_t); }

 private:
  void MatchReplay();
  Status AddToReplay(const FeatureCache& fresh);
  bool JoinGroup(int32_t example);
  Status CheckTrainable() const;
  void NoteChange();
  Span<const int32_t> NewGroups() const;
  std::map<int64_t, int64_t> SidesOfGroups() const;
  void UpdateWeights();
  void UpdateExampleWeights();

  const TrainerOptions& options_;
  FeatureExtractor& extractor_;
  WorkWatch& watch_;
  std::unique_ptr<FeatureCache> cache_;
  std::unique_ptr<ReplayMemory> replay_;
  LossOptions loss_;
  std::vector<float> example_weights_;
  std::vector<int64_t> last_added_;  // where the examples that came last went; -1: nowhere
  int64_t n_split_ = 0;              // examples that are in train_ or validation_
  std::vector<int32_t> train_;
  std::vector<int32_t> validation_;
  bool moved_ = false;        // since the last TakeMoved
  bool weights_old_ = false;  // examples have changed since UpdateWeights
  std::string digest_;
  bool is_fitted_ = false;
};

// Gives examples their new classes. Those of a single class that is the source of none are dropped;
// where targets are values, a class's value is the largest of its sources', 0 without one. For every
// old example its new index, or −1.
std::vector<int32_t> KeepClasses(const ClassSources& sources, FeatureCache* cache);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_TRAINING_SET_H_
