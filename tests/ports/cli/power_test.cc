// Sensors of power, boards and energy, from trees of files as machines have them.
#include "ports/cli/benchmark/power.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "ports/cli/power/board.h"
#include "ports/cli/power/energy.h"
#include "ports/cli/power/sensors.h"
#include "tests/ports/machine_files.h"

namespace topwork {
namespace cli {
namespace {

class PowerTree : public test::MachineFiles {
 public:
  void WriteIna3221(const std::string& hwmon, const std::vector<std::string>& labels,
                    const std::vector<int>& millivolts, const std::vector<int>& milliamperes) {
    const std::string folder = "/sys/class/hwmon/" + hwmon + "/";
    Write(folder + "name", "ina3221");
    for (size_t i = 0; i < labels.size(); ++i) {
      const std::string number = std::to_string(i + 1);
      Write(folder + "in" + number + "_label", labels[i]);
      Write(folder + "in" + number + "_input", std::to_string(millivolts[i]));
      Write(folder + "curr" + number + "_input", std::to_string(milliamperes[i]));
    }
    Write(folder + "in4_label", "Sum of shunt voltages");
  }
  void WriteRapl(const std::string& zone, const std::string& name, const std::string& joules) {
    const std::string folder = "/sys/class/powercap/" + zone + "/";
    Write(folder + "name", name);
    Write(folder + "energy_uj", joules + "000000");
    Write(folder + "max_energy_range_uj", "262143328850");
  }
};

double ValueOf(const PowerSensor& sensor) {
  double value = -1.0;
  std::string reason;
  CHECK(ReadPowerSensor(sensor, &value, &reason));
  return value;
}

std::string Chosen(const std::string& root, std::string* reason) {
  const std::vector<PowerSensor> sensors = FindPowerSensors(root);
  const PowerSensor* sensor = ChoosePowerSensor(sensors, reason);
  return sensor != nullptr ? sensor->driver + " " + sensor->name : "";
}

}  // namespace

TEST_CASE("power: the rail of a whole Jetson contains the others", "[cli]") {
  PowerTree orin_nano;
  orin_nano.Write("/sys/class/hwmon/hwmon0/name", "pwmfan");
  orin_nano.WriteIna3221("hwmon1", {"VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC"}, {5080, 5072, 5080},
                         {936, 184, 264});
  const std::vector<PowerSensor> sensors = FindPowerSensors(orin_nano.root());
  REQUIRE(sensors.size() == 3);
  CHECK(sensors[0].name == "VDD_IN");
  CHECK(sensors[0].scope == PowerScope::kBoard);
  CHECK(ValueOf(sensors[0]) == Approx(5.080 * 0.936));
  CHECK(sensors[1].scope == PowerScope::kPart);
  CHECK(ValueOf(sensors[2]) == Approx(5.080 * 0.264));
  std::string reason;
  CHECK(Chosen(orin_nano.root(), &reason) == "ina3221 VDD_IN");
}

TEST_CASE("power: rails of a Jetson without one for everything are not added up", "[cli]") {
  PowerTree agx_orin;
  agx_orin.WriteIna3221("hwmon3", {"VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"},
                        {19952, 19952, 5000}, {240, 80, 850});
  agx_orin.WriteIna3221("hwmon4", {"NC", "VDDQ_VDD2_1V8AO", "NC"}, {0, 5000, 0}, {0, 120, 0});
  const std::vector<PowerSensor> sensors = FindPowerSensors(agx_orin.root());
  REQUIRE(sensors.size() == 4);  // channels that are not connected are none
  for (const PowerSensor& sensor : sensors) CHECK(sensor.scope == PowerScope::kPart);
  std::string reason;
  CHECK(Chosen(agx_orin.root(), &reason).empty());
  CHECK(reason.find("parts are not added up") != std::string::npos);
}

TEST_CASE("power: INA3221 of JetPack 4", "[cli]") {
  PowerTree nano;
  const std::string folder = "/sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0/";
  for (int i = 0; i < 3; ++i) {
    const char* const names[] = {"POM_5V_IN", "POM_5V_GPU", "POM_5V_CPU"};
    nano.Write(folder + "rail_name_" + std::to_string(i), names[i]);
    nano.Write(folder + "in_power" + std::to_string(i) + "_input", std::to_string(2000 - 500 * i));
  }
  const std::vector<PowerSensor> sensors = FindPowerSensors(nano.root());
  REQUIRE(sensors.size() == 3);
  CHECK(sensors[0].name == "POM_5V_IN");
  CHECK(ValueOf(sensors[0]) == Approx(2.0));
  std::string reason;
  CHECK(Chosen(nano.root(), &reason) == "ina3221 POM_5V_IN");
}

TEST_CASE("power: RAPL measures a package, or the platform", "[cli]") {
  PowerTree laptop;
  laptop.WriteRapl("intel-rapl:0", "package-0", "1000");
  laptop.WriteRapl("intel-rapl:0:0", "core", "400");
  std::string reason;
  CHECK(Chosen(laptop.root(), &reason) == "rapl package-0");
  CHECK(FindPowerSensors(laptop.root())[0].scope == PowerScope::kProcessor);
  laptop.WriteRapl("intel-rapl:1", "psys", "3000");
  CHECK(Chosen(laptop.root(), &reason) == "rapl psys");
  CHECK(ValueOf(FindPowerSensors(laptop.root())[0]) == Approx(3000.0));
  PowerTree server;  // two sockets
  server.WriteRapl("intel-rapl:0", "package-0", "1");
  server.WriteRapl("intel-rapl:1", "package-1", "2");
  CHECK(Chosen(server.root(), &reason).empty());
}

TEST_CASE("power: batteries count while nothing charges them", "[cli]") {
  PowerTree phone;
  const std::string folder = "/sys/class/power_supply/battery/";
  phone.Write("/sys/class/power_supply/usb/type", "USB");
  phone.Write(folder + "type", "Battery");
  phone.Write(folder + "status", "Discharging");
  phone.Write(folder + "current_now", "-500000");
  phone.Write(folder + "voltage_now", "4000000");
  std::string reason;
  CHECK(Chosen(phone.root(), &reason) == "battery battery");
  CHECK(ValueOf(FindPowerSensors(phone.root())[0]) == Approx(2.0));
  phone.Write(folder + "status", "Charging");
  CHECK(Chosen(phone.root(), &reason).empty());
}

TEST_CASE("power: other sensors of hwmon are parts, ACPI's meter is not", "[cli]") {
  PowerTree server;
  server.Write("/sys/class/hwmon/hwmon0/name", "amdgpu");
  server.Write("/sys/class/hwmon/hwmon0/power1_average", "15000000");
  std::string reason;
  CHECK(Chosen(server.root(), &reason).empty());
  server.Write("/sys/class/hwmon/hwmon10/name", "power_meter");
  server.Write("/sys/class/hwmon/hwmon10/power1_average", "120000000");
  CHECK(Chosen(server.root(), &reason) == "power_meter power1");
  CHECK(ValueOf(FindPowerSensors(server.root())[0]) == Approx(120.0));
}

TEST_CASE("power: a machine without sensors says so, and so does one whose sensor fails", "[cli]") {
  const PowerTree nothing;
  std::string reason;
  CHECK(Chosen(nothing.root(), &reason).empty());
  CHECK(reason == "no sensor of power");
  PowerTree broken;
  broken.WriteIna3221("hwmon0", {"VDD_IN"}, {5000}, {100});
  broken.Write("/sys/class/hwmon/hwmon0/curr1_input", "");
  CHECK(Chosen(broken.root(), &reason).empty());
  CHECK(reason.find("ina3221 VDD_IN") != std::string::npos);
}

TEST_CASE("energy: power between readings changes evenly, counters wrap", "[cli]") {
  EnergySum watts(PowerSensor{});
  CHECK(watts.seconds() == 0.0);
  watts.Add(10.0, 4.0);
  watts.Add(11.0, 6.0);
  watts.Add(13.0, 2.0);
  CHECK(watts.joules() == Approx(5.0 + 8.0));
  CHECK(watts.seconds() == Approx(3.0));
  PowerSensor rapl;
  rapl.is_counter = true;
  rapl.wrap_joules = 100.0;
  EnergySum joules(rapl);
  joules.Add(0.0, 90.0);
  joules.Add(1.0, 98.0);
  joules.Add(2.0, 5.0);  // 2 to the end, 5 from the beginning
  CHECK(joules.joules() == Approx(8.0 + 7.0));
}

TEST_CASE("energy: what the machine draws anyway is subtracted", "[cli]") {
  PowerTree tree;
  tree.WriteIna3221("hwmon0", {"VDD_IN"}, {5000}, {800});  // 4 W
  EnergyMeter meter(FindPowerSensors(tree.root())[0]);
  meter.MeasureIdle(0.05);
  CHECK(meter.idle_watts() == Approx(4.0));
  tree.Write("/sys/class/hwmon/hwmon0/curr1_input", "2000");  // 10 W
  meter.Start();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Energy energy = meter.Stop();
  REQUIRE(energy.is_complete);
  CHECK(energy.n_readings >= 2);
  CHECK(energy.seconds > 0.0);
  CHECK(energy.joules == Approx(10.0 * energy.seconds));
  const Json json = EnergyJson(meter, energy, 4, "run");
  CHECK(json["net_joules_per_run"].get<double>() == Approx(6.0 * energy.seconds / 4));
  CHECK(json["scope"] == "board");
  CHECK(EnergyText(json).find("J a run above idle (ina3221 VDD_IN: the board; idle 4 W)") !=
        std::string::npos);
}

TEST_CASE("energy: of a training step, and without a sensor", "[cli]") {
  PowerTree tree;
  int n_calls = 0;
  const auto work = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (n_calls++ > 0) return 0.0;
    const std::string file = tree.root() + "/sys/class/hwmon/hwmon0/curr1_input";
    tree.Write("/new", "2000");  // 10 W, at once: the meter reads meanwhile
    CHECK(std::rename((tree.root() + "/new").c_str(), file.c_str()) == 0);
    return 3.0;
  };
  CHECK(MeasurePower(tree.root(), 0.1, "step", work).contains("reason"));
  CHECK(n_calls == 0);
  tree.WriteIna3221("hwmon0", {"VDD_IN"}, {5000}, {800});  // 4 W
  const Json json = MeasurePower(tree.root(), 0.1, "step", work);
  CHECK(n_calls > 1);
  CHECK(json["idle_watts"].get<double>() == Approx(4.0));
  CHECK(json["net_joules_per_step"].get<double>() == Approx(json["net_joules"].get<double>() / 3));
  CHECK(json["net_joules"].get<double>() > 0.0);
  CHECK(EnergyText(json).find("J a step above idle") != std::string::npos);
}

TEST_CASE("energy: a sensor that goes away gives no number", "[cli]") {
  PowerTree tree;
  tree.WriteIna3221("hwmon0", {"VDD_IN"}, {5000}, {800});
  EnergyMeter meter(FindPowerSensors(tree.root())[0]);
  meter.Start();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  tree.Write("/sys/class/hwmon/hwmon0/in1_input", "");
  const Json json = EnergyJson(meter, meter.Stop(), 1, "run");
  CHECK(json.contains("reason"));
  CHECK(!json.contains("joules"));
  CHECK(EnergyText(json).find("energy unknown") == 0);
}

TEST_CASE("boards: a Jetson is told with its system and power mode", "[cli]") {
  PowerTree orin;
  orin.Write("/proc/device-tree/model",
             std::string("NVIDIA Jetson Orin Nano Developer Kit") + '\0');
  orin.Write("/etc/nv_tegra_release",
             "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64");
  orin.Write("/var/lib/nvpmodel/status", "pmode:0001");
  orin.Write("/etc/nvpmodel.conf",
             "< POWER_MODEL ID=0 NAME=15W >\nCPU_ONLINE CORE_0 1\n< POWER_MODEL ID=1 NAME=7W >");
  orin.Write("/sys/class/devfreq/17000000.gpu/cur_freq", "306000000");
  orin.Write("/sys/class/devfreq/17000000.gpu/max_freq", "624750000");
  const Board board = ReadBoard(orin.root());
  CHECK(board.model == "NVIDIA Jetson Orin Nano Developer Kit");
  CHECK(board.is_jetson);
  CHECK(board.release == "R36.4.3");
  CHECK(board.power_mode == "7W");
  CHECK(board.gpu_mhz == Approx(306.0));
  CHECK(board.gpu_max_mhz == Approx(624.75));
  CHECK(OpenclAdvice(board, false).find("PoCL built with CUDA") != std::string::npos);
  CHECK(OpenclAdvice(board, true).find("never tried") != std::string::npos);
  orin.Write("/var/lib/nvpmodel/status", "pmode:0009");  // not in the configuration
  CHECK(ReadBoard(orin.root()).power_mode == "mode 9");
}

TEST_CASE("boards: others are no Jetson", "[cli]") {
  const PowerTree pc;
  const Board board = ReadBoard(pc.root());
  CHECK(!board.is_jetson);
  CHECK(board.power_mode.empty());
  CHECK(OpenclAdvice(board, false).empty());
  PowerTree pi;
  pi.Write("/proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0");
  CHECK(ReadBoard(pi.root()).model == "Raspberry Pi 5 Model B Rev 1.0");
  CHECK(OpenclAdvice(ReadBoard(pi.root()), true).empty());
}

}  // namespace cli
}  // namespace topwork
