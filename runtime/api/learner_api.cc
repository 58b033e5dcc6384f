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
  std::vector<tw_learner_example> examples;
};

namespace {

// What a tw_selection says; it borrows what the caller's struct points to.
struct GivenSelection {
  topwork::LearnerSelection selection;
  topwork::api::GivenExamples examples;
};

Status ReadSelection(const tw_learner& learner, const tw_selection* c_selection,
                     GivenSelection* out) {
  tw_selection in = {};
  TW_RETURN_IF_ERROR(topwork::api::ReadStruct("tw_selection", c_selection, &in));
  if ((in.ids == nullptr && in.n_ids > 0) || (in.groups == nullptr && in.n_groups > 0)) {
    return InvalidArgument("tw_selection.{} is NULL",
                           in.ids == nullptr && in.n_ids > 0 ? "ids" : "groups");
  }
  for (size_t i = 0; i < in.n_ids; ++i) {
    if (in.ids[i] == nullptr) return InvalidArgument("tw_selection.ids[{}] is NULL", i);
    out->selection.ids.push_back(in.ids[i]);
  }
  if (in.n_groups > 0) out->selection.groups.assign(in.groups, in.groups + in.n_groups);
  if (in.examples == nullptr) return Status::Ok();
  TW_ASSIGN_OR_RETURN(out->examples,
                      topwork::api::ReadExamples(*learner.trainer->trainer, in.examples,
                                                 topwork::api::ExampleUse::kLabelled));
  out->selection.examples = &out->examples.examples;
  out->selection.progress = out->examples.progress;
  return Status::Ok();
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
  if (in.memory_path != nullptr) {
    TW_REPORT_IF_ERROR(handle->learner->Open(in.memory_path, in.read_only != 0));
  }
  *out_learner = handle.release();
  return TW_STATUS_OK;
}

void tw_learner_free(tw_learner* learner) { delete learner; }

tw_status tw_learner_get_input(const tw_learner* learner, size_t index, tw_tensor_info* info) {
  TW_REQUIRE(learner);
  return tw_trainer_get_input(learner->trainer, index, info);
}

tw_status tw_learner_save(tw_learner* learner, const char* path, int32_t statistics_only) {
  TW_REQUIRE(learner);
  TW_REQUIRE(path);
  return Report(learner->learner->Save(path, statistics_only != 0));
}

tw_status tw_learner_set_classes(tw_learner* learner, const char* const* names,
                                 const int64_t* becomes, size_t n_names) {
  TW_REQUIRE(learner);
  if (n_names > 0) TW_REQUIRE(names);
  Learner& it = *learner->learner;
  const auto change =
      topwork::api::ReadClassChange(names, n_names, becomes, it.class_names().size());
  if (!change.ok()) return Report(change.status());
  return Report(becomes != nullptr ? it.SetClasses(change->names, change->becomes)
                                   : it.SetClasses(change->names));
}

tw_status tw_learner_add(tw_learner* learner, const tw_examples* examples) {
  TW_REQUIRE(learner);
  TW_REQUIRE(examples);
  const auto given = topwork::api::ReadExamples(*learner->trainer->trainer, examples,
                                                topwork::api::ExampleUse::kLabelled);
  if (!given.ok()) return Report(given.status());
  return Report(learner->learner->Add(given->examples, given->ids, given->progress));
}

tw_status tw_learner_remove(tw_learner* learner, const tw_selection* selection) {
  TW_REQUIRE(learner);
  TW_REQUIRE(selection);
  GivenSelection given;
  TW_REPORT_IF_ERROR(ReadSelection(*learner, selection, &given));
  return Report(learner->learner->Remove(given.selection));
}

tw_status tw_learner_relabel(tw_learner* learner, const tw_selection* selection, int64_t label) {
  TW_REQUIRE(learner);
  TW_REQUIRE(selection);
  GivenSelection given;
  TW_REPORT_IF_ERROR(ReadSelection(*learner, selection, &given));
  return Report(learner->learner->Relabel(given.selection, ToIndex(label)));
}

tw_status tw_learner_merge(tw_learner* learner, const char* path, int64_t* out_n_same) {
  TW_REQUIRE(learner);
  TW_REQUIRE(path);
  int64_t n_same = 0;
  TW_REPORT_IF_ERROR(learner->learner->Merge(path, &n_same));
  if (out_n_same != nullptr) *out_n_same = n_same;
  return TW_STATUS_OK;
}

tw_status tw_learner_predict(tw_learner* learner, const tw_examples* examples, float* scores,
                             size_t n_scores) {
  TW_REQUIRE(learner);
  TW_REQUIRE(examples);
  TW_REPORT_IF_ERROR(learner->learner->Solve());
  return tw_trainer_predict(learner->trainer, examples, scores, n_scores);
}

tw_status tw_learner_cancel(tw_learner* learner) {
  TW_REQUIRE(learner);
  return tw_trainer_cancel(learner->trainer);
}

tw_status tw_learner_export(tw_learner* learner, tw_model** out_model) {
  TW_REQUIRE(learner);
  TW_REQUIRE(out_model);
  return topwork::api::GiveModel(learner->learner->Export(), out_model);
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
  learner->examples.clear();
  for (int64_t i = 0; i < it.n_kept(); ++i) {
    learner->examples.push_back({it.id(i).c_str(), it.label(i), it.group(i)});
  }
  tw_learner_info out = {};
  out.struct_size = sizeof(out);
  out.n_classes = static_cast<int64_t>(learner->names.size());
  out.class_names = learner->names.data();
  out.class_counts = learner->counts.data();
  out.n_examples = it.statistics().size();
  out.n_kept = it.n_kept();
  out.examples = learner->examples.data();
  out.n_features = it.statistics().dim();
  out.penalty = it.penalty();
  out.n_chosen = it.n_chosen();
  out.drift = it.ridge().drift();
  out.n_solved = it.ridge().n_solved();
  out.is_solved = it.ridge().is_solved() ? 1 : 0;
  out.memory_bytes = it.bytes() + learner->trainer->trainer->memory().total_bytes;
  return Report(topwork::api::WriteStruct("tw_learner_info", out, info));
}
