// Runs of their own around an EnergyMeter.
#include "ports/cli/benchmark/power.h"

#include "ports/cli/power/energy.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

constexpr double kIdleSeconds = 1.0;

}  // namespace

Json MeasurePower(const std::string& root, double seconds, const char* unit,
                  const std::function<double()>& work) {
  const std::vector<PowerSensor> sensors = FindPowerSensors(root);
  std::string reason;
  const PowerSensor* const sensor = ChoosePowerSensor(sensors, &reason);
  if (sensor == nullptr) return NoEnergyJson(reason);
  EnergyMeter meter(*sensor);
  meter.MeasureIdle(kIdleSeconds);
  meter.Start();
  const int64_t start = port::NowNanos();
  double n = 0.0;
  while (port::SecondsSince(start) < seconds) n += work();
  return EnergyJson(meter, meter.Stop(), n, unit);
}

}  // namespace cli
}  // namespace topwork
