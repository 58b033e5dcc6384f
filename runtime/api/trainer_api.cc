// C API: making a trainer, giving it examples, training, and writing the result. Options and
// examples are translated by trainer_convert.cc; judging is in trainer_evaluate_api.cc, classes,
// parameters and heads are in trainer_head_api.cc.
#include <new>

#include "runtime/api/model_json.h"
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
  if (in.output_name != nullptr) {
    const auto output = topwork::FindOutput(*model->model, in.output_name);
    if (!output.ok()) return Report(output.status());
    converted.output = output.value();
  }
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
      topwork::api::ConvertExamples(*trainer->trainer, examples, true, &converted, &progress));
  return Report(trainer->trainer->AddExamples(converted, progress));
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

// Who computed how many batches of embeddings.
void WriteExtraction(const topwork::FeatureExtractor& extractor, topwork::JsonWriter* json) {
  json->Key("extraction");
  json->BeginArray();
  for (int i = 0; i < extractor.workers().size(); ++i) {
    const std::vector<int64_t>& n = extractor.n_by_worker();
    json->BeginObject();
    json->Key("place");
    json->String(extractor.workers().place(i));
    json->Key("n_batches");
    json->Int(static_cast<size_t>(i) < n.size() ? n[static_cast<size_t>(i)] : 0);
    json->EndObject();
  }
  json->EndArray();
  if (extractor.workers().note().empty()) return;
  json->Key("extraction_note");
  json->String(extractor.workers().note());
}

}  // namespace

tw_status tw_trainer_fit(tw_trainer* trainer, int32_t n_epochs, tw_progress_function progress,
                         void* user_data) {
  TW_REQUIRE(trainer);
  if (n_epochs < 0) {
    return Report(InvalidArgument("n_epochs is %d; 0 means the option's", n_epochs));
  }
  trainer->trainer->set_epochs(n_epochs > 0 ? n_epochs : trainer->n_epochs);
  return Report(trainer->trainer->Train(ConvertProgress(progress, user_data)));
}

tw_status tw_trainer_fit_for(tw_trainer* trainer, double max_seconds, int32_t max_epochs,
                             tw_progress_function progress, void* user_data,
                             int32_t* out_finished) {
  TW_REQUIRE(trainer);
  if (!(max_seconds >= 0.0) || max_epochs < 0) {
    return Report(InvalidArgument("max_seconds is %g and max_epochs %d; they must be at least 0",
                                  max_seconds, max_epochs));
  }
  trainer->trainer->set_epochs(trainer->n_epochs);
  bool finished = false;
  TW_REPORT_IF_ERROR(trainer->trainer->TrainFor({max_seconds, max_epochs},
                                                ConvertProgress(progress, user_data), &finished));
  if (out_finished != nullptr) *out_finished = finished ? 1 : 0;
  return TW_STATUS_OK;
}

tw_status tw_trainer_cancel(tw_trainer* trainer) {
  TW_REQUIRE(trainer);
  trainer->trainer->Cancel();
  return TW_STATUS_OK;
}

tw_status tw_trainer_export_file(tw_trainer* trainer, const char* path) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->ExportFile(path));
}

tw_status tw_trainer_export_memory(tw_trainer* trainer, void** out_data, size_t* out_data_bytes) {
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

tw_status tw_trainer_save_with_examples(tw_trainer* trainer, const char* path) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->SaveCheckpoint(path, true));
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
  const topwork::TrainerMemory memory = it.memory();
  tw_trainer_info result = {};
  result.n_inputs = it.n_inputs();
  result.n_classes = it.n_classes();
  result.n_features = it.set().dim();
  result.n_examples = it.set().size();
  result.n_validation = static_cast<int64_t>(it.set().validation().size());
  result.n_epochs_done = it.state().progress.epoch;
  result.n_steps_done = it.state().progress.step;
  result.cache_bytes = memory.cache_bytes;
  result.head_bytes = it.state().parameters().size() * sizeof(float);
  result.learning_rate = static_cast<double>(it.state().learning_rate);
  result.n_parameters = static_cast<int64_t>(it.state().parameters().size());
  result.n_cached = it.extractor().counts().n_from_cache;
  result.is_finished = it.finished() ? 1 : 0;
  result.fitted_on_all = it.state().validated_parameters.empty() ? 0 : 1;
  result.best_epoch = it.state().progress.best_epoch;
  result.temperature = it.state().temperature;
  result.backbone_bytes = memory.backbone_bytes;
  result.training_bytes = memory.head_bytes;
  result.memory_bytes = memory.total_bytes;
  result.cache_file_bytes = memory.cache_file_bytes;
  result.working_bytes = memory.working_bytes;
  result.device_bytes = memory.device_bytes;
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
  json.Key("device");
  json.String(it.fitter().device().name);
  json.Key("device_reason");
  json.String(it.fitter().device().reason);
  WriteExtraction(it.extractor(), &json);
  json.EndObject();
  return topwork::api::GiveString(json.text(), out_json);
}
