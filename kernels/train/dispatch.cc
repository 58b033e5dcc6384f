// Picks the training kernels of an instruction set by its name.
#include <cstring>

#include "kernels/train/backward_kernels.h"
#include "kernels/train/train_kernels.h"

namespace topwork {

#define TW_DECLARE_ISA(isa)                      \
  namespace isa {                                \
  extern const BackwardKernels kBackwardKernels; \
  extern const TrainKernels kTrainKernels;       \
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

namespace {

struct Tables {
  const TrainKernels* train;
  const BackwardKernels* backward;
};

// The baseline where no instruction set has that name.
Tables TablesFor(const char* isa) {
  constexpr Tables kAll[] = {
#ifdef TW_HAVE_ISA_AVX2
      {&avx2::kTrainKernels, &avx2::kBackwardKernels},
#endif
#ifdef TW_HAVE_ISA_AVX512
      {&avx512::kTrainKernels, &avx512::kBackwardKernels},
#endif
#ifdef TW_HAVE_ISA_DOTPROD
      {&dotprod::kTrainKernels, &dotprod::kBackwardKernels},
#endif
      {&baseline::kTrainKernels, &baseline::kBackwardKernels}};
  for (const Tables& tables : kAll) {
    if (std::strcmp(tables.train->isa, isa) == 0) return tables;
  }
  return {&baseline::kTrainKernels, &baseline::kBackwardKernels};
}

}  // namespace

const TrainKernels& TrainKernelsFor(const char* isa) { return *TablesFor(isa).train; }

const TrainKernels& TrainKernelsFor(const CpuKernels& cpu) { return TrainKernelsFor(cpu.lender); }

const BackwardKernels& BackwardKernelsFor(const CpuKernels& cpu) {
  return *TablesFor(cpu.lender).backward;
}

}  // namespace topwork
