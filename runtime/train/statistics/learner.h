// Learner: a head that is taught example by example, and forgets as exactly.
//
// The head is a ridge head with standardised features (RecursiveRidge). What it depends on are sums
// over the examples (Statistics), so that adding, removing and re-labelling an example or merging
// the memories of several devices gives the head that solving anew from the remaining examples
// gives. Features of examples are kept beside their ids; where they are not kept, an example can
// only be removed by giving it again.
#ifndef TOPWORK_RUNTIME_TRAIN_STATISTICS_LEARNER_H_
#define TOPWORK_RUNTIME_TRAIN_STATISTICS_LEARNER_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/train/statistics/recursive_ridge.h"
#include "runtime/train/trainer.h"

namespace topwork {

struct CheckpointData;

// Some of a learner's examples: those with one of the ids, those of one of the groups, and those
// without features that are given again (null: none).
struct LearnerSelection {
  std::vector<std::string> ids;
  std::vector<int32_t> groups;
  const Examples* examples = nullptr;
  FeatureProgress progress;
};

class Learner {
 public:
  // `trainer` runs the backbone, holds the head and exports it; the softmax loss, the last layer
  // alone and no augmentation. It must outlive the object. `penalty`: λ of RecursiveRidge; 0: the
  // memory's, or chosen where it has none; below 0: chosen.
  static Result<std::unique_ptr<Learner>> Create(Trainer* trainer,
                                                 std::vector<std::string> class_names,
                                                 double penalty, bool keeps_features);

  Trainer& trainer() { return trainer_; }
  const std::vector<std::string>& class_names() const { return class_names_; }
  const Statistics& statistics() const { return all_; }
  const RecursiveRidge& ridge() const { return ridge_; }
  double penalty() const { return penalty_; }
  // Examples that λ was chosen for; 0: it was given, or is still to be chosen.
  int64_t n_chosen() const { return n_chosen_; }
  // Examples with features, in the order in which they came.
  int64_t n_kept() const { return static_cast<int64_t>(rows_.size()); }
  const std::string& id(int64_t i) const { return ids_[static_cast<size_t>(i)]; }
  int32_t label(int64_t i) const { return labels_[static_cast<size_t>(i)]; }
  int32_t group(int64_t i) const { return groups_[static_cast<size_t>(i)]; }
  size_t bytes() const;

  // Computes the features of examples and learns them. All or nothing. `ids`: one for each, not
  // empty. INVALID_ARGUMENT for an id that is there already or stands twice, and for a label without
  // a class. Without features kept the ids are not looked at.
  Status Add(const Examples& examples, const std::vector<std::string>& ids,
             const FeatureProgress& progress);
  // All or nothing. NOT_FOUND names the first id or group that has no example; FAILED_PRECONDITION
  // where the statistics cannot hold an example that is given again.
  Status Remove(const LearnerSelection& selection);
  // They have the class `label` from now on.
  Status Relabel(const LearnerSelection& selection, int32_t label);

  // The index of the class of that name, which is added where it is new.
  Result<int32_t> AddClass(const std::string& name);
  Result<std::vector<int32_t>> AddClasses(const std::vector<std::string>& names);
  // Replaces the classes; a name that exists already keeps its examples.
  Status SetClasses(const std::vector<std::string>& names);
  // The same with the new class that each present one becomes; −1: it is removed with its examples,
  // FAILED_PRECONDITION where the features of some of them are not kept.
  Status SetClasses(const std::vector<std::string>& names, const std::vector<int32_t>& becomes);

  // Takes in the examples and statistics of another memory of the same model; classes go by their
  // names. An example that is in both counts once; FAILED_PRECONDITION where two examples of one id
  // differ, and for a file of another model. All or nothing. *out_n_same: those in both.
  Status Merge(const std::string& path, int64_t* out_n_same);

  // Reads the memory where there is one, after holding it (Trainer::HoldFile). read_only: it is not
  // held, and must be there.
  Status Open(const std::string& path, bool read_only);
  // Reads a memory in place of all examples: one that Save wrote, or a checkpoint with examples,
  // whose names become ids ("#0", "#1" and so on without them). CORRUPT and FAILED_PRECONDITION as
  // Trainer::RestoreCheckpoint.
  Status Load(const std::string& path);
  // Whole or not at all; the file before stays as `path`.previous. A trainer can restore it.
  // statistics_only: with sums in place of features and ids.
  Status Save(const std::string& path, bool statistics_only = false);

  // Gives the trainer the head of the present examples: two classes with examples are needed. A
  // penalty that was chosen is chosen again where the examples have doubled or halved since.
  Status Solve();
  // Solves, and exports the model with the head. It refuses the unknown as the trainer's options ask
  // (reject_rate), but where features of examples are not kept.
  Result<std::vector<uint8_t>> Export();

 private:
  Learner(Trainer* trainer, double penalty, bool keeps_features);
  RidgeExamples examples() const;
  int64_t Find(const std::string& id) const;
  Status Extract(const Examples& examples, const FeatureProgress& progress,
                 std::unique_ptr<FeatureCache>* out_cache, std::vector<ExampleTarget>* out);
  Status CheckIds(const std::vector<std::string>& ids, int64_t count) const;
  void Prepare(int64_t n_changes);
  void Learn(const float* row, int32_t label, int32_t group, const std::string& id);
  struct Unkept;
  Status FindKept(const LearnerSelection& selection, std::vector<int64_t>* out) const;
  Status FindUnkept(const LearnerSelection& selection, Unkept* out);
  void Forget(int64_t index);
  void ForgetAll(const std::vector<int64_t>& indices);
  Statistics SumsOfAll() const;
  Status ChoosePenalty();
  Status AdoptHead();
  Status LendExamples();
  Status CheckBelongs(const CheckpointData& data, Statistics* out_unkept) const;
  void Adopt(const CheckpointData& data, const Statistics& unkept);
  Status FindShared(const CheckpointData& data, std::vector<uint8_t>* out_shared) const;

  Trainer& trainer_;
  TrainerFiles files_;
  std::vector<std::string> class_names_;
  double given_penalty_ = 0.0;
  double penalty_ = 0.0;  // 0: still to be chosen
  int64_t n_chosen_ = 0;
  double temperature_ = 0.2;  // what scores are divided by, while nothing tells better
  bool keeps_features_ = true;
  Statistics all_;
  Statistics unkept_;  // of examples without features; its scatter only when there are some
  RecursiveRidge ridge_;
  std::vector<std::vector<float>> rows_;
  std::vector<std::string> ids_;
  std::vector<int32_t> labels_;
  std::vector<int32_t> groups_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_STATISTICS_LEARNER_H_
