// Sums of outer products in double precision, compiled once per instruction set: the matrix product
// of the closed-form solvers. Both operands are packed, so every load is aligned and in sequence.
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

constexpr int kBytes = kDoubles * sizeof(double);
typedef double Doubles __attribute__((vector_size(kBytes)));
typedef double DoublesAnywhere __attribute__((vector_size(kBytes), aligned(1), may_alias));

// One vector at a time: a copy of several goes through memory on its way to the registers.
Doubles Load(const double* from) { return *reinterpret_cast<const DoublesAnywhere*>(from); }
void Store(double* to, Doubles v) { *reinterpret_cast<DoublesAnywhere*>(to) = v; }

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
