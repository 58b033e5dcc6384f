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
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/elementwise_quant.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/integer.h"
#include "ports/port.h"
#include "runtime/base/log.h"

namespace topwork {

// The place of each set in the list.
enum SetIndex : int {
#define TW_FULL_ISA(name, runs) kSet_##name,
#define TW_BYTES_ISA(name, base, runs) kSet_##name,
#define TW_EIGEN_ISA(name, base, runs) kSet_##name,
#include "isa_list.inc"
};

template <typename Kernels>
struct Family {};

#define TW_TABLE(Kernels)          \
  extern const Kernels k##Kernels; \
  inline const Kernels* TableOf(Family<Kernels>) { return &k##Kernels; }
#define TW_FULL_ISA(name, runs) \
  namespace name {              \
  TW_TABLE(GemmKernels)         \
  TW_TABLE(SparseGemmKernels)   \
  TW_TABLE(DepthwiseKernels)    \
  TW_TABLE(ElementwiseKernels)  \
  TW_TABLE(IntegerKernels)      \
  TW_TABLE(PositionKernels)     \
  TW_TABLE(RecurrentKernels)    \
  TW_TABLE(ResizeKernels)       \
  TW_TABLE(PoolKernels)         \
  TW_TABLE(FourierKernels)      \
  TW_TABLE(WinogradKernels)     \
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
#undef TW_TABLE

bool looks_up_halves = false;

namespace {

// That of the set, or of its base where the set lacks the family.
template <typename Kernels>
const Kernels* FullTable(int set) {
  if (kHasOneIsa) return baseline::TableOf(Family<Kernels>());
  switch (set) {
#define TW_FULL_ISA(name, runs) \
  case kSet_##name:             \
    return name::TableOf(Family<Kernels>());
#define TW_BYTES_ISA(name, base, runs) \
  case kSet_##name:                    \
    return base::TableOf(Family<Kernels>());
#define TW_EIGEN_ISA(name, base, runs) TW_BYTES_ISA(name, base, runs)
#include "isa_list.inc"
  }
  return nullptr;
}

[[maybe_unused]] IntegerKernels WithBytes(const IntegerKernels& base, const IntegerGemm& bytes) {
  IntegerKernels kernels = base;
  kernels.bytes = &bytes;
  return kernels;
}

}  // namespace

#define TW_LOOPS(Kernels)                    \
  template <>                                \
  const Kernels* LoopsOf<Kernels>(int set) { \
    return FullTable<Kernels>(set);          \
  }
TW_LOOPS(SparseGemmKernels)
TW_LOOPS(ElementwiseKernels)
TW_LOOPS(PositionKernels)
TW_LOOPS(RecurrentKernels)
TW_LOOPS(ResizeKernels)
TW_LOOPS(PoolKernels)
TW_LOOPS(FourierKernels)
TW_LOOPS(WinogradKernels)
#undef TW_LOOPS

template <>
const GemmKernels* LoopsOf<GemmKernels>(int set) {
#define TW_EIGEN_ISA(name, base, runs) \
  if (set == kSet_##name) return &name::kGemmKernels;
#include "isa_list.inc"
  return FullTable<GemmKernels>(set);
}

template <>
const DepthwiseKernels* LoopsOf<DepthwiseKernels>(int set) {
#define TW_EIGEN_ISA(name, base, runs) \
  if (set == kSet_##name) return &name::kDepthwiseKernels;
#include "isa_list.inc"
  return FullTable<DepthwiseKernels>(set);
}

// Sets that have their own products of bytes take the rest from their base.
template <>
const IntegerKernels* LoopsOf<IntegerKernels>(int set) {
#define TW_BYTES_ISA(name, base, runs)                                            \
  if (set == kSet_##name) {                                                       \
    static const IntegerKernels kernels =                                         \
        WithBytes(*base::TableOf(Family<IntegerKernels>()), name::kIntegerBytes); \
    return &kernels;                                                              \
  }
#include "isa_list.inc"
  return FullTable<IntegerKernels>(set);
}

namespace {

struct Runnable {
  std::vector<CpuKernels> all;
  std::vector<const CpuKernels*> tables;
  struct HalfProducts {
    const char* base_isa;
    const GemmKernels* kernels;
  };
  std::vector<HalfProducts> half_products;

  Runnable() {
    const port::CpuFeatures features = port::DetectCpuFeatures();
    looks_up_halves = features.avx512_vbmi;
#define TW_FULL_ISA(name, runs) \
  if (runs) Add(#name, #name, kSet_##name);
#define TW_BYTES_ISA(name, base, runs) \
  if (runs) Add(#name, #base, kSet_##name);
#define TW_HALF_ISA(name, base, runs) \
  if (runs) half_products.push_back({#base, &name::kHalfGemmKernels});
#define TW_EIGEN_ISA(name, base, runs) TW_BYTES_ISA(name, base, runs)
#include "isa_list.inc"
    for (const CpuKernels& table : all) tables.push_back(&table);
  }

  void Add(const char* isa, const char* base_isa, int set) { all.emplace_back(isa, base_isa, set); }
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
  if (kHasOneIsa) return nullptr;
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
