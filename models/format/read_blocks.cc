// int4 and int2 weights with a float16 scale for every block of a row's values: w = scale · q.
//
// FULLY_CONNECTED multiplies int4 weights as they are (rows of the activations are quantized at run
// time, as LiteRT does). All other readers get float32. LiteRT itself multiplies int2 by no scale
// at all.
#include "models/format/read.h"
#include "models/format/text.h"
#include "models/format/verify_context.h"
#include "runtime/tensor/packed.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

// The tensor of the scales; null when it does not have the form that converters write.
const schema::Tensor* ScalesOf(const schema::SubGraph& subgraph, const schema::Tensor& weights) {
  const auto* blocks = weights.quantization()->details_as_BlockwiseQuantization();
  const auto* tensors = subgraph.tensors();
  if (blocks == nullptr || blocks->scales() < 0 ||
      static_cast<uint32_t>(blocks->scales()) >= tensors->size()) {
    return nullptr;
  }
  return tensors->Get(static_cast<uint32_t>(blocks->scales()));
}

}  // namespace

bool HasBlocks(const schema::Tensor& tensor) {
  return tensor.quantization() != nullptr && tensor.quantization()->details_type() ==
                                                 schema::QuantizationDetails::BlockwiseQuantization;
}

Result<std::vector<float>> ReadBlockScales(const schema::Model& model, Span<const uint8_t> bytes,
                                           const schema::SubGraph& subgraph,
                                           const schema::Tensor& tensor, const Shape& shape,
                                           int32_t* block) {
  const std::string name = Text(tensor.name());
  const schema::Tensor* scales = ScalesOf(subgraph, tensor);
  *block = scales == nullptr
               ? 0
               : tensor.quantization()->details_as_BlockwiseQuantization()->block_size();
  const DType dtype = static_cast<DType>(tensor.type());
  const bool is_signed = dtype == DType::kInt4 || dtype == DType::kInt2;
  if (scales == nullptr || scales->type() != schema::TensorType::FLOAT16 || shape.rank() != 2 ||
      !is_signed || *block < 1 || shape[1] % *block != 0) {
    return Unsupported(
        "'{}' is quantized in blocks; supported are int4 and int2 [rows, columns] with float16 "
        "scales and a block size that divides the columns",
        name);
  }
  const Span<const uint8_t> packed = BufferBytes(model, bytes, tensor.buffer());
  const Span<const uint8_t> halves = BufferBytes(model, bytes, scales->buffer());
  const size_t n_blocks = static_cast<size_t>(shape.NumElements() / *block);
  if (packed.size() != ByteSize(dtype, shape) || halves.size() != n_blocks * sizeof(uint16_t)) {
    return InvalidModel(
        "'{}': {} bytes and {} bytes of scales do not fit its shape {}, blocks of {}", name,
        packed.size(), halves.size(), shape.ToString(), *block);
  }
  std::vector<float> floats(n_blocks);
  for (size_t b = 0; b < n_blocks; ++b) {
    floats[b] = HalfToFloat(static_cast<uint16_t>(halves[2 * b] | halves[2 * b + 1] << 8));
  }
  return floats;
}

Result<Buffer> ExpandBlocks(DType dtype, Span<const uint8_t> packed, const Shape& shape,
                            const std::vector<float>& scales, int32_t block) {
  const size_t n = static_cast<size_t>(shape.NumElements());
  TW_ASSIGN_OR_RETURN(Buffer dense,
                      Buffer::Allocate(n * sizeof(float), "weights quantized in blocks"));
  float* out = dense.as<float>();
  for (size_t i = 0; i < n; ++i) {
    const int value = PackedAt(packed.data(), static_cast<int64_t>(i), DTypeBits(dtype));
    out[i] = scales[i / static_cast<size_t>(block)] * static_cast<float>(value);
  }
  return dense;
}

}  // namespace topwork
