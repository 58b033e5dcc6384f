// C API: learners, which own the trainer that runs the backbone and holds the head.
#include <limits>
#include <new>

#include "runtime/api/trainer_convert.h"
#include "runtime/api/trainer_handle.h"
#include "runtime/train/statistics/learner.h"

using topwork::InvalidArgument;
using topwork::Learner;
using topwork::Result;
using topwork::Status;
using topwork::api::Report;

struct tw_learner {
  ~tw_learner() {
    learner.reset();
    tw_trainer_free(trainer);
  }
  tw_trainer* trainer = nullptr;
  std::unique_ptr<Learner> learner;
  std::vector<const char*> names;  // what tw_learner_info points to
  std::vector<int64_t> counts;
};

namespace {

Result<std::vector<std::string>> ReadIds(const char* const* ids, int64_t n) {
  std::vector<std::string> read;
  for (int64_t i = 0; i < n && ids != nullptr; ++i) {
    if (ids[i] == nullptr) return InvalidArgument("ids[{}] is NULL", i);
    read.push_back(ids[i]);
  }
  return read;
}

int32_t ToIndex(int64_t index) {
  return index >= 0 && index <= std::numeric_limits<int32_t>::max() ? static_cast<int32_t>(index)
                                                                    : -1;
}

Status ReadOptions(const tw_learner_options* options, tw_learner_options* in,
                   tw_trainer_options* trainer, std::vector<std::string>* class_names) {
  *in = {};
  *trainer = topwork::api::DefaultTrainerOptions();
  if (options != nullptr) {
    TW_RETURN_IF_ERROR(topwork::api::ReadStruct("tw_learner_options", options, in));
  }
  if (in->trainer != nullptr) {
    TW_RETURN_IF_ERROR(topwork::api::ReadStruct("tw_trainer_options", in->trainer, trainer));
  }
  for (int64_t i = 0; i < trainer->n_classes && trainer->class_names != nullptr; ++i) {
    if (trainer->class_names[i] == nullptr) return InvalidArgument("class_names[{}] is NULL", i);
    class_names->push_back(trainer->class_names[i]);
  }
  trainer->struct_size = sizeof(*trainer);
  // The learner has the classes; the trainer takes them over with the head.
  trainer->n_classes = 2;
  trainer->class_names = nullptr;
  trainer->head.init = TW_HEAD_INIT_ZEROS;
  trainer->loss.class_weights = nullptr;
  return Status::Ok();
}

}  // namespace

tw_status tw_learner_create(const tw_model* model, const tw_learner_options* options,
                            tw_learner** out_learner) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_learner);
  tw_learner_options in;
  tw_trainer_options trainer;
  std::vector<std::string> names;
  TW_REPORT_IF_ERROR(ReadOptions(options, &in, &trainer, &names));
  std::unique_ptr<tw_learner> handle(new (std::nothrow) tw_learner());
  if (handle == nullptr) return Report(topwork::OutOfMemory("could not allocate a tw_learner"));
  const tw_status status = tw_trainer_create(model, &trainer, &handle->trainer);
  if (status != TW_STATUS_OK) return status;
  auto created =
      Learner::Create(handle->trainer->trainer.get(), names, in.penalty, in.statistics_only == 0);
  if (!created.ok()) return Report(created.status());
  handle->learner = std::move(created.value());
  *out_learner = handle.release();
  return TW_STATUS_OK;
}

void tw_learner_free(tw_learner* learner) { delete learner; }

tw_status tw_learner_get_input(const tw_learner* learner, size_t index, tw_tensor_info* info) {
  TW_REQUIRE(learner);
  return tw_trainer_get_input(learner->trainer, index, info);
}

tw_status tw_learner_hold_file(tw_learner* learner, const char* path) {
  TW_REQUIRE(learner);
  TW_REQUIRE(path);
  return Report(learner->learner->HoldFile(path));
}

tw_status tw_learner_load(tw_learner* learner, const char* path) {
  TW_REQUIRE(learner);
  TW_REQUIRE(path);
  return Report(learner->learner->Load(path));
}

tw_status tw_learner_save(tw_learner* learner, const char* path) {
  TW_REQUIRE(learner);
  TW_REQUIRE(path);
  return Report(learner->learner->Save(path));
}

tw_status tw_learner_add_class(tw_learner* learner, const char* name, int64_t* out_index) {
  TW_REQUIRE(learner);
  TW_REQUIRE(name);
  const Result<int32_t> index = learner->learner->AddClass(name);
  if (index.ok() && out_index != nullptr) *out_index = *index;
  return Report(index.status());
}

tw_status tw_learner_remove_class(tw_learner* learner, int64_t index) {
  TW_REQUIRE(learner);
  return Report(learner->learner->RemoveClass(ToIndex(index)));
}

tw_status tw_learner_rename_class(tw_learner* learner, int64_t index, const char* name) {
  TW_REQUIRE(learner);
  TW_REQUIRE(name);
  return Report(learner->learner->RenameClass(ToIndex(index), name));
}

tw_status tw_learner_add(tw_learner* learner, const tw_examples* examples, const char* const* ids) {
  TW_REQUIRE(learner);
  TW_REQUIRE(examples);
  topwork::Examples converted;
  topwork::FeatureProgress progress;
  TW_REPORT_IF_ERROR(topwork::api::ConvertExamples(*learner->trainer->trainer, examples, true,
                                                   &converted, &progress));
  const auto read = ReadIds(ids, converted.count);
  if (!read.ok()) return Report(read.status());
  return Report(learner->learner->Add(converted, *read, progress));
}

tw_status tw_learner_subtract(tw_learner* learner, const tw_examples* examples) {
  TW_REQUIRE(learner);
  TW_REQUIRE(examples);
  topwork::Examples converted;
  topwork::FeatureProgress progress;
  TW_REPORT_IF_ERROR(topwork::api::ConvertExamples(*learner->trainer->trainer, examples, true,
                                                   &converted, &progress));
  return Report(learner->learner->Subtract(converted, progress));
}

tw_status tw_learner_remove(tw_learner* learner, const char* const* ids, size_t n_ids) {
  TW_REQUIRE(learner);
  TW_REQUIRE(ids);
  const auto read = ReadIds(ids, static_cast<int64_t>(n_ids));
  if (!read.ok()) return Report(read.status());
  return Report(learner->learner->Remove(*read));
}

tw_status tw_learner_remove_group(tw_learner* learner, int32_t group) {
  TW_REQUIRE(learner);
  return Report(learner->learner->RemoveGroup(group));
}

tw_status tw_learner_relabel(tw_learner* learner, const char* id, int64_t label) {
  TW_REQUIRE(learner);
  TW_REQUIRE(id);
  return Report(learner->learner->Relabel(id, ToIndex(label)));
}

tw_status tw_learner_merge(tw_learner* learner, const char* path, int64_t* out_n_same) {
  TW_REQUIRE(learner);
  TW_REQUIRE(path);
  int64_t n_same = 0;
  TW_REPORT_IF_ERROR(learner->learner->Merge(path, &n_same));
  if (out_n_same != nullptr) *out_n_same = n_same;
  return TW_STATUS_OK;
}

tw_status tw_learner_drop_features(tw_learner* learner) {
  TW_REQUIRE(learner);
  learner->learner->DropFeatures();
  return TW_STATUS_OK;
}

tw_status tw_learner_solve(tw_learner* learner, double penalty) {
  TW_REQUIRE(learner);
  return Report(learner->learner->Solve(penalty));
}

tw_status tw_learner_predict(tw_learner* learner, const tw_examples* examples, float* scores,
                             size_t n_scores) {
  TW_REQUIRE(learner);
  TW_REQUIRE(examples);
  TW_REPORT_IF_ERROR(learner->learner->Solve(0.0));
  return tw_trainer_predict(learner->trainer, examples, scores, n_scores);
}

tw_status tw_learner_cancel(tw_learner* learner) {
  TW_REQUIRE(learner);
  return tw_trainer_cancel(learner->trainer);
}

tw_status tw_learner_export(tw_learner* learner, tw_model** out_model) {
  TW_REQUIRE(learner);
  TW_REQUIRE(out_model);
  TW_REPORT_IF_ERROR(learner->learner->Solve(0.0));
  return tw_trainer_export(learner->trainer, out_model);
}

tw_status tw_learner_get_info(tw_learner* learner, tw_learner_info* info) {
  TW_REQUIRE(learner);
  TW_REQUIRE(info);
  const Learner& it = *learner->learner;
  learner->names.clear();
  learner->counts.clear();
  for (const std::string& name : it.class_names()) {
    learner->counts.push_back(it.statistics().count(static_cast<int64_t>(learner->names.size())));
    learner->names.push_back(name.c_str());
  }
  tw_learner_info out = {};
  out.struct_size = sizeof(out);
  out.n_classes = static_cast<int64_t>(learner->names.size());
  out.class_names = learner->names.data();
  out.class_counts = learner->counts.data();
  out.n_examples = it.statistics().size();
  out.n_kept = it.n_kept();
  out.n_features = it.statistics().dim();
  out.penalty = it.penalty();
  out.n_chosen = it.n_chosen();
  out.drift = it.ridge().drift();
  out.n_solved = it.ridge().n_solved();
  out.is_solved = it.ridge().is_solved() ? 1 : 0;
  out.memory_bytes = it.bytes() + learner->trainer->trainer->memory().total_bytes;
  return Report(topwork::api::WriteStruct("tw_learner_info", out, info));
}

tw_status tw_learner_get_example(const tw_learner* learner, int64_t index,
                                 tw_learner_example* example) {
  TW_REQUIRE(learner);
  TW_REQUIRE(example);
  const Learner& it = *learner->learner;
  if (index < 0 || index >= it.n_kept()) {
    return Report(
        InvalidArgument("example {} does not exist; {} have features", index, it.n_kept()));
  }
  tw_learner_example out = {};
  out.struct_size = sizeof(out);
  out.id = it.id(index).c_str();
  out.label = it.label(index);
  out.group = it.group(index);
  return Report(topwork::api::WriteStruct("tw_learner_example", out, example));
}
