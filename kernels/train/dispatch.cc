// Picks the training kernels of an instruction set by its name.
#include <cstring>

#include "kernels/train/backward_kernels.h"
#include "kernels/train/train_kernels.h"

namespace topwork {

// Sets that borrow most loops borrow those of training, too.
#define TW_FULL_ISA(name, runs)                  \
  namespace name {                               \
  extern const BackwardKernels kBackwardKernels; \
  extern const TrainKernels kTrainKernels;       \
  }
#include "isa_list.inc"

namespace {

struct Tables {
  const TrainKernels* train;
  const BackwardKernels* backward;
};

// The baseline where no instruction set has that name.
Tables TablesFor(const char* isa) {
  constexpr Tables kAll[] = {
#define TW_FULL_ISA(name, runs) {&name::kTrainKernels, &name::kBackwardKernels},
#include "isa_list.inc"
  };
  for (const Tables& tables : kAll) {
    if (kHasOneIsa) break;
    if (std::strcmp(tables.train->isa, isa) == 0) return tables;
  }
  return {&baseline::kTrainKernels, &baseline::kBackwardKernels};
}

}  // namespace

const TrainKernels& TrainKernelsFor(const char* isa) { return *TablesFor(isa).train; }

const TrainKernels& TrainKernelsFor(const CpuKernels& cpu) { return TrainKernelsFor(cpu.base_isa); }

const BackwardKernels& BackwardKernelsFor(const CpuKernels& cpu) {
  return *TablesFor(cpu.base_isa).backward;
}

}  // namespace topwork
