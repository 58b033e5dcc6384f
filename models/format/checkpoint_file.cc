// Checkpoints to bytes and back.
#include "models/format/checkpoint_file.h"

#include <cmath>

#include "checkpoint_generated.h"
#include "models/format/text.h"
#include "runtime/base/record_file.h"

namespace topwork {

CheckpointData::CheckpointData() = default;
CheckpointData::~CheckpointData() = default;
CheckpointData::CheckpointData(CheckpointData&&) noexcept = default;
CheckpointData& CheckpointData::operator=(CheckpointData&&) noexcept = default;
CheckpointData::CheckpointData(const CheckpointData&) = default;
CheckpointData& CheckpointData::operator=(const CheckpointData&) = default;

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
  data->targets = Numbers(examples.values());
  data->groups = Numbers(examples.groups());
  data->names = Texts(examples.names());
#ifndef TW_NO_LEARN
  data->negatives = Numbers(examples.negatives());
#endif
  if (examples.replay() == nullptr) return;
  data->replay.labels = Numbers(examples.replay()->labels());
  data->replay.seen = Numbers(examples.replay()->seen());
  data->replay.random_state = examples.replay()->random_state();
}

void ReadLearner(const checkpoint_schema::Learner& learner, CheckpointData* data) {
  data->is_learner = true;
  data->penalty = learner.penalty();
  data->n_chosen = learner.n_chosen();
  data->statistics = Numbers(learner.statistics());
}

TrainingProgress ReadProgress(const checkpoint_schema::Checkpoint& c) {
  TrainingProgress p;
  p.epoch = c.epoch();
  p.step = c.step();
  p.random_state = c.random_state();
  p.position = c.position();
  p.loss_sum = c.loss_sum();
  p.weight_sum = c.weight_sum();
  p.hits = c.hits();
  p.seconds = c.epoch_seconds();
  for (uint32_t i = 0; c.history() != nullptr && i < c.history()->size(); ++i) {
    const checkpoint_schema::Epoch& e = *c.history()->Get(i);
    p.history.push_back({e.epoch(), e.n_epochs(), e.step(), e.train_loss(), e.train_accuracy(),
                         e.has_validation(), e.validation_loss(), e.validation_accuracy(),
                         e.seconds(), e.learning_rate()});
  }
  if (c.best_epoch() > 0) p.best_loss = c.best_loss();  // else infinite, which is not stored
  p.best_epoch = c.best_epoch();
  p.best_parameters = Numbers(c.best_parameters());
  p.stopped_early = c.stopped_early();
  return p;
}

TrainingValues ReadValues(const checkpoint_schema::Checkpoint& c) {
  TrainingValues values;
  values.parameters = Numbers(c.parameters());
  values.moment1 = Numbers(c.moment1());
  values.moment2 = Numbers(c.moment2());
  values.n_updates = c.n_updates();
  values.solver = Numbers(c.solver());
  values.learning_rate = c.learning_rate();
  values.temperature = c.temperature();
  values.fresh_classes = Numbers(c.fresh_classes());
  values.progress = ReadProgress(c);
  values.start.parameters = Numbers(c.start_parameters());
  values.start.fresh_classes = Numbers(c.start_fresh_classes());
  values.start.epoch = c.start_epoch();
  values.validated_parameters = Numbers(c.validated_parameters());
#ifndef TW_NO_LEARN
  values.order = Numbers(c.order());
  values.next_random_state = c.next_random_state();
#endif
  return values;
}

CheckpointData FromTable(const checkpoint_schema::Checkpoint& c) {
  CheckpointData data;
  data.model_sha256 = Text(c.model_sha256());
  data.examples_sha256 = Text(c.examples_sha256());
  data.options = Texts(c.options());
  data.dim = c.dim();
  data.n_classes = c.n_classes();
  data.class_names = Texts(c.class_names());
  data.values = ReadValues(c);
  data.train = Numbers(c.train());
  data.validation = Numbers(c.validation());
#ifndef TW_NO_LEARN
  data.has_new_examples = c.has_new_examples();
#endif
  if (c.examples() != nullptr) ReadExamples(*c.examples(), &data);
  if (c.learner() != nullptr) ReadLearner(*c.learner(), &data);
  return data;
}

Status CheckConsistent(const CheckpointData& data) {
  const TrainingValues& values = data.values;
  const TrainingProgress& progress = values.progress;
  const size_t n = values.parameters.size();
  const size_t n_classes = static_cast<size_t>(data.n_classes);
  const auto fits = [&](const std::vector<float>& numbers) {
    return numbers.empty() || numbers.size() == n;
  };
  if (data.n_classes < 1 || data.dim < 1 || n < n_classes || !fits(values.moment1) ||
      !fits(values.moment2) || !fits(progress.best_parameters) || !fits(values.start.parameters) ||
      !fits(values.validated_parameters) ||
      values.start.fresh_classes.size() != (values.start.parameters.empty() ? 0 : n_classes) ||
      values.fresh_classes.size() != n_classes ||
      (!data.class_names.empty() && data.class_names.size() != n_classes)) {
    return Corrupt("the checkpoint contradicts itself: {} classes, {} features, {} parameters",
                   data.n_classes, data.dim, n);
  }
  if (progress.epoch < 0 || progress.step < 0 || values.n_updates < 0 || progress.best_epoch < 0 ||
      progress.best_epoch > progress.epoch || values.start.epoch < 0 ||
      values.start.epoch > progress.epoch || !(values.temperature > 0.0) ||
      !(values.learning_rate >= 0.0f)) {
    return Corrupt("the checkpoint contradicts itself: epoch {}, step {}, best epoch {}",
                   progress.epoch, progress.step, progress.best_epoch);
  }
  if (data.is_learner && (!(data.penalty >= 0.0) || !std::isfinite(data.penalty))) {
    return Corrupt("the checkpoint contradicts itself: a penalty of {}", data.penalty);
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
  const auto values = builder->CreateVector(d.targets);
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> groups;
  if (!d.groups.empty()) groups = builder->CreateVector(d.groups);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> names;
  if (!d.names.empty()) names = builder->CreateVectorOfStrings(d.names);
  flatbuffers::Offset<flatbuffers::Vector<float>> negatives;
#ifndef TW_NO_LEARN
  if (!d.negatives.empty()) negatives = builder->CreateVector(d.negatives);
#endif
  return checkpoint_schema::CreateExamples(*builder, rows, labels, values, replay, groups, names,
                                           negatives);
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<checkpoint_schema::Epoch>>>
WriteHistory(const std::vector<EpochMetrics>& history, flatbuffers::FlatBufferBuilder* builder) {
  std::vector<flatbuffers::Offset<checkpoint_schema::Epoch>> epochs;
  for (const EpochMetrics& e : history) {
    epochs.push_back(checkpoint_schema::CreateEpoch(
        *builder, e.epoch, e.n_epochs, e.step, e.train_loss, e.train_accuracy, e.has_validation,
        e.validation_loss, e.validation_accuracy, e.seconds, e.learning_rate));
  }
  return builder->CreateVector(epochs);
}

void WriteProgress(const TrainingProgress& p, checkpoint_schema::CheckpointBuilder* c) {
  c->add_epoch(p.epoch);
  c->add_step(p.step);
  c->add_random_state(p.random_state);
  c->add_position(p.position);
  c->add_loss_sum(p.loss_sum);
  c->add_weight_sum(p.weight_sum);
  c->add_hits(p.hits);
  c->add_epoch_seconds(p.seconds);
  c->add_best_loss(p.best_epoch > 0 ? p.best_loss : 0.0);
  c->add_best_epoch(p.best_epoch);
  c->add_stopped_early(p.stopped_early);
}

Status Build(const CheckpointData& d, flatbuffers::FlatBufferBuilder* out) {
  const TrainingValues& v = d.values;
  size_t n_numbers = d.rows.size() + d.labels.size() + d.targets.size() + d.groups.size() +
                     6 * v.parameters.size() + 2 * (v.solver.size() + d.statistics.size()) +
                     d.train.size() + d.validation.size();
#ifndef TW_NO_LEARN
  n_numbers += v.order.size() + d.negatives.size();
#endif
  if (n_numbers > kMaxArrayBytes / sizeof(float)) {
    return Unsupported("a checkpoint of {} numbers does not fit into 2 GiB{}", n_numbers,
                       d.has_examples ? "; save it without the examples" : "");
  }
  flatbuffers::FlatBufferBuilder& builder = *out;
  const auto model = builder.CreateString(d.model_sha256);
  const auto digest = builder.CreateString(d.examples_sha256);
  const auto options = builder.CreateVectorOfStrings(d.options);
  const auto names = builder.CreateVectorOfStrings(d.class_names);
  const auto parameters = builder.CreateVector(v.parameters);
  const auto moment1 = builder.CreateVector(v.moment1);
  const auto moment2 = builder.CreateVector(v.moment2);
  const auto solver = builder.CreateVector(v.solver);
  const auto fresh = builder.CreateVector(v.fresh_classes);
  const auto train = builder.CreateVector(d.train);
  const auto validation = builder.CreateVector(d.validation);
  const auto history = WriteHistory(v.progress.history, &builder);
  const auto best = builder.CreateVector(v.progress.best_parameters);
  // Fields that are empty are left out.
  const auto optional = [&](const auto& numbers) {
    using Vector = decltype(builder.CreateVector(numbers));
    return numbers.empty() ? Vector() : builder.CreateVector(numbers);
  };
  const auto start = optional(v.start.parameters);
  const auto start_fresh = optional(v.start.fresh_classes);
  const auto validated = optional(v.validated_parameters);
#ifndef TW_NO_LEARN
  const auto order = optional(v.order);
#endif
  flatbuffers::Offset<checkpoint_schema::Examples> examples;
  if (d.has_examples) examples = WriteExamples(d, &builder);
  flatbuffers::Offset<checkpoint_schema::Learner> learner;
  if (d.is_learner) {
    const auto statistics = builder.CreateVector(d.statistics);
    learner = checkpoint_schema::CreateLearner(builder, d.penalty, d.n_chosen, statistics);
  }
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
  c.add_n_updates(v.n_updates);
  c.add_solver(solver);
  c.add_learning_rate(v.learning_rate);
  c.add_temperature(v.temperature);
  c.add_fresh_classes(fresh);
  c.add_train(train);
  c.add_validation(validation);
  WriteProgress(v.progress, &c);
  c.add_history(history);
  c.add_best_parameters(best);
  if (d.has_examples) c.add_examples(examples);
  c.add_start_parameters(start);
  c.add_start_fresh_classes(start_fresh);
  c.add_start_epoch(v.start.epoch);
  c.add_validated_parameters(validated);
  if (d.is_learner) c.add_learner(learner);
#ifndef TW_NO_LEARN
  c.add_order(order);
  c.add_next_random_state(v.next_random_state);
  c.add_has_new_examples(d.has_new_examples);
#endif
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
