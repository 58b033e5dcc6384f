// Which instruction sets there are, and which one is chosen.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/integer.h"
#include "kernels/train/train_kernels.h"
#include "ports/port.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace test {

TEST_CASE("instruction sets: the baseline is always there, the best is runnable", "[ops]") {
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  REQUIRE(n >= 1);
  CHECK(std::string(tables[0]->isa) == "baseline");
  bool best_is_runnable = false;
  for (int i = 0; i < n; ++i) {
    CHECK(tables[i]->gemm != nullptr);
    CHECK(tables[i]->depthwise != nullptr);
    CHECK(tables[i]->elementwise != nullptr);
    best_is_runnable = best_is_runnable || tables[i] == &BestCpuKernels();
  }
  CHECK(best_is_runnable);
  CHECK(&BestCpuKernels() == &BestCpuKernels());
}

TEST_CASE("instruction sets: only what the processor reports is offered", "[ops]") {
  const port::CpuFeatures features = port::DetectCpuFeatures();
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  for (int i = 0; i < n; ++i) {
    const std::string isa = tables[i]->isa;
    INFO(isa);
    CHECK((isa == "baseline" || (isa == "avx2" && features.avx2_fma) ||
           (isa == "avxvnni" && features.avx_vnni) || (isa == "avx512" && features.avx512) ||
           (isa == "dotprod" && features.arm_dotprod) || (isa == "i8mm" && features.arm_i8mm)));
  }
}

TEST_CASE("instruction sets: those of byte products borrow everything else", "[ops]") {
  const std::vector<const CpuKernels*> tables = TestedCpuKernels();
  for (const CpuKernels* cpu : tables) {
    INFO(cpu->isa);
    CHECK(TrainKernelsFor(*cpu).isa == std::string(cpu->lender));
    for (const CpuKernels* lender : tables) {
      if (cpu->lender != std::string(lender->isa)) continue;
      CHECK(lender->lender == std::string(lender->isa));
      CHECK(cpu->gemm == lender->gemm);
      CHECK(cpu->recurrent == lender->recurrent);
      CHECK(cpu->integer->halves == lender->integer->halves);
      CHECK((cpu->integer->bytes == lender->integer->bytes) != HasBytesOnly(*cpu));
    }
  }
}

}  // namespace test
}  // namespace topwork
