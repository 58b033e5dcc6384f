// C API: what a trainer's last layer is made of: classes, named parameters, head files.
#include <algorithm>

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
                                 const int64_t* sources, size_t n_names) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(names);
  std::vector<std::string> converted;
  std::vector<int> taken;
  for (size_t i = 0; i < n_names; ++i) {
    if (names[i] == nullptr) return Report(InvalidArgument("names[{}] is NULL", i));
    converted.push_back(names[i]);
    if (sources == nullptr) continue;
    if (sources[i] < -1 || sources[i] >= trainer->trainer->n_classes()) {
      return Report(InvalidArgument("sources[{}] is {}; there are {} classes", i, sources[i],
                                    trainer->trainer->n_classes()));
    }
    taken.push_back(static_cast<int>(sources[i]));
  }
  return Report(sources != nullptr ? trainer->trainer->classes().Set(converted, taken)
                                   : trainer->trainer->classes().Set(converted));
}

tw_status tw_trainer_merge_classes(tw_trainer* trainer, int64_t from, int64_t into) {
  TW_REQUIRE(trainer);
  const auto index = [&](int64_t c) {  // −1, which does not exist, for what is no int
    return c >= 0 && c < trainer->trainer->n_classes() ? static_cast<int>(c) : -1;
  };
  return Report(trainer->trainer->classes().Merge(index(from), index(into)));
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

tw_status tw_trainer_save_head(const tw_trainer* trainer, const char* path) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->exchange().Save(path));
}

tw_status tw_trainer_load_head(tw_trainer* trainer, const char* path) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->exchange().Load(path));
}
