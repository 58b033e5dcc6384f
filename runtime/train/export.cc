// What leaves a trainer: models, heads alone, named parameters, federated updates.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "models/format/head_file.h"
#include "models/format/write.h"
#include "ports/port.h"
#include "runtime/train/dense_head.h"
#include "runtime/train/optimizer.h"
#include "runtime/train/random.h"
#include "runtime/train/solvers.h"
#include "runtime/train/tail_network.h"
#include "runtime/train/trainer.h"

namespace topwork {
namespace {

bool AllFinite(Span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

Span<const float> Trainer::parameters() const {
  return static_cast<const Trainable&>(*network_).parameters();
}

// The position of a name in layout(), or −1.
int64_t Trainer::FindLayout(const std::string& name) const {
  for (size_t i = 0; i < layout().size(); ++i) {
    if (layout()[i].name == name) return static_cast<int64_t>(i);
  }
  return -1;
}

Span<const float> Trainer::Part(const char* name) const {
  const ParameterInfo& info = layout()[static_cast<size_t>(FindLayout(name))];
  return {parameters().data() + info.offset, static_cast<size_t>(info.size)};
}

Span<const float> Trainer::weights() const { return Part(kHeadWeights); }

Span<const float> Trainer::bias() const { return Part(kHeadBias); }

// Parameters that come from outside: what was gathered about the old ones is void.
void Trainer::NoteNewParameters() {
  temperature_ = 1.0;
  lbfgs_.reset();
  fresh_classes_.assign(static_cast<size_t>(n_classes()), false);
}

Status Trainer::SetParameters(Span<const float> values) {
  if (values.size() != parameters().size()) {
    return InvalidArgument("%zu values for %zu parameters", values.size(), parameters().size());
  }
  if (!AllFinite(values)) return NumericError("the parameters given are not finite");
  std::copy(values.begin(), values.end(), network_->parameters().begin());
  NoteNewParameters();
  return Status::Ok();
}

Status Trainer::SetParameter(const std::string& name, Span<const float> values) {
  const int64_t found = FindLayout(name);
  if (found < 0) {
    std::string names;
    for (const ParameterInfo& info : layout()) names += (names.empty() ? "" : ", ") + info.name;
    return NotFound("there is no parameter '%s'; there are %s", name.c_str(), names.c_str());
  }
  const ParameterInfo& info = layout()[static_cast<size_t>(found)];
  if (values.size() != static_cast<size_t>(info.size)) {
    return InvalidArgument("%zu values for '%s', which has %lld", values.size(), name.c_str(),
                           static_cast<long long>(info.size));
  }
  if (!AllFinite(values))
    return NumericError("the values given for '%s' are not finite", name.c_str());
  std::copy(values.begin(), values.end(), network_->parameters().begin() + info.offset);
  NoteNewParameters();
  return Status::Ok();
}

Status Trainer::SetWeights(Span<const float> weights, Span<const float> bias) {
  if (weights.size() != this->weights().size() || bias.size() != this->bias().size()) {
    return InvalidArgument("%zu weights and %zu biases for a head of %d classes and %d features",
                           weights.size(), bias.size(), n_classes(), head_.dim);
  }
  if (!AllFinite(weights) || !AllFinite(bias)) {
    return NumericError("the weights or biases given are not finite");
  }
  TW_RETURN_IF_ERROR(SetParameter(kHeadWeights, weights));
  return SetParameter(kHeadBias, bias);
}

// Clipping and noise as in differentially private federated averaging (McMahan et al. 2018).
Status Trainer::ExportUpdate(Span<const float> base, double clip_norm, double noise_stddev,
                             uint64_t seed, Span<float> out) const {
  const Span<const float> now = parameters();
  if (base.size() != now.size() || out.size() != now.size()) {
    return InvalidArgument("an update of %zu parameters from %zu into %zu", now.size(), base.size(),
                           out.size());
  }
  if (!(clip_norm >= 0.0) || !(noise_stddev >= 0.0)) {
    return InvalidArgument("clip_norm is %g and noise_stddev %g; they must be at least 0",
                           clip_norm, noise_stddev);
  }
  double square = 0.0;
  for (size_t i = 0; i < now.size(); ++i) {
    const double delta = static_cast<double>(now[i]) - static_cast<double>(base[i]);
    square += delta * delta;
  }
  const double norm = std::sqrt(square);
  if (!std::isfinite(norm)) return NumericError("the base of the update is not finite");
  const double scale = clip_norm > 0.0 && norm > clip_norm ? clip_norm / norm : 1.0;
  Random random(seed);
  for (size_t i = 0; i < now.size(); ++i) {
    const double delta = static_cast<double>(now[i]) - static_cast<double>(base[i]);
    const double noise = noise_stddev > 0.0 ? noise_stddev * random.Gaussian() : 0.0;
    out[i] = static_cast<float>(scale * delta + noise);
  }
  return Status::Ok();
}

std::vector<uint8_t> Trainer::EncodeHead() const {
  HeadData data;
  data.model_sha256 = model_->sha256();
  data.output = head_.output;
  data.appended = head_.appended();
  data.dim = head_.dim;
  data.n_classes = n_classes();
  data.class_names = options_.class_names;
  data.loss = static_cast<int>(options_.loss.loss);
  data.temperature = static_cast<float>(temperature_);
  for (const ParameterInfo& info : layout()) {
    const Span<const float> part = Part(info.name.c_str());
    data.parameters.push_back({info.name, info.dims, {part.begin(), part.end()}});
  }
  return topwork::EncodeHead(data);
}

Status Trainer::CheckHead(const HeadData& data) const {
  if (data.model_sha256 != model_->sha256()) {
    return FailedPrecondition("the head belongs to the model %s, this trainer has %s",
                              data.model_sha256.substr(0, 12).c_str(),
                              model_->sha256().substr(0, 12).c_str());
  }
  if (data.output != head_.output || data.appended != head_.appended() || data.dim != head_.dim ||
      data.loss != static_cast<int>(options_.loss.loss)) {
    return FailedPrecondition(
        "the head was trained on output %d with %d features and the loss '%s'; this trainer has "
        "output "
        "%d, %d features, '%s'",
        data.output, data.dim, LossName(static_cast<Loss>(data.loss)), head_.output, head_.dim,
        LossName(options_.loss.loss));
  }
  return Status::Ok();
}

Status Trainer::DecodeHead(Span<const uint8_t> bytes) {
  TW_ASSIGN_OR_RETURN(const HeadData data, topwork::DecodeHead(bytes));
  TW_RETURN_IF_ERROR(CheckHead(data));
  if (cache_->size() > 0 &&
      (data.n_classes != n_classes() || data.class_names != options_.class_names)) {
    return FailedPrecondition(
        "the head has other classes than the %lld examples that were added; load it before adding "
        "examples",
        static_cast<long long>(cache_->size()));
  }
  std::unique_ptr<Trainable> network;
  TW_RETURN_IF_ERROR(BuildNetwork(data.n_classes, &network));
  if (network->layout().size() != data.parameters.size()) {
    return FailedPrecondition("the head holds %zu arrays, this trainer trains %zu (other layers?)",
                              data.parameters.size(), network->layout().size());
  }
  for (size_t i = 0; i < data.parameters.size(); ++i) {
    const NamedArray& array = data.parameters[i];
    const ParameterInfo& info = network->layout()[i];
    if (array.name != info.name || array.values.size() != static_cast<size_t>(info.size)) {
      return FailedPrecondition("the head holds '%s', this trainer trains '%s' there",
                                array.name.c_str(), info.name.c_str());
    }
    std::copy(array.values.begin(), array.values.end(), network->parameters().data() + info.offset);
  }
  TW_ASSIGN_OR_RETURN(optimizer_, OptimizerState::Create(options_, network->layout(), &pool()));
  network_ = std::move(network);
  options_.n_classes = data.n_classes;
  options_.class_names = data.class_names;
  NoteNewParameters();
  temperature_ = static_cast<double>(data.temperature);
  return Status::Ok();
}

Status Trainer::WriteBytes(const std::string& path, Span<const uint8_t> bytes,
                           const char* what) const {
  const int error = port::WriteFileAtomic(path.c_str(), bytes.data(), bytes.size());
  if (error == 0) return Status::Ok();
  return IoError("cannot write %s '%s': %s", what, path.c_str(), port::ErrorText(error).c_str());
}

Status Trainer::SaveHead(const std::string& path) const {
  return WriteBytes(path, EncodeHead(), "the head");
}

Status Trainer::LoadHead(const std::string& path) {
  port::MappedFile file;
  const int error = port::MapFile(path.c_str(), &file);
  if (error != 0) {
    return IoError("cannot read the head '%s': %s", path.c_str(), port::ErrorText(error).c_str());
  }
  const Status status = DecodeHead({file.data, file.size});
  port::UnmapFile(&file);
  return status.ok() ? status : status.WithPrefix("'" + path + "': ");
}

// The range of the scores over the examples, for the scale that an integer head writes them in.
Status Trainer::MeasureScores(float* out_min, float* out_max) {
  std::vector<int32_t> all(static_cast<size_t>(cache_->size()));
  std::iota(all.begin(), all.end(), 0);
  const float scale = static_cast<float>(1.0 / temperature_);
  float low = 0.0f;
  float high = 0.0f;
  TW_RETURN_IF_ERROR(ForEachScores(network_.get(), *cache_, all, [&](int32_t, const float* scores) {
    for (int c = 0; c < n_classes(); ++c) {
      low = std::min(low, scores[c] * scale);
      high = std::max(high, scores[c] * scale);
    }
  }));
  // Without examples: what a trained classifier's scores usually span.
  *out_min = low < high ? low : -16.0f;
  *out_max = low < high ? high : 16.0f;
  return Status::Ok();
}

Status Trainer::PassGolden() {
  if (golden_ == nullptr) return Status::Ok();
  TW_ASSIGN_OR_RETURN(const GoldenResult result, CheckGolden());
  if (result.passed) {
    accepted_.assign(parameters().begin(), parameters().end());
    return Status::Ok();
  }
  const bool roll_back = accepted_.size() == parameters().size();
  if (roll_back) TW_RETURN_IF_ERROR(SetParameters(accepted_));
  return FailedPrecondition(
      "the new head does worse than the shipped one on the golden set of %lld examples (%.4f "
      "against "
      "%.4f), so nothing was exported%s",
      static_cast<long long>(result.n_examples), result.trained, result.shipped,
      roll_back ? "; the parameters are back to the last ones that passed" : "");
}

// The last layer with the temperature inside.
void Trainer::ScaledHead(std::vector<float>* weights, std::vector<float>* bias) const {
  weights->assign(this->weights().begin(), this->weights().end());
  bias->assign(this->bias().begin(), this->bias().end());
  const float scale = static_cast<float>(1.0 / temperature_);
  for (float& w : *weights) w *= scale;
  for (float& b : *bias) b *= scale;
}

Result<std::vector<uint8_t>> Trainer::Export() {
  TW_RETURN_IF_ERROR(PassGolden());
  std::vector<float> weights, bias;
  ScaledHead(&weights, &bias);
  HeadReplacement replacement = ReplacementFor(model_->main(), head_, options_.loss.loss);
  replacement.n_classes = n_classes();
  replacement.weights = weights;
  replacement.bias = bias;
  replacement.float_head = options_.float_head;
  replacement.class_names = options_.class_names;
  replacement.input_mean = options_.input_mean;
  replacement.input_std = options_.input_std;
  TW_RETURN_IF_ERROR(MeasureScores(&replacement.scores_min, &replacement.scores_max));
  if (deep()) replacement.constants = static_cast<const TailNetwork&>(*network_).Replacements();
  return ExportWithHead(*model_, replacement);
}

Status Trainer::ExportFile(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Export());
  return WriteBytes(path, bytes, "the model");
}

Result<ExportCheck> Trainer::CheckExport(ExampleSet set) {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> indices, IndicesOf(set));
  std::vector<int> identity(static_cast<size_t>(n_classes()));
  std::iota(identity.begin(), identity.end(), 0);
  ExportCheck check;
  check.n_examples = static_cast<int64_t>(indices.size());
  TW_ASSIGN_OR_RETURN(check.before, Quality(network_.get(), *cache_, indices, identity));
  check.after = check.before;
  if (head_.appended() || options_.float_head) return check;
  std::vector<float> weights, bias;
  ScaledHead(&weights, &bias);
  float low = 0.0f;
  float high = 0.0f;
  TW_RETURN_IF_ERROR(MeasureScores(&low, &high));
  std::unique_ptr<Trainable> stored;
  TW_RETURN_IF_ERROR(BuildNetwork(n_classes(), &stored));
  std::copy(parameters().begin(), parameters().end(), stored->parameters().begin());
  float* to = stored->parameters().data();
  RoundHead(head_.format, n_classes(), head_.dim, weights, bias,
            to + layout()[static_cast<size_t>(FindLayout(kHeadWeights))].offset,
            to + layout()[static_cast<size_t>(FindLayout(kHeadBias))].offset);
  const auto round = [&](float* scores) {
    RoundScores(head_.format, low, high, n_classes(), scores);
  };
  TW_ASSIGN_OR_RETURN(check.after, Quality(stored.get(), *cache_, indices, identity, round));
  return check;
}

}  // namespace topwork
