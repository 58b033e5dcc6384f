// Checkpoints to bytes and back.
#include "models/format/checkpoint_file.h"

#include "checkpoint_generated.h"
#include "models/format/text.h"
#include "runtime/base/record_file.h"

namespace topwork {
namespace {

RecordId CheckpointId() { return {RecordKind::kCheckpoint, 1, ""}; }

// FlatBuffers count bytes in 31 bits; some are kept for tables and texts.
constexpr size_t kMaxArrayBytes = (size_t{1} << 31) - (size_t{1} << 24);

std::vector<std::string> Texts(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* texts) {
  std::vector<std::string> result;
  for (uint32_t i = 0; texts != nullptr && i < texts->size(); ++i) {
    result.push_back(Text(texts->Get(i)));
  }
  return result;
}

template <typename T>
std::vector<T> Numbers(const flatbuffers::Vector<T>* values) {
  return values == nullptr ? std::vector<T>() : std::vector<T>(values->begin(), values->end());
}

void ReadExamples(const checkpoint_schema::Examples& examples, CheckpointData* data) {
  data->has_examples = true;
  data->rows = Numbers(examples.rows());
  data->labels = Numbers(examples.labels());
  data->values = Numbers(examples.values());
  if (examples.replay() == nullptr) return;
  data->replay.labels = Numbers(examples.replay()->labels());
  data->replay.seen = Numbers(examples.replay()->seen());
  data->replay.random_state = examples.replay()->random_state();
}

void ReadProgress(const checkpoint_schema::Checkpoint& c, CheckpointData* data) {
  data->epoch = c.epoch();
  data->step = c.step();
  data->random_state = c.random_state();
  data->position = c.position();
  data->loss_sum = c.loss_sum();
  data->weight_sum = c.weight_sum();
  data->hits = c.hits();
  data->epoch_seconds = c.epoch_seconds();
  data->best_loss = c.best_loss();
  data->best_epoch = c.best_epoch();
  data->best_parameters = Numbers(c.best_parameters());
  data->stopped_early = c.stopped_early();
  for (uint32_t i = 0; c.history() != nullptr && i < c.history()->size(); ++i) {
    const checkpoint_schema::Epoch& e = *c.history()->Get(i);
    data->history.push_back({e.epoch(), e.n_epochs(), e.step(), e.train_loss(), e.train_accuracy(),
                             e.has_validation(), e.validation_loss(), e.validation_accuracy(),
                             e.seconds(), e.learning_rate()});
  }
}

CheckpointData FromTable(const checkpoint_schema::Checkpoint& c) {
  CheckpointData data;
  data.model_sha256 = Text(c.model_sha256());
  data.examples_sha256 = Text(c.examples_sha256());
  data.options = Texts(c.options());
  data.dim = c.dim();
  data.n_classes = c.n_classes();
  data.class_names = Texts(c.class_names());
  data.parameters = Numbers(c.parameters());
  data.moment1 = Numbers(c.moment1());
  data.moment2 = Numbers(c.moment2());
  data.n_updates = c.n_updates();
  data.solver = Numbers(c.solver());
  data.learning_rate = c.learning_rate();
  data.temperature = c.temperature();
  data.fresh_classes = Numbers(c.fresh_classes());
  data.train = Numbers(c.train());
  data.validation = Numbers(c.validation());
  ReadProgress(c, &data);
  if (c.examples() != nullptr) ReadExamples(*c.examples(), &data);
  return data;
}

Status CheckConsistent(const CheckpointData& data) {
  const size_t n = data.parameters.size();
  const size_t n_classes = static_cast<size_t>(data.n_classes);
  const auto fits = [&](const std::vector<float>& values) {
    return values.empty() || values.size() == n;
  };
  if (data.n_classes < 1 || data.dim < 1 || n < n_classes || !fits(data.moment1) ||
      !fits(data.moment2) || !fits(data.best_parameters) ||
      data.fresh_classes.size() != n_classes ||
      (!data.class_names.empty() && data.class_names.size() != n_classes)) {
    return Corrupt("the checkpoint contradicts itself: %d classes, %lld features, %zu parameters",
                   data.n_classes, static_cast<long long>(data.dim), n);
  }
  if (data.epoch < 0 || data.step < 0 || data.n_updates < 0 || data.best_epoch < 0 ||
      data.best_epoch > data.epoch || !(data.temperature > 0.0) || !(data.learning_rate >= 0.0f)) {
    return Corrupt("the checkpoint contradicts itself: epoch %d, step %lld, best epoch %d",
                   data.epoch, static_cast<long long>(data.step), data.best_epoch);
  }
  return Status::Ok();
}

flatbuffers::Offset<checkpoint_schema::Examples> WriteExamples(
    const CheckpointData& d, flatbuffers::FlatBufferBuilder* builder) {
  const auto slots = builder->CreateVector(d.replay.labels);
  const auto seen = builder->CreateVector(d.replay.seen);
  const auto replay = checkpoint_schema::CreateReplay(*builder, slots, seen, d.replay.random_state);
  const auto rows = builder->CreateVector(d.rows);
  const auto labels = builder->CreateVector(d.labels);
  const auto values = builder->CreateVector(d.values);
  return checkpoint_schema::CreateExamples(*builder, rows, labels, values, replay);
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<checkpoint_schema::Epoch>>>
WriteHistory(const CheckpointData& d, flatbuffers::FlatBufferBuilder* builder) {
  std::vector<flatbuffers::Offset<checkpoint_schema::Epoch>> epochs;
  for (const CheckpointEpoch& e : d.history) {
    epochs.push_back(checkpoint_schema::CreateEpoch(
        *builder, e.epoch, e.n_epochs, e.step, e.train_loss, e.train_accuracy, e.has_validation,
        e.validation_loss, e.validation_accuracy, e.seconds, e.learning_rate));
  }
  return builder->CreateVector(epochs);
}

void WriteProgress(const CheckpointData& d, checkpoint_schema::CheckpointBuilder* c) {
  c->add_epoch(d.epoch);
  c->add_step(d.step);
  c->add_random_state(d.random_state);
  c->add_position(d.position);
  c->add_loss_sum(d.loss_sum);
  c->add_weight_sum(d.weight_sum);
  c->add_hits(d.hits);
  c->add_epoch_seconds(d.epoch_seconds);
  c->add_best_loss(d.best_loss);
  c->add_best_epoch(d.best_epoch);
  c->add_stopped_early(d.stopped_early);
}

Status Build(const CheckpointData& d, flatbuffers::FlatBufferBuilder* out) {
  const size_t n_numbers = d.rows.size() + d.labels.size() + d.values.size() +
                           4 * d.parameters.size() + 2 * d.solver.size() + d.train.size() +
                           d.validation.size();
  if (n_numbers > kMaxArrayBytes / sizeof(float)) {
    return Unsupported("a checkpoint of %zu numbers does not fit into 2 GiB%s", n_numbers,
                       d.has_examples ? "; save it without the examples" : "");
  }
  flatbuffers::FlatBufferBuilder& builder = *out;
  const auto model = builder.CreateString(d.model_sha256);
  const auto digest = builder.CreateString(d.examples_sha256);
  const auto options = builder.CreateVectorOfStrings(d.options);
  const auto names = builder.CreateVectorOfStrings(d.class_names);
  const auto parameters = builder.CreateVector(d.parameters);
  const auto moment1 = builder.CreateVector(d.moment1);
  const auto moment2 = builder.CreateVector(d.moment2);
  const auto solver = builder.CreateVector(d.solver);
  const auto fresh = builder.CreateVector(d.fresh_classes);
  const auto train = builder.CreateVector(d.train);
  const auto validation = builder.CreateVector(d.validation);
  const auto history = WriteHistory(d, &builder);
  const auto best = builder.CreateVector(d.best_parameters);
  flatbuffers::Offset<checkpoint_schema::Examples> examples;
  if (d.has_examples) examples = WriteExamples(d, &builder);
  checkpoint_schema::CheckpointBuilder c(builder);
  c.add_model_sha256(model);
  c.add_examples_sha256(digest);
  c.add_options(options);
  c.add_dim(d.dim);
  c.add_n_classes(d.n_classes);
  c.add_class_names(names);
  c.add_parameters(parameters);
  c.add_moment1(moment1);
  c.add_moment2(moment2);
  c.add_n_updates(d.n_updates);
  c.add_solver(solver);
  c.add_learning_rate(d.learning_rate);
  c.add_temperature(d.temperature);
  c.add_fresh_classes(fresh);
  c.add_train(train);
  c.add_validation(validation);
  WriteProgress(d, &c);
  c.add_history(history);
  c.add_best_parameters(best);
  if (d.has_examples) c.add_examples(examples);
  checkpoint_schema::FinishCheckpointBuffer(builder, c.Finish());
  return Status::Ok();
}

}  // namespace

Result<std::vector<uint8_t>> EncodeCheckpoint(const CheckpointData& data) {
  flatbuffers::FlatBufferBuilder builder;
  TW_RETURN_IF_ERROR(Build(data, &builder));
  return PackRecord(CheckpointId(), {builder.GetBufferPointer(), builder.GetSize()});
}

Status WriteCheckpoint(const std::string& path, const CheckpointData& data) {
  flatbuffers::FlatBufferBuilder builder;
  TW_RETURN_IF_ERROR(Build(data, &builder));
  return WriteRecord(path, CheckpointId(), {builder.GetBufferPointer(), builder.GetSize()});
}

Status CheckWhole(Span<const uint8_t> bytes) {
  return UnpackRecord(CheckpointId(), bytes).status();
}

Result<CheckpointData> DecodeCheckpoint(Span<const uint8_t> bytes) {
  TW_ASSIGN_OR_RETURN(const Buffer payload, CopyRecord(CheckpointId(), bytes));
  flatbuffers::Verifier verifier(payload.as<uint8_t>(), payload.size(), 8);
  if (!checkpoint_schema::VerifyCheckpointBuffer(verifier)) {
    return Corrupt("the checkpoint's contents are malformed");
  }
  const auto* root = checkpoint_schema::GetCheckpoint(payload.data());
  CheckpointData data = FromTable(*root);
  TW_RETURN_IF_ERROR(CheckConsistent(data));
  return data;
}

}  // namespace topwork
