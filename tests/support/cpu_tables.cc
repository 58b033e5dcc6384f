// Instruction sets as tests meet them.
#include "tests/support/cpu_tables.h"

#include <cstdlib>
#include <cstring>

#include "kernels/cpu/integer.h"
#include "ports/port.h"

namespace topwork {

#if defined(TW_HAVE_AVXVNNI_EVEX)
namespace avxvnni_evex {
extern const IntegerGemm kIntegerBytes;
}
#endif

namespace test {
namespace {

struct Twin {
  IntegerKernels integer;
  CpuKernels cpu;
  bool complete = false;

  explicit Twin(const std::vector<const CpuKernels*>& tables) {
#if defined(TW_HAVE_AVXVNNI_EVEX)
    if (!port::DetectCpuFeatures().avx512) return;
    for (const CpuKernels* table : tables) {
      if (std::strcmp(table->isa, "avx2") != 0) continue;
      integer = *table->integer;
      integer.bytes = &avxvnni_evex::kIntegerBytes;
      cpu = *table;
      cpu.isa = "avxvnni_evex";
      cpu.integer = &integer;
      complete = true;
    }
#else
    (void)tables;
#endif
  }
};

}  // namespace

std::vector<const CpuKernels*> TestedCpuKernels() {
  const char* sets = std::getenv("TOPWORK_TEST_SETS");
  if (sets != nullptr && std::strcmp(sets, "best") == 0) return {&BestCpuKernels()};
  const CpuKernels* const* runnable = nullptr;
  const int n = RunnableCpuKernels(&runnable);
  std::vector<const CpuKernels*> tables(runnable, runnable + n);
  static const Twin twin(tables);
  if (twin.complete) tables.push_back(&twin.cpu);
  return tables;
}

bool HasBytesOnly(const CpuKernels& cpu) {
  return std::strcmp(cpu.isa, cpu.base_isa) != 0 && std::strcmp(cpu.isa, "eigen") != 0;
}

}  // namespace test
}  // namespace topwork
