// Sums of outer products in double precision, compiled once per instruction set: the matrix product
// of the closed-form solvers. Both operands are packed, so every load is aligned and in sequence.
#include "kernels/train/doubles.h"
#include "kernels/train/isa_functions.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kVectors = kProductTile / kDoubles;
// As many rows of the tile as accumulators stay in registers: 16 of 32, 8 of 16.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kTileRows = 16 / kVectors;
#else
constexpr int kTileRows = 8 / kVectors;
#endif

}  // namespace

void AddProducts(const double* a, const double* b, int64_t depth, int64_t stride, double* out) {
  for (int i = 0; i < kProductTile; i += kTileRows) {
    Doubles sums[kTileRows][kVectors];
    for (int k = 0; k < kTileRows; ++k) {
      for (int j = 0; j < kVectors; ++j) sums[k][j] = Load(out + (i + k) * stride + j * kDoubles);
    }
    for (int64_t r = 0; r < depth; ++r) {
      Doubles row[kVectors];
      for (int j = 0; j < kVectors; ++j) row[j] = Load(b + r * kProductTile + j * kDoubles);
      const double* factors = a + r * kProductTile + i;
      for (int k = 0; k < kTileRows; ++k) {
        for (int j = 0; j < kVectors; ++j) sums[k][j] += row[j] * factors[k];
      }
    }
    for (int k = 0; k < kTileRows; ++k) {
      for (int j = 0; j < kVectors; ++j) {
        Store(out + (i + k) * stride + j * kDoubles, sums[k][j]);
      }
    }
  }
}

}  // namespace TW_ISA
}  // namespace topwork
