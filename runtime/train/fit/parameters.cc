// The parameters of a head as named arrays: reading, setting, and updates for federated averaging.
#include <algorithm>
#include <cmath>

#include "runtime/train/fit/training_state.h"
#include "runtime/train/random.h"

namespace topwork {
namespace {

// Null where there is none of that name.
const ParameterInfo* FindInfo(const std::vector<ParameterInfo>& layout, const std::string& name) {
  for (const ParameterInfo& info : layout) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace

Span<const float> TrainingState::parameters() const {
  return static_cast<const Trainable&>(*network).parameters();
}

const ParameterInfo& TrainingState::InfoOf(const char* name) const {
  return *FindInfo(layout(), name);
}

Span<const float> TrainingState::Part(const ParameterInfo& info) const {
  return {parameters().data() + info.offset, static_cast<size_t>(info.size)};
}

void TrainingState::NoteNewParameters() {
  temperature = 1.0;
  lbfgs.reset();
  last_fit.reset();
  ForgetBest();
  choice = HeadChoice();
  fresh_classes.assign(fresh_classes.size(), false);
  validated_parameters.clear();
  start.parameters.assign(parameters().begin(), parameters().end());
  start.fresh_classes.assign(fresh_classes.size(), 0);
  start.epoch = progress.epoch;
}

Status TrainingState::SetParameters(Span<const float> values) {
  if (values.size() != parameters().size()) {
    return InvalidArgument("{} values for {} parameters", values.size(), parameters().size());
  }
  if (!AllFinite(values)) return NumericError("the parameters given are not finite");
  std::copy(values.begin(), values.end(), network->parameters().begin());
  NoteNewParameters();
  return Status::Ok();
}

Status TrainingState::SetParameter(const std::string& name, Span<const float> values) {
  const ParameterInfo* found = FindInfo(layout(), name);
  if (found == nullptr) {
    std::string names;
    for (const ParameterInfo& info : layout()) names += (names.empty() ? "" : ", ") + info.name;
    return NotFound("there is no parameter '{}'; there are {}", name, names);
  }
  const ParameterInfo& info = *found;
  if (values.size() != static_cast<size_t>(info.size)) {
    return InvalidArgument("{} values for '{}', which has {}", values.size(), name, info.size);
  }
  if (!AllFinite(values)) return NumericError("the values given for '{}' are not finite", name);
  std::copy(values.begin(), values.end(), network->parameters().begin() + info.offset);
  NoteNewParameters();
  return Status::Ok();
}

Status TrainingState::SetWeights(Span<const float> weights, Span<const float> bias) {
  if (weights.size() != this->weights().size() || bias.size() != this->bias().size()) {
    return InvalidArgument("{} weights and {} biases for a head of {} classes and {} features",
                           weights.size(), bias.size(), this->bias().size(),
                           this->weights().size() / this->bias().size());
  }
  if (!AllFinite(weights) || !AllFinite(bias)) {
    return NumericError("the weights or biases given are not finite");
  }
  TW_RETURN_IF_ERROR(SetParameter(kHeadWeights, weights));
  return SetParameter(kHeadBias, bias);
}

// Clipping and noise as in differentially private federated averaging (McMahan et al. 2018).
Status TrainingState::ComputeUpdate(Span<const float> base, double clip_norm, double noise_stddev,
                                    uint64_t seed, Span<float> out) const {
  const Span<const float> now = parameters();
  if (base.size() != now.size() || out.size() != now.size()) {
    return InvalidArgument("an update of {} parameters from {} into {}", now.size(), base.size(),
                           out.size());
  }
  if (!(clip_norm >= 0.0) || !(noise_stddev >= 0.0)) {
    return InvalidArgument("clip_norm is {} and noise_stddev {}; they must be at least 0",
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

}  // namespace topwork
