// Heads alone, saved from a trainer and loaded into another one.
#include "runtime/train/head_exchange.h"

#include <algorithm>
#include <utility>

#include "models/format/head_file.h"
#include "runtime/base/file.h"
#include "runtime/train/identity/identity_head.h"

namespace topwork {
namespace {

// The seed that a projection is drawn from, 16 bits a number, so that each is exact.
NamedArray SeedArray(uint64_t seed) {
  NamedArray array = {kProjectionSeed, {4}, {}};
  for (int i = 0; i < 4; ++i) {
    array.values.push_back(static_cast<float>(seed >> (16 * i) & 0xFFFF));
  }
  return array;
}

// Of these a file holds the rows that are there.
bool IsStoredExamples(const std::string& name) {
  return name == kIdentityRows || name == kIdentityClasses;
}

Status CopyStored(const NamedArray& array, const ParameterInfo& info, float* to) {
  if (array.dims.size() != info.dims.size() || array.dims.back() > info.dims.back() ||
      (info.dims.size() > 1 && array.dims[1] != info.dims[1]) || array.dims[0] > info.dims[0]) {
    return FailedPrecondition("the head stores {} examples, this trainer {} at most (max_rows)",
                              array.dims[0], info.dims[0]);
  }
  std::fill(to, to + info.size, info.name == kIdentityClasses ? -1.0f : 0.0f);
  std::copy(array.values.begin(), array.values.end(), to);
  return Status::Ok();
}

// Copies the head's arrays into a network of the same layout.
Status CopyArrays(const HeadData& data, Trainable* network) {
  if (network->layout().size() != data.parameters.size()) {
    return FailedPrecondition("the head holds {} arrays, this trainer trains {} (other layers?)",
                              data.parameters.size(), network->layout().size());
  }
  for (size_t i = 0; i < data.parameters.size(); ++i) {
    const NamedArray& array = data.parameters[i];
    const ParameterInfo& info = network->layout()[i];
    float* to = network->parameters().data() + info.offset;
    if (array.name == info.name && IsStoredExamples(info.name)) {
      TW_RETURN_IF_ERROR(CopyStored(array, info, to));
      continue;
    }
    if (array.name != info.name || array.values.size() != static_cast<size_t>(info.size)) {
      return FailedPrecondition("the head holds '{}', this trainer trains '{}' there", array.name,
                                info.name);
    }
    std::copy(array.values.begin(), array.values.end(), to);
  }
  return Status::Ok();
}

// Takes the seed from the arrays of a head behind a projection; it must be the trainer's own.
Status TakeProjection(const TrainerOptions& options, HeadData* data) {
  const bool projects = options.n_projected > 0;
  const NamedArray own = SeedArray(options.seed);
  const bool has_one = data->parameters.back().name == own.name;
  if (projects != has_one) {
    return FailedPrecondition("the head follows {} random projection, this trainer's follows {}",
                              has_one ? "a" : "no", projects ? "one" : "none");
  }
  if (projects && data->parameters.back().values != own.values) {
    return FailedPrecondition("the head follows a random projection of another seed");
  }
  if (projects) data->parameters.pop_back();
  return Status::Ok();
}

}  // namespace

std::vector<uint8_t> HeadExchange::Encode() const {
  const Head& head = context_.layers->head();
  const TrainingState& state = *context_.state;
  HeadData data;
  data.model_sha256 = context_.layers->model().sha256();
  data.output = head.output;
  data.appended = head.appended();
  data.dim = head.dim;
  data.n_classes = context_.n_classes();
  data.class_names = context_.options->class_names;
  data.loss = static_cast<int>(Loss{context_.options->loss.loss});
  data.temperature = static_cast<float>(state.temperature);
  for (const ParameterInfo& info : state.layout()) {
    const Span<const float> part = state.Part(info);
    data.parameters.push_back({info.name, info.dims, {part.begin(), part.end()}});
    if (!IsStoredExamples(info.name)) continue;
    NamedArray& array = data.parameters.back();
    const int64_t n_rows =
        std::max<int64_t>(1, ViewIdentity(state.parameters(), data.dim, data.n_classes).size());
    array.values.resize(static_cast<size_t>(info.size / info.dims[0] * n_rows));
    array.dims[0] = n_rows;
  }
  if (context_.options->n_projected > 0) {
    data.parameters.push_back(SeedArray(context_.options->seed));
  }
  return EncodeHead(data);
}

Status HeadExchange::CheckBelongs(const HeadData& data) const {
  const Head& head = context_.layers->head();
  const std::string& sha256 = context_.layers->model().sha256();
  const Loss loss = context_.options->loss.loss;
  if (data.model_sha256 != sha256) {
    return FailedPrecondition("the head belongs to the model {}, this trainer has {}",
                              data.model_sha256.substr(0, 12), sha256.substr(0, 12));
  }
  if (data.output != head.output || data.appended != head.appended() || data.dim != head.dim ||
      data.loss != static_cast<int>(loss)) {
    return FailedPrecondition(
        "the head was trained on output {} with {} features and the loss '{}'; this trainer has "
        "output {}, {} features, '{}'",
        data.output, data.dim, LossName(static_cast<Loss>(data.loss)), head.output, head.dim,
        LossName(loss));
  }
  return Status::Ok();
}

Status HeadExchange::CheckClasses(const HeadData& data, bool same) const {
  const int64_t n_examples = context_.set->size();
  if (!same && (n_examples > 0 || judge_.has_golden())) {
    return FailedPrecondition(
        "the head has other classes than the {} examples that were added{}; load it before "
        "adding examples",
        n_examples, judge_.has_golden() ? " and the golden set" : "");
  }
  const size_t n_weights = context_.options->loss.class_weights.size();
  if (n_weights > 0 && n_weights != static_cast<size_t>(data.n_classes)) {
    return FailedPrecondition("the head has {} classes, class_weights {}", data.n_classes,
                              n_weights);
  }
  return Status::Ok();
}

Status HeadExchange::Decode(Span<const uint8_t> bytes) {
  TW_ASSIGN_OR_RETURN(HeadData data, DecodeHead(bytes));
  TrainerOptions& options = *context_.options;
  TW_RETURN_IF_ERROR(CheckBelongs(data));
  TW_RETURN_IF_ERROR(TakeProjection(options, &data));
  const bool same =
      data.n_classes == context_.n_classes() && data.class_names == options.class_names;
  TW_RETURN_IF_ERROR(CheckClasses(data, same));
  TW_ASSIGN_OR_RETURN(TrainingState state, TrainingState::Create(*context_.layers, data.n_classes,
                                                                 options, context_.pool));
  TW_RETURN_IF_ERROR(CopyArrays(data, state.network.get()));
  // How far training has come stays.
  TrainingState& now = *context_.state;
  state.learning_rate = now.learning_rate;
  state.progress = std::move(now.progress);
  state.order = std::move(now.order);
  state.next_random_state = now.next_random_state;
  state.NoteNewParameters();
  state.temperature = static_cast<double>(data.temperature);
  now = std::move(state);
  options.n_classes = data.n_classes;
  options.class_names = data.class_names;
  if (!same) context_.set->Clear();  // targets may have another size
  exporter_.ForgetAccepted();
  return Status::Ok();
}

Status HeadExchange::Save(const std::string& path) const {
  return files_.Write(path, "the head", [&] { return WriteFile(path, "the head", {Encode()}); });
}

Status HeadExchange::Load(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const MappedBytes file, MappedBytes::Open(path, "the head"));
  const Status status = Decode(file.bytes());
  if (!status.ok()) return status.WithPrefix("'" + path + "': ");
  files_.NoteRead(path, file.bytes());
  return status;
}

}  // namespace topwork
