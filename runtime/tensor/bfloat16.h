// bfloat16: the upper half of a float32's bits, in a uint16_t.
#ifndef TOPWORK_RUNTIME_TENSOR_BFLOAT16_H_
#define TOPWORK_RUNTIME_TENSOR_BFLOAT16_H_

#include <cstdint>
#include <cstring>

namespace topwork {

inline float BFloat16ToFloat(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

// Rounds to nearest, ties to even. Values beyond the largest become infinity; NaN stays NaN with
// its sign.
inline uint16_t FloatToBFloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (value != value) return static_cast<uint16_t>(bits >> 31 != 0 ? 0xFFC0 : 0x7FC0);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TENSOR_BFLOAT16_H_
