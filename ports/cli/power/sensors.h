// Sensors of power and energy: what this machine, or a part of it, draws.
//
// Known are the INA3221 of Jetson boards, RAPL of PCs, batteries of phones and laptops, and any other sensor of
// Linux's hwmon that has a power. Sensors are never added up: a rail of the whole board already contains the others.
#ifndef TOPWORK_PORTS_CLI_POWER_SENSORS_H_
#define TOPWORK_PORTS_CLI_POWER_SENSORS_H_

#include <string>
#include <vector>

namespace topwork {
namespace cli {

enum class PowerScope {
  kPart,       // a rail or a device among others
  kProcessor,  // the one processor's package, without what is on the board beside it
  kBoard,      // everything that the machine draws
};
const char* PowerScopeName(PowerScope scope);  // "part", "processor", "board"

struct PowerSensor {
  std::string driver;  // "ina3221", "rapl", "battery", or hwmon's name of another
  std::string name;    // of the rail: "VDD_IN", "package-0"
  PowerScope scope = PowerScope::kPart;
  bool is_counter = false;   // the value is energy so far in J; else power in W
  double wrap_joules = 0.0;  // a counter begins again at 0 when it reaches this; 0: unknown
  // The value is the product of the files' numbers and this.
  std::vector<std::string> files;
  double factor = 1.0;
};

// What there is, from the files below `root` ("": the system's): boards before processors before parts.
std::vector<PowerSensor> FindPowerSensors(const std::string& root);

// Reads a sensor now: W, or J of a counter. False, with the reason in a few words, where a file cannot be read:
// RAPL belongs to root since Linux 5.10.
bool ReadPowerSensor(const PowerSensor& sensor, double* value, std::string* reason);

// The first sensor of a whole board, else of the processor, that can be read. Null: there is none, and *reason
// says so in a sentence.
const PowerSensor* ChoosePowerSensor(const std::vector<PowerSensor>& sensors, std::string* reason);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_POWER_SENSORS_H_
