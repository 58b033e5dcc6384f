// C API: quantizing a float model.
#include <new>

#include "runtime/api/handles.h"
#include "runtime/api/trainer_convert.h"

struct tw_quantizer {
  topwork::Allocator allocator;  // outlives `quantizer`, which points to it
  std::unique_ptr<topwork::Quantizer> quantizer;
  std::vector<tw_float_operator> float_operators;  // of the last report
};

using topwork::InvalidArgument;
using topwork::Quantizer;
using topwork::QuantizerOptions;
using topwork::api::Report;

namespace {

static_assert(static_cast<int>(topwork::QuantizeTarget::kInt8) == TW_QUANTIZE_INT8, "");

QuantizerOptions ConvertOptions(const tw_quantizer_options& in,
                                const topwork::Allocator* allocator) {
  QuantizerOptions out;
  out.target = static_cast<topwork::QuantizeTarget>(in.target);
  out.io = static_cast<topwork::QuantizeIo>(in.integer_io);
  if (in.min_elements != 0) out.min_elements = in.min_elements;
  if (in.percentile != 0.0) out.percentile = in.percentile;
  out.n_threads = in.n_threads;
  out.allocator = allocator;
  return out;
}

}  // namespace

tw_status tw_quantizer_create(const tw_model* model, const tw_quantizer_options* options,
                              tw_quantizer** out_quantizer) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_quantizer);
  std::unique_ptr<tw_quantizer> handle(new (std::nothrow) tw_quantizer());
  if (handle == nullptr) return Report(topwork::OutOfMemory("could not allocate a tw_quantizer"));
  tw_quantizer_options in = {};
  if (options != nullptr) {
    TW_REPORT_IF_ERROR(topwork::api::ReadStruct("tw_quantizer_options", options, &in));
  }
  TW_REPORT_IF_ERROR(topwork::api::ReadAllocator(in.allocator, &handle->allocator));
  auto created = Quantizer::Create(model->model, ConvertOptions(in, &handle->allocator));
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
        InvalidArgument("input {} does not exist: examples have {}", index, it.n_inputs()));
  }
  const int k = static_cast<int>(index);
  tw_tensor_info result = topwork::api::TensorInfo(it.input(k), it.input_name(k).c_str(), nullptr);
  result.data = nullptr;
  return Report(topwork::api::WriteStruct("tw_tensor_info", result, info));
}

tw_status tw_quantizer_add_examples(tw_quantizer* quantizer, const tw_examples* examples) {
  TW_REQUIRE(quantizer);
  TW_REQUIRE(examples);
  const auto given = topwork::api::ReadExamples(*quantizer->quantizer, examples);
  if (!given.ok()) return Report(given.status());
  return Report(quantizer->quantizer->AddExamples(given->examples, given->progress));
}

tw_status tw_quantizer_cancel(tw_quantizer* quantizer) {
  TW_REQUIRE(quantizer);
  quantizer->quantizer->Cancel();
  return TW_STATUS_OK;
}

tw_status tw_quantizer_export(tw_quantizer* quantizer, tw_model** out_model,
                              tw_quantize_report* report) {
  TW_REQUIRE(quantizer);
  TW_REQUIRE(out_model);
  auto bytes = quantizer->quantizer->Export();
  if (bytes.ok() && report != nullptr) {
    const topwork::QuantizeReport& from = quantizer->quantizer->report();
    quantizer->float_operators.clear();
    for (const auto& op : from.float_ops) {
      quantizer->float_operators.push_back({op.op, op.name.c_str(), op.reason.c_str()});
    }
    tw_quantize_report result = {};
    result.n_examples = quantizer->quantizer->n_examples();
    result.n_integer_operators = from.n_integer_ops;
    result.n_constants = from.n_constants;
    result.n_float_operators = quantizer->float_operators.size();
    result.float_operators = quantizer->float_operators.data();
    TW_REPORT_IF_ERROR(topwork::api::WriteStruct("tw_quantize_report", result, report));
  }
  return topwork::api::GiveModel(std::move(bytes), out_model);
}
