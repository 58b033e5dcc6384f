// The transpose in tiles: what is a row on one side is a column on the other, of which each number
// lies in a cache line of its own.
#include "kernels/gpu/transpose_rows.h"

#include <algorithm>

namespace topwork {

void TransposeRows(const float* from, int64_t stride, int64_t rows, int64_t columns, float* to,
                   int64_t wide) {
  constexpr int64_t kTile = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    const int64_t r1 = std::min(rows, r0 + kTile);
    for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
      const int64_t c1 = std::min(columns, c0 + kTile);
      for (int64_t c = c0; c < c1; ++c) {
        for (int64_t r = r0; r < r1; ++r) to[c * wide + r] = from[r * stride + c];
      }
    }
  }
}

}  // namespace topwork
