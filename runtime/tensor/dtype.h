// DType: the types of elements. Apart from tensor.h for loops of instruction sets: no inline variable
// may be in what these include.
#ifndef TOPWORK_RUNTIME_TENSOR_DTYPE_H_
#define TOPWORK_RUNTIME_TENSOR_DTYPE_H_

#include <cstdint>

namespace topwork {

// Numbers are those of TensorType in the .tflite schema and of `tw_dtype` in the C API.
enum class DType : uint8_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kInt32 = 2,
  kUInt8 = 3,
  kInt64 = 4,
  kString = 5,
  kBool = 6,
  kInt16 = 7,
  kComplex64 = 8,
  kInt8 = 9,
  kFloat64 = 10,
  kComplex128 = 11,
  kUInt64 = 12,
  kResource = 13,
  kVariant = 14,
  kUInt32 = 15,
  kUInt16 = 16,
  kInt4 = 17,
  kBFloat16 = 18,
  kInt2 = 19,
  kUInt4 = 20,
};
constexpr int kNumDTypes = 21;

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TENSOR_DTYPE_H_
