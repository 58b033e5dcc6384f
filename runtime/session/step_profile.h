// The time of each step of a run, for whoever asked for it.
#ifndef TOPWORK_RUNTIME_SESSION_STEP_PROFILE_H_
#define TOPWORK_RUNTIME_SESSION_STEP_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/plan/plan.h"

namespace topwork {

// Time of one step of one run, or of one operator of a step that a device runs as a whole. Strings
// live as long as the session's plan.
struct StepProfile {
  int step = 0;
  // Step::parts' index. -1: the step itself; where its parts are reported as well, the time that
  // they leave of it: copies to and from the device, and starting it.
  int part = -1;
  const char* op = "";
  const char* variant = "";
  const char* backend = "";
  const char* output_name = "";
  int64_t nanos = 0;
};
using ProfileFunction = void (*)(void* user_data, const StepProfile& profile);

struct Profiler {
  ProfileFunction function = nullptr;  // null: off
  void* user_data = nullptr;

  // Reports step s, which took `nanos`, and its parts.
  void Report(const Plan& plan, size_t s, int64_t nanos,
              const std::vector<int64_t>& part_nanos) const;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_STEP_PROFILE_H_
