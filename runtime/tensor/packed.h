// Elements of 2 and 4 bits (int2, int4, uint4): how they lie in bytes.
//
// They follow each other without gaps, row after row, the first in the lowest bits of a byte; the
// bits behind the last element are zeros. Two's complement where the type is signed. Nothing here
// checks ranges. Free of tensor.h, for files that are compiled once per instruction set.
#ifndef TOPWORK_RUNTIME_TENSOR_PACKED_H_
#define TOPWORK_RUNTIME_TENSOR_PACKED_H_

#include <cstdint>

namespace topwork {

enum class DType : uint8_t;

// Element i of signed ones of 2 or 4 bits.
inline int PackedAt(const uint8_t* data, int64_t i, int bits) {
  const int64_t at = i * bits;
  const int value = data[at / 8] >> (at % 8) & ((1 << bits) - 1);
  const int sign = 1 << (bits - 1);
  return (value ^ sign) - sign;
}

// Element i of a tensor of a packed type.
int PackedAt(DType dtype, const void* data, int64_t i);
// n elements from `begin` on as bytes: int8, or uint8 of the same values.
void Unpack(DType dtype, const void* data, int64_t begin, int64_t n, int8_t* out);
// Bytes [first, last) of a packed tensor of n elements, whose values lie in `in` from element 0 on,
// a byte each; their upper bits do not count.
void PackBytes(DType dtype, const int8_t* in, int64_t n, int64_t first, int64_t last, void* out);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TENSOR_PACKED_H_
