// C API: quantizing a float model.
#include <new>

#include "runtime/api/handles.h"
#include "runtime/api/trainer_convert.h"
#include "runtime/base/json.h"

struct tw_quantizer {
  topwork::Allocator allocator;  // outlives `quantizer`, which points to it
  std::unique_ptr<topwork::Quantizer> quantizer;
};

using topwork::InvalidArgument;
using topwork::Quantizer;
using topwork::QuantizerOptions;
using topwork::api::Report;

namespace {

static_assert(static_cast<int>(topwork::QuantizeTarget::kInt8) == TW_QUANTIZE_INT8, "");

tw_quantizer_options QuantizerDefaults() {
  const QuantizerOptions defaults;
  tw_quantizer_options options = {};
  options.target = static_cast<tw_quantize_target>(defaults.target);
  options.min_elements = defaults.min_elements;
  options.percentile = defaults.percentile;
  return options;
}

}  // namespace

tw_status tw_quantizer_options_init(tw_quantizer_options* options, size_t struct_size) {
  TW_REQUIRE(options);
  return topwork::api::InitStruct("tw_quantizer_options", QuantizerDefaults(), options,
                                  struct_size);
}

tw_status tw_quantizer_create(const tw_model* model, const tw_quantizer_options* options,
                              tw_quantizer** out_quantizer) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_quantizer);
  std::unique_ptr<tw_quantizer> handle(new (std::nothrow) tw_quantizer());
  if (handle == nullptr) return Report(topwork::OutOfMemory("could not allocate a tw_quantizer"));
  tw_quantizer_options in = QuantizerDefaults();
  if (options != nullptr) {
    TW_REPORT_IF_ERROR(topwork::api::ReadStruct("tw_quantizer_options", options, &in));
  }
  TW_REPORT_IF_ERROR(topwork::api::ReadAllocator(in.allocator, &handle->allocator));
  QuantizerOptions converted;
  converted.target = static_cast<topwork::QuantizeTarget>(in.target);
  converted.integer_io = in.integer_io != 0;
  converted.min_elements = in.min_elements;
  converted.percentile = in.percentile;
  converted.n_threads = in.n_threads;
  converted.allocator = &handle->allocator;
  auto created = Quantizer::Create(model->model, converted);
  if (!created.ok()) return Report(created.status());
  handle->quantizer = std::move(created.value());
  *out_quantizer = handle.release();
  return TW_STATUS_OK;
}

void tw_quantizer_free(tw_quantizer* quantizer) { delete quantizer; }

tw_status tw_quantizer_get_input(const tw_quantizer* quantizer, size_t index,
                                 tw_tensor_info* info) {
  TW_REQUIRE(quantizer);
  TW_REQUIRE(info);
  const Quantizer& it = *quantizer->quantizer;
  if (index >= static_cast<size_t>(it.n_inputs())) {
    return Report(
        InvalidArgument("input %zu does not exist: examples have %d", index, it.n_inputs()));
  }
  const int k = static_cast<int>(index);
  tw_tensor_info result = topwork::api::TensorInfo(it.input(k), it.input_name(k).c_str(), nullptr);
  result.data = nullptr;
  return Report(topwork::api::WriteStruct("tw_tensor_info", result, info));
}

tw_status tw_quantizer_add_examples(tw_quantizer* quantizer, const tw_examples* examples) {
  TW_REQUIRE(quantizer);
  TW_REQUIRE(examples);
  topwork::Examples converted;
  topwork::FeatureProgress progress;
  TW_REPORT_IF_ERROR(
      topwork::api::ConvertExamples(*quantizer->quantizer, examples, &converted, &progress));
  return Report(quantizer->quantizer->AddExamples(converted, progress));
}

tw_status tw_quantizer_cancel(tw_quantizer* quantizer) {
  TW_REQUIRE(quantizer);
  quantizer->quantizer->Cancel();
  return TW_STATUS_OK;
}

tw_status tw_quantizer_export_file(tw_quantizer* quantizer, const char* path) {
  TW_REQUIRE(quantizer);
  TW_REQUIRE(path);
  return Report(quantizer->quantizer->ExportFile(path));
}

tw_status tw_quantizer_export_memory(tw_quantizer* quantizer, void** out_data,
                                     size_t* out_data_bytes) {
  TW_REQUIRE(quantizer);
  TW_REQUIRE(out_data);
  TW_REQUIRE(out_data_bytes);
  const auto bytes = quantizer->quantizer->Export();
  if (!bytes.ok()) return Report(bytes.status());
  const tw_status status = topwork::api::GiveBytes(bytes->data(), bytes->size(), out_data);
  if (status == TW_STATUS_OK) *out_data_bytes = bytes->size();
  return status;
}

tw_status tw_quantizer_describe(const tw_quantizer* quantizer, char** out_json) {
  TW_REQUIRE(quantizer);
  TW_REQUIRE(out_json);
  const topwork::QuantizeReport& report = quantizer->quantizer->report();
  topwork::JsonWriter json;
  json.BeginObject();
  json.Key("n_examples");
  json.Int(quantizer->quantizer->n_examples());
  json.Key("n_integer_operators");
  json.Int(report.n_integer_ops);
  json.Key("n_constants");
  json.Int(report.n_constants);
  json.Key("float_operators");
  json.BeginArray();
  for (const auto& op : report.float_ops) {
    json.BeginObject();
    json.Key("index");
    json.Int(op.op);
    json.Key("name");
    json.String(op.name);
    json.Key("reason");
    json.String(op.reason);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return topwork::api::GiveString(json.text(), out_json);
}
