// Packing and unpacking elements of 2 and 4 bits (see packed.h).
#include "runtime/tensor/packed.h"

#include <algorithm>

#include "runtime/tensor/tensor.h"

namespace topwork {

int PackedAt(DType dtype, const void* data, int64_t i) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  if (dtype == DType::kUInt4) return PackedAt(bytes, i, 4) & 15;
  return PackedAt(bytes, i, dtype == DType::kInt2 ? 2 : 4);
}

void Unpack(DType dtype, const void* data, int64_t begin, int64_t n, int8_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int8_t>(PackedAt(dtype, data, begin + i));
}

void PackBytes(DType dtype, const int8_t* in, int64_t n, int64_t first, int64_t last, void* out) {
  const int bits = DTypeBits(dtype);
  const int64_t each = 8 / bits;
  for (int64_t b = first; b < last; ++b) {
    const int64_t end = std::min(n, (b + 1) * each);
    unsigned byte = 0;
    for (int64_t i = end - 1; i >= b * each; --i) {
      byte = byte << bits | (static_cast<unsigned>(in[i]) & ((1u << bits) - 1));
    }
    static_cast<uint8_t*>(out)[b] = static_cast<uint8_t>(byte);
  }
}

}  // namespace topwork
