// The machine that measures: what it is, how fast it runs now, and how warm it is.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_MACHINE_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_MACHINE_H_

#include <string>
#include <vector>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// Clocks and temperatures at one moment; what a system does not tell is left out.
struct MachineState {
  std::vector<double> mhz;  // of each processor, cpufreq's scaling_cur_freq
  double max_mhz = 0.0;     // the highest that a processor is allowed now, scaling_max_freq
  double rated_mhz = 0.0;   // the highest that a processor can, cpuinfo_max_freq
  std::vector<std::pair<std::string, double>> celsius;  // of each thermal zone
};

// From the files below `root` ("": the system's).
MachineState ReadMachineState(const std::string& root);
// mhz, max_mhz, rated_mhz, celsius; null where nothing is known.
Json MachineStateJson(const MachineState& state);

// The processor's name, its governor, the kernel, the memory; from the files below `root`.
Json MachineJson(const std::string& root);

// What slowed the runs down, in a sentence; "" when nothing did as far as can be seen: the latency
// of the last third of at least 30 samples is more than 5 % above that of the first third, with 99 %
// confidence; or the clocks fell by a tenth, or may not rise to nine tenths of what they can.
std::string Throttling(const std::vector<double>& samples, const MachineState& before,
                       const MachineState& after);
// The latency of the last third of the samples over that of the first; null for less than 30.
Json DriftJson(const std::vector<double>& samples);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_MACHINE_H_
