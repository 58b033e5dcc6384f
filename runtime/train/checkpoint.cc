// Saving a trainer's state and going back to it.
#include <algorithm>
#include <cstring>
#include <utility>

#include "models/format/checkpoint_file.h"
#include "ports/port.h"
#include "runtime/train/head_trainer.h"
#include "runtime/train/trainer.h"

namespace topwork {
namespace {

std::string PreviousPath(const std::string& path) { return path + ".previous"; }

Status WriteFile(const std::string& path, Span<const uint8_t> bytes) {
  const int error = port::WriteFileAtomic(path.c_str(), bytes.data(), bytes.size());
  if (error == 0) return Status::Ok();
  return IoError("cannot write checkpoint '%s': %s", path.c_str(), port::ErrorText(error).c_str());
}

// A mapped file that unmaps itself.
struct Mapping {
  port::MappedFile file;
  ~Mapping() { port::UnmapFile(&file); }
  Span<const uint8_t> bytes() const { return {file.data, file.size}; }
};

Result<CheckpointData> ReadCheckpoint(const std::string& path) {
  Mapping mapping;
  const int error = port::MapFile(path.c_str(), &mapping.file);
  if (error != 0) {
    return IoError("cannot read checkpoint '%s': %s", path.c_str(), port::ErrorText(error).c_str());
  }
  Result<CheckpointData> data = DecodeCheckpoint(mapping.bytes());
  if (!data.ok()) return data.status().WithPrefix("'" + path + "': ");
  return data;
}

// The generation before moves to PATH.previous, unless it is damaged: then what lies there is
// better.
Status KeepPrevious(const std::string& path) {
  Mapping mapping;
  if (port::MapFile(path.c_str(), &mapping.file) != 0) return Status::Ok();
  if (!DecodeCheckpoint(mapping.bytes()).ok()) return Status::Ok();
  return WriteFile(PreviousPath(path), mapping.bytes());
}

void CopyFloats(const std::vector<float>& from, Span<float> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
}

std::vector<float> ToVector(Span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

const std::string& Trainer::ExamplesDigest() {
  if (examples_digest_.empty()) examples_digest_ = cache_->digest();
  return examples_digest_;
}

Status Trainer::SaveCheckpoint(const std::string& path) {
  CheckpointData data;
  data.model_sha256 = model_->sha256();
  data.examples_sha256 = ExamplesDigest();
  data.output = head_.output;
  data.dim = head_.dim;
  data.n_classes = n_classes();
  data.class_names = options_.class_names;
  data.optimizer = static_cast<int>(options_.optimizer);
  data.batch_size = options_.batch_size;
  data.seed = options_.seed;
  data.validation_fraction = options_.validation_fraction;
  data.parameters = ToVector(head_trainer_->parameters());
  data.moment1 = ToVector(head_trainer_->moment1());
  data.moment2 = ToVector(head_trainer_->moment2());
  data.n_updates = head_trainer_->n_updates();
  data.epoch = epoch_;
  data.step = step_;
  data.random_state = random_state_;
  data.position = position_;
  data.loss_sum = loss_sum_;
  data.n_correct = n_correct_;
  data.epoch_seconds = epoch_seconds_;
  for (const EpochMetrics& m : history_) {
    data.history.push_back({m.epoch, m.n_epochs, m.step, m.train_loss, m.train_accuracy,
                            m.has_validation, m.validation_loss, m.validation_accuracy, m.seconds});
  }
  TW_RETURN_IF_ERROR(KeepPrevious(path));
  return WriteFile(path, EncodeCheckpoint(data));
}

Status Trainer::CheckBelongs(const CheckpointData& data) {
  const auto refuse = [](const char* what, const std::string& theirs, const std::string& ours) {
    return FailedPrecondition("the checkpoint was made with %s %s, this trainer has %s", what,
                              theirs.c_str(), ours.c_str());
  };
  const auto text = [](double value) { return StrFormat("%.9g", value); };
  if (data.model_sha256 != model_->sha256()) {
    return refuse("the model", data.model_sha256.substr(0, 12), model_->sha256().substr(0, 12));
  }
  if (data.output != head_.output) return refuse("output", text(data.output), text(head_.output));
  if (data.dim != head_.dim) return refuse("a dimension of", text(data.dim), text(head_.dim));
  if (data.n_classes != n_classes()) {
    return refuse("n_classes", text(data.n_classes), text(n_classes()));
  }
  if (data.class_names != options_.class_names) {
    return FailedPrecondition("the checkpoint was made with other class names");
  }
  if (data.optimizer != static_cast<int>(options_.optimizer)) {
    return refuse("the optimizer", OptimizerName(static_cast<Optimizer>(data.optimizer)),
                  OptimizerName(options_.optimizer));
  }
  if (data.batch_size != options_.batch_size) {
    return refuse("batch_size", text(data.batch_size), text(options_.batch_size));
  }
  if (data.seed != options_.seed) {
    return refuse("seed", std::to_string(data.seed), std::to_string(options_.seed));
  }
  if (data.validation_fraction != options_.validation_fraction) {
    return refuse("validation_fraction", text(data.validation_fraction),
                  text(options_.validation_fraction));
  }
  if (data.moment1.size() != head_trainer_->moment1().size() ||
      data.moment2.size() != head_trainer_->moment2().size()) {
    return refuse("momentum", data.moment1.empty() ? "off" : "on",
                  head_trainer_->moment1().empty() ? "off" : "on");
  }
  if (data.examples_sha256 != ExamplesDigest()) {
    return FailedPrecondition(
        "the checkpoint was made with other examples (or their features were "
        "computed on another kind of processor); this trainer has %lld; add "
        "the same examples in the same order before restoring",
        static_cast<long long>(cache_->size()));
  }
  return Status::Ok();
}

Status Trainer::Adopt(const CheckpointData& data) {
  TW_RETURN_IF_ERROR(CheckBelongs(data));
  if (data.epoch > 0 || data.position > 0) TW_RETURN_IF_ERROR(EnsureSplit());
  if (data.position > 0 && data.position >= train_.size()) {
    return Corrupt("the checkpoint contradicts itself: %llu examples of an epoch of %zu are used",
                   static_cast<unsigned long long>(data.position), train_.size());
  }
  CopyFloats(data.parameters, head_trainer_->parameters());
  CopyFloats(data.moment1, head_trainer_->moment1());
  CopyFloats(data.moment2, head_trainer_->moment2());
  head_trainer_->set_n_updates(data.n_updates);
  epoch_ = data.epoch;
  step_ = data.step;
  random_state_ = data.random_state;
  order_.clear();
  position_ = 0;
  if (data.position > 0) {
    TW_RETURN_IF_ERROR(StartEpoch());
    position_ = static_cast<size_t>(data.position);
  }
  loss_sum_ = data.loss_sum;
  n_correct_ = data.n_correct;
  epoch_seconds_ = data.epoch_seconds;
  history_.clear();
  for (const CheckpointEpoch& e : data.history) {
    EpochMetrics metrics;
    metrics.epoch = e.epoch;
    metrics.n_epochs = e.n_epochs;
    metrics.step = e.step;
    metrics.train_loss = e.train_loss;
    metrics.train_accuracy = e.train_accuracy;
    metrics.has_validation = e.has_validation;
    metrics.validation_loss = e.validation_loss;
    metrics.validation_accuracy = e.validation_accuracy;
    metrics.seconds = e.seconds;
    history_.push_back(metrics);
  }
  return Status::Ok();
}

Status Trainer::RestoreCheckpoint(const std::string& path) {
  Result<CheckpointData> data = ReadCheckpoint(path);
  if (data.ok()) {
    const Status adopted = Adopt(*data);
    return adopted.ok() ? adopted : adopted.WithPrefix("'" + path + "': ");
  }
  if (data.status().code() != StatusCode::kCorrupt) return data.status();
  const Result<CheckpointData> previous = ReadCheckpoint(PreviousPath(path));
  if (!previous.ok()) return data.status();
  return Corrupt("%s; the generation before it, '%s', is sound (epoch %d, step %lld): restore that",
                 data.status().message().c_str(), PreviousPath(path).c_str(), previous->epoch,
                 static_cast<long long>(previous->step));
}

}  // namespace topwork
