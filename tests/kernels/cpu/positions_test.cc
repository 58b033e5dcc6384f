// Positions of the least and largest bytes by every instruction set: the first of equal ones, for
// every length around a block's.
#include "kernels/cpu/positions.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "kernels/contract/cpu_kernels.h"

namespace topwork {
namespace test {
namespace positions_test {

constexpr int64_t kRows = 40;

template <typename T>
int WrongPositions(const PositionKernels& kernels, int64_t n, int kinds, bool largest) {
  std::mt19937 random(static_cast<unsigned>(n * 8 + kinds));
  std::uniform_int_distribution<int> any(0, kinds - 1);
  std::vector<T> x(static_cast<size_t>(kRows * n));  // without room behind it
  for (T& value : x) value = static_cast<T>(any(random) * 255 / (kinds > 1 ? kinds - 1 : 1));
  std::vector<int64_t> positions(kRows + 1, -1);
  kernels.least_bytes(reinterpret_cast<const uint8_t*>(x.data()), kRows, n,
                      PositionFlip(T(-1) < T(0), largest), positions.data());
  int n_wrong = positions.back() != -1;
  for (int64_t r = 0; r < kRows; ++r) {
    const T* row = x.data() + r * n;
    const T* best = largest ? std::max_element(row, row + n) : std::min_element(row, row + n);
    n_wrong += positions[static_cast<size_t>(r)] != best - row;
  }
  return n_wrong;
}

TEST_CASE("positions: the first of the largest and of the least bytes", "[ops][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int i = 0; i < n_tables; ++i) {
    INFO(tables[i]->isa);
    const PositionKernels& kernels = *tables[i]->positions;
    for (int64_t n = 1; n <= 110; ++n) {
      for (const int kinds : {1, 2, 5, 256}) {
        INFO(n << " values, " << kinds << " kinds");
        for (const bool largest : {false, true}) {
          CHECK(WrongPositions<uint8_t>(kernels, n, kinds, largest) == 0);
          CHECK(WrongPositions<int8_t>(kernels, n, kinds, largest) == 0);
        }
      }
    }
  }
}

}  // namespace positions_test
}  // namespace test
}  // namespace topwork
