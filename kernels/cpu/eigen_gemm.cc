// The packed GEMM on Eigen's own kernels: what a processor without tiles of ours multiplies with.
//
// Eigen's general block-panel kernel (gebp) adds the product of a packed left side and a packed
// right side to a column-major result. Our C is row-major, so it computes C^T = W * A^T: W is the
// left side and is packed once, a panel for every `mr` columns of C. A block of A's rows is packed
// on the stack in every task. C begins as bias + residual, Eigen adds the products, and the clamp
// comes last. Nothing here touches the heap: Eigen's products proper, which allocate their blocks,
// are not called.
#if defined(__riscv) || defined(__loongarch__)
#define EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS 32  // Eigen counts on 8 where it knows none
#endif
#include <Eigen/Core>
#include <algorithm>

#include "kernels/cpu/gemm.h"
#include "runtime/base/stringify.h"

namespace topwork {
namespace eigen {
namespace {

using Index = int64_t;
using Traits = Eigen::internal::gebp_traits<float, float>;
constexpr int kColumns = Traits::mr;  // columns of a panel
constexpr int kTileRows = Traits::nr;
// A block of A: its rows and depths, 32 KiB of stack.
constexpr Index kBlockRows = 32, kBlockDepth = 256;
constexpr Index kPackDepth = 64;

using ConstRows = Eigen::internal::const_blas_data_mapper<float, Index, Eigen::RowMajor>;
using ConstColumns = Eigen::internal::const_blas_data_mapper<float, Index, Eigen::ColMajor>;
using Result = Eigen::internal::blas_data_mapper<float, Index, Eigen::ColMajor>;
// `true`: the packed form is a slice of depths inside a larger one.
using PackW = Eigen::internal::gemm_pack_lhs<float, Index, ConstRows, kColumns, Traits::LhsProgress,
                                             typename Traits::LhsPacket4Packing, Eigen::RowMajor,
                                             false, true>;
using PackA = Eigen::internal::gemm_pack_rhs<float, Index, ConstColumns, kTileRows, Eigen::ColMajor,
                                             false, true>;
using Kernel = Eigen::internal::gebp_kernel<float, float, Index, Result, kColumns, kTileRows>;

Index Least(Index a, Index b) { return a < b ? a : b; }

int64_t NPanels(int64_t n) { return (n + kColumns - 1) / kColumns; }
int64_t FirstColumn(int64_t, int64_t index) { return index * kColumns; }
// Columns are padded to whole vectors: forms that lie one after the other then stay aligned.
int64_t PackedSize(int64_t n, int64_t k) {
  constexpr int64_t kLanes = Traits::LhsPacketSize;
  return (n + kLanes - 1) / kLanes * kLanes * k;
}

// Copies depths [begin, begin + depth) of the columns [n0, n0 + columns) to out[column][depth].
void Gather(const GemmWeights& w, Index n0, Index columns, Index begin, Index depth, float* out) {
  const Index inner = w.depth[2], middle = w.depth[1];
  for (Index c = 0; c < columns; ++c) {
    const float* column = w.data + (n0 + c) * w.stride_n;
    for (Index k = begin; k < begin + depth; ++k) {
      *out++ = column[k / inner / middle * w.stride_k[0] + k / inner % middle * w.stride_k[1] +
                      k % inner * w.stride_k[2]];
    }
  }
}

void Pack(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, float* packed) {
  float values[kColumns * kPackDepth];
  for (Index n0 = panel_begin * kColumns; n0 < Least(panel_end * kColumns, w.n); n0 += kColumns) {
    const Index columns = Least(kColumns, w.n - n0);
    for (Index k = 0; k < w.k; k += kPackDepth) {
      const Index depth = Least(kPackDepth, w.k - k);
      const float* from = w.data + n0 * w.stride_n + k;
      Index stride = w.stride_n;
      if (w.stride_k[2] != 1 || w.depth[2] != w.k) {
        Gather(w, n0, columns, k, depth, values);
        from = values;
        stride = depth;
      }
      PackW()(packed + n0 * w.k, ConstRows(from, stride), depth, columns, w.k, k);
    }
  }
  if (panel_end == NPanels(w.n)) {
    std::fill(packed + w.n * w.k, packed + PackedSize(w.n, w.k), 0.0f);
  }
}

// The block of C that a call of Start, Multiply and Finish works on.
struct Block {
  const GemmTask& task;
  Index row, rows, column, columns;
  float* At(Index r) const { return task.c + (row + r) * task.ldc + column; }
};

void Start(const Block& b) {
  const GemmTask& t = b.task;
  for (Index r = 0; r < b.rows; ++r) {
    float* c = b.At(r);
    if (t.residual != nullptr) {
      const float* residual = t.residual + (b.row + r) * t.ldr + b.column;
      for (Index j = 0; j < b.columns; ++j) c[j] = residual[j];
    } else {
      for (Index j = 0; j < b.columns; ++j) c[j] = 0.0f;
    }
    if (t.bias == nullptr) continue;
    for (Index j = 0; j < b.columns; ++j) c[j] += t.bias[b.column + j];
  }
}

// Fills blocks of depths from the segments of A, and has Eigen multiply each when it is full, or
// when W skips depths.
void Multiply(const Block& b) {
  const GemmTask& t = b.task;
  alignas(64) float packed[kBlockRows * kBlockDepth];
  const Result c(b.At(0), t.ldc);
  Index filled = 0, at = t.first_k;  // depths in `packed`; where they begin in W
  for (Index run = 0; run < t.runs; ++run) {
    const float* a = t.a + b.row * t.lda + run * t.run_stride;
    const bool ends = run + 1 == t.runs || t.run_skip != 0;
    for (Index k = 0; k < t.run_k;) {
      const Index depth = Least(t.run_k - k, kBlockDepth - filled);
      PackA()(packed, ConstColumns(a + k, t.lda), depth, b.rows, kBlockDepth, filled);
      k += depth;
      filled += depth;
      if (filled < kBlockDepth && !(ends && k == t.run_k)) continue;
      Kernel()(c, t.packed + b.column * t.k, packed, b.columns, filled, b.rows, 1.0f, t.k,
               kBlockDepth, at, 0);
      at += filled;
      filled = 0;
    }
    at += t.run_skip;
  }
}

void Finish(const Block& b) {
  const float lo = b.task.lo, hi = b.task.hi;
  for (Index r = 0; r < b.rows; ++r) {
    float* c = b.At(r);
    for (Index j = 0; j < b.columns; ++j) {
      const float least = lo > c[j] ? lo : c[j];
      c[j] = hi < least ? hi : least;
    }
  }
}

void Run(const GemmTask& given) {
  GemmTask task = given;
  if (task.run_k < 0) task.run_k = task.k;
  const Index column = task.panel_begin * kColumns;
  const Index columns = Least(task.panel_end * kColumns, task.n) - column;
  if (columns <= 0) return;
  for (Index row = 0; row < task.m; row += kBlockRows) {
    const Block block{task, row, Least(kBlockRows, task.m - row), column, columns};
    Start(block);
    Multiply(block);
    Finish(block);
  }
}

// Versions of Eigen may pack differently, and so may processors.
#define TW_EIGEN_TAG                                              \
  "gemm f32 eigen " TW_STRING(EIGEN_WORLD_VERSION) "." TW_STRING( \
      EIGEN_MAJOR_VERSION) "." TW_STRING(EIGEN_MINOR_VERSION)

}  // namespace

extern const GemmKernels kGemmKernels;
const GemmKernels kGemmKernels = {TW_EIGEN_TAG, nullptr,  false,   nullptr,     nullptr,    1,
                                  kTileRows,    kColumns, NPanels, FirstColumn, PackedSize, Pack,
                                  Run};

}  // namespace eigen
}  // namespace topwork
