// Limits measured once for each device, and for each number of threads of the CPU.
#include "ports/cli/benchmark/roofline.h"

#include <algorithm>
#include <map>

#include "ports/cli/benchmark/limits.h"
#include "ports/cli/benchmark/operator_limit.h"

namespace topwork {
namespace cli {
namespace {

// A device's step spends the rest of its time on starting: a round trip, and the launches.
void AddLaunches(const Json& limits, const Json& ops, Json* step) {
  int64_t n = -1;
  for (const Json& op : ops) n += op["step"] == (*step)["step"] && op["part"] >= 0 ? 1 : 0;
  const double nanos =
      limits["round_trip_ns"].get<double>() +
      static_cast<double>(std::max<int64_t>(n, 0)) * limits["launch_ns"].get<double>();
  const double millis = (*step)["p50_ms"].get<double>();
  (*step)["limit"] = "launch";
  (*step)["limit_ms"] = 1e-6 * nanos;
  (*step)["limit_share"] = millis > 0.0 ? Json(1e-6 * nanos / millis) : Json();
}

}  // namespace

Json AddRoofline(Json* results) {
  std::map<std::string, size_t> known;
  Json limits = Json::array();
  const auto find = [&](const std::string& key, const auto& measure) -> const Json& {
    const auto found = known.find(key);
    if (found != known.end()) return limits[found->second];
    known[key] = limits.size();
    limits.push_back(measure());
    return limits.back();
  };
  for (Json& result : *results) {
    const int n_threads = result["threads"].get<int>();
    const std::string device = result["device"].get<std::string>();
    for (Json& op : result["ops"]) {
      const bool on_cpu = op["backend"] == "cpu";
      const Json& limit = on_cpu ? find("cpu " + std::to_string(n_threads),
                                        [&] { return MeasureCpuLimits(n_threads); })
                                 : find(device, [&] { return MeasureOpenClLimits(device); });
      if (op["flops"].is_null()) {
        if (!on_cpu) AddLaunches(limit, result["ops"], &op);
        continue;
      }
      AddLimit(limit, &op);
    }
  }
  return limits;
}

}  // namespace cli
}  // namespace topwork
