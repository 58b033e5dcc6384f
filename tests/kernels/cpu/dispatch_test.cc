// Which instruction sets there are, and which one is chosen.
#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "kernels/cpu/cpu_kernels.h"
#include "ports/port.h"

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
    if (std::strcmp(tables[i]->isa, "avx2") == 0) CHECK(features.avx2_fma);
    if (std::strcmp(tables[i]->isa, "avx512") == 0) CHECK(features.avx512);
    if (std::strcmp(tables[i]->isa, "dotprod") == 0) CHECK(features.arm_dotprod);
  }
}

}  // namespace test
}  // namespace topwork
