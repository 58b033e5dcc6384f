// Buffers and tensors: ranges, shapes, the length of constants, string tables, quantization. A
// tensor's name is made for a message only: models have hundreds of them.
#include <cfloat>

#include "models/format/read.h"
#include "models/format/verify_context.h"
#include "runtime/base/buffer.h"
#include "runtime/base/printable.h"
#include "runtime/tensor/selected_types.h"
#include "runtime/tensor/strings.h"
#include "runtime/tensor/zero_points.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

Status VerifyDType(const schema::Tensor& tensor) {
  const int type = static_cast<int>(tensor.type());
  if (type >= 0 && type < kNumDTypes) return Status::Ok();
  // By name: the generated table of all names is a page.
  static_assert(schema::TensorType::MAX == schema::TensorType::FLOAT8_E5M2, "name the others");
  const bool is_last = tensor.type() == schema::TensorType::FLOAT8_E5M2;
  if (is_last || tensor.type() == schema::TensorType::FLOAT8_E4M3FN) {
    return Unsupported(" has type {}, which this library does not have",
                       is_last ? "FLOAT8_E5M2" : "FLOAT8_E4M3FN");
  }
  return InvalidModel(" has type {}, which does not exist", type);
}

Status VerifyShape(const schema::Tensor& tensor, Shape* shape) {
  const auto* dims = tensor.shape();
  const uint32_t rank = dims == nullptr ? 0 : dims->size();
  if (rank > static_cast<uint32_t>(kMaxRank)) {
    return InvalidModel(" has {} dimensions; {} are possible", rank, kMaxRank);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims->Get(i) < 0) {
      return InvalidModel(" has the negative dimension {} at axis {}", dims->Get(i), i);
    }
    shape->Append(dims->Get(i));
  }
  size_t bytes = 0;
  if (!CheckedByteSize(static_cast<DType>(tensor.type()), *shape, &bytes)) {
    return InvalidModel(" has the shape {}, whose size overflows", shape->ToString());
  }
  const auto* signature = tensor.shape_signature();
  if (signature == nullptr || signature->size() == 0) return Status::Ok();
  if (signature->size() != rank) {
    return InvalidModel(" has a shape_signature of {} dimensions and a shape of {}",
                        signature->size(), rank);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (signature->Get(i) < -1) {
      return InvalidModel(" has {} in its shape_signature; dimensions are -1 (open) or more",
                          signature->Get(i));
    }
  }
  return Status::Ok();
}

Status VerifyData(const VerifyContext& context, const schema::Tensor& tensor, const Shape& shape) {
  if (tensor.external_buffer() != 0) {
    return Unsupported(
        " has its data in another file (external_buffer {}); convert the model to a single file",
        tensor.external_buffer());
  }
  const auto* buffers = context.model->buffers();
  const uint32_t n_buffers = buffers == nullptr ? 0 : buffers->size();
  if (tensor.buffer() >= n_buffers && tensor.buffer() != 0) {
    return InvalidModel(" is in buffer {}, but the model has {}", tensor.buffer(), n_buffers);
  }
  const Span<const uint8_t> data = BufferBytes(*context.model, context.bytes, tensor.buffer());
  if (data.empty()) return Status::Ok();
  if (tensor.is_variable()) {
    return InvalidModel(" is a variable and has the constant buffer {}", tensor.buffer());
  }
  const DType dtype = static_cast<DType>(tensor.type());
  if (dtype == DType::kString) {
    const std::string wrong = CheckStringTable(data, shape.NumElements());
    if (!wrong.empty()) return InvalidModel(": {}", wrong);
    return Status::Ok();
  }
  if (tensor.sparsity() != nullptr) return Status::Ok();  // VerifySparsity compares the length
  if (DTypeBits(dtype) == 0 || dtype == DType::kResource) {
    return InvalidModel(" is of type {}, which cannot be a constant, and has {} bytes",
                        DTypeName(dtype), data.size());
  }
  size_t want = 0;
  CheckedByteSize(dtype, shape, &want);
  if (want == data.size()) return Status::Ok();
  return InvalidModel(": buffer {} has {} bytes, but {} of shape {} takes {}", tensor.buffer(),
                      data.size(), DTypeName(dtype), shape.ToString(), want);
}

// The range of a zero point: the values that the type has.
struct ZeroPointRange {
  int64_t lo, hi;
};
ZeroPointRange ZeroPointsOf(DType dtype) {
  switch (dtype) {
    case DType::kInt2:
      return {-2, 1};
    case DType::kInt4:
      return {-8, 7};
    case DType::kUInt4:
      return {0, 15};
    case DType::kInt8:
      return {INT8_MIN, INT8_MAX};
    case DType::kUInt8:
      return {0, UINT8_MAX};
    case DType::kInt16:
      return {INT16_MIN, INT16_MAX};
    case DType::kUInt16:
      return {0, UINT16_MAX};
    default:
      return {INT32_MIN, INT32_MAX};
  }
}

Status VerifyScales(const flatbuffers::Vector<float>& scales) {
  // A single 0 is how old files say "not quantized"; among others it is a channel of zeros. Models have
  // many thousands: without a way out of the loop, the compiler compares several at once.
  const auto fits = [](float scale) { return (scale >= 0.0f) & (scale <= FLT_MAX); };
  const float* values = scales.data();
  uint32_t unfit = 0;
  for (uint32_t i = 0; i < scales.size(); ++i) unfit |= !fits(values[i]);
  for (uint32_t i = 0; unfit != 0 && i < scales.size(); ++i) {
    if (fits(values[i])) continue;
    return InvalidModel(": quantization scale #{} is {}; scales are finite and not negative", i,
                        scales.Get(i));
  }
  return Status::Ok();
}

Status VerifyZeroPoints(DType dtype, const flatbuffers::Vector<int64_t>& points) {
  const ZeroPointRange range = ZeroPointsOf(dtype);
  const Span<const int64_t> checked = WithoutRepeats({points.data(), points.size()});
  for (size_t i = 0; i < checked.size(); ++i) {
    if (checked[i] >= range.lo && checked[i] <= range.hi) continue;
    return InvalidModel(": quantization zero point #{} is {}, which {} cannot hold", i, checked[i],
                        DTypeName(dtype));
  }
  return Status::Ok();
}

Status VerifyQuantization(const schema::Tensor& tensor, const Shape& shape) {
  const schema::QuantizationParameters* quantization = tensor.quantization();
  if (quantization == nullptr) return Status::Ok();
  const auto* scales = quantization->scale();
  const auto* zero_points = quantization->zero_point();
  const uint32_t n_scales = scales == nullptr ? 0 : scales->size();
  const uint32_t n_zero_points = zero_points == nullptr ? 0 : zero_points->size();
  if (n_scales == 0) return Status::Ok();
  TW_RETURN_IF_ERROR(VerifyScales(*scales));
  if (n_zero_points > 1 && n_zero_points != n_scales) {
    return InvalidModel(": quantization has {} scales and {} zero points", n_scales, n_zero_points);
  }
  if (n_zero_points > 0) {
    TW_RETURN_IF_ERROR(VerifyZeroPoints(static_cast<DType>(tensor.type()), *zero_points));
  }
  if (n_scales == 1) return Status::Ok();
  const int32_t axis = quantization->quantized_dimension();
  // Converters leave the weights' axis on their one-dimensional bias; it is unambiguous there.
  if (shape.rank() == 1 && shape.dim(0) == static_cast<int64_t>(n_scales)) return Status::Ok();
  if (axis < 0 || axis >= shape.rank()) {
    return InvalidModel(": quantized_dimension is {}, its shape is {}", axis, shape.ToString());
  }
  if (static_cast<int64_t>(n_scales) != shape.dim(axis)) {
    return InvalidModel(": quantization has {} scales for axis {} of shape {}", n_scales, axis,
                        shape.ToString());
  }
  return Status::Ok();
}

Status VerifyTensor(VerifyContext* context, const schema::Tensor& tensor, Shape* shape) {
  TW_RETURN_IF_ERROR(VerifyDType(tensor));
  TW_RETURN_IF_ERROR(VerifyShape(tensor, shape));
  TW_RETURN_IF_ERROR(VerifyData(*context, tensor, *shape));
  const bool has_data = !BufferBytes(*context->model, context->bytes, tensor.buffer()).empty();
  if (has_data && HasBlocks(tensor)) {  // most readers get float32
    TW_RETURN_IF_ERROR(
        context->ChargeDense(sizeof(float) * static_cast<uint64_t>(shape->NumElements())));
  }
  return VerifyQuantization(tensor, *shape);
}

}  // namespace

Span<const uint8_t> BufferBytes(const schema::Model& model, Span<const uint8_t> bytes,
                                uint32_t index) {
  const auto* buffers = model.buffers();
  if (buffers == nullptr || index >= buffers->size()) return {};
  const schema::Buffer* buffer = buffers->Get(index);
  if (buffer->data() != nullptr && buffer->data()->size() > 0) {
    return {buffer->data()->data(), buffer->data()->size()};
  }
  if (buffer->offset() <= 1 || buffer->size() == 0) return {};
  return bytes.subspan(static_cast<size_t>(buffer->offset()), static_cast<size_t>(buffer->size()));
}

bool HasNoElements(const schema::Tensor& tensor) {
  if (tensor.shape() == nullptr) return false;
  for (uint32_t i = 0; i < tensor.shape()->size(); ++i) {
    if (tensor.shape()->Get(i) == 0) return true;
  }
  return false;
}

Status VerifyBuffers(VerifyContext* context) {
  const auto* buffers = context->model->buffers();
  if (buffers == nullptr) return Status::Ok();
  const uint64_t file = context->bytes.size();
  for (uint32_t i = 0; i < buffers->size(); ++i) {
    const schema::Buffer* buffer = buffers->Get(i);
    const uint64_t offset = buffer->offset();
    if (offset <= 1) continue;  // 0 and 1 are placeholders of unfinished writers
    if (offset > file || buffer->size() > file - offset) {
      return InvalidModel("Buffer #{} is at offset {} with {} bytes, but the file has {}", i,
                          offset, buffer->size(), file);
    }
  }
  return Status::Ok();
}

Status VerifyTensors(VerifyContext* context, int subgraph) {
  const auto* tensors =
      context->model->subgraphs()->Get(static_cast<uint32_t>(subgraph))->tensors();
  if (tensors == nullptr) return Status::Ok();
  for (uint32_t i = 0; i < tensors->size(); ++i) {
    const schema::Tensor& tensor = *tensors->Get(i);
    const schema::QuantizationParameters* quantization = tensor.quantization();
    const uint64_t n_scales = quantization == nullptr || quantization->scale() == nullptr
                                  ? 0
                                  : quantization->scale()->size();
    const uint64_t n_name = tensor.name() == nullptr ? 0 : tensor.name()->size();
    TW_RETURN_IF_ERROR(context->Charge(16 + n_name + 4 * n_scales));
    Shape shape;
    const Status status = VerifyTensor(context, tensor, &shape);
    if (!status.ok()) {
      return status.WithPrefix(TensorName(*context->model, subgraph, static_cast<int>(i)));
    }
    if (tensor.type() == schema::TensorType::STRING &&
        !BufferBytes(*context->model, context->bytes, tensor.buffer()).empty()) {
      TW_RETURN_IF_ERROR(context->Charge(4 * static_cast<uint64_t>(shape.NumElements())));
    }
    if (tensor.sparsity() != nullptr) {
      if (!kHasSparse) {
        return Unsupported(
            "{} is sparse: this library was built without sparse constants; build it "
            "with TOPWORK_SPARSE=ON",
            TensorName(*context->model, subgraph, static_cast<int>(i)));
      }
      TW_RETURN_IF_ERROR(VerifySparsity(context, subgraph, static_cast<int>(i)));
    }
  }
  return Status::Ok();
}

}  // namespace topwork
