// Making a trainer of its parts.
#include "runtime/train/trainer.h"

#include <utility>

#include "runtime/base/file.h"
#include "runtime/base/record_file.h"
#include "runtime/train/identity/identity_fit.h"

namespace topwork {

Trainer::Trainer(const TrainerOptions& options, TrainedLayers layers,
                 std::unique_ptr<FeatureExtractor> extractor, TrainingState state)
    : options_(options),
      layers_(std::move(layers)),
      extractor_(std::move(extractor)),
      set_(&options_, extractor_.get(), &watch_),
      state_(std::move(state)),
      loop_(context()),
      judge_(context()),
      rejecter_(context()),
      exporter_(context(), &judge_, &rejecter_),
      classes_(context(), &judge_, &exporter_),
      exchange_(context(), &judge_, &exporter_, &files_),
      checkpoints_(context(), &loop_.plan(), &judge_, &rejecter_, &files_) {}

Result<std::unique_ptr<Trainer>> Trainer::Create(std::shared_ptr<const Model> model,
                                                 const TrainerOptions& given) {
  TW_RETURN_IF_ERROR(CheckOptions(given));
  TW_RETURN_IF_ERROR(Rejecter::CheckOptions(*model, given));
  TW_RETURN_IF_ERROR(CheckIdentityOptions(given));
  TW_RETURN_IF_ERROR(FitterChoice::CheckDevice(given));
  TrainerOptions options = given;
  options.optimizer = ResolveOptimizer(given);
  TW_ASSIGN_OR_RETURN(TrainedLayers layers, TrainedLayers::Find(model, options));
  TW_RETURN_IF_ERROR(ResolveClasses(layers.head(), &options));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<FeatureExtractor> extractor,
                      FeatureExtractor::Create(model, layers.cut(), options));
  TW_ASSIGN_OR_RETURN(TrainingState state,
                      TrainingState::Begin(layers, options, &extractor->pool()));
  return std::unique_ptr<Trainer>(
      new Trainer(options, std::move(layers), std::move(extractor), std::move(state)));
}

Status Trainer::NoteAdded(Status status) {
  const bool moved = set_.TakeMoved();
  if (status.ok() || moved) state_.NoteNewExamples(moved);
  return status;
}

Status Trainer::TrainFor(const TrainBudget& budget, const EpochCallback& on_epoch,
                         bool* out_finished) {
  TW_RETURN_IF_ERROR(loop_.TrainFor(budget, on_epoch));
  if (out_finished != nullptr) *out_finished = finished();
  return Status::Ok();
}

Status Trainer::Train(const EpochCallback& on_epoch) {
  return TrainFor(TrainBudget(), on_epoch, nullptr);
}

Status Trainer::Load(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const MappedBytes file, MappedBytes::Open(path, "the checkpoint"));
  return IsRecord(RecordKind::kHead, file.bytes()) ? exchange_.Load(path)
                                                   : checkpoints_.Restore(path);
}

TrainerMemory Trainer::memory() const {
  const FeatureCache& cache = set_.cache();
  TrainerMemory memory;
  memory.backbone_bytes = extractor_->memory_bytes() + extractor_->packed_bytes();
  memory.cache_bytes = cache.bytes() + judge_.golden_bytes() + rejecter_.bytes();
  if (cache.file() != nullptr) memory.cache_file_bytes = cache.file()->bytes();
  memory.head_bytes = state_.bytes() + loop_.choice().bytes() + exporter_.bytes() +
                      cache.index_bytes() + set_.index_bytes();
  memory.working_bytes = watch_.most_bytes();
  memory.device_bytes = loop_.choice().device_bytes();
  memory.total_bytes =
      memory.backbone_bytes + memory.cache_bytes + memory.head_bytes + memory.working_bytes;
  return memory;
}

}  // namespace topwork
