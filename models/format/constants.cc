// Constants of a graph as numbers.
#include "models/format/constants.h"

#include <algorithm>
#include <cstring>

#include "runtime/tensor/bfloat16.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace {

// stored(i): the integer of element i.
template <typename F>
void DequantizeBy(const TensorView& view, int64_t n, float* out, const F& stored) {
  const Quantization& quantization = *view.quantization;
  const Span<const float> scales = quantization.scales;
  const Span<const int64_t> zero_points = quantization.zero_points;
  if (quantization.block > 0) {
    for (int64_t i = 0; i < n; ++i) {
      out[i] = scales[static_cast<size_t>(i / quantization.block)] * static_cast<float>(stored(i));
    }
    return;
  }
  const bool per_channel = scales.size() > 1;
  const int axis = quantization.axis;
  const int64_t inner = per_channel ? view.shape.Product(axis + 1, view.shape.rank()) : 1;
  const int64_t channels = per_channel ? view.shape[axis] : 1;
  for (int64_t i = 0; i < n; ++i) {
    const size_t c = per_channel ? static_cast<size_t>(i / inner % channels) : 0;
    const int64_t zero = zero_points.empty() ? 0 : zero_points[zero_points.size() > 1 ? c : 0];
    out[i] = scales[c] * static_cast<float>(static_cast<int64_t>(stored(i)) - zero);
  }
}

template <typename T>
void Dequantize(const TensorView& view, const void* data, int64_t n, float* out) {
  const T* q = static_cast<const T*>(data);
  DequantizeBy(view, n, out, [q](int64_t i) { return q[i]; });
}

// If v is the output of such an operator, its input, else v itself.
int Behind(OpCode code, const Graph& graph, int v) {
  for (const Op& op : graph.ops) {
    if (op.code == code && !op.outputs.empty() && op.outputs[0] == v && !op.inputs.empty() &&
        op.inputs[0] >= 0) {
      return op.inputs[0];
    }
  }
  return v;
}

const Value& ValueOf(const Graph& graph, int v) { return graph.values[static_cast<size_t>(v)]; }

}  // namespace

Status ConvertToFloats(const TensorView& view, const void* data, int64_t n, float* out) {
  const bool quantized = view.quantization != nullptr && !view.quantization->scales.empty();
  switch (view.dtype) {
    case DType::kFloat32:
      std::memcpy(out, data, static_cast<size_t>(n) * sizeof(float));
      return Status::Ok();
    case DType::kFloat16: {
      const uint16_t* half = static_cast<const uint16_t*>(data);
      std::transform(half, half + n, out, HalfToFloat);
      return Status::Ok();
    }
    case DType::kBFloat16: {
      const uint16_t* half = static_cast<const uint16_t*>(data);
      std::transform(half, half + n, out, BFloat16ToFloat);
      return Status::Ok();
    }
    case DType::kInt2:
    case DType::kInt4:
    case DType::kUInt4:
      if (!quantized) break;
      DequantizeBy(view, n, out, [&](int64_t i) { return PackedAt(view.dtype, data, i); });
      return Status::Ok();
    case DType::kInt8:
      if (!quantized) break;
      Dequantize<int8_t>(view, data, n, out);
      return Status::Ok();
    case DType::kUInt8:
      if (!quantized) break;
      Dequantize<uint8_t>(view, data, n, out);
      return Status::Ok();
    case DType::kInt16:
      if (!quantized) break;
      Dequantize<int16_t>(view, data, n, out);
      return Status::Ok();
    case DType::kInt32:
      if (!quantized) break;
      Dequantize<int32_t>(view, data, n, out);
      return Status::Ok();
    case DType::kInt64:
      if (!quantized) break;
      Dequantize<int64_t>(view, data, n, out);
      return Status::Ok();
    default:
      break;
  }
  return Unsupported("{}{} values cannot be read as real numbers", quantized ? "" : "unquantized ",
                     DTypeName(view.dtype));
}

const Op* ProducerOf(const Graph& graph, int v) {
  for (const Op& op : graph.ops) {
    if (std::find(op.outputs.begin(), op.outputs.end(), v) != op.outputs.end()) return &op;
  }
  return nullptr;
}

const Value* ConstantBehind(const Graph& graph, int v) {
  v = Behind(OpCode::kDequantize, graph, v);
  if (ValueOf(graph, v).data == nullptr) v = Behind(OpCode::kQuantize, graph, v);
  return ValueOf(graph, v).data == nullptr ? nullptr : &ValueOf(graph, v);
}

namespace {

// The first n elements of a constant; its shape may have more.
Status ReadFirst(const Value& constant, int64_t n, float* out) {
  TensorView view;
  view.dtype = constant.dtype;
  view.shape = constant.shape;
  view.quantization = constant.quantization.get();
  const Status converted = ConvertToFloats(view, constant.data, n, out);
  return converted.ok() ? converted : converted.WithPrefix("'" + constant.name + "': ");
}

}  // namespace

Result<int64_t> CountFloats(const Graph& graph, int v) {
  const Value* constant = ConstantBehind(graph, v);
  if (constant == nullptr) {
    return Unsupported("'{}' is computed while running, not a constant", ValueOf(graph, v).name);
  }
  float nothing = 0.0f;
  TW_RETURN_IF_ERROR(ReadFirst(*constant, 0, &nothing));
  return constant->shape.NumElements();
}

Status ReadFloats(const Graph& graph, int v, std::vector<float>* out) {
  TW_ASSIGN_OR_RETURN(const int64_t n, CountFloats(graph, v));
  out->resize(static_cast<size_t>(n));
  return ReadFirst(*ConstantBehind(graph, v), n, out->data());
}

Status ReadInts(const Graph& graph, int v, std::vector<int32_t>* out) {
  const Value& value = graph.values[static_cast<size_t>(v)];
  if (value.data == nullptr || (value.dtype != DType::kInt32 && value.dtype != DType::kInt64)) {
    return Unsupported("'{}' is not an integer constant", value.name);
  }
  const size_t n = static_cast<size_t>(value.shape.NumElements());
  out->resize(n);
  if (value.dtype == DType::kInt32) {
    std::memcpy(out->data(), value.data, n * sizeof(int32_t));
    return Status::Ok();
  }
  for (size_t i = 0; i < n; ++i) {
    int64_t wide = 0;
    std::memcpy(&wide, static_cast<const uint8_t*>(value.data) + i * sizeof(wide), sizeof(wide));
    (*out)[i] = static_cast<int32_t>(wide);
  }
  return Status::Ok();
}

}  // namespace topwork
