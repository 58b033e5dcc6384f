// Clocks and temperatures from trees of files like those of Linux and Android, and what is made of
// them.
#include "ports/cli/benchmark/machine.h"

#include <catch2/catch.hpp>

#include "tests/ports/machine_files.h"

namespace topwork {
namespace cli {
namespace benchmark_machine_test {
namespace {

TEST_CASE("clocks and temperatures are those of the system's files", "[cli]") {
  test::MachineFiles files;
  for (const char* cpu : {"cpu0", "cpu1", "cpu7"}) {
    const std::string folder = std::string("/sys/devices/system/cpu/") + cpu + "/cpufreq/";
    files.Write(folder + "scaling_cur_freq", cpu == std::string("cpu7") ? "2000000" : "600000");
    files.Write(folder + "scaling_max_freq", cpu == std::string("cpu7") ? "2400000" : "1800000");
    files.Write(folder + "cpuinfo_max_freq", cpu == std::string("cpu7") ? "2850000" : "1800000");
  }
  files.Write("/sys/class/thermal/thermal_zone0/type", "cpu-0");
  files.Write("/sys/class/thermal/thermal_zone0/temp", "41500");
  files.Write("/sys/class/thermal/thermal_zone3/type", "battery");
  files.Write("/sys/class/thermal/thermal_zone3/temp", "31");
  const MachineState state = ReadMachineState(files.root());
  CHECK(state.mhz == std::vector<double>{600.0, 600.0, 2000.0});
  CHECK(state.max_mhz == 2400.0);
  CHECK(state.rated_mhz == 2850.0);
  REQUIRE(state.celsius.size() == 2);
  CHECK(state.celsius[0] == std::make_pair(std::string("cpu-0"), 41.5));
  CHECK(state.celsius[1] == std::make_pair(std::string("battery"), 31.0));
  const Json json = MachineStateJson(state);
  CHECK(json["celsius"][1]["zone"] == "battery");
  CHECK(json["mhz"].size() == 3);
}

TEST_CASE("a system that tells no clocks gives nulls", "[cli]") {
  test::MachineFiles files;
  files.Write("/proc/cpuinfo", "processor : 0");
  const Json json = MachineStateJson(ReadMachineState(files.root()));
  for (const char* key : {"mhz", "max_mhz", "rated_mhz", "celsius"}) CHECK(json[key].is_null());
}

TEST_CASE("a machine is named by what its files say", "[cli]") {
  test::MachineFiles files;
  files.Write("/proc/cpuinfo",
              "processor\t: 0\nmodel name\t: Kryo 680\nprocessor\t: 1\nHardware\t: SM8350");
  files.Write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil");
  files.Write("/proc/sys/kernel/osrelease", "5.4.61-android");
  const Json json = MachineJson(files.root());
  CHECK(json["processor"] == "Kryo 680");
  CHECK(json["governor"] == "schedutil");
  CHECK(json["kernel"] == "5.4.61-android");
  test::MachineFiles board;
  board.Write("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd");
  board.Write("/sys/firmware/devicetree/base/model", "NVIDIA Orin");
  CHECK(MachineJson(board.root())["processor"] == "NVIDIA Orin");
  CHECK(MachineJson(board.root())["governor"].is_null());
}

std::vector<double> Steady(size_t n) {
  std::vector<double> samples;
  for (size_t i = 0; i < n; ++i) samples.push_back(10.0 + 0.1 * static_cast<double>(i * 7 % 11));
  return samples;
}

TEST_CASE("steady runs are not said to be slowed down", "[cli]") {
  MachineState state;
  state.mhz = {2000.0, 600.0};
  state.max_mhz = state.rated_mhz = 2000.0;
  CHECK(Throttling(Steady(200), state, state).empty());
  CHECK(Throttling({}, {}, {}).empty());
  CHECK(DriftJson(Steady(29)).is_null());
  CHECK(DriftJson(Steady(200))["ratio"].get<double>() == Approx(1.0).margin(0.02));
}

TEST_CASE("runs that grow longer are noticed, single outliers are not", "[cli]") {
  std::vector<double> samples = Steady(300);
  for (size_t i = 0; i < samples.size(); i += 50) samples[i] *= 20.0;
  CHECK(Throttling(samples, {}, {}).empty());
  for (size_t i = 150; i < samples.size(); ++i) samples[i] *= 1.3;
  const std::string text = Throttling(samples, {}, {});
  CHECK(text.find("the last third of the runs took 30.") == 0);
  CHECK(text.find("99 % confidence") != std::string::npos);
}

TEST_CASE("a clock that falls or may not rise is noticed", "[cli]") {
  MachineState before, after;
  before.mhz = {600.0, 2800.0};
  after.mhz = {600.0, 1900.0};
  CHECK(Throttling({}, before, after) == "the clock fell from 2800 to 1900 MHz");
  after.mhz = before.mhz;
  after.max_mhz = 1800.0;
  after.rated_mhz = 2850.0;
  CHECK(Throttling({}, before, after) == "the clock may not exceed 1800 of 2850 MHz");
}

}  // namespace
}  // namespace benchmark_machine_test
}  // namespace cli
}  // namespace topwork
