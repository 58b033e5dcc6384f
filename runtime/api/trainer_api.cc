// C API: making a trainer, giving it examples, training, predicting, and the trained model. Options
// and examples are translated by trainer_convert.cc; judging is in trainer_evaluate_api.cc; files
// are in checkpoint_api.cc; classes and parameters in trainer_head_api.cc; what a trainer is in
// trainer_info_api.cc.
#include <new>

#include "models/format/find_output.h"
#include "models/format/parts.h"
#include "runtime/api/trainer_convert.h"
#include "runtime/api/trainer_handle.h"

using topwork::InvalidArgument;
using topwork::Status;
using topwork::Trainer;
using topwork::api::Report;

tw_status tw_trainer_options_init(tw_trainer_options* options, size_t struct_size) {
  TW_REQUIRE(options);
  return topwork::api::InitStruct("tw_trainer_options", topwork::api::DefaultTrainerOptions(),
                                  options, struct_size);
}

// Makes the signature's subgraph the main one, and its first output the output. key null: nothing.
static topwork::Status ChooseSignature(const char* key,
                                       std::shared_ptr<const topwork::Model>* model, int* output) {
  if (key == nullptr) return topwork::Status::Ok();
  const topwork::Signature* signature = nullptr;
  TW_RETURN_IF_ERROR(topwork::api::FindSignature(**model, key, &signature));
  TW_ASSIGN_OR_RETURN(*output, topwork::api::FirstOutput(**model, *signature));
  TW_ASSIGN_OR_RETURN(*model, topwork::Model::WithMain(*model, signature->subgraph));
  return topwork::Status::Ok();
}

tw_status tw_trainer_create(const tw_model* model, const tw_trainer_options* options,
                            tw_trainer** out_trainer) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_trainer);
  std::unique_ptr<tw_trainer> handle(new (std::nothrow) tw_trainer());
  if (handle == nullptr) return Report(topwork::OutOfMemory("could not allocate a tw_trainer"));
  tw_trainer_options in = topwork::api::DefaultTrainerOptions();
  if (options != nullptr) {
    TW_REPORT_IF_ERROR(topwork::api::ReadStruct("tw_trainer_options", options, &in));
  }
  TW_REPORT_IF_ERROR(topwork::api::ReadAllocator(in.allocator, &handle->allocator));
  topwork::TrainerOptions converted;
  TW_REPORT_IF_ERROR(topwork::api::ConvertTrainerOptions(in, &handle->allocator, &converted));
  std::shared_ptr<const topwork::Model> trained = model->model;
  TW_REPORT_IF_ERROR(ChooseSignature(in.head.signature, &trained, &converted.output));
  if (in.head.output != nullptr) {
    const auto output = topwork::FindOutput(*trained, in.head.output);
    if (!output.ok()) return Report(output.status());
    converted.output = output.value();
  }
  auto created = Trainer::Create(trained, converted);
  if (!created.ok()) return Report(created.status());
  handle->trainer = std::move(created.value());
  handle->n_epochs = converted.epochs;
  *out_trainer = handle.release();
  return TW_STATUS_OK;
}

void tw_trainer_free(tw_trainer* trainer) { delete trainer; }

tw_status tw_trainer_get_input(const tw_trainer* trainer, size_t index, tw_tensor_info* info) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(info);
  const Trainer& it = *trainer->trainer;
  const size_t n = static_cast<size_t>(it.n_inputs());
  if (index >= n) {
    return Report(InvalidArgument("input {} does not exist: the model has {}", index, n));
  }
  const int k = static_cast<int>(index);
  return Report(topwork::api::WriteStruct(
      "tw_tensor_info", topwork::api::TensorInfo(it.input(k), it.input_name(k).c_str(), nullptr),
      info));
}

tw_status tw_trainer_add_examples(tw_trainer* trainer, const tw_examples* examples) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  Trainer& it = *trainer->trainer;
  const auto given = topwork::api::ReadExamples(it, examples, topwork::api::ExampleUse::kTaught);
  if (!given.ok()) return Report(given.status());
  if (given->are_negatives) {
    return Report(it.rejecter().AddNegatives(given->examples, given->progress));
  }
  TW_REPORT_IF_ERROR(it.AddExamples(given->examples, given->progress));
  return Report(given->ids.empty() ? topwork::Status::Ok() : it.SetExampleNames(given->ids));
}

namespace {

topwork::EpochCallback ConvertProgress(tw_progress_function progress, void* user_data) {
  if (progress == nullptr) return nullptr;
  return [=](const topwork::EpochMetrics& m) {
    tw_trainer_progress p = {};
    p.struct_size = sizeof(p);
    p.epoch = m.epoch;
    p.n_epochs = m.n_epochs;
    p.n_steps_done = m.step;
    p.train_loss = m.train_loss;
    p.train_accuracy = m.train_accuracy;
    p.has_validation = m.has_validation ? 1 : 0;
    p.validation_loss = m.validation_loss;
    p.validation_accuracy = m.validation_accuracy;
    p.seconds = m.seconds;
    p.learning_rate = m.learning_rate;
    return progress(user_data, &p) == 0;
  };
}

}  // namespace

tw_status tw_trainer_fit(tw_trainer* trainer, const tw_fit_options* options,
                         int32_t* out_is_finished) {
  TW_REQUIRE(trainer);
  tw_fit_options in = {};
  if (options != nullptr) {
    TW_REPORT_IF_ERROR(topwork::api::ReadStruct("tw_fit_options", options, &in));
  }
  if (!(in.max_seconds >= 0.0) || in.max_epochs < 0 || in.n_epochs < 0) {
    return Report(InvalidArgument(
        "tw_fit_options: max_seconds is {}, max_epochs {} and n_epochs {}; they begin at 0",
        in.max_seconds, in.max_epochs, in.n_epochs));
  }
  trainer->trainer->set_epochs(in.n_epochs > 0 ? in.n_epochs : trainer->n_epochs);
  bool finished = false;
  TW_REPORT_IF_ERROR(trainer->trainer->TrainFor(
      {in.max_seconds, in.max_epochs}, ConvertProgress(in.progress, in.user_data), &finished));
  if (out_is_finished != nullptr) *out_is_finished = finished ? 1 : 0;
  return TW_STATUS_OK;
}

tw_status tw_trainer_cancel(tw_trainer* trainer) {
  TW_REQUIRE(trainer);
  trainer->trainer->Cancel();
  return TW_STATUS_OK;
}

tw_status tw_trainer_predict(tw_trainer* trainer, const tw_examples* examples, float* scores,
                             size_t n_scores) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  TW_REQUIRE(scores);
  Trainer& it = *trainer->trainer;
  const auto given = topwork::api::ReadExamplesToPredict(it, examples, "n_scores", n_scores);
  if (!given.ok()) return Report(given.status());
  return Report(it.judge().Predict(given->examples, scores));
}

tw_status tw_trainer_export(tw_trainer* trainer, tw_model** out_model) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(out_model);
  if (!topwork::kHasExport) {
    return Report(topwork::Unsupported(
        "this library was built without writing of trained models; build it with "
        "TOPWORK_EXPORT=ON"));
  }
  return topwork::api::GiveModel(trainer->trainer->Export(), out_model);
}
