// DType tables and Shape arithmetic.
#include "runtime/tensor/tensor.h"

#include "runtime/base/buffer.h"

namespace topwork {
namespace {

struct DTypeInfo {
  char name[11];  // in the row: a pointer would take three times the memory
  uint8_t bits;
};
constexpr uint8_t kStringBits = sizeof(StringRef) * 8;
constexpr DTypeInfo kDTypes[kNumDTypes] = {
    {"float32", 32},  {"float16", 16},  {"int32", 32},
    {"uint8", 8},     {"int64", 64},    {"string", kStringBits},
    {"bool", 8},      {"int16", 16},    {"complex64", 64},
    {"int8", 8},      {"float64", 64},  {"complex128", 128},
    {"uint64", 64},   {"resource", 32}, {"variant", 0},
    {"uint32", 32},   {"uint16", 16},   {"int4", 4},
    {"bfloat16", 16}, {"int2", 2},      {"uint4", 4}};

}  // namespace

const char* DTypeName(DType dtype) {
  const int i = static_cast<int>(dtype);
  return i < kNumDTypes ? kDTypes[i].name : "unknown";
}

int DTypeBits(DType dtype) {
  const int i = static_cast<int>(dtype);
  return i < kNumDTypes ? kDTypes[i].bits : 0;
}

Shape::Shape(std::initializer_list<int32_t> dims) {
  for (int32_t dim : dims) Append(dim);
}

Shape::Shape(const int32_t* dims, int rank) {
  for (int i = 0; i < rank; ++i) Append(dims[i]);
}

int64_t Shape::Product(int begin, int end) const {
  int64_t product = 1;
  for (int i = begin; i < end; ++i) product *= dims_[static_cast<size_t>(i)];
  return product;
}

int64_t Shape::NumElements() const { return Product(0, rank_); }

bool Shape::operator==(const Shape& other) const {
  if (rank_ != other.rank_) return false;
  for (int i = 0; i < rank_; ++i) {
    if (dim(i) != other.dim(i)) return false;
  }
  return true;
}

std::string Shape::ToString() const {
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dim(i));
  }
  return text + "]";
}

bool CheckedByteSize(DType dtype, const Shape& shape, size_t* out_bytes) {
  // Zero-sized tensors are checked with the product of the other dimensions, so that
  // [0, 2^31 - 1, 2^31 - 1] cannot overflow an inner loop either.
  int64_t product = 1;
  bool empty = false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) < 0) return false;
    if (shape.dim(i) == 0) {
      empty = true;
    } else if (MulOverflow(product, static_cast<int64_t>(shape.dim(i)), &product)) {
      return false;
    }
  }
  int64_t bits = 0;
  if (MulOverflow(product, static_cast<int64_t>(DTypeBits(dtype)), &bits)) return false;
  const uint64_t bytes = (static_cast<uint64_t>(bits) + 7) / 8;
  if (bytes > kMostBytes) return false;
  *out_bytes = empty ? 0 : static_cast<size_t>(bytes);
  return true;
}

size_t ByteSize(DType dtype, const Shape& shape) {
  const int64_t bits = shape.NumElements() * DTypeBits(dtype);
  return static_cast<size_t>((bits + 7) / 8);
}

}  // namespace topwork
