// The roofline of one operator.
#include "ports/cli/benchmark/operator_limit.h"

namespace topwork {
namespace cli {
namespace {

// Of the smallest measured working set that holds so many bytes, else of the largest.
double BandwidthFor(const Json& limits, double bytes) {
  for (const Json& level : limits["bytes_per_s"]) {
    if (bytes <= level["bytes"].get<double>()) return level["bytes_per_s"].get<double>();
  }
  return limits["bytes_per_s"].back()["bytes_per_s"].get<double>();
}

}  // namespace

void AddLimit(const Json& limits, Json* op) {
  const double flops = (*op)["flops"].get<double>(), bytes = (*op)["bytes"].get<double>();
  const bool by_bytes = (*op)["is_bytes"].get<bool>() && !limits["byte_ops_per_s"].is_null();
  const double rate = limits[by_bytes ? "byte_ops_per_s" : "flops_per_s"].get<double>();
  const double compute = 1e3 * flops / rate;
  const double bandwidth = 1e3 * bytes / BandwidthFor(limits, bytes);
  // A device tells the time of a kernel without that of its launch.
  const bool is_part = op->value("part", -1) >= 0;
  const double launch = is_part ? 0.0 : 1e-6 * limits["launch_ns"].get<double>();
  double least = compute;
  const char* name = "compute";
  if (bandwidth > least) {
    least = bandwidth;
    name = "bandwidth";
  }
  if (launch > least) {
    least = launch;
    name = "launch";
  }
  const double millis = (*op)["p50_ms"].get<double>();
  (*op)["limit"] = name;
  (*op)["limit_ms"] = least;
  (*op)["limit_share"] = millis > 0.0 ? Json(least / millis) : Json();
}

}  // namespace cli
}  // namespace topwork
