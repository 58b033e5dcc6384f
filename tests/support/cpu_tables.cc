// Instruction sets as tests meet them.
#include "tests/support/cpu_tables.h"

#include <cstdlib>
#include <cstring>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/integer.h"
#include "ports/port.h"

namespace topwork {

#if defined(TW_HAVE_AVXVNNI_EVEX)
namespace avxvnni_evex {
extern const IntegerGemm kIntegerBytes;
}
#endif
#if defined(TW_HAVE_AMX_EMULATED)
namespace amx_emulated {
extern const IntegerGemm kIntegerBytes;
}
#endif

#if defined(TW_HAVE_AMXBF16_EMULATED)
namespace amxbf16_emulated {
extern const GemmKernels kHalfGemmKernels;
}
#endif

namespace test {
namespace {

// The table `base` with other products of bytes.
struct Twin {
  IntegerKernels integer;
  CpuKernels cpu;

  Twin(const char* isa, const CpuKernels& base, const IntegerGemm& bytes)
      : integer(*base.integer), cpu(base) {
    integer.bytes = &bytes;
    cpu.isa = isa;
    cpu.integer = &integer;
  }
};

// Those that this processor runs.
std::vector<const CpuKernels*> MakeTwins(const std::vector<const CpuKernels*>& tables) {
  std::vector<const CpuKernels*> twins;
  [[maybe_unused]] const port::CpuFeatures features = port::DetectCpuFeatures();
  for ([[maybe_unused]] const CpuKernels* table : tables) {
#if defined(TW_HAVE_AVXVNNI_EVEX)
    if (features.avx512 && std::strcmp(table->isa, "avx2") == 0) {
      static const Twin twin("avxvnni_evex", *table, avxvnni_evex::kIntegerBytes);
      twins.push_back(&twin.cpu);
    }
#endif
#if defined(TW_HAVE_AMX_EMULATED)
    if (!(features.amx_int8 && port::AskForTiles()) && std::strcmp(table->isa, "avx512") == 0) {
      static const Twin twin("amx_emulated", *table, amx_emulated::kIntegerBytes);
      twins.push_back(&twin.cpu);
    }
#endif
  }
  return twins;
}

}  // namespace

std::vector<const CpuKernels*> TestedCpuKernels() {
  const char* sets = std::getenv("TOPWORK_TEST_SETS");
  if (sets != nullptr && std::strcmp(sets, "best") == 0) return {&BestCpuKernels()};
  const CpuKernels* const* runnable = nullptr;
  const int n = RunnableCpuKernels(&runnable);
  std::vector<const CpuKernels*> tables(runnable, runnable + n);
  static const std::vector<const CpuKernels*> twins = MakeTwins(tables);
  tables.insert(tables.end(), twins.begin(), twins.end());
  return tables;
}

const GemmKernels* TwinOfHalfProducts() {
#if defined(TW_HAVE_AMXBF16_EMULATED)
  const port::CpuFeatures features = port::DetectCpuFeatures();
  if (features.avx512_bf16 && !(features.amx_bf16 && port::AskForTiles())) {
    return &amxbf16_emulated::kHalfGemmKernels;
  }
#endif
  return nullptr;
}

bool HasBytesOnly(const CpuKernels& cpu) {
  return std::strcmp(cpu.isa, cpu.base_isa) != 0 && std::strcmp(cpu.isa, "eigen") != 0;
}

}  // namespace test
}  // namespace topwork
