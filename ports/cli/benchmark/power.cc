// Runs of their own around an EnergyMeter.
#include "ports/cli/benchmark/power.h"

#include "ports/cli/power/energy.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

constexpr double kIdleSeconds = 1.0;

}  // namespace

Json MeasurePower(double seconds, tw::Session* session) {
  const std::vector<PowerSensor> sensors = FindPowerSensors("");
  std::string reason;
  const PowerSensor* const sensor = ChoosePowerSensor(sensors, &reason);
  if (sensor == nullptr) return NoEnergyJson(reason);
  EnergyMeter meter(*sensor);
  meter.MeasureIdle(kIdleSeconds);
  meter.Start();
  const int64_t start = port::NowNanos();
  double n_runs = 0.0;
  while (port::SecondsSince(start) < seconds) {
    Check(session->Run());
    n_runs += 1.0;
  }
  return EnergyJson(meter, meter.Stop(), n_runs);
}

}  // namespace cli
}  // namespace topwork
