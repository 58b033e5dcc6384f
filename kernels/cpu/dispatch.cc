// The tables of the instruction sets in this build, and which of them this processor can run.
//
// The list of the sets is isa_list.inc, which toolchains/library.cmake writes, the least first:
// TW_FULL_ISA(name, runs) has all loops; TW_BYTES_ISA(name, base, runs) is a few instructions for
// products of bytes and takes all other loops from its base; TW_EIGEN_ISA(name, base, runs) has
// Eigen's float products and depthwise rows, and its base's other loops; TW_HALF_ISA(name, base,
// runs) is products of 16-bit numbers, which tables of that base can use. `runs` says whether this
// processor has the set, by its `features`.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/elementwise_quant.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/integer.h"
#include "ports/port.h"
#include "runtime/base/log.h"

namespace topwork {

#define TW_FULL_ISA(name, runs)                         \
  namespace name {                                      \
  extern const GemmKernels kGemmKernels;                \
  extern const SparseGemmKernels kSparseGemmKernels;    \
  extern const DepthwiseKernels kDepthwiseKernels;      \
  extern const ElementwiseKernels kElementwiseKernels;  \
  extern const IntegerKernels kIntegerKernels;          \
  extern const PositionKernels kPositionKernels;        \
  extern const RecurrentKernels kRecurrentKernels;      \
  extern const ResizeKernels kResizeKernels;            \
  extern const PoolKernels kPoolKernels;                \
  extern const WinogradKernels kWinogradKernels;        \
  const CpuKernels kCpuKernels = {#name,                \
                                  #name,                \
                                  &kGemmKernels,        \
                                  &kSparseGemmKernels,  \
                                  &kDepthwiseKernels,   \
                                  &kElementwiseKernels, \
                                  &kIntegerKernels,     \
                                  &kPositionKernels,    \
                                  &kRecurrentKernels,   \
                                  &kResizeKernels,      \
                                  &kPoolKernels,        \
                                  &kWinogradKernels};   \
  }
#define TW_BYTES_ISA(name, base, runs)    \
  namespace name {                        \
  extern const IntegerGemm kIntegerBytes; \
  }
#define TW_HALF_ISA(name, base, runs)        \
  namespace name {                           \
  extern const GemmKernels kHalfGemmKernels; \
  }
#define TW_EIGEN_ISA(name, base, runs)             \
  namespace name {                                 \
  extern const GemmKernels kGemmKernels;           \
  extern const DepthwiseKernels kDepthwiseKernels; \
  }
#include "isa_list.inc"
#undef TW_EIGEN_ISA
#undef TW_HALF_ISA
#undef TW_BYTES_ISA
#undef TW_FULL_ISA

bool looks_up_halves = false;

namespace {

[[maybe_unused]] CpuKernels WithEigen(const char* isa, const CpuKernels& base,
                                      const GemmKernels& gemm, const DepthwiseKernels& depthwise) {
  CpuKernels cpu = base;
  cpu.isa = isa;
  cpu.gemm = &gemm;
  cpu.depthwise = &depthwise;
  return cpu;
}

// The table of a set that has its own products of bytes alone.
struct BytesTable {
  IntegerKernels integer;
  CpuKernels cpu;

  BytesTable(const char* isa, const CpuKernels& base, const IntegerGemm& bytes)
      : integer(*base.integer), cpu(base) {
    integer.bytes = &bytes;
    cpu.isa = isa;
    cpu.integer = &integer;
  }
};

struct Runnable {
  std::vector<const CpuKernels*> tables;
  std::vector<std::unique_ptr<BytesTable>> bytes_tables;
  struct HalfProducts {
    const char* base_isa;
    const GemmKernels* kernels;
  };
  std::vector<HalfProducts> half_products;
  CpuKernels eigen_table;

  Runnable() {
    const port::CpuFeatures features = port::DetectCpuFeatures();
    looks_up_halves = features.avx512_vbmi;
#define TW_FULL_ISA(name, runs) \
  if (runs) tables.push_back(&name::kCpuKernels);
#define TW_BYTES_ISA(name, base, runs) \
  if (runs) AddBytes(#name, base::kCpuKernels, name::kIntegerBytes);
#define TW_HALF_ISA(name, base, runs) \
  if (runs) half_products.push_back({#base, &name::kHalfGemmKernels});
#define TW_EIGEN_ISA(name, base, runs)                                                    \
  if (runs) {                                                                             \
    eigen_table =                                                                         \
        WithEigen(#name, base::kCpuKernels, name::kGemmKernels, name::kDepthwiseKernels); \
    tables.push_back(&eigen_table);                                                       \
  }
#include "isa_list.inc"
#undef TW_EIGEN_ISA
#undef TW_HALF_ISA
#undef TW_BYTES_ISA
#undef TW_FULL_ISA
  }

  void AddBytes(const char* isa, const CpuKernels& base, const IntegerGemm& bytes) {
    bytes_tables.push_back(std::make_unique<BytesTable>(isa, base, bytes));
    tables.push_back(&bytes_tables.back()->cpu);
  }
};

const Runnable& GetRunnable() {
  static const Runnable runnable;
  return runnable;
}

const CpuKernels& Choose() {
  const Runnable& runnable = GetRunnable();
  const CpuKernels& best = *runnable.tables.back();
  const char* wanted = std::getenv("TOPWORK_ISA");
  if (wanted == nullptr || *wanted == '\0') return best;
  for (const CpuKernels* table : runnable.tables) {
    if (std::strcmp(table->isa, wanted) == 0) return *table;
  }
  Log(LogLevel::kWarning,
      "TOPWORK_ISA={} is not an instruction set this build and processor have; using {}", wanted,
      best.isa);
  return best;
}

}  // namespace

const CpuKernels& BestCpuKernels() {
  static const CpuKernels& best = Choose();
  return best;
}

const GemmKernels* HalfProductsOf(const CpuKernels& cpu) {
  const GemmKernels* best = nullptr;
  for (const Runnable::HalfProducts& half : GetRunnable().half_products) {
    if (std::strcmp(half.base_isa, cpu.base_isa) == 0) best = half.kernels;
  }
  return best;
}

int RunnableCpuKernels(const CpuKernels* const** out_tables) {
  const Runnable& runnable = GetRunnable();
  *out_tables = runnable.tables.data();
  return static_cast<int>(runnable.tables.size());
}

}  // namespace topwork
