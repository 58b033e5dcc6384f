// What a run or a training step costs in energy.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_POWER_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_POWER_H_

#include <functional>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

constexpr double kPowerSeconds = 2.0;

// Waits for a second, then calls `work` again and again for at least `seconds`, and reads the machine's sensor
// of power meanwhile: see EnergyJson. `work` returns how many units ("run" or "step") it did. `root` stands
// before the paths of the machine's files: "" but in tests. {"reason": ...} where there is no such sensor;
// nothing is done then.
Json MeasurePower(const std::string& root, double seconds, const char* unit,
                  const std::function<double()>& work);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_POWER_H_
