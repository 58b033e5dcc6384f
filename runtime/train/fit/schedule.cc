// Learning-rate schedules; the formulas are in the header.
#include "runtime/train/fit/schedule.h"

#include <algorithm>
#include <cmath>

namespace topwork {

const char* ScheduleName(Schedule schedule) {
  switch (schedule) {
    case Schedule::kConstant:
      return "constant";
    case Schedule::kStep:
      return "step";
    case Schedule::kCosine:
      return "cosine";
    case Schedule::kLinear:
      return "linear";
  }
  return "unknown";
}

double ScheduleFactor(const ScheduleOptions& options, int64_t step, int64_t epoch,
                      int64_t total_steps) {
  constexpr double kPi = 3.14159265358979323846;
  step = std::min(step, total_steps - 1);
  const int64_t warmup = options.warmup_steps;
  double factor = 1.0;
  if (step < warmup) factor = static_cast<double>(step + 1) / static_cast<double>(warmup);
  // The share of the way after the warm-up; 0 before it.
  const double done = static_cast<double>(std::max<int64_t>(0, step - warmup)) /
                      static_cast<double>(std::max<int64_t>(1, total_steps - warmup));
  switch (options.schedule) {
    case Schedule::kConstant:
      return factor;
    case Schedule::kStep:
      return factor * std::pow(static_cast<double>(options.step_factor),
                               static_cast<double>(epoch / options.step_epochs));
    case Schedule::kCosine:
      return factor * 0.5 * (1.0 + std::cos(kPi * done));
    case Schedule::kLinear:
      return factor * (1.0 - done);
  }
  return factor;
}

}  // namespace topwork
