// The block-sparse GEMM of every instruction set beside the dense one with the same weights, and
// which weights an operator takes for sparse.
#include "kernels/ops/shared/gemm_sparse.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "kernels/contract/cpu_kernels.h"
#include "tests/support/open_session.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace gemm_sparse_test {

using test::RandomFloats;

struct Problem {
  int64_t m, n, k;
  int left;  // of ten blocks
  bool extras;
};

std::vector<float> Blocks(const Problem& p) {
  std::vector<float> w = RandomFloats(static_cast<size_t>(p.n * p.k), 2);
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t k = 0; k < p.k; ++k) {
      const int64_t block = n / kSparseColumns * p.k + k;
      if (block * 7 % 10 >= p.left) w[static_cast<size_t>(n * p.k + k)] = 0.0f;
    }
  }
  return w;
}

GemmWeights Matrix(const Problem& p, const std::vector<float>& w) {
  GemmWeights weights;
  weights.data = w.data();
  weights.n = p.n;
  weights.k = weights.depth[2] = weights.stride_n = p.k;
  return weights;
}

void CheckSparse(const CpuKernels& cpu, const Problem& p) {
  INFO(cpu.isa << " " << p.m << " x " << p.n << " x " << p.k << ", " << p.left << " of 10 left");
  const std::vector<float> a = RandomFloats(static_cast<size_t>(p.m * p.k), 1);
  const std::vector<float> w = Blocks(p);
  const std::vector<float> bias = RandomFloats(static_cast<size_t>(p.n), 3);
  const std::vector<float> residual = RandomFloats(static_cast<size_t>(p.m * p.n), 4);
  const GemmWeights weights = Matrix(p, w);
  std::vector<float> packed(static_cast<size_t>(cpu.gemm->packed_size(p.n, p.k)));
  cpu.gemm->pack(weights, 0, cpu.gemm->n_panels(p.n), packed.data());
  const int64_t n_entries = CountEntries(weights);
  auto memory = Buffer::Allocate(SparseBytes(weights, n_entries), "weights");
  REQUIRE(memory.ok());
  const SparseWeights sparse = PackSparse(weights, n_entries, memory.value().data());
  CHECK(sparse.begin[(p.n + kSparseColumns - 1) / kSparseColumns] == n_entries);

  std::vector<float> expected = residual, once = residual, cut = residual;
  GemmTask task;
  task.a = a.data();
  task.lda = task.k = p.k;
  task.packed = packed.data();
  task.m = p.m;
  task.n = task.ldc = task.ldr = p.n;
  task.bias = p.extras ? bias.data() : nullptr;
  task.lo = p.extras ? -1.0f : -std::numeric_limits<float>::infinity();
  task.hi = p.extras ? 1.0f : std::numeric_limits<float>::infinity();
  const auto bind = [&](std::vector<float>* c) {
    task.c = c->data();
    task.residual = p.extras ? c->data() : nullptr;  // in place, as plans let it
  };
  bind(&expected);
  task.panel_end = cpu.gemm->n_panels(p.n);
  cpu.gemm->run(task);
  bind(&once);
  task.panel_end = (p.n + kSparseColumns - 1) / kSparseColumns;
  cpu.sparse_gemm->run(task, sparse);
  CHECK(test::LargestDifference(once, expected) < 1e-5);
  bind(&cut);
  ThreadPool pool(2);
  GemmCut small = CutSparseGemm(cpu, p.m, p.n, p.k);
  small.rows = 2;
  small.row_blocks = (p.m + 1) / 2;
  small.panels = 1;
  small.panel_blocks = small.total_panels;
  RunSparseGemm(&pool, cpu, task, sparse, small);
  CHECK(cut == once);  // the same bits for every cut
}

TEST_CASE("sparse gemm: equals the dense one, however it is cut", "[ops][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  REQUIRE(n_tables >= 1);
  for (int t = 0; t < n_tables; ++t) {
    for (int64_t m = 1; m <= 14; ++m) {
      for (const int left : {0, 1, 3, 10}) CheckSparse(*tables[t], {m, 37, 53, left, m % 2 == 0});
    }
    for (const int64_t n : {1, 15, 16, 17, 32, 100}) {
      CheckSparse(*tables[t], {5, n, 31, 4, true});
      CheckSparse(*tables[t], {1, n, 1, 7, false});
    }
  }
}

// A 1x1 CONV_2D of 2 x 2 pixels and a FULLY_CONNECTED, both 64 -> 48 by the same weights.
test::ModelSpec TwoLayers(const std::vector<float>& w) {
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1, 2, 2, 64});
  const int filter =
      spec.AddConstant("filter", DType::kFloat32, {48, 1, 1, 64}, test::ToBytes<float>(w));
  const int y = spec.AddTensor("y", DType::kFloat32, {1, 2, 2, 48});
  spec.AddOp(OpCode::kConv2d, {x, filter, -1}, {y},
             test::OptionsSpec(test::kConv2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1));
  const int matrix = spec.AddConstant("matrix", DType::kFloat32, {48, 64}, test::ToBytes<float>(w));
  const int z = spec.AddTensor("z", DType::kFloat32, {4, 48});
  spec.AddOp(OpCode::kFullyConnected, {x, matrix, -1}, {z},
             test::OptionsSpec(test::kFullyConnectedOptions));
  spec.main().outputs = {y, z};
  return spec;
}

TEST_CASE("operators take weights for sparse where few blocks are left", "[ops]") {
  for (const int left : {2, 10}) {
    INFO(left);
    const Problem problem{4, 48, 64, left, false};
    const std::vector<float> w = Blocks(problem), x = RandomFloats(4 * 64, 9);
    const auto session = test::OpenSession(TwoLayers(w));
    const std::string plan = PrintPlan(session->plan());
    CHECK((plan.find("gemm 1x1 sparse") != std::string::npos) == (left == 2));
    CHECK((plan.find("gemm sparse") != std::string::npos) == (left == 2));
    test::SetInput(session.get(), 0, x);
    REQUIRE(session->Run().ToString() == "OK");
    const std::vector<float> outputs[2] = {test::GetOutput<float>(*session, 0),
                                           test::GetOutput<float>(*session, 1)};
    for (size_t r = 0; r < 4; ++r) {
      for (size_t n = 0; n < 48; ++n) {
        double sum = 0.0;
        for (size_t k = 0; k < 64; ++k) {
          sum += static_cast<double>(x[r * 64 + k]) * static_cast<double>(w[n * 64 + k]);
        }
        for (const auto& output : outputs) {
          CHECK(std::fabs(static_cast<double>(output[r * 48 + n]) - sum) < 1e-5);
        }
      }
    }
  }
}

}  // namespace gemm_sparse_test
}  // namespace topwork
