// Transposes blocks of words of 4 bytes: rows of weights become the columns of a packed panel. For
// *_isa.cc only.
#ifndef TOPWORK_KERNELS_CPU_SIMD_TRANSPOSE_H_
#define TOPWORK_KERNELS_CPU_SIMD_TRANSPOSE_H_

#include "kernels/cpu/simd.h"

namespace topwork {
namespace TW_ISA {

// The kLanes / 2 lanes from i on, one of `a` and one of `b` in turn.
template <int i>
TW_INLINE Vec Zip(Vec a, Vec b) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, i, i + 16, i + 1, i + 17, i + 2, i + 18, i + 3, i + 19,
                                 i + 4, i + 20, i + 5, i + 21, i + 6, i + 22, i + 7, i + 23);
#elif defined(__AVX__)
  return __builtin_shufflevector(a, b, i, i + 8, i + 1, i + 9, i + 2, i + 10, i + 3, i + 11);
#else
  return __builtin_shufflevector(a, b, i, i + 4, i + 1, i + 5);
#endif
}

// Lane j of vector i becomes lane i of vector j. Zipping the first half of the vectors with the
// second one turns the bits (vector, lane) of a word's place left by one; after log2(kLanes) times
// they have changed places.
TW_INLINE void Transpose(Vec (&v)[kLanes]) {
#pragma GCC unroll 4
  for (int step = 1; step < kLanes; step *= 2) {
    Vec zipped[kLanes];
#pragma GCC unroll 8
    for (int i = 0; i < kLanes / 2; ++i) {
      zipped[2 * i] = Zip<0>(v[i], v[i + kLanes / 2]);
      zipped[2 * i + 1] = Zip<kLanes / 2>(v[i], v[i + kLanes / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) v[i] = zipped[i];
  }
}

// The same where it need not be fast: it is long.
[[maybe_unused]] __attribute__((noinline)) static void TransposeFew(Vec (&v)[kLanes]) {
  Transpose(v);
}

// Transposes kLanes rows of `count` words. load(row, k) returns kLanes words of a row from word k on,
// all of which are among the first `whole`; load_some(row, k, n) those of [k, k + n), n ≤ kLanes, and
// zeros; store(k, v) takes word k of all rows.
template <class Load, class LoadSome, class StoreWords>
TW_INLINE void TransposeWords(int64_t count, int64_t whole, Load load, LoadSome load_some,
                              StoreWords store) {
  int64_t k = 0;
  for (; k + kLanes <= whole; k += kLanes) {
    Vec v[kLanes];
#pragma GCC unroll 16
    for (int row = 0; row < kLanes; ++row) v[row] = load(row, k);
    Transpose(v);
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) store(k + i, v[i]);
  }
  for (; k < count; k += kLanes) {
    const int n = count - k < kLanes ? static_cast<int>(count - k) : kLanes;
    Vec v[kLanes];
    for (int row = 0; row < kLanes; ++row) v[row] = load_some(row, k, n);
    TransposeFew(v);
    for (int i = 0; i < n; ++i) store(k + i, v[i]);
  }
}

}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_SIMD_TRANSPOSE_H_
