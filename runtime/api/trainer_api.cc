// C API: re-training the last layer. Options and examples are translated by
// trainer_convert.cc.
#include <algorithm>
#include <new>

#include "runtime/api/handles.h"
#include "runtime/api/model_json.h"
#include "runtime/api/trainer_convert.h"

using topwork::InvalidArgument;
using topwork::Status;
using topwork::Trainer;
using topwork::api::Report;

struct tw_trainer {
  topwork::Allocator allocator;  // outlives `trainer`, which points to it
  std::unique_ptr<Trainer> trainer;
  int n_epochs = 0;  // of the options
};

namespace {

Status Evaluate(Trainer* trainer, const tw_examples* c_examples, tw_evaluation* inout) {
  const size_t n_classes = static_cast<size_t>(trainer->n_classes());
  const size_t needed = n_classes * n_classes * sizeof(int64_t);
  if (inout->confusion != nullptr && inout->confusion_bytes < needed) {
    return InvalidArgument("tw_evaluation.confusion_bytes is %zu; %zu classes need %zu",
                           inout->confusion_bytes, n_classes, needed);
  }
  topwork::Evaluation evaluation;
  if (c_examples == nullptr) {
    TW_ASSIGN_OR_RETURN(evaluation, trainer->Evaluate(topwork::ExampleSet::kValidation));
  } else {
    topwork::Examples examples;
    topwork::FeatureProgress progress;
    TW_RETURN_IF_ERROR(topwork::api::ConvertExamples(*trainer, c_examples, &examples, &progress));
    TW_ASSIGN_OR_RETURN(evaluation, trainer->Evaluate(examples, progress));
  }
  inout->n_examples = evaluation.n_examples;
  inout->loss = evaluation.loss;
  inout->top1 = evaluation.top1;
  inout->top5 = evaluation.top5;
  if (inout->confusion != nullptr) {
    std::memcpy(inout->confusion, evaluation.confusion.data(), needed);
  }
  return Status::Ok();
}

}  // namespace

tw_status tw_trainer_options_init(tw_trainer_options* options, size_t struct_size) {
  TW_REQUIRE(options);
  return topwork::api::InitStruct("tw_trainer_options", topwork::api::DefaultTrainerOptions(),
                                  options, struct_size);
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
  auto created = Trainer::Create(model->model, converted);
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
    return Report(InvalidArgument("input %zu does not exist: the model has %zu", index, n));
  }
  const int k = static_cast<int>(index);
  return Report(topwork::api::WriteStruct(
      "tw_tensor_info", topwork::api::TensorInfo(it.input(k), it.input_name(k).c_str(), nullptr),
      info));
}

tw_status tw_trainer_add_examples(tw_trainer* trainer, const tw_examples* examples) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  topwork::Examples converted;
  topwork::FeatureProgress progress;
  TW_REPORT_IF_ERROR(
      topwork::api::ConvertExamples(*trainer->trainer, examples, &converted, &progress));
  return Report(trainer->trainer->AddExamples(converted, progress));
}

tw_status tw_trainer_fit(tw_trainer* trainer, int32_t n_epochs, tw_progress_function progress,
                         void* user_data) {
  TW_REQUIRE(trainer);
  if (n_epochs < 0) {
    return Report(InvalidArgument("n_epochs is %d; 0 means the option's", n_epochs));
  }
  trainer->trainer->set_epochs(n_epochs > 0 ? n_epochs : trainer->n_epochs);
  topwork::EpochCallback callback;
  if (progress != nullptr) {
    callback = [&](const topwork::EpochMetrics& m) {
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
      return progress(user_data, &p) == 0;
    };
  }
  return Report(trainer->trainer->Train(callback));
}

tw_status tw_trainer_cancel(tw_trainer* trainer) {
  TW_REQUIRE(trainer);
  trainer->trainer->Cancel();
  return TW_STATUS_OK;
}

tw_status tw_trainer_evaluate(tw_trainer* trainer, const tw_examples* examples,
                              tw_evaluation* evaluation) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(evaluation);
  tw_evaluation result = {};
  TW_REPORT_IF_ERROR(topwork::api::CheckStructSize("tw_evaluation", evaluation->struct_size));
  std::memcpy(&result, evaluation, std::min(sizeof(result), evaluation->struct_size));
  TW_REPORT_IF_ERROR(Evaluate(trainer->trainer.get(), examples, &result));
  return Report(topwork::api::WriteStruct("tw_evaluation", result, evaluation));
}

tw_status tw_trainer_export_file(const tw_trainer* trainer, const char* path) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->ExportFile(path));
}

tw_status tw_trainer_export_memory(const tw_trainer* trainer, void** out_data,
                                   size_t* out_data_bytes) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(out_data);
  TW_REQUIRE(out_data_bytes);
  const auto exported = trainer->trainer->Export();
  if (!exported.ok()) return Report(exported.status());
  const size_t size = exported->size();
  const tw_status status = topwork::api::GiveBytes(exported->data(), size, out_data);
  if (status == TW_STATUS_OK) *out_data_bytes = size;
  return status;
}

tw_status tw_trainer_save(tw_trainer* trainer, const char* path) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->SaveCheckpoint(path));
}

tw_status tw_trainer_restore(tw_trainer* trainer, const char* path) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->RestoreCheckpoint(path));
}

tw_status tw_trainer_get_info(const tw_trainer* trainer, tw_trainer_info* info) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(info);
  const Trainer& it = *trainer->trainer;
  tw_trainer_info result = {};
  result.n_inputs = it.n_inputs();
  result.n_classes = it.n_classes();
  result.n_features = it.head().dim;
  result.n_examples = it.n_examples();
  result.n_validation = it.n_validation();
  result.n_epochs_done = it.epoch();
  result.n_steps_done = it.step();
  result.cache_bytes = it.cache().bytes();
  result.head_bytes = (it.weights().size() + it.bias().size()) * sizeof(float);
  result.learning_rate = static_cast<double>(it.learning_rate());
  return Report(topwork::api::WriteStruct("tw_trainer_info", result, info));
}

tw_status tw_trainer_describe(const tw_trainer* trainer, char** out_json) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(out_json);
  const Trainer& it = *trainer->trainer;
  topwork::JsonWriter json;
  topwork::api::BeginHeadJson(it.model().main(), it.head(), &json);
  json.Key("n_new_classes");
  json.Int(it.n_classes());
  json.Key("class_names");
  json.BeginArray();
  for (const std::string& name : it.options().class_names) json.String(name);
  json.EndArray();
  json.EndObject();
  return topwork::api::GiveString(json.text(), out_json);
}
