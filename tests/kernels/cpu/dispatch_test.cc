// Which instruction sets there are, and which one is chosen.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/integer.h"
#include "kernels/train/train_kernels.h"
#include "ports/port.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/skip.h"

namespace topwork {
namespace test {

TEST_CASE("instruction sets: the baseline is always there, the best is runnable", "[ops]") {
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  REQUIRE(n >= 1);
  bool has_baseline = false, best_is_runnable = false;
  for (int i = 0; i < n; ++i) {
    has_baseline = has_baseline || std::string(tables[i]->isa) == "baseline";
    CHECK(tables[i]->gemm != nullptr);
    CHECK(tables[i]->depthwise != nullptr);
    CHECK(tables[i]->elementwise != nullptr);
    best_is_runnable = best_is_runnable || tables[i] == &BestCpuKernels();
  }
  CHECK(has_baseline);
  CHECK(best_is_runnable);
  CHECK(&BestCpuKernels() == &BestCpuKernels());
}

TEST_CASE("instruction sets: what the build has and the processor reports is offered", "[ops]") {
  [[maybe_unused]] const port::CpuFeatures features = port::DetectCpuFeatures();
  std::vector<std::string> expected;
#define TW_FULL_ISA(isa, runs) \
  if (runs) expected.push_back(#isa);
#define TW_BYTES_ISA(isa, base, runs) TW_FULL_ISA(isa, runs)
#define TW_EIGEN_ISA(isa, base, runs) TW_FULL_ISA(isa, runs)
#include "isa_list.inc"
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  std::vector<std::string> offered;
  for (int i = 0; i < n; ++i) offered.push_back(tables[i]->isa);
  CHECK(offered == expected);
}

TEST_CASE("instruction sets: of the 16-bit products beside a set the last is used", "[ops]") {
  [[maybe_unused]] const port::CpuFeatures features = port::DetectCpuFeatures();
  std::map<std::string, std::string> expected;
#define TW_HALF_ISA(isa, base, runs) \
  if (runs) expected[#base] = "gemm half " #isa;
#include "isa_list.inc"
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    const GemmKernels* half = HalfProductsOf(*cpu);
    CHECK((half != nullptr ? half->tag : "") == expected[cpu->base_isa]);
  }
}

TEST_CASE("instruction sets: some borrow all loops but those they are for", "[ops]") {
  const std::vector<const CpuKernels*> tables = TestedCpuKernels();
  for (const CpuKernels* cpu : tables) {
    INFO(cpu->isa);
    CHECK(TrainKernelsFor(*cpu).isa == std::string(cpu->base_isa));
    for (const CpuKernels* base : tables) {
      if (cpu->base_isa != std::string(base->isa)) continue;
      CHECK(base->base_isa == std::string(base->isa));
      const bool is_eigen = cpu->isa == std::string("eigen");
      CHECK((cpu->gemm == base->gemm) != is_eigen);
      CHECK((cpu->depthwise == base->depthwise) != is_eigen);
      CHECK(cpu->elementwise == base->elementwise);
      CHECK(cpu->recurrent == base->recurrent);
      CHECK(cpu->integer->int16 == base->integer->int16);
      CHECK(cpu->integer->narrow == base->integer->narrow);
      CHECK((cpu->integer->bytes == base->integer->bytes) != HasBytesOnly(*cpu));
    }
  }
}

// Where the processor has tiles of ours, they are the better choice; elsewhere Eigen's kernels are.
TEST_CASE("instruction sets: eigen is the least beside tiles of ours, else the best",
          "[ops][eigen]") {
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  int eigen = -1, baseline = -1;
  for (int i = 0; i < n; ++i) {
    if (tables[i]->isa == std::string("eigen")) eigen = i;
    if (tables[i]->isa == std::string("baseline")) baseline = i;
  }
  if (eigen < 0) TW_SKIP("this build has no set of that name (TOPWORK_EIGEN)");
#if defined(__x86_64__) || defined(__ARM_NEON)
  CHECK(eigen < baseline);
#else
  CHECK(eigen > baseline);
#endif
}

}  // namespace test
}  // namespace topwork
