// PositionKernels: where the largest or least value of a row lies.
#ifndef TOPWORK_KERNELS_CPU_POSITIONS_H_
#define TOPWORK_KERNELS_CPU_POSITIONS_H_

#include <cstdint>

namespace topwork {

// What bytes are XORed with, so that the wanted value becomes the least unsigned one.
constexpr uint8_t PositionFlip(bool is_signed, bool largest) {
  return static_cast<uint8_t>((is_signed ? 0x80 : 0) ^ (largest ? 0xFF : 0));
}

// The first of equal values. Functions allocate nothing and may run on any thread.
struct PositionKernels {
  // out[r] = the position of the least of x[r * n + i] ^ flip, i < n, for r < rows; n ≥ 1. Up to 16
  // values are read at once, but none outside the rows.
  void (*least_bytes)(const uint8_t* x, int64_t rows, int64_t n, uint8_t flip, int64_t* out);
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_POSITIONS_H_
