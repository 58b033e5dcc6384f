// GEMM with packed weights: C[m x n] = act(A[m x k] * W[n x k]^T + bias + residual), all float32.
//
// A is read row by row where it lies; activations are never repacked. W is packed once into panels
// of a few vectors of columns, [panel][k][columns], with zeros to fill the last panel. Every
// element is one chain of multiply-adds over k in ascending order (four of them with SSE2 alone,
// gemm_fours.h), whatever tile computes it, so the cut into tiles and threads never changes a bit.
//
// Kernels of 16-bit products round A and W to that type, A when a task begins and W when it is
// packed; bias, residual, sums and C are float32 as ever. An element is then one chain over pairs of
// depths (bfloat16; on AMX over 32 depths, added up apart), or the sum of float16 sums of at most 64
// depths each (float16). A float16 number or sum beyond 65504 is infinite.
#ifndef TOPWORK_KERNELS_CPU_GEMM_H_
#define TOPWORK_KERNELS_CPU_GEMM_H_

#include <cstddef>
#include <cstdint>

namespace topwork {

// W as it lies in memory: column n, depth (i, j, l) of a box of depth[0] x depth[1] x depth[2] is
// data[n * stride_n + i * stride_k[0] + j * stride_k[1] + l * stride_k[2]]. k counts the box in
// row-major order; a plain matrix has the box 1 x 1 x k.
struct GemmWeights {
  const float* data = nullptr;
  // The same in float16 in place of `data`: for kernels that pack_halves, with stride_k[2] = 1.
  const uint16_t* half = nullptr;
  int64_t n = 0;
  int64_t stride_n = 0;
  int64_t k = 0;  // depth[0] * depth[1] * depth[2]
  int64_t depth[3] = {1, 1, 0};
  int64_t stride_k[3] = {0, 0, 1};
};

// One rectangle of C: rows [0, m) and the columns of panels [panel_begin, panel_end). Pointers and
// strides (in elements) are those of row 0, column 0.
//
// A row of A is normally k consecutive values. A convolution reads its image in place instead:
// `runs` segments of run_k values that lie run_stride apart are multiplied with the depths first_k,
// first_k + 1, ... of W; run_skip depths are skipped after every segment.
struct GemmTask {
  const float* a = nullptr;
  int64_t lda = 0;
  const float* packed = nullptr;
  const float* bias = nullptr;      // n values, or null
  const float* residual = nullptr;  // m x n, or null; may be equal to c (then ldr == ldc)
  int64_t ldr = 0;
  float* c = nullptr;
  int64_t ldc = 0;
  int64_t m = 0, n = 0, k = 0;  // k is that of the packed W
  int64_t runs = 1;
  int64_t run_k = -1;  // -1: k
  int64_t run_stride = 0, first_k = 0, run_skip = 0;
  int64_t panel_begin = 0, panel_end = 0;
  float lo = 0.0f, hi = 0.0f;  // the result is clamped to [lo, hi]; NaN passes through
  // Memory for A in 16 bits, of kernels that need it: as many words as the task has pairs of values
  // of A, where run_k is odd with one value more in each run. Rows that overlap (lda < run_k) lie
  // there once.
  float* work = nullptr;
};

// One instruction set's functions. They allocate nothing and may run on any thread.
struct GemmKernels {
  const char* tag;    // names the packed layout: equal tags, equal layouts
  const char* half;   // the type of 16-bit products, "bfloat16" or "float16"; null: float32
  bool packs_halves;  // `pack` takes GemmWeights::half, too
  // The same products to the bit of weights that stay float16 in memory and are widened in
  // registers; their `pack` takes GemmWeights::half alone. Null: none.
  const GemmKernels* of_halves;
  // The same products to the bit for tasks of a single row by weights as they lie in memory: rows of
  // k values, of which GemmTask::packed is the first. It does not pack. Null: none.
  const GemmKernels* of_rows;
  // Neighbouring depths that are multiplied together: in a task of several runs, or whose rows of A
  // overlap, run_k and all that counts values along k are multiples of it; of a single run, first_k,
  // and run_k unless it ends with k.
  int depths;
  int rows;         // rows of a register tile: good block heights are multiples of it
  int max_columns;  // columns of the widest panel
  int64_t (*n_panels)(int64_t n);
  // Where panel `index` begins; n or more for index == n_panels(n).
  int64_t (*first_column)(int64_t n, int64_t index);
  // Elements of 4 bytes of the packed form; n and k ≥ 0 and their product must fit int64. It is
  // proportional to k, and whole vectors: forms that lie one after the other all begin aligned.
  int64_t (*packed_size)(int64_t n, int64_t k);
  // Packs panels [panel_begin, panel_end) into their places in `packed`.
  void (*pack)(const GemmWeights& weights, int64_t panel_begin, int64_t panel_end, float* packed);
  void (*run)(const GemmTask& task);
  // The same products, rounded otherwise, whose `depths` is 1: for runs of other lengths, and for few
  // depths. Null: none, or not needed.
  const GemmKernels* ragged = nullptr;
  // Of 16-bit products, for an A that many tasks read: n values as (n + 1) / 2 words, in place if need be;
  // and `run` for an A in words, whose lengths along k count words. Null: no user (AMX, float16, the smallest library).
  void (*to_words)(const float* values, int64_t n, float* words) = nullptr;
  void (*run_words)(const GemmTask& task) = nullptr;
};

// Block-sparse W: cut into panels of kSparseColumns columns. A panel holds only the depths at which
// one of its columns is not 0. Such an entry costs one more read, its place; A stays where it is.
// Weights fit when whole blocks of 16 outputs x 1 input are pruned; single zeros leave nearly every
// depth in place. An element is one sum over its panel's entries in ascending order, split among a
// few accumulators by their place in the panel: the same bits for every cut.
constexpr int kSparseColumns = 16;
struct SparseWeights {
  const int32_t* begin = nullptr;  // panel p has the entries begin[p] to begin[p + 1]
  const int32_t* depth = nullptr;  // of every entry, ascending within a panel
  const float* values = nullptr;   // kSparseColumns of every entry
  bool present() const { return begin != nullptr; }
};

struct SparseGemmKernels {
  int rows;  // of a register tile
  // As GemmKernels::run, with `weights` for `packed` and a single run.
  void (*run)(const GemmTask& task, const SparseWeights& weights);
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_GEMM_H_
