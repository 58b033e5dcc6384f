// DeviceCost: the estimates' arithmetic.
#include "runtime/plan/device_cost.h"

#include <algorithm>

namespace topwork {

Rates DeviceCost::Cpu(int n_threads) const {
  const double n = std::max(1.0, std::min(static_cast<double>(n_threads), n_cpus));
  const double share = n_cpus > 1.0 ? (n - 1.0) / (n_cpus - 1.0) : 0.0;
  const auto between = [&](double one, double all) { return one + share * (all - one); };
  return {between(cpu_one.start_ns, cpu_all.start_ns),
          between(cpu_one.flops_per_ns, cpu_all.flops_per_ns),
          between(cpu_one.bytes_per_ns, cpu_all.bytes_per_ns)};
}

double NanosOf(const Rates& rates, int n_starts, double flops, double bytes) {
  return static_cast<double>(n_starts) * rates.start_ns +
         std::max(flops / rates.flops_per_ns, bytes / rates.bytes_per_ns);
}

}  // namespace topwork
