// Picks the training kernels of an instruction set by its name.
#include <cstring>

#include "kernels/train/train_kernels.h"

namespace topwork {

#define TW_DECLARE_ISA(isa)                \
  namespace isa {                          \
  extern const TrainKernels kTrainKernels; \
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

const TrainKernels& TrainKernelsFor(const char* isa) {
  const TrainKernels* const tables[] = {
#ifdef TW_HAVE_ISA_AVX2
      &avx2::kTrainKernels,
#endif
#ifdef TW_HAVE_ISA_AVX512
      &avx512::kTrainKernels,
#endif
#ifdef TW_HAVE_ISA_DOTPROD
      &dotprod::kTrainKernels,
#endif
      &baseline::kTrainKernels};
  for (const TrainKernels* table : tables) {
    if (std::strcmp(table->isa, isa) == 0) return *table;
  }
  return baseline::kTrainKernels;
}

const TrainKernels& TrainKernelsFor(const CpuKernels& cpu) { return TrainKernelsFor(cpu.isa); }

}  // namespace topwork
