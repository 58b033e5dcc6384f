// Which instruction sets there are, and which one is chosen.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
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

TEST_CASE("instruction sets: what the build has and the processor reports is offered", "[ops]") {
  [[maybe_unused]] const port::CpuFeatures features = port::DetectCpuFeatures();
  std::vector<std::string> expected;
#define TW_FULL_ISA(isa, runs) \
  if (runs) expected.push_back(#isa);
#define TW_BYTES_ISA(isa, base, runs) TW_FULL_ISA(isa, runs)
#define TW_HALF_ISA(isa, base, runs)
#include "isa_list.inc"
#undef TW_HALF_ISA
#undef TW_BYTES_ISA
#undef TW_FULL_ISA
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  std::vector<std::string> offered;
  for (int i = 0; i < n; ++i) offered.push_back(tables[i]->isa);
  CHECK(offered == expected);
}

TEST_CASE("instruction sets: those of byte products borrow everything else", "[ops]") {
  const std::vector<const CpuKernels*> tables = TestedCpuKernels();
  for (const CpuKernels* cpu : tables) {
    INFO(cpu->isa);
    CHECK(TrainKernelsFor(*cpu).isa == std::string(cpu->base_isa));
    for (const CpuKernels* base : tables) {
      if (cpu->base_isa != std::string(base->isa)) continue;
      CHECK(base->base_isa == std::string(base->isa));
      CHECK(cpu->gemm == base->gemm);
      CHECK(cpu->recurrent == base->recurrent);
      CHECK(cpu->integer->int16 == base->integer->int16);
      CHECK((cpu->integer->bytes == base->integer->bytes) != HasBytesOnly(*cpu));
    }
  }
}

}  // namespace test
}  // namespace topwork
