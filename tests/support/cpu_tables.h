// TestedCpuKernels: the tables of RunnableCpuKernels, least first, and "avxvnni_evex" where tests
// have it and the processor has AVX-512: the products of bytes of "avxvnni", made of the same file
// with the same flags, but for the encoding of one instruction (vpdpbusd). So a processor without
// AVX-VNNI tests all of "avxvnni" but those bytes. Libraries do not contain it.
//
// With TOPWORK_TEST_SETS=best the best one alone: for a sanitizer that looks at threads, which all
// share work in the same way.
#ifndef TOPWORK_TESTS_SUPPORT_CPU_TABLES_H_
#define TOPWORK_TESTS_SUPPORT_CPU_TABLES_H_

#include <vector>

#include "kernels/contract/cpu_kernels.h"

namespace topwork {
namespace test {

std::vector<const CpuKernels*> TestedCpuKernels();

// Whether only the products of bytes are the table's own.
bool HasBytesOnly(const CpuKernels& cpu);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_CPU_TABLES_H_
