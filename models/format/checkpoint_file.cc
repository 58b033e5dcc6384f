// Checkpoints to bytes and back.
#include "models/format/checkpoint_file.h"

#include "checkpoint_generated.h"
#include "models/format/container.h"

namespace topwork {
namespace {

constexpr uint32_t kFormat = 1;
constexpr ContainerKind kKind = {"TWCKPT1\n", "checkpoint"};

std::string Text(const flatbuffers::String* text) {
  return text == nullptr ? std::string() : text->str();
}

std::vector<float> Floats(const flatbuffers::Vector<float>* values) {
  return values == nullptr ? std::vector<float>()
                           : std::vector<float>(values->begin(), values->end());
}

CheckpointData FromTable(const checkpoint_schema::Checkpoint& c) {
  CheckpointData data;
  data.model_sha256 = Text(c.model_sha256());
  data.examples_sha256 = Text(c.examples_sha256());
  data.output = c.output();
  data.dim = c.dim();
  data.n_classes = c.n_classes();
  for (uint32_t i = 0; c.class_names() != nullptr && i < c.class_names()->size(); ++i) {
    data.class_names.push_back(Text(c.class_names()->Get(i)));
  }
  data.optimizer = c.optimizer();
  data.batch_size = c.batch_size();
  data.seed = c.seed();
  data.validation_fraction = c.validation_fraction();
  data.parameters = Floats(c.parameters());
  data.moment1 = Floats(c.moment1());
  data.moment2 = Floats(c.moment2());
  data.n_updates = c.n_updates();
  data.epoch = c.epoch();
  data.step = c.step();
  data.random_state = c.random_state();
  data.position = c.position();
  data.loss_sum = c.loss_sum();
  data.n_correct = c.n_correct();
  data.epoch_seconds = c.epoch_seconds();
  for (uint32_t i = 0; c.history() != nullptr && i < c.history()->size(); ++i) {
    const checkpoint_schema::Epoch& e = *c.history()->Get(i);
    data.history.push_back({e.epoch(), e.n_epochs(), e.step(), e.train_loss(), e.train_accuracy(),
                            e.has_validation(), e.validation_loss(), e.validation_accuracy(),
                            e.seconds()});
  }
  return data;
}

Status CheckConsistent(const CheckpointData& data) {
  const uint64_t n = static_cast<uint64_t>(data.n_classes) * (static_cast<uint64_t>(data.dim) + 1);
  const auto fits = [&](const std::vector<float>& moment) {
    return moment.empty() || moment.size() == n;
  };
  if (data.n_classes < 2 || data.dim < 1 || data.parameters.size() != n || !fits(data.moment1) ||
      !fits(data.moment2) || data.epoch < 0 || data.step < 0 || data.n_updates < 0) {
    return Corrupt("the checkpoint contradicts itself: %d classes, %d features, %zu parameters",
                   data.n_classes, data.dim, data.parameters.size());
  }
  return Status::Ok();
}

}  // namespace

std::vector<uint8_t> EncodeCheckpoint(const CheckpointData& d) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<checkpoint_schema::Epoch>> epochs;
  for (const CheckpointEpoch& e : d.history) {
    epochs.push_back(checkpoint_schema::CreateEpoch(
        builder, e.epoch, e.n_epochs, e.step, e.train_loss, e.train_accuracy, e.has_validation,
        e.validation_loss, e.validation_accuracy, e.seconds));
  }
  const auto model = builder.CreateString(d.model_sha256);
  const auto examples = builder.CreateString(d.examples_sha256);
  const auto names = builder.CreateVectorOfStrings(d.class_names);
  const auto parameters = builder.CreateVector(d.parameters);
  const auto moment1 = builder.CreateVector(d.moment1);
  const auto moment2 = builder.CreateVector(d.moment2);
  const auto history = builder.CreateVector(epochs);
  checkpoint_schema::CheckpointBuilder c(builder);
  c.add_format(kFormat);
  c.add_model_sha256(model);
  c.add_examples_sha256(examples);
  c.add_output(d.output);
  c.add_dim(d.dim);
  c.add_n_classes(d.n_classes);
  c.add_class_names(names);
  c.add_optimizer(d.optimizer);
  c.add_batch_size(d.batch_size);
  c.add_seed(d.seed);
  c.add_validation_fraction(d.validation_fraction);
  c.add_parameters(parameters);
  c.add_moment1(moment1);
  c.add_moment2(moment2);
  c.add_n_updates(d.n_updates);
  c.add_epoch(d.epoch);
  c.add_step(d.step);
  c.add_random_state(d.random_state);
  c.add_position(d.position);
  c.add_loss_sum(d.loss_sum);
  c.add_n_correct(d.n_correct);
  c.add_epoch_seconds(d.epoch_seconds);
  c.add_history(history);
  checkpoint_schema::FinishCheckpointBuffer(builder, c.Finish());

  return PackContainer(kKind, {builder.GetBufferPointer(), builder.GetSize()});
}

Result<CheckpointData> DecodeCheckpoint(Span<const uint8_t> bytes) {
  TW_ASSIGN_OR_RETURN(const Buffer payload, UnpackContainer(kKind, bytes));
  flatbuffers::Verifier verifier(payload.as<uint8_t>(), payload.size(), 8);
  if (!checkpoint_schema::VerifyCheckpointBuffer(verifier)) {
    return Corrupt("the checkpoint's contents are malformed");
  }
  const auto* root = checkpoint_schema::GetCheckpoint(payload.data());
  if (root->format() != kFormat) {
    return Unsupported("the checkpoint has format %u, this version reads %u", root->format(),
                       kFormat);
  }
  CheckpointData data = FromTable(*root);
  TW_RETURN_IF_ERROR(CheckConsistent(data));
  return data;
}

}  // namespace topwork
