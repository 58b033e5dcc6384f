// Which products a task takes, and the cut of a product into tasks.
#include "kernels/ops/shared/gemm_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "kernels/contract/cpu_kernels.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace test {

TEST_CASE("gemm: sums of fours take no few depths and no runs of other lengths", "[ops]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int t = 0; t < n_tables; ++t) {
    const GemmKernels& gemm = *tables[t]->gemm;
    INFO(gemm.tag);
    CHECK((gemm.ragged != nullptr) == (gemm.depths > 1));
    if (gemm.ragged != nullptr) CHECK(gemm.ragged->depths == 1);
    for (const int64_t run : {0, 1, 3, 4, 6, 64}) {
      const bool fits = run % gemm.depths == 0;
      CHECK(&FloatsOf(*tables[t], 300, run) == (fits ? &gemm : gemm.ragged));
    }
    if (gemm.ragged != nullptr) CHECK(&FloatsOf(*tables[t], 24) == gemm.ragged);
  }
}

TEST_CASE("gemm: the cut covers every element exactly once", "[ops][sets]") {
  const GemmKernels& kernels = *BestCpuKernels().gemm;
  const int64_t shapes[][3] = {{1, 1, 1},       {12544, 32, 27},  {49, 1280, 320}, {1, 1000, 1280},
                               {49, 512, 4608}, {7, 3, 1000000},  {5, 100, 0},     {100000, 1, 1},
                               {3136, 64, 576}, {1024, 1024, 64}, {2, 50257, 768}, {1, 48, 9},
                               {196, 512, 512}, {785, 256, 256}};
  for (const auto& shape : shapes) {
    for (const bool a_is_made : {false, true}) {
      const int64_t m = shape[0], n = shape[1], k = shape[2];
      INFO(m << " x " << n << " x " << k << (a_is_made ? " im2col" : ""));
      const GemmCut cut = CutGemm(kernels, m, n, k, a_is_made);
      GemmTask whole;
      whole.m = m;
      whole.n = n;
      whole.k = k;
      int64_t cells = 0, last_row = 0, last_panel = 0;
      bool sane = true;
      for (int64_t i = 0; i < cut.n_tasks(); ++i) {
        int64_t row = 0;
        const GemmTask task = TaskOf(whole, cut, i, &row);
        sane = sane && task.m > 0 && task.m <= cut.most_rows && task.panel_end > task.panel_begin;
        cells += task.m * (task.panel_end - task.panel_begin);
        last_row = std::max(last_row, row + task.m);
        last_panel = std::max(last_panel, task.panel_end);
      }
      CHECK(sane);
      CHECK(cells == m * kernels.n_panels(n));
      CHECK(last_row == m);
      CHECK(last_panel == kernels.n_panels(n));
    }
  }
  CHECK(CutGemm(kernels, 0, 5, 5, false).n_tasks() == 0);
}

TEST_CASE("gemm: no task reads all panels for a few rows that are left over", "[ops]") {
  const GemmTiles tiles = {16, 12, int64_t{1} << 16, int64_t{1} << 22, 64};
  for (int64_t m = 1; m < 1200; ++m) {
    const GemmCut cut = CutProduct(tiles, m, 512, 512, false);
    int64_t first = 0;
    const int64_t last = cut.RowsOf(cut.n_tasks() - 1, m, &first);
    INFO(m << " rows in " << cut.row_blocks << " blocks of " << cut.rows);
    REQUIRE(first + last == m);
    REQUIRE(last <= cut.most_rows);
    REQUIRE((cut.row_blocks == 1 || 4 * last > cut.rows));
  }
  // Half of the rows of 14 x 14 pixels to each of two threads, as the layers around have it.
  const GemmCut cut = CutProduct(tiles, 196, 512, 512, false);
  CHECK(cut.rows == 48);
  CHECK(cut.row_blocks == 4);
}

TEST_CASE("gemm: a cut by rows has all rows and panels once", "[ops]") {
  const GemmTiles tiles = {16, 12, 0, 0, 0};
  for (int64_t m = 1; m < 900; ++m) {
    const GemmCut cut = CutByRows(tiles, m, 48);
    INFO(m << " rows in " << cut.row_blocks << " blocks of " << cut.rows);
    REQUIRE(cut.panel_blocks == 1);
    REQUIRE(cut.panels == 12);
    int64_t next = 0;
    for (int64_t i = 0; i < cut.n_tasks(); ++i) {
      int64_t first = 0;
      const int64_t rows = cut.RowsOf(i, m, &first);
      REQUIRE(first == next);
      REQUIRE(rows <= cut.most_rows);
      next = first + rows;
    }
    REQUIRE(next == m);
  }
}

}  // namespace test
}  // namespace topwork
