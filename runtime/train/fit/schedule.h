// Learning-rate schedules: a factor in [0, 1] for every step.
//
// Warm-up multiplies by (step + 1) / warmup_steps during the first warmup_steps. Behind it, with
// t = step − warmup_steps of T = total_steps − warmup_steps:
//   constant  1
//   step      step_factor ^ floor(epoch / step_epochs)
//   cosine    ½ (1 + cos(π t / T))
//   linear    1 − t / T
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_SCHEDULE_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_SCHEDULE_H_

#include <cstdint>

namespace topwork {

// The numbers are those of `tw_schedule` in the C API and of checkpoints.
enum class Schedule : int { kConstant = 0, kStep = 1, kCosine = 2, kLinear = 3 };

const char* ScheduleName(Schedule schedule);  // "constant", "step", "cosine", "linear"

struct ScheduleOptions {
  Schedule schedule = Schedule::kConstant;
  int warmup_steps = 0;
  int step_epochs = 10;      // kStep: epochs between two drops, ≥ 1
  float step_factor = 0.1f;  // kStep: in (0, 1]
};

// The factor of step `step` (from 0) in epoch `epoch` (from 0) of a run of total_steps ≥ 1 steps.
// Steps beyond the total get the last one's factor.
double ScheduleFactor(const ScheduleOptions& options, int64_t step, int64_t epoch,
                      int64_t total_steps);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_SCHEDULE_H_
