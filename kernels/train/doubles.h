// Vectors of doubles, as wide as the instruction set's registers. For *_isa.cc only.
#ifndef TOPWORK_KERNELS_TRAIN_DOUBLES_H_
#define TOPWORK_KERNELS_TRAIN_DOUBLES_H_

#include "kernels/cpu/simd.h"

namespace topwork {
namespace TW_ISA {

#if defined(__AVX512F__)
constexpr int kDoubles = 8;
#elif defined(__AVX__)
constexpr int kDoubles = 4;
#else
constexpr int kDoubles = 2;
#endif
typedef double Doubles __attribute__((vector_size(kDoubles * sizeof(double))));

// Any address does. (One vector at a time: a copy of several goes through memory on its way to the
// registers.)
TW_INLINE Doubles Load(const double* from) {
  Doubles v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
TW_INLINE void Store(double* to, Doubles v) { __builtin_memcpy(to, &v, sizeof(v)); }

typedef float HalfVec __attribute__((vector_size(kDoubles * sizeof(float))));
TW_INLINE Doubles Widen(const float* from) {
  HalfVec v;
  __builtin_memcpy(&v, from, sizeof(v));
  return __builtin_convertvector(v, Doubles);
}

}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_TRAIN_DOUBLES_H_
