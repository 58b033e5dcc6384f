// New values for constants of the backbone, in their own storage.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/format/constants.h"
#include "models/format/write_steps.h"
#include "runtime/tensor/visit_dtype.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

using Q = schema::QuantizationParameters;

struct Range {
  int64_t lo, hi;
};

// The range of a stored integer; hi 0: values are not stored in this type.
Range RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return {-127, 127};
    case DType::kUInt8:
      return {0, 255};
    case DType::kInt16:
      return {-32767, 32767};
    case DType::kInt32:
      return {-INT32_MAX, INT32_MAX};
    case DType::kInt64:
      return {-(int64_t{1} << 39), int64_t{1} << 39};
    default:
      return {0, 0};
  }
}

// True when every operator that reads the tensor computes in real numbers.
bool ReadAsReal(const ModelTables& tables, const EditedSubgraph& main, int tensor) {
  for (const auto& op : main.operators) {
    if (std::find(op->inputs.begin(), op->inputs.end(), tensor) == op->inputs.end()) continue;
    if (IsDequantize(tables.CodeOf(*op))) continue;
    if (op->inputs[0] == tensor || tables.TypeOf(op->inputs[0]) != DType::kFloat32) return false;
  }
  return true;
}

// Which of the scales element i of a tensor has.
class ScaleOf {
 public:
  ScaleOf(const std::vector<int32_t>& shape, size_t n_scales, int32_t axis) : n_scales_(n_scales) {
    for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) {
      inner_ *= static_cast<size_t>(std::max(1, shape[i]));
    }
  }
  size_t operator()(size_t i) const { return n_scales_ > 1 ? i / inner_ % n_scales_ : 0; }

 private:
  size_t n_scales_;
  size_t inner_ = 1;
};

template <typename T>
void Put(int64_t q, size_t i, std::vector<uint8_t>* bytes) {
  const T narrow = static_cast<T>(q);
  std::memcpy(bytes->data() + i * sizeof(T), &narrow, sizeof(T));
}

void PutAs(DType dtype, int64_t q, size_t i, std::vector<uint8_t>* bytes) {
  VisitDType<int8_t, uint8_t, int16_t, int32_t, int64_t>(
      dtype, [&](auto type) { Put<decltype(type)>(q, i, bytes); });
}

StoredConstant Requantize(const EditedTensor& t, const EditedTable& quantization, bool new_scales,
                          Span<const float> values) {
  const DType dtype = t.type;
  StoredConstant stored;
  stored.dtype = dtype;
  stored.scales = quantization.List<float>(Q::VT_SCALE);
  stored.zero_points = quantization.List<int64_t>(Q::VT_ZERO_POINT);
  stored.zero_points.resize(stored.scales.size(),
                            stored.zero_points.empty() ? 0 : stored.zero_points[0]);
  const ScaleOf scale_of(t.shape, stored.scales.size(),
                         quantization.Get<int32_t>(Q::VT_QUANTIZED_DIMENSION, 0));
  if (new_scales) {
    std::vector<float> largest(stored.scales.size(), 0.0f);
    for (size_t i = 0; i < values.size(); ++i) {
      float& of_scale = largest[scale_of(i)];
      of_scale = std::max(of_scale, std::fabs(values[i]));
    }
    for (size_t s = 0; s < largest.size(); ++s) {
      stored.scales[s] = largest[s] > 0.0f ? std::max(largest[s] / 127.0f, 1e-20f) : 1.0f;
      stored.zero_points[s] = 0;
    }
  }
  const Range range = RangeOf(dtype);
  stored.bytes.resize(values.size() * static_cast<size_t>(DTypeBits(dtype) / 8));
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t s = scale_of(i);
    const double q =
        std::round(static_cast<double>(values[i]) / static_cast<double>(stored.scales[s])) +
        static_cast<double>(stored.zero_points[s]);
    PutAs(dtype,
          static_cast<int64_t>(
              std::clamp(q, static_cast<double>(range.lo), static_cast<double>(range.hi))),
          i, &stored.bytes);
  }
  return stored;
}

// The dense layers that have these weights compute in real numbers.
void StoreInFloat32(int tensor, const std::vector<int32_t>& shape, Span<const float> values,
                    ModelTables* tables) {
  tables->SetConstant(tensor, shape, StoreFloats(values));
  for (const auto& op : tables->main()->operators) {
    EditedTable* options = op->Options(kFullyConnectedOptions);
    if (options == nullptr || op->inputs[1] != tensor) continue;
    options->Clear(schema::FullyConnectedOptions::VT_ASYMMETRIC_QUANTIZE_INPUTS);
    tables->SetCode(op.get(), tables->CodeOf(*op), KeepsDimensions(op.get()) ? 5 : 1);
  }
}

Status WriteConstant(const Graph& graph, const ConstantReplacement& constant, ModelTables* tables) {
  int index = constant.tensor;
  if (index < 0 || index >= tables->n_tensors()) {
    return InvalidArgument("tensor #{} does not exist, the model has {}", index,
                           tables->n_tensors());
  }
  const EditedOperator* producer = tables->ProducerOf(index);
  if (producer != nullptr && IsDequantize(tables->CodeOf(*producer))) {
    index = producer->inputs[0];
  }
  EditedTensor& t = *tables->tensor(index);
  if (tables->Data(index).empty() || tables->ProducerOf(index) != nullptr || t.is_variable() ||
      t.is_sparse()) {
    return InvalidArgument("tensor #{} '{}' is no plain constant that could be replaced", index,
                           t.name);
  }
  int64_t n = 1;
  for (int32_t dim : t.shape) n *= dim;
  if (static_cast<int64_t>(constant.values.size()) != n ||
      !std::all_of(constant.values.begin(), constant.values.end(),
                   [](float x) { return std::isfinite(x); })) {
    return InvalidArgument(
        "tensor #{} '{}' has {} elements; the new values are {}{}", index, t.name, n,
        constant.values.size(),
        static_cast<int64_t>(constant.values.size()) == n ? ", not all finite" : "");
  }
  const DType dtype = tables->TypeOf(index);
  const std::vector<int32_t> shape = t.shape;
  const EditedTable* scales = t.quantization();
  if (dtype == DType::kFloat32 || dtype == DType::kFloat16) {
    tables->SetConstant(
        index, shape,
        dtype == DType::kFloat32 ? StoreFloats(constant.values) : StoreHalf(constant.values));
    return Status::Ok();
  }
  if (RangeOf(dtype).hi == 0 || scales == nullptr || !scales->Has(Q::VT_SCALE)) {
    return Unsupported("tensor #{} '{}' is stored as {}{}, which cannot be trained", index, t.name,
                       scales == nullptr ? "unscaled " : "", DTypeName(dtype));
  }
  const bool new_scales = dtype == DType::kInt8 && ReadAsReal(*tables, *tables->main(), index);
  const StoredConstant stored = Requantize(t, *scales, new_scales, constant.values);
  if (new_scales &&
      LayerSumsOverflow(graph, index, reinterpret_cast<const int8_t*>(stored.bytes.data()))) {
    WarnOfRowSums(StrFormat("the layer with weights '{}'", t.name).c_str());
    StoreInFloat32(index, shape, constant.values, tables);
    return Status::Ok();
  }
  tables->SetConstant(index, shape, stored);
  return Status::Ok();
}

}  // namespace

Status WriteConstants(const Model& model, const HeadReplacement& head, ModelTables* tables) {
  for (const ConstantReplacement& constant : head.constants) {
    TW_RETURN_IF_ERROR(WriteConstant(model.main(), constant, tables));
  }
  return Status::Ok();
}

}  // namespace topwork
