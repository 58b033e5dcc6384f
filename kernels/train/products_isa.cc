// Sums of outer products in double precision, compiled once per instruction set: the matrix product
// of the closed-form solvers. Both operands are packed, so every load is aligned and in sequence.
#include <cstring>

#include "kernels/train/isa_functions.h"

namespace topwork {
namespace TW_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kDoubles = 8;
#elif defined(__AVX__)
constexpr int kDoubles = 4;
#else
constexpr int kDoubles = 2;
#endif
constexpr int kVectors = kProductTile / kDoubles;
// As many rows of the tile as accumulators stay in registers: 16 of 32, 8 of 16.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kTileRows = 16 / kVectors;
#else
constexpr int kTileRows = 8 / kVectors;
#endif

typedef double Doubles __attribute__((vector_size(kDoubles * sizeof(double))));

}  // namespace

void AddProducts(const double* a, const double* b, int64_t depth, int64_t stride, double* out) {
  for (int i = 0; i < kProductTile; i += kTileRows) {
    Doubles sums[kTileRows][kVectors];
    for (int k = 0; k < kTileRows; ++k)
      std::memcpy(sums[k], out + (i + k) * stride, sizeof(sums[k]));
    for (int64_t r = 0; r < depth; ++r) {
      Doubles row[kVectors];
      std::memcpy(row, b + r * kProductTile, sizeof(row));
      const double* factors = a + r * kProductTile + i;
      for (int k = 0; k < kTileRows; ++k) {
        for (int j = 0; j < kVectors; ++j) sums[k][j] += row[j] * factors[k];
      }
    }
    for (int k = 0; k < kTileRows; ++k)
      std::memcpy(out + (i + k) * stride, sums[k], sizeof(sums[k]));
  }
}

}  // namespace TW_ISA
}  // namespace topwork
