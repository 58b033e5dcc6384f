// The parameters of a trainer as named arrays: reading, setting, and updates for federated
// averaging.
#include <algorithm>
#include <cmath>

#include "runtime/train/fit/solvers.h"
#include "runtime/train/random.h"
#include "runtime/train/trainer.h"

namespace topwork {
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

}  // namespace topwork
