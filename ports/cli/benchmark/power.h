// What a run costs in energy.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_POWER_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_POWER_H_

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// Waits for a second, then runs the session for at least `seconds`, and reads the machine's sensor of
// power meanwhile: see EnergyJson. {"reason": ...} where there is no such sensor; nothing is run then.
Json MeasurePower(double seconds, tw::Session* session);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_POWER_H_
