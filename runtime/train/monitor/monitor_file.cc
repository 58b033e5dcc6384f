// Monitor files: a record file around the options' numbers, the class frequencies, the calibration
// scores and the neighbours.
#include <cmath>
#include <cstring>

#include "runtime/base/file.h"
#include "runtime/base/record_file.h"
#include "runtime/train/monitor/monitor.h"

namespace topwork {
namespace {

RecordId MonitorId() { return {RecordKind::kMonitor, 1, ""}; }

struct Fixed {
  int64_t n_features, n_neighbours, window;
  double false_alarm_rate;
  uint64_t seed;
  int64_t n_classes, n_calibration, n_reference;  // n_reference: rows of neighbours
};

void Append(const void* from, size_t bytes, std::vector<uint8_t>* to) {
  const uint8_t* begin = static_cast<const uint8_t*>(from);
  to->insert(to->end(), begin, begin + bytes);
}

// Copies n finite numbers from `at` on; false where one is not.
template <typename T>
bool Take(const uint8_t** at, int64_t n, std::vector<T>* out) {
  out->resize(static_cast<size_t>(n));
  if (n == 0) return true;
  std::memcpy(out->data(), *at, out->size() * sizeof(T));
  *at += out->size() * sizeof(T);
  for (T value : *out) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

}  // namespace

Status Monitor::Save(const std::string& path) const {
  const std::vector<double>& calibration = martingale_->calibration();
  const Fixed fixed = {options_.n_features,
                       options_.n_neighbours,
                       options_.window,
                       options_.false_alarm_rate,
                       options_.seed,
                       n_classes(),
                       static_cast<int64_t>(calibration.size()),
                       static_cast<int64_t>(neighbours_.size() / projection_.width())};
  std::vector<uint8_t> payload;
  Append(&fixed, sizeof(fixed), &payload);
  Append(options_.frequencies.data(), options_.frequencies.size() * sizeof(double), &payload);
  Append(calibration.data(), calibration.size() * sizeof(double), &payload);
  Append(neighbours_.data(), neighbours_.size() * sizeof(float), &payload);
  return WriteRecord(path, MonitorId(), payload);
}

Result<std::unique_ptr<Monitor>> Monitor::Open(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const MappedBytes file, MappedBytes::Open(path, "the monitor"));
  const Result<Buffer> payload = CopyRecord(MonitorId(), file.bytes());
  if (!payload.ok()) return payload.status().WithPrefix("'" + path + "': ");
  const Status corrupt = Corrupt("'{}': the monitor contradicts itself", path);
  Fixed fixed;
  if (payload->size() < sizeof(fixed)) return corrupt;
  std::memcpy(&fixed, payload->data(), sizeof(fixed));
  constexpr int64_t kMost = 1 << 24;
  for (int64_t n : {fixed.n_features, fixed.n_neighbours, fixed.window, fixed.n_calibration,
                    fixed.n_reference}) {
    if (n < 1 || n > kMost) return corrupt;
  }
  if (fixed.n_classes < 0 || fixed.n_classes > kMost || fixed.n_neighbours > fixed.n_reference ||
      !(fixed.false_alarm_rate > 0.0 && fixed.false_alarm_rate < 1.0)) {
    return corrupt;
  }
  MonitorOptions options;
  options.n_features = fixed.n_features;
  options.n_neighbours = fixed.n_neighbours;
  options.window = fixed.window;
  options.false_alarm_rate = fixed.false_alarm_rate;
  options.seed = fixed.seed;
  std::unique_ptr<Monitor> monitor(new Monitor(options));
  const uint64_t numbers = static_cast<uint64_t>(fixed.n_classes + fixed.n_calibration);
  const uint64_t floats = static_cast<uint64_t>(fixed.n_reference) * monitor->projection_.width();
  if (payload->size() != sizeof(fixed) + numbers * sizeof(double) + floats * sizeof(float)) {
    return corrupt;
  }
  const uint8_t* at = payload->as<uint8_t>() + sizeof(fixed);
  std::vector<double> calibration;
  std::vector<float> neighbours;
  if (!Take(&at, fixed.n_classes, &monitor->options_.frequencies) ||
      !Take(&at, fixed.n_calibration, &calibration) ||
      !Take(&at, static_cast<int64_t>(floats), &neighbours)) {
    return corrupt;
  }
  monitor->SetReference(std::move(neighbours), std::move(calibration));
  return monitor;
}

}  // namespace topwork
