// Elements of 2 and 4 bits (int2, int4, uint4): how they lie in bytes.
//
// Elements follow each other without gaps, row after row; the first lies in the lowest bits of a
// byte, and the bits after the last element are zeros. Signed types use two's complement. Nothing
// here checks ranges. This header does without tensor.h, because files that are compiled once for
// each instruction set include it.
#ifndef TOPWORK_RUNTIME_TENSOR_PACKED_H_
#define TOPWORK_RUNTIME_TENSOR_PACKED_H_

#include <cstdint>

namespace topwork {

enum class DType : uint8_t;

// Element i of signed elements of 2 or 4 bits.
inline int PackedAt(const uint8_t* data, int64_t i, int bits) {
  const int64_t at = i * bits;
  const int value = data[at / 8] >> (at % 8) & ((1 << bits) - 1);
  const int sign = 1 << (bits - 1);
  return (value ^ sign) - sign;
}

// Element i of a tensor of a packed type.
int PackedAt(DType dtype, const void* data, int64_t i);
// Writes n elements from `begin` on as bytes: as int8, or as uint8 where the type is unsigned.
void Unpack(DType dtype, const void* data, int64_t begin, int64_t n, int8_t* out);
// Packs values into bytes [first, last) of a packed tensor of n elements. `in` holds all its values
// from element 0 on, a byte each, whose upper bits are ignored.
void PackBytes(DType dtype, const int8_t* in, int64_t n, int64_t first, int64_t last, void* out);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TENSOR_PACKED_H_
