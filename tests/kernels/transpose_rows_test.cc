// Transposes of sizes that do and do not fill tiles, with and without padding.
#include "kernels/gpu/transpose_rows.h"

#include <catch2/catch.hpp>
#include <vector>

namespace topwork {
namespace transpose_rows_test {

TEST_CASE("gpu constants: rows are transposed into padded ones", "[ops]") {
  for (const int64_t rows : {1, 15, 16, 33}) {
    for (const int64_t columns : {1, 16, 17, 40}) {
      const int64_t stride = columns + 2, wide = (rows + 3) / 4 * 4;
      std::vector<float> from(static_cast<size_t>(rows * stride));
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
      std::vector<float> to(static_cast<size_t>(columns * wide));
      TransposeRows(from.data(), stride, rows, columns, to.data(), wide);
      int n_wrong = 0;
      for (int64_t c = 0; c < columns; ++c) {
        for (int64_t r = 0; r < wide; ++r) {
          const float expected = r < rows ? from[static_cast<size_t>(r * stride + c)] : 0.0f;
          n_wrong += to[static_cast<size_t>(c * wide + r)] != expected ? 1 : 0;
        }
      }
      CHECK(n_wrong == 0);
    }
  }
}

}  // namespace transpose_rows_test
}  // namespace topwork
