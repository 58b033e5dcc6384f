// Where Linux has the sensors:
//   /sys/class/hwmon/hwmonN/            name; INA3221: inI_label, inI_input (mV), currI_input (mA);
//                                       others: powerI_label, powerI_input or _average (µW)
//   /sys/bus/i2c/drivers/ina3221x/A/iio:deviceN/  (JetPack 4) rail_name_I, in_powerI_input (mW)
//   /sys/class/powercap/intel-rapl:N/   name, energy_uj, max_energy_range_uj; parts in folders within
//   /sys/class/power_supply/NAME/       type, status, power_now (µW), or current_now (µA), voltage_now (µV)
#include "ports/cli/power/sensors.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "ports/cli/power/machine_files.h"

namespace topwork {
namespace cli {
namespace {

bool Exists(const std::string& path) { return std::ifstream(path).good(); }

// Rails of Jetson modules through which everything goes. VIN_SYS_5V0 of AGX boards is not one: by NVIDIA's
// developer guide it feeds the inputs and outputs, beside VDD_GPU_SOC and VDD_CPU_CV.
PowerScope ScopeOfRail(const std::string& name) {
  for (const char* whole : {"VDD_IN", "POM_5V_IN", "5V_IN", "VIN"}) {
    if (name == whole) return PowerScope::kBoard;
  }
  return PowerScope::kPart;
}

void AddIna3221(const std::string& folder, std::vector<PowerSensor>* sensors) {
  for (int i = 1; i <= 3; ++i) {
    const std::string number = std::to_string(i);
    const std::string volts = folder + "/in" + number + "_input";
    const std::string amperes = folder + "/curr" + number + "_input";
    const std::string label = FirstLine(folder + "/in" + number + "_label");
    if (label.empty() || label == "NC" || !Exists(volts) || !Exists(amperes)) continue;
    sensors->push_back({"ina3221", label, ScopeOfRail(label), false, 0.0, {volts, amperes}, 1e-6});
  }
}

void AddOldIna3221(const std::string& root, std::vector<PowerSensor>* sensors) {
  for (const std::string& address : EntriesOf(root + "/sys/bus/i2c/drivers/ina3221x", "")) {
    for (const std::string& folder : EntriesOf(address, "iio:device")) {
      for (int i = 0; i < 3; ++i) {
        const std::string label = FirstLine(folder + "/rail_name_" + std::to_string(i));
        const std::string file = folder + "/in_power" + std::to_string(i) + "_input";
        if (label.empty() || !Exists(file)) continue;
        sensors->push_back({"ina3221", label, ScopeOfRail(label), false, 0.0, {file}, 1e-3});
      }
    }
  }
}

void AddHwmon(const std::string& root, std::vector<PowerSensor>* sensors) {
  for (const std::string& folder : EntriesOf(root + "/sys/class/hwmon", "hwmon")) {
    const std::string driver = FirstLine(folder + "/name");
    if (driver == "ina3221") {
      AddIna3221(folder, sensors);
      continue;
    }
    for (int i = 1; i <= 4; ++i) {
      const std::string power = folder + "/power" + std::to_string(i);
      for (const char* kind : {"_input", "_average"}) {
        if (!Exists(power + kind)) continue;
        const std::string label = FirstLine(power + "_label");
        // ACPI's meter is between the supply and the machine.
        const PowerScope scope = driver == "power_meter" ? PowerScope::kBoard : PowerScope::kPart;
        sensors->push_back({driver,
                            label.empty() ? "power" + std::to_string(i) : label,
                            scope,
                            false,
                            0.0,
                            {power + kind},
                            1e-6});
        break;
      }
    }
  }
}

void AddRapl(const std::string& root, std::vector<PowerSensor>* sensors) {
  const std::vector<std::string> folders = EntriesOf(root + "/sys/class/powercap", "intel-rapl:");
  const auto is_package = [](const std::string& folder) {
    return FirstLine(folder + "/name").compare(0, 8, "package-") == 0;
  };
  const auto n_packages = std::count_if(folders.begin(), folders.end(), is_package);
  for (const std::string& folder : folders) {
    const std::string name = FirstLine(folder + "/name");
    if (name.empty()) continue;
    PowerScope scope = PowerScope::kPart;
    if (name == "psys") scope = PowerScope::kBoard;
    if (is_package(folder) && n_packages == 1) scope = PowerScope::kProcessor;
    const double wrap = std::atof(FirstLine(folder + "/max_energy_range_uj").c_str()) * 1e-6;
    sensors->push_back({"rapl", name, scope, true, wrap, {folder + "/energy_uj"}, 1e-6});
  }
}

// A battery measures everything while nothing charges it.
void AddBatteries(const std::string& root, std::vector<PowerSensor>* sensors) {
  for (const std::string& folder : EntriesOf(root + "/sys/class/power_supply", "")) {
    if (FirstLine(folder + "/type") != "Battery") continue;
    const std::string name = folder.substr(folder.rfind('/') + 1);
    const bool alone = FirstLine(folder + "/status") == "Discharging";
    const PowerScope scope = alone ? PowerScope::kBoard : PowerScope::kPart;
    if (Exists(folder + "/power_now")) {
      sensors->push_back({"battery", name, scope, false, 0.0, {folder + "/power_now"}, 1e-6});
    } else if (Exists(folder + "/current_now") && Exists(folder + "/voltage_now")) {
      sensors->push_back({"battery",
                          name,
                          scope,
                          false,
                          0.0,
                          {folder + "/current_now", folder + "/voltage_now"},
                          1e-12});
    }
  }
}

}  // namespace

const char* PowerScopeName(PowerScope scope) {
  switch (scope) {
    case PowerScope::kBoard:
      return "board";
    case PowerScope::kProcessor:
      return "processor";
    case PowerScope::kPart:
      break;
  }
  return "part";
}

std::vector<PowerSensor> FindPowerSensors(const std::string& root) {
  std::vector<PowerSensor> sensors;
  AddHwmon(root, &sensors);
  AddOldIna3221(root, &sensors);
  AddRapl(root, &sensors);
  AddBatteries(root, &sensors);
  std::stable_sort(sensors.begin(), sensors.end(),
                   [](const PowerSensor& a, const PowerSensor& b) { return a.scope > b.scope; });
  return sensors;
}

bool ReadPowerSensor(const PowerSensor& sensor, double* value, std::string* reason) {
  *value = sensor.factor;
  for (const std::string& path : sensor.files) {
    errno = 0;
    std::ifstream file(path);
    double number = 0.0;
    if (!(file >> number)) {
      *reason = errno != 0 ? std::strerror(errno) : "it holds no number";
      return false;
    }
    *value *= std::fabs(number);  // batteries count what flows out as negative, some of them
  }
  return true;
}

const PowerSensor* ChoosePowerSensor(const std::vector<PowerSensor>& sensors, std::string* reason) {
  *reason = "no sensor of power";
  for (const PowerSensor& sensor : sensors) {
    if (sensor.scope == PowerScope::kPart) {
      if (*reason == "no sensor of power") {
        *reason = "no sensor of the whole board or processor: parts are not added up";
      }
      break;
    }
    double value = 0.0;
    std::string why;
    if (ReadPowerSensor(sensor, &value, &why)) return &sensor;
    *reason = "no sensor that can be read: " + sensor.driver + " " + sensor.name + ": " + why;
  }
  return nullptr;
}

}  // namespace cli
}  // namespace topwork
