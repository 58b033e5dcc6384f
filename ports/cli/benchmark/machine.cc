// Clocks and temperatures are text in /sys, as Linux and Android write it.
#include "ports/cli/benchmark/machine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "ports/cli/benchmark/statistics.h"
#include "ports/cli/power/machine_files.h"
#include "ports/cli/terminal.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

constexpr int kMaxProcessors = 256, kMaxZones = 64;
constexpr size_t kMinDriftSamples = 30;
constexpr double kDrift = 1.05, kDriftConfidence = 0.99, kSlowClock = 0.9;

double FileNumber(const std::string& path) { return std::strtod(FirstLine(path).c_str(), nullptr); }

std::string ProcessorFile(const std::string& root, int i, const char* name) {
  return root + "/sys/devices/system/cpu/cpu" + std::to_string(i) + "/cpufreq/" + name;
}

// What stands behind the first "key :" of /proc/cpuinfo.
std::string CpuInfo(const std::string& text, const std::string& key) {
  const size_t at = text.compare(0, key.size(), key) == 0 ? 0 : text.find("\n" + key);
  if (at == std::string::npos) return "";
  const size_t colon = text.find(':', at), end = text.find('\n', at + 1);
  if (colon == std::string::npos || colon > end) return "";
  return text.substr(std::min(colon + 2, text.size()), end - std::min(colon + 2, end));
}

std::string ProcessorName(const std::string& root) {
  const std::string text = WholeText(root + "/proc/cpuinfo");
  for (const char* key : {"model name", "Hardware", "Processor"}) {
    const std::string name = CpuInfo(text, key);
    if (!name.empty()) return name;
  }
  return FirstLine(root + "/sys/firmware/devicetree/base/model");
}

RatioInterval DriftOf(const std::vector<double>& samples) {
  const std::ptrdiff_t third = static_cast<std::ptrdiff_t>(samples.size() / 3);
  return MedianRatio(std::vector<double>(samples.begin(), samples.begin() + third),
                     std::vector<double>(samples.end() - third, samples.end()), kDriftConfidence);
}

std::string RiseText(double ratio) { return PercentText(ratio - 1.0); }

}  // namespace

MachineState ReadMachineState(const std::string& root) {
  MachineState state;
  for (int i = 0; i < kMaxProcessors; ++i) {
    const double khz = FileNumber(ProcessorFile(root, i, "scaling_cur_freq"));
    if (khz > 0.0) state.mhz.push_back(khz * 1e-3);
    state.max_mhz =
        std::max(state.max_mhz, 1e-3 * FileNumber(ProcessorFile(root, i, "scaling_max_freq")));
    state.rated_mhz =
        std::max(state.rated_mhz, 1e-3 * FileNumber(ProcessorFile(root, i, "cpuinfo_max_freq")));
  }
  for (int i = 0; i < kMaxZones; ++i) {
    const std::string zone = root + "/sys/class/thermal/thermal_zone" + std::to_string(i);
    const std::string temperature = FirstLine(zone + "/temp");
    if (temperature.empty()) continue;
    const double value = std::strtod(temperature.c_str(), nullptr);
    // Thousandths of a degree; some phones write whole degrees.
    state.celsius.push_back({FirstLine(zone + "/type"), value > 1000.0 ? value * 1e-3 : value});
  }
  return state;
}

Json MachineStateJson(const MachineState& state) {
  Json json;
  json["mhz"] = state.mhz.empty() ? Json() : Json(state.mhz);
  json["max_mhz"] = state.max_mhz > 0.0 ? Json(state.max_mhz) : Json();
  json["rated_mhz"] = state.rated_mhz > 0.0 ? Json(state.rated_mhz) : Json();
  json["celsius"] = state.celsius.empty() ? Json() : Json::array();
  for (const auto& zone : state.celsius) {
    json["celsius"].push_back({{"zone", zone.first}, {"celsius", zone.second}});
  }
  return json;
}

Json MachineJson(const std::string& root) {
  Json json;
  const tw_device_info cpu = CheckValue(tw::Devices()).front();
  json["processor"] = ProcessorName(root);
  json["instruction_set"] = cpu.instruction_set;
  json["n_processors"] = cpu.n_compute_units;
  json["memory_bytes"] = port::MemoryBytes();
  json["kernel"] = FirstLine(root + "/proc/sys/kernel/osrelease");
  const std::string governor = FirstLine(ProcessorFile(root, 0, "scaling_governor"));
  json["governor"] = governor.empty() ? Json() : Json(governor);
  return json;
}

Json DriftJson(const std::vector<double>& samples) {
  if (samples.size() < kMinDriftSamples) return Json();
  const RatioInterval drift = DriftOf(samples);
  return {{"ratio", drift.ratio},
          {"low", drift.low},
          {"high", drift.high},
          {"confidence", kDriftConfidence}};
}

std::string Throttling(const std::vector<double>& samples, const MachineState& before,
                       const MachineState& after) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  const Json drift = DriftJson(samples);
  if (!drift.is_null() && drift["low"].get<double>() > kDrift) {
    add("the last third of the runs took " + RiseText(drift["ratio"].get<double>()) +
        " more time than the first (" + RiseText(drift["low"].get<double>()) + " to " +
        RiseText(drift["high"].get<double>()) + " with 99 % confidence)");
  }
  if (!before.mhz.empty() && !after.mhz.empty()) {
    const double fastest = *std::max_element(before.mhz.begin(), before.mhz.end());
    const double now = *std::max_element(after.mhz.begin(), after.mhz.end());
    if (now < kSlowClock * fastest) {
      char clocks[96];
      std::snprintf(clocks, sizeof(clocks), "the clock fell from %.0f to %.0f MHz", fastest, now);
      add(clocks);
    }
  }
  if (after.max_mhz > 0.0 && after.max_mhz < kSlowClock * after.rated_mhz) {
    char limit[96];
    std::snprintf(limit, sizeof(limit), "the clock may not exceed %.0f of %.0f MHz", after.max_mhz,
                  after.rated_mhz);
    add(limit);
  }
  return text;
}

}  // namespace cli
}  // namespace topwork
