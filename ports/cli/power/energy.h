// EnergyMeter: the energy of a stretch of work, what the machine draws anyway subtracted.
#ifndef TOPWORK_PORTS_CLI_POWER_ENERGY_H_
#define TOPWORK_PORTS_CLI_POWER_ENERGY_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "ports/cli/common.h"
#include "ports/cli/power/sensors.h"

namespace topwork {
namespace cli {

// Adds up what a sensor says over time. Power is taken to change evenly between two readings (trapezoids); a
// counter's difference is exact.
class EnergySum {
 public:
  explicit EnergySum(const PowerSensor& sensor)
      : is_counter_(sensor.is_counter), wrap_(sensor.wrap_joules) {}
  // A reading in W or J, `seconds` after some beginning; times grow.
  void Add(double seconds, double value);
  double joules() const { return joules_; }
  double seconds() const { return n_ == 0 ? 0.0 : last_seconds_ - first_seconds_; }
  int n_readings() const { return n_; }

 private:
  bool is_counter_;
  double wrap_;
  int n_ = 0;
  double first_seconds_ = 0.0;
  double last_seconds_ = 0.0;
  double last_value_ = 0.0;
  double joules_ = 0.0;
};

struct Energy {
  double joules = 0.0;  // all that the sensor measured
  double seconds = 0.0;
  int n_readings = 0;
  bool is_complete = false;  // false: the sensor failed in between, or was read less than twice
};

// Reads one sensor on a thread of its own, fifty times a second.
class EnergyMeter {
 public:
  explicit EnergyMeter(const PowerSensor& sensor) : sensor_(sensor) {}
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  // Takes the power that the machine draws while this program waits so long; seconds above 0.
  void MeasureIdle(double seconds);
  void Start();
  Energy Stop();                                     // since Start
  double idle_watts() const { return idle_watts_; }  // 0 before MeasureIdle
  const PowerSensor& sensor() const { return sensor_; }

 private:
  void Sample();

  PowerSensor sensor_;
  double idle_watts_ = 0.0;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  Energy energy_;
  std::thread thread_;
};

// sensor, driver, scope ("board", "processor"), idle_watts, watts, joules, net_joules (idle subtracted, not below
// 0), seconds, n_readings, and, of n units above 0 ("run" or "step"), net_joules_per_<unit>. Where the energy is not
// complete, a reason alone.
Json EnergyJson(const EnergyMeter& meter, const Energy& energy, double n, const std::string& unit);
// For people: "0.12 J a run above idle (ina3221 VDD_IN, the whole board; idle 4.1 W)".
std::string EnergyText(const Json& json);
// {"reason": ...}
Json NoEnergyJson(const std::string& reason);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_POWER_ENERGY_H_
