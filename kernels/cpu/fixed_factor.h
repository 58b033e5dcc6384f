// FixedFactor: a real factor as integers, shared by portable code and the instruction sets' loops.
#ifndef TOPWORK_KERNELS_CPU_FIXED_FACTOR_H_
#define TOPWORK_KERNELS_CPU_FIXED_FACTOR_H_

#include <cstdint>

namespace topwork {

// factor = mantissa * 2^(shift - 31), with mantissa in [2^30, 2^31) or 0. Made and applied by the
// functions of kernels/ops/shared/quant.h.
struct FixedFactor {
  int32_t mantissa = 0;
  int32_t shift = 0;
};

// Whether ColumnFactors::small may hold for it (integer.h). Always inline: instruction sets share no code.
__attribute__((always_inline)) inline bool IsSmall(const FixedFactor& factor) {
  return factor.mantissa >= 1 << 30 && factor.shift < 0 && factor.shift >= -30;
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_FIXED_FACTOR_H_
