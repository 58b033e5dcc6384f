// CheckpointStore: writes a trainer's state into a checkpoint and takes it back from one.
#ifndef TOPWORK_RUNTIME_TRAIN_CHECKPOINT_STORE_H_
#define TOPWORK_RUNTIME_TRAIN_CHECKPOINT_STORE_H_

#include <memory>
#include <string>

#include "runtime/train/fit/epoch_plan.h"
#include "runtime/train/judge/judge.h"
#include "runtime/train/reject/rejecter.h"
#include "runtime/train/trainer_files.h"
#include "runtime/train/training_context.h"

namespace topwork {

struct CheckpointData;
class MappedBytes;

class CheckpointStore {
 public:
  // `plan`, `judge`, `rejecter` and `files` must outlive the object.
  CheckpointStore(const TrainingContext& context, const EpochPlan* plan, const Judge* judge,
                  Rejecter* rejecter, TrainerFiles* files)
      : context_(context), plan_(*plan), judge_(*judge), rejecter_(*rejecter), files_(*files) {}

  // The file's contents; `out_file` keeps its bytes. CORRUPT names the file.
  static Result<CheckpointData> Read(const std::string& path, MappedBytes* out_file);
  // Writes over the file, which is held from then on; the sound one before moves to `path`.previous.
  static Status Write(const std::string& path, const char* what, const CheckpointData& data,
                      TrainerFiles* files);

  // See Trainer::SaveCheckpoint and RestoreCheckpoint.
  Status Save(const std::string& path, bool with_examples) const;
  Status Restore(const std::string& path) const;

 private:
  void DescribeExamples(CheckpointData* data) const;
  Status CheckBelongs(const CheckpointData& data) const;
  Status CheckClasses(const CheckpointData& data) const;
  Result<std::unique_ptr<FeatureCache>> ExamplesOf(const CheckpointData& data) const;
  Result<TrainingSet::Contents> ContentsOf(const CheckpointData& data) const;
  Result<TrainingState> StateOf(const CheckpointData& data) const;
  Status Adopt(const CheckpointData& data) const;

  const TrainingContext context_;
  const EpochPlan& plan_;
  const Judge& judge_;
  Rejecter& rejecter_;
  TrainerFiles& files_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_CHECKPOINT_STORE_H_
