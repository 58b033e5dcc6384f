// When weights are block-sparse, and their packed form: begin, depth, values, each aligned.
#include "kernels/ops/shared/gemm_sparse.h"

#include <algorithm>

#include "kernels/contract/cpu_kernels.h"

namespace topwork {
namespace {

constexpr int kColumns = kSparseColumns;
// Share of the entries that may be left. Measured, see kernels/README.md.
constexpr double kMaxDensity = 0.6;
constexpr int64_t kMinDepth = 48;
constexpr int64_t kSamples = 64;  // depths of the first and of the last panel

int64_t NPanels(int64_t n) { return (n + kColumns - 1) / kColumns; }

// Whether one of the panel's columns has a value at depth k.
bool IsEntry(const GemmWeights& w, int64_t panel, int64_t k) {
  const int64_t first = panel * kColumns, end = std::min(w.n, first + kColumns);
  for (int64_t n = first; n < end; ++n) {
    if (!IsZero(w, n * w.stride_n + k * w.stride_k[2])) return true;
  }
  return false;
}

bool MayBeSparse(const GemmWeights& w) {
  const int64_t n_samples = std::min(kSamples, w.k);
  int64_t n_entries = 0;
  for (const int64_t panel : {int64_t{0}, NPanels(w.n) - 1}) {
    for (int64_t i = 0; i < n_samples; ++i) {
      if (IsEntry(w, panel, i * w.k / n_samples)) ++n_entries;
    }
  }
  return static_cast<double>(n_entries) < 1.25 * kMaxDensity * static_cast<double>(2 * n_samples);
}

// Where the parts lie.
struct Places {
  size_t depth, values, bytes;
  Places(int64_t n, int64_t n_entries) {
    depth = AlignUp(static_cast<size_t>(NPanels(n) + 1) * sizeof(int32_t));
    values = depth + AlignUp(static_cast<size_t>(n_entries) * sizeof(int32_t));
    bytes = values + static_cast<size_t>(n_entries) * kColumns * sizeof(float);
  }
};

SparseWeights PartsOf(const void* memory, const Places& places) {
  const uint8_t* bytes = static_cast<const uint8_t*>(memory);
  SparseWeights weights;
  weights.begin = reinterpret_cast<const int32_t*>(bytes);
  weights.depth = reinterpret_cast<const int32_t*>(bytes + places.depth);
  weights.values = reinterpret_cast<const float*>(bytes + places.values);
  return weights;
}

}  // namespace

int64_t CountEntries(const GemmWeights& w) {
  int64_t n_entries = 0;
  for (int64_t p = 0; p < NPanels(w.n); ++p) {
    for (int64_t k = 0; k < w.k; ++k) n_entries += IsEntry(w, p, k) ? 1 : 0;
  }
  return n_entries;
}

size_t SparseBytes(const GemmWeights& weights, int64_t n_entries) {
  return Places(weights.n, n_entries).bytes;
}

SparseWeights PackSparse(const GemmWeights& w, int64_t n_entries, void* memory) {
  const SparseWeights packed = PartsOf(memory, Places(w.n, n_entries));
  int32_t* begin = const_cast<int32_t*>(packed.begin);
  int32_t* depth = const_cast<int32_t*>(packed.depth);
  float* values = const_cast<float*>(packed.values);
  int32_t entry = 0;
  for (int64_t p = 0; p < NPanels(w.n); ++p) {
    begin[p] = entry;
    for (int64_t k = 0; k < w.k; ++k) {
      if (!IsEntry(w, p, k)) continue;
      depth[entry++] = static_cast<int32_t>(k);
      for (int64_t j = 0; j < kColumns; ++j) {
        const int64_t n = p * kColumns + j;
        *values++ = n < w.n ? w.data[n * w.stride_n + k * w.stride_k[2]] : 0.0f;
      }
    }
  }
  begin[NPanels(w.n)] = entry;
  return packed;
}

Status PlanSparseWeights(PrepareContext* context, int input, const GemmWeights& layout,
                         SparseWeights* out) {
  if (!kHasSparse || !context->packs())
    return Status::Ok();  // how they are packed changes no shape
  GemmWeights w = layout;
  w.data = context->input(input)->as<const float>();
  w.half = context->HalfConstant(input);
  if (w.data == nullptr || w.n < kColumns || w.k < kMinDepth || !MayBeSparse(w))
    return Status::Ok();
  const int64_t n_entries = CountEntries(w), most = NPanels(w.n) * w.k;
  const bool fits = w.k <= INT32_MAX && n_entries <= INT32_MAX;
  if (!fits || static_cast<double>(n_entries) > kMaxDensity * static_cast<double>(most)) {
    return Status::Ok();
  }
  TW_ASSIGN_OR_RETURN(const void* packed,
                      context->PackConstant(input, "gemm f32 sparse", SparseBytes(w, n_entries),
                                            true, [&](void* memory) {
                                              context->WidenConstant(input);
                                              PackSparse(w, n_entries, memory);
                                            }));
  *out = PartsOf(packed, Places(w.n, n_entries));
  return Status::Ok();
}

GemmCut CutSparseGemm(const CpuKernels& cpu, int64_t m, int64_t n, int64_t k) {
  return CutFloats(cpu.sparse_gemm->rows, NPanels(n), m, n, k, false);
}

void RunSparseGemm(ThreadPool* pool, const CpuKernels& cpu, const GemmTask& whole,
                   const SparseWeights& weights, const GemmCut& cut) {
  pool->ParallelFor(cut.n_tasks(), [&](int64_t index, int) {
    int64_t first_row = 0;
    cpu.sparse_gemm->run(TaskOf(whole, cut, index, &first_row), weights);
  });
}

}  // namespace topwork
