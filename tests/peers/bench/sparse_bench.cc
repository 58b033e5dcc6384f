// Block-sparse GEMM beside the dense one, alternating on one thread: how many times faster it is,
// by the share of blocks (16 outputs x 1 input) that are left, for every instruction set.
//
//   cmake --build build/release --target topwork_sparse_bench && build/release/topwork_sparse_bench
#include <algorithm>
#include <cstdio>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/ops/shared/gemm_sparse.h"
#include "ports/port.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace {

// Clears all but `percent` of the blocks.
std::vector<float> BlockWeights(int64_t n, int64_t k, int percent) {
  std::vector<float> w = test::RandomFloats(static_cast<size_t>(n * k), 2);
  const auto draw =
      test::RandomFloats(static_cast<size_t>(((n + kSparseColumns - 1) / kSparseColumns) * k), 5);
  std::vector<float> sorted = draw;
  std::sort(sorted.begin(), sorted.end());
  const float limit = sorted[sorted.size() * static_cast<size_t>(percent) / 100];
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < k; ++j) {
      const size_t block = static_cast<size_t>(i / kSparseColumns * k + j);
      if (draw[block] >= limit) w[static_cast<size_t>(i * k + j)] = 0.0f;
    }
  }
  return w;
}

double Ratio(const CpuKernels& cpu, int64_t m, int64_t n, int64_t k, int percent) {
  const std::vector<float> a = test::RandomFloats(static_cast<size_t>(m * k), 1);
  const std::vector<float> w = BlockWeights(n, k, percent);
  std::vector<float> c(static_cast<size_t>(m * n));
  GemmWeights weights;
  weights.data = w.data();
  weights.n = n;
  weights.k = weights.depth[2] = weights.stride_n = k;
  std::vector<float> packed(static_cast<size_t>(cpu.gemm->packed_size(n, k)));
  cpu.gemm->pack(weights, 0, cpu.gemm->n_panels(n), packed.data());
  const int64_t n_entries = CountEntries(weights);
  auto memory = Buffer::Allocate(SparseBytes(weights, n_entries), "weights");
  if (!memory.ok()) return 0.0;
  const SparseWeights sparse = PackSparse(weights, n_entries, memory.value().data());
  GemmTask task;
  task.a = a.data();
  task.packed = packed.data();
  task.lda = task.k = k;
  task.c = c.data();
  task.ldc = task.n = n;
  task.m = m;
  task.lo = 0.0f;
  task.hi = 6.0f;
  const GemmCut dense_cut = CutGemm(*cpu.gemm, m, n, k, false);
  const GemmCut sparse_cut = CutSparseGemm(cpu, m, n, k);
  ThreadPool pool(1);
  const int repeats = 1 + static_cast<int>(2e7 / static_cast<double>(m * n * k));
  double best[2] = {1e9, 1e9};
  for (int round = 0; round < 40; ++round) {
    int64_t start = port::NowNanos();
    for (int i = 0; i < repeats; ++i) RunGemm(&pool, *cpu.gemm, task, dense_cut);
    best[0] = std::min(best[0], port::SecondsSince(start));
    start = port::NowNanos();
    for (int i = 0; i < repeats; ++i) RunSparseGemm(&pool, cpu, task, sparse, sparse_cut);
    best[1] = std::min(best[1], port::SecondsSince(start));
  }
  return best[0] / best[1];
}

int Main() {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  const int percents[] = {60, 50, 40, 30, 20, 10};
  const int64_t shapes[][3] = {{1, 1024, 1024}, {1, 4096, 2048}, {1, 1000, 1280},
                               {8, 1024, 1024}, {3136, 144, 24}, {784, 240, 40},
                               {196, 480, 80},  {49, 1152, 192}, {196, 112, 672}};
  for (int t = 0; t < n_tables; ++t) {
    std::printf("%-24s", tables[t]->isa);
    for (const int percent : percents) std::printf("%7d %%", percent);
    std::printf("\n");
    for (const auto& s : shapes) {
      char name[64];
      std::snprintf(name, sizeof(name), "%d x %d x %d", static_cast<int>(s[0]),
                    static_cast<int>(s[1]), static_cast<int>(s[2]));
      std::printf("%-24s", name);
      for (const int percent : percents) {
        std::printf("%9.2f", Ratio(*tables[t], s[0], s[1], s[2], percent));
      }
      std::printf("\n");
    }
  }
  return 0;
}

}  // namespace
}  // namespace topwork

int main() { return topwork::Main(); }
