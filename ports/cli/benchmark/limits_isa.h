// Loops that ask a processor for all that it has; compiled once for each instruction set.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_LIMITS_ISA_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_LIMITS_ISA_H_

#include <cstddef>
#include <cstdint>

namespace topwork {
namespace cli {

struct LimitLoops {
  const char* isa;
  // Chains of float multiply-adds; returns how many operations (2 for each multiply-add) were done.
  double (*multiply_add)(int64_t n_rounds);
  // Chains of byte products; null where the instruction set has none worth its name.
  double (*byte_products)(int64_t n_rounds);
  // y[i] = a * x[i] + y[i] over n floats, a multiple of 64; returns the bytes read and written.
  double (*stream)(const float* x, float* y, size_t n);
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_LIMITS_ISA_H_
