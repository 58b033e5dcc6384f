// C API: what a trainer's last layer is made of: classes and named parameters.
#include <algorithm>

#include "runtime/api/trainer_convert.h"
#include "runtime/api/trainer_handle.h"

using topwork::InvalidArgument;
using topwork::ParameterInfo;
using topwork::Span;
using topwork::Status;
using topwork::Trainer;
using topwork::api::Report;

namespace {

// The array of that name, or (name null) all of them.
Status FindValues(const Trainer& trainer, const char* name, Span<const float>* out) {
  *out = trainer.state().parameters();
  if (name == nullptr) return Status::Ok();
  std::string names;
  for (const ParameterInfo& info : trainer.state().layout()) {
    if (info.name == name) {
      *out = {trainer.state().parameters().data() + info.offset, static_cast<size_t>(info.size)};
      return Status::Ok();
    }
    names += (names.empty() ? "" : ", ") + info.name;
  }
  return topwork::NotFound("there is no parameter '{}'; there are {}", name, names);
}

}  // namespace

tw_status tw_trainer_set_classes(tw_trainer* trainer, const char* const* names,
                                 const int64_t* becomes, size_t n_names) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(names);
  topwork::Classes& classes = trainer->trainer->classes();
  const auto change =
      topwork::api::ReadClassChange(names, n_names, becomes, static_cast<size_t>(classes.size()));
  if (!change.ok()) return Report(change.status());
  return Report(becomes != nullptr ? classes.Set(change->names, change->becomes)
                                   : classes.Set(change->names));
}

tw_status tw_trainer_read_parameter(const tw_trainer* trainer, const char* name, float* values,
                                    size_t n_values) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(values);
  Span<const float> found;
  TW_REPORT_IF_ERROR(FindValues(*trainer->trainer, name, &found));
  if (n_values != found.size()) {
    return Report(InvalidArgument("n_values is {}; '{}' has {}", n_values,
                                  name != nullptr ? name : "all parameters", found.size()));
  }
  std::copy(found.begin(), found.end(), values);
  return TW_STATUS_OK;
}

tw_status tw_trainer_write_parameter(tw_trainer* trainer, const char* name, const float* values,
                                     size_t n_values) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(values);
  const Span<const float> given(values, n_values);
  return Report(name != nullptr ? trainer->trainer->state().SetParameter(name, given)
                                : trainer->trainer->state().SetParameters(given));
}

tw_status tw_trainer_compute_update(const tw_trainer* trainer, const float* base, size_t n_values,
                                    double clip_norm, double noise_stddev, uint64_t seed,
                                    float* update) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(base);
  TW_REQUIRE(update);
  return Report(trainer->trainer->state().ComputeUpdate({base, n_values}, clip_norm, noise_stddev,
                                                        seed, {update, n_values}));
}
