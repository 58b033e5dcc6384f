// Monitor: projection, nearest neighbours, the two tests.
#include "runtime/train/monitor/monitor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace topwork {
namespace {

bool AllFinite(const float* values, int64_t n) {
  return values == nullptr ||
         std::all_of(values, values + n, [](float value) { return std::isfinite(value); });
}

Status CheckOptions(const MonitorOptions& options) {
  if (options.n_features < 1 || options.n_neighbours < 1 || options.window < 1 ||
      options.max_reference < 1) {
    return InvalidArgument("a monitor of {} features, {} neighbours, windows of {}, references {}",
                           options.n_features, options.n_neighbours, options.window,
                           options.max_reference);
  }
  if (!(options.false_alarm_rate > 0.0 && options.false_alarm_rate < 1.0)) {
    return InvalidArgument("false_alarm_rate is {}; it must lie between 0 and 1",
                           options.false_alarm_rate);
  }
  double sum = 0.0;
  bool valid = true;
  for (double frequency : options.frequencies) {
    valid = valid && frequency >= 0.0;
    sum += frequency;
  }
  if (options.frequencies.empty() || (valid && std::fabs(sum - 1.0) < 1e-6)) return Status::Ok();
  return InvalidArgument("the class frequencies must be 0 or more and sum to 1; their sum is {}",
                         sum);
}

// Scores that are no probabilities are logits.
void ToProbabilities(const float* scores, size_t n, float* out) {
  double sum = 0.0;
  bool in_unit = true;
  for (size_t c = 0; c < n; ++c) {
    in_unit = in_unit && scores[c] >= 0.0f && scores[c] <= 1.0f;
    sum += static_cast<double>(scores[c]);
  }
  const bool logits = !in_unit || std::fabs(sum - 1.0) >= 0.02;
  const double largest = static_cast<double>(*std::max_element(scores, scores + n));
  std::vector<double> weights(scores, scores + n);
  if (logits) {
    sum = 0.0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
  }
  for (size_t c = 0; c < n; ++c) out[c] = static_cast<float>(weights[c] / sum);
}

}  // namespace

Monitor::Monitor(const MonitorOptions& options)
    : options_(options), projection_(options.n_features, options.seed) {}

std::vector<float> Monitor::Project(const float* features) const {
  double squares = 0.0;
  for (int64_t d = 0; d < options_.n_features; ++d) {
    squares += static_cast<double>(features[d]) * static_cast<double>(features[d]);
  }
  return projection_.Project(features, squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0);
}

// The squared distance to the n_neighbours-th nearest neighbour.
double Monitor::Score(const std::vector<float>& projected) const {
  const size_t width = projected.size();
  std::vector<double> nearest(static_cast<size_t>(options_.n_neighbours), HUGE_VAL);  // ascending
  for (size_t i = 0; i < neighbours_.size(); i += width) {
    double squares = 0.0;
    for (size_t k = 0; k < width; ++k) {
      const double difference = static_cast<double>(projected[k] - neighbours_[i + k]);
      squares += difference * difference;
    }
    for (double& distance : nearest) {
      if (squares < distance) std::swap(squares, distance);
    }
  }
  return nearest.back();
}

void Monitor::SetReference(std::vector<float> neighbours, std::vector<double> calibration) {
  neighbours_ = std::move(neighbours);
  martingale_ = std::make_unique<ConformalMartingale>(std::move(calibration), options_.window,
                                                      options_.seed + 1);
}

Result<std::unique_ptr<Monitor>> Monitor::Create(const MonitorOptions& options, int64_t n,
                                                 FunctionRef<const float*(int64_t i)> row) {
  TW_RETURN_IF_ERROR(CheckOptions(options));
  const int64_t needed = 2 * options.n_neighbours + 10;
  if (std::min(n, options.max_reference) < needed) {
    return InvalidArgument("a monitor needs {} or more examples to compare with; {} {}", needed,
                           n < needed ? "there are" : "max_reference is",
                           n < needed ? n : options.max_reference);
  }
  std::vector<int32_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  Random(options.seed).Shuffle(&order);
  order.resize(static_cast<size_t>(std::min(n, options.max_reference)));
  std::unique_ptr<Monitor> monitor(new Monitor(options));
  const size_t n_neighbours = order.size() / 2;
  std::vector<std::vector<float>> others;
  for (size_t i = 0; i < order.size(); ++i) {
    const float* features = row(order[i]);
    if (!AllFinite(features, options.n_features)) {
      return NumericError("a feature of example {} is not finite", order[i]);
    }
    std::vector<float> projected = monitor->Project(features);
    std::vector<float>& neighbours = monitor->neighbours_;
    if (i < n_neighbours) {
      neighbours.insert(neighbours.end(), projected.begin(), projected.end());
    } else {
      others.push_back(std::move(projected));
    }
  }
  std::vector<double> calibration;
  for (const std::vector<float>& other : others) calibration.push_back(monitor->Score(other));
  monitor->SetReference(std::move(monitor->neighbours_), std::move(calibration));
  return monitor;
}

void Monitor::NoteEvidence() {
  if (martingale_->n_in_window() == 1) {
    ++report_.n_windows;
    alarm_before_ = alarm_now_;
    alarm_now_ = false;
  }
  report_.evidence = martingale_->log10();
  if (!alarm_now_ && report_.evidence >= -std::log10(options_.false_alarm_rate)) {
    alarm_now_ = true;
    ++report_.n_alarms;
    if (report_.first_alarm < 0) report_.first_alarm = report_.n_examples;
  }
  report_.is_alarm = alarm_now_ || alarm_before_;
}

Status Monitor::Add(const float* features, const float* scores) {
  if (!AllFinite(features, options_.n_features) || !AllFinite(scores, n_classes())) {
    return NumericError("a feature or score of example {} is not finite", report_.n_examples);
  }
  if (features != nullptr) {
    report_.p_value = martingale_->Add(Score(Project(features)));
    NoteEvidence();
  }
  ++report_.n_examples;
  if (scores == nullptr || n_classes() == 0) return Status::Ok();
  const size_t width = options_.frequencies.size();
  const size_t slot = static_cast<size_t>(n_scores_++ % options_.window);
  if (probabilities_.size() < (slot + 1) * width) probabilities_.resize((slot + 1) * width);
  ToProbabilities(scores, width, probabilities_.data() + slot * width);
  return Status::Ok();
}

MonitorReport Monitor::Report() const {
  MonitorReport report = report_;
  if (!probabilities_.empty()) {
    report.classes = EstimateFrequencies(probabilities_, options_.frequencies);
  }
  return report;
}

void Monitor::Correct(const float* scores, float* out) const {
  ToProbabilities(scores, options_.frequencies.size(), out);
  const ClassFrequencies now = Report().classes;
  if (!now.frequencies.empty()) {
    CorrectProbabilities(out, options_.frequencies, now.frequencies, out);
  }
}

}  // namespace topwork
