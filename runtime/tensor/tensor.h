// Shape, Quantization and TensorView: what a tensor is, without owning it.
#ifndef TOPWORK_RUNTIME_TENSOR_TENSOR_H_
#define TOPWORK_RUNTIME_TENSOR_TENSOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "runtime/base/span.h"
#include "runtime/tensor/dtype.h"

namespace topwork {

const char* DTypeName(DType dtype);  // "float32"
// Bits of one element: 2 or 4 for packed types (packed.h), the bits of a StringRef for strings, 0
// for variants, which have no fixed size.
int DTypeBits(DType dtype);
inline bool IsFloat(DType dtype) { return dtype == DType::kFloat32; }
// Several elements a byte: int2, int4 and uint4.
inline bool IsPacked(DType dtype) {
  return dtype == DType::kInt4 || dtype == DType::kInt2 || dtype == DType::kUInt4;
}

template <typename T>
struct DTypeOf;
#define TW_DTYPE_OF(type, value)                  \
  template <>                                     \
  struct DTypeOf<type> {                          \
    static constexpr DType kValue = DType::value; \
  };
TW_DTYPE_OF(float, kFloat32)
TW_DTYPE_OF(double, kFloat64)
TW_DTYPE_OF(int8_t, kInt8)
TW_DTYPE_OF(uint8_t, kUInt8)
TW_DTYPE_OF(int16_t, kInt16)
TW_DTYPE_OF(uint16_t, kUInt16)
TW_DTYPE_OF(int32_t, kInt32)
TW_DTYPE_OF(uint32_t, kUInt32)
TW_DTYPE_OF(int64_t, kInt64)
TW_DTYPE_OF(uint64_t, kUInt64)
TW_DTYPE_OF(bool, kBool)
#undef TW_DTYPE_OF

// An element of a string tensor in memory. It refers to bytes of any value, without a zero at the
// end, that lie elsewhere: in the inputs of the step that made it, in the model, or in
// RunContext::text. Zeroed memory means empty strings. Files hold a table instead, see strings.h.
struct StringRef {
  const char* data = nullptr;
  size_t size = 0;
};

constexpr int kMaxRank = 8;

// Dimensions, outermost first; rank 0 is a scalar. Every dimension is ≥ 0 in a shape that has been
// verified, and the number of elements fits into int64_t.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int32_t> dims);
  Shape(const int32_t* dims, int rank);  // rank ≤ kMaxRank

  int rank() const { return rank_; }
  int32_t dim(int i) const { return dims_[static_cast<size_t>(i)]; }
  int32_t operator[](int i) const { return dims_[static_cast<size_t>(i)]; }
  void set_dim(int i, int32_t value) { dims_[static_cast<size_t>(i)] = value; }
  void Append(int32_t value) { dims_[static_cast<size_t>(rank_++)] = value; }  // rank < kMaxRank
  const int32_t* dims() const { return dims_.data(); }
  int32_t back() const { return dims_[static_cast<size_t>(rank_ - 1)]; }

  int64_t NumElements() const;
  // Product of dims [begin, end).
  int64_t Product(int begin, int end) const;
  // The dimension extended with ones on the left to `rank`, as broadcasting sees it.
  int32_t BroadcastDim(int i, int rank) const {
    const int j = i - (rank - rank_);
    return j < 0 ? 1 : dims_[static_cast<size_t>(j)];
  }
  bool operator==(const Shape& other) const;
  bool operator!=(const Shape& other) const { return !(*this == other); }
  std::string ToString() const;  // "[1, 224, 224, 3]"

 private:
  int rank_ = 0;
  std::array<int32_t, kMaxRank> dims_{};
};

// False when a dimension is negative or the element count × element size overflows.
bool CheckedByteSize(DType dtype, const Shape& shape, size_t* out_bytes);
// Bytes of a verified shape. Packed types fill the last byte; types without a fixed size have 0.
size_t ByteSize(DType dtype, const Shape& shape);

// real = scale * (q - zero_point); per channel along `axis` when there is more than one scale.
struct Quantization {
  Span<const float> scales;
  Span<const int64_t> zero_points;
  int32_t axis = 0;
  // Above 0: so many consecutive values share a scale. A [rows, columns] matrix then has rows ×
  // columns / block scales, in that order, and no zero points. Only weights of FULLY_CONNECTED have
  // this.
  int32_t block = 0;
};

// A tensor's type, shape and memory; plain, copyable, owns nothing. data is null while unknown.
struct TensorView {
  DType dtype = DType::kFloat32;
  Shape shape;
  const Quantization* quantization = nullptr;  // null when not quantized
  void* data = nullptr;

  size_t bytes() const { return ByteSize(dtype, shape); }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// IEEE 754 half precision, bits in a uint16_t.
constexpr float kLargestHalf = 65504.0f;
float HalfToFloat(uint16_t half);
uint16_t FloatToHalf(float value);  // round to nearest even, overflow to infinity

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TENSOR_TENSOR_H_
