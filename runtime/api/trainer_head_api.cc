// C API: what a trainer's last layer is made of: classes, named parameters, head files.
#include <algorithm>
#include <limits>

#include "runtime/api/trainer_handle.h"

using topwork::InvalidArgument;
using topwork::ParameterInfo;
using topwork::Span;
using topwork::Status;
using topwork::Trainer;
using topwork::api::Report;

namespace {

Status ToIndex(const Trainer& trainer, int64_t index, int* out) {
  if (index < 0 || index >= trainer.n_classes()) {
    return InvalidArgument("class %lld does not exist; there are %d", static_cast<long long>(index),
                           trainer.n_classes());
  }
  *out = static_cast<int>(index);
  return Status::Ok();
}

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
  return topwork::NotFound("there is no parameter '%s'; there are %s", name, names.c_str());
}

}  // namespace

tw_status tw_trainer_add_class(tw_trainer* trainer, const char* name) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(name);
  return Report(trainer->trainer->classes().Add(name));
}

tw_status tw_trainer_remove_class(tw_trainer* trainer, int64_t index) {
  TW_REQUIRE(trainer);
  int i = 0;
  TW_REPORT_IF_ERROR(ToIndex(*trainer->trainer, index, &i));
  return Report(trainer->trainer->classes().Remove(i));
}

tw_status tw_trainer_rename_class(tw_trainer* trainer, int64_t index, const char* name) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(name);
  int i = 0;
  TW_REPORT_IF_ERROR(ToIndex(*trainer->trainer, index, &i));
  return Report(trainer->trainer->classes().Rename(i, name));
}

tw_status tw_trainer_set_classes(tw_trainer* trainer, const char* const* names, size_t n_names) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(names);
  std::vector<std::string> converted;
  for (size_t i = 0; i < n_names; ++i) {
    if (names[i] == nullptr) return Report(InvalidArgument("names[%zu] is NULL", i));
    converted.push_back(names[i]);
  }
  return Report(trainer->trainer->classes().Set(converted));
}

tw_status tw_trainer_count_parameters(const tw_trainer* trainer, size_t* out_n_parameters) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(out_n_parameters);
  *out_n_parameters = trainer->trainer->state().layout().size();
  return TW_STATUS_OK;
}

tw_status tw_trainer_get_parameter_info(const tw_trainer* trainer, size_t index,
                                        tw_parameter_info* info) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(info);
  const std::vector<ParameterInfo>& layout = trainer->trainer->state().layout();
  if (index >= layout.size()) {
    return Report(
        InvalidArgument("parameter %zu does not exist; there are %zu", index, layout.size()));
  }
  const ParameterInfo& parameter = layout[index];
  tw_parameter_info result = {};
  result.name = parameter.name.c_str();
  result.rank = static_cast<int32_t>(parameter.dims.size());
  std::copy_n(parameter.dims.begin(), std::min<size_t>(8, parameter.dims.size()), result.dims);
  result.n_values = parameter.size;
  return Report(topwork::api::WriteStruct("tw_parameter_info", result, info));
}

tw_status tw_trainer_read_parameter(const tw_trainer* trainer, const char* name, float* values,
                                    size_t n_values) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(values);
  Span<const float> found;
  TW_REPORT_IF_ERROR(FindValues(*trainer->trainer, name, &found));
  if (n_values != found.size()) {
    return Report(InvalidArgument("n_values is %zu; '%s' has %zu", n_values,
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
