// The tables of the instruction sets in this build, and which of them this processor can run.
#include <cstdlib>
#include <cstring>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/integer.h"
#include "ports/port.h"
#include "runtime/base/log.h"

namespace topwork {

#define TW_DECLARE_ISA(isa)                             \
  namespace isa {                                       \
  extern const GemmKernels kGemmKernels;                \
  extern const SparseGemmKernels kSparseGemmKernels;    \
  extern const DepthwiseKernels kDepthwiseKernels;      \
  extern const ElementwiseKernels kElementwiseKernels;  \
  extern const IntegerKernels kIntegerKernels;          \
  extern const PositionKernels kPositionKernels;        \
  extern const RecurrentKernels kRecurrentKernels;      \
  extern const ResizeKernels kResizeKernels;            \
  extern const PoolKernels kPoolKernels;                \
  const CpuKernels kCpuKernels = {#isa,                 \
                                  #isa,                 \
                                  &kGemmKernels,        \
                                  &kSparseGemmKernels,  \
                                  &kDepthwiseKernels,   \
                                  &kElementwiseKernels, \
                                  &kIntegerKernels,     \
                                  &kPositionKernels,    \
                                  &kRecurrentKernels,   \
                                  &kResizeKernels,      \
                                  &kPoolKernels};       \
  }

TW_DECLARE_ISA(baseline)
#ifdef TW_HAVE_ISA_AVX2
TW_DECLARE_ISA(avx2)
#endif
#ifdef TW_HAVE_ISA_AVX512
TW_DECLARE_ISA(avx512)
#endif
#ifdef TW_HAVE_ISA_DOTPROD
TW_DECLARE_ISA(dotprod)
#endif
#undef TW_DECLARE_ISA
#ifdef TW_HAVE_ISA_AVXVNNI
namespace avxvnni {
extern const IntegerGemm kIntegerBytes;
}
#endif
#ifdef TW_HAVE_ISA_I8MM
namespace i8mm {
extern const IntegerGemm kIntegerBytes;
}
#endif

namespace {

struct Runnable {
  const CpuKernels* tables[4];
  int n = 0;
  IntegerKernels own_integer;  // of a set that has its own products of bytes alone
  CpuKernels own;

  void Add(const CpuKernels& table) { tables[n++] = &table; }
  void AddBytes(const char* isa, const CpuKernels& lender, const IntegerGemm& bytes) {
    own_integer = *lender.integer;
    own_integer.bytes = &bytes;
    own = lender;
    own.isa = isa;
    own.integer = &own_integer;
    Add(own);
  }

  Runnable() {
    const port::CpuFeatures features = port::DetectCpuFeatures();
    (void)features;  // unused where a build has the baseline alone
    Add(baseline::kCpuKernels);
#ifdef TW_HAVE_ISA_AVX2
    if (features.avx2_fma) Add(avx2::kCpuKernels);
#endif
#ifdef TW_HAVE_ISA_AVXVNNI
    if (features.avx_vnni) AddBytes("avxvnni", avx2::kCpuKernels, avxvnni::kIntegerBytes);
#endif
#ifdef TW_HAVE_ISA_AVX512
    if (features.avx2_fma && features.avx512) Add(avx512::kCpuKernels);
#endif
#ifdef TW_HAVE_ISA_DOTPROD
    if (features.arm_dotprod) Add(dotprod::kCpuKernels);
#endif
#ifdef TW_HAVE_ISA_I8MM
    if (features.arm_i8mm) AddBytes("i8mm", dotprod::kCpuKernels, i8mm::kIntegerBytes);
#endif
  }
};

const Runnable& GetRunnable() {
  static const Runnable runnable;
  return runnable;
}

const CpuKernels& Choose() {
  const Runnable& runnable = GetRunnable();
  const CpuKernels& best = *runnable.tables[runnable.n - 1];
  const char* wanted = std::getenv("TOPWORK_ISA");
  if (wanted == nullptr || *wanted == '\0') return best;
  for (int i = 0; i < runnable.n; ++i) {
    if (std::strcmp(runnable.tables[i]->isa, wanted) == 0) return *runnable.tables[i];
  }
  Log(LogLevel::kWarning,
      "TOPWORK_ISA=%s is not an instruction set this build and processor have; "
      "using %s",
      wanted, best.isa);
  return best;
}

}  // namespace

const CpuKernels& BestCpuKernels() {
  static const CpuKernels& best = Choose();
  return best;
}

int RunnableCpuKernels(const CpuKernels* const** out_tables) {
  const Runnable& runnable = GetRunnable();
  *out_tables = runnable.tables;
  return runnable.n;
}

}  // namespace topwork
