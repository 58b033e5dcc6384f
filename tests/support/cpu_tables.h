// TestedCpuKernels: the tables of RunnableCpuKernels, least first, and twins of products of bytes where
// tests have them and the processor has AVX-512. Libraries do not contain them.
// "avxvnni_evex" is made of the file of "avxvnni" with the same flags, but for the encoding of one
// instruction (vpdpbusd). So a processor without AVX-VNNI tests all of "avxvnni" but those bytes.
// "amx_emulated" is made of the file of "amx", with plain loops for its tiles (emulated_tiles.h); a
// processor with AMX does without. So is TwinOfHalfProducts of that of "amxbf16", where the processor
// has AVX-512 BF16.
//
// With TOPWORK_TEST_SETS=best the best one alone: for a sanitizer that looks at threads, which all
// share work in the same way.
#ifndef TOPWORK_TESTS_SUPPORT_CPU_TABLES_H_
#define TOPWORK_TESTS_SUPPORT_CPU_TABLES_H_

#include <catch2/catch.hpp>
#include <vector>

#include "kernels/contract/cpu_kernels.h"

namespace topwork {
namespace test {

std::vector<const CpuKernels*> TestedCpuKernels();

// Calls f for each table of RunnableCpuKernels, without twins.
template <typename F>
void ForEachRunnable(F f) {
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  REQUIRE(n >= 1);
  for (int i = 0; i < n; ++i) {
    INFO(tables[i]->isa);
    f(*tables[i]);
  }
}

// Products of bfloat16 numbers, or null.
const GemmKernels* TwinOfHalfProducts();

// Whether only the products of bytes are the table's own.
bool HasBytesOnly(const CpuKernels& cpu);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_CPU_TABLES_H_
