// Which format a last layer of a graph has.
#include "models/format/head_format.h"

#include "models/format/constants.h"

namespace topwork {
namespace {

// The constant that gives v, directly or through a DEQUANTIZE; null when it is computed.
const Value* ConstantBehind(const Graph& graph, int v, bool* through_dequantize) {
  const Op* producer = ProducerOf(graph, v);
  *through_dequantize = producer != nullptr;
  if (producer != nullptr) {
    if (!IsDequantize(producer->code) || producer->inputs.empty()) return nullptr;
    v = producer->inputs[0];
  }
  if (v < 0) return nullptr;
  const Value& value = graph.values[static_cast<size_t>(v)];
  return value.data == nullptr ? nullptr : &value;
}

// A new layer stores int4 and int2 weights as int8: 16 or 4 values are too few for weights that
// were not trained with them.
bool IsSmallSigned(DType dtype) { return dtype == DType::kInt4 || dtype == DType::kInt2; }

// Scales of int8 weights: one, or one a class on axis 0.
bool HasPlainScales(const Value& value) {
  if (value.quantization == nullptr || value.is_sparse || value.shape.rank() == 0) return false;
  const size_t n = value.quantization->scales.size();
  return n == 1 || (value.quantization->axis == 0 && n == static_cast<size_t>(value.shape[0]));
}

// The format of a layer whose input is float32.
HeadFormat FloatFormat(const Graph& graph, const Op& op) {
  HeadFormat format;
  bool dequantized = false;
  const Value* weights = ConstantBehind(graph, op.inputs[1], &dequantized);
  if (weights == nullptr) return format;
  if (weights->dtype == DType::kFloat16 && dequantized) {
    format.storage = HeadStorage::kFloat16;
    const bool has_bias = op.inputs.size() > 2 && op.inputs[2] >= 0;
    const Value* bias = has_bias ? ConstantBehind(graph, op.inputs[2], &dequantized) : nullptr;
    format.half_bias = bias != nullptr && bias->dtype == DType::kFloat16 && dequantized;
    return format;
  }
  const bool bytes =
      weights->dtype == DType::kInt8 ||
      ((weights->dtype == DType::kUInt8 || IsSmallSigned(weights->dtype)) && !dequantized);
  if (bytes && HasPlainScales(*weights)) {
    format.storage = HeadStorage::kDynamicRange;
    format.per_channel = weights->quantization->scales.size() > 1;
    format.sums_rows = op.params.asymmetric_quantize_inputs;
  }
  return format;
}

}  // namespace

const char* HeadStorageName(HeadStorage storage) {
  static const char* const kNames[] = {"float32", "float16", "dynamic range",
                                       "int8",    "uint8",   "int16x8"};
  return kNames[static_cast<int>(storage)];
}

Result<HeadFormat> ReadHeadFormat(const Graph& graph, int op_index) {
  const Op& op = graph.ops[static_cast<size_t>(op_index)];
  const Value& input = graph.values[static_cast<size_t>(op.inputs[0])];
  const Value& output = graph.values[static_cast<size_t>(op.outputs[0])];
  if (input.dtype == DType::kFloat32 && output.dtype == DType::kFloat32) {
    return FloatFormat(graph, op);
  }
  HeadFormat format;
  format.storage = input.dtype == DType::kInt8    ? HeadStorage::kInt8
                   : input.dtype == DType::kUInt8 ? HeadStorage::kUInt8
                   : input.dtype == DType::kInt16 ? HeadStorage::kInt16x8
                                                  : HeadStorage::kFloat32;
  const DType needed = input.dtype == DType::kUInt8 ? DType::kUInt8 : DType::kInt8;
  bool dequantized = false;
  const Value* weights = ConstantBehind(graph, op.inputs[1], &dequantized);
  const bool scaled = input.quantization != nullptr && input.quantization->scales.size() == 1 &&
                      input.quantization->scales[0] > 0.0f;
  const bool has_type =
      weights != nullptr &&
      (weights->dtype == needed || (needed == DType::kInt8 && IsSmallSigned(weights->dtype)));
  if (!IsInteger(format.storage) || output.dtype != input.dtype || !scaled || !has_type ||
      dequantized || !HasPlainScales(*weights)) {
    return Unsupported(
        "{} (operator #{}) computes {} from {}{} and {} weights: the last layer of an integer "
        "model has one type of int8, uint8 or int16 and a scale for each tensor",
        op.name(), op.file_index, DTypeName(output.dtype), scaled ? "" : "unscaled ",
        DTypeName(input.dtype), weights == nullptr ? "computed" : DTypeName(weights->dtype));
  }
  format.input_scale = input.quantization->scales[0];
  format.per_channel =
      weights->quantization->scales.size() > 1 && format.storage != HeadStorage::kUInt8;
  if (format.storage == HeadStorage::kInt16x8) {
    const bool has_bias = op.inputs.size() > 2 && op.inputs[2] >= 0;
    format.wide_bias =
        !has_bias || graph.values[static_cast<size_t>(op.inputs[2])].dtype == DType::kInt64;
  }
  return format;
}

}  // namespace topwork
