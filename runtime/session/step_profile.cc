#include "runtime/session/step_profile.h"

#include <algorithm>

namespace topwork {

void Profiler::Report(const Plan& plan, size_t s, int64_t nanos,
                      const std::vector<int64_t>& part_nanos) const {
  const Step& step = plan.steps[s];
  const auto report = [&](const Step& what, int part, int64_t took) {
    StepProfile profile;
    profile.step = static_cast<int>(s);
    profile.part = part;
    profile.op = what.def->name();
    profile.variant = what.variant;
    profile.backend = PlaceName(what.device);
    if (!what.outputs.empty() && what.outputs[0] >= 0) {
      profile.output_name = plan.values[static_cast<size_t>(what.outputs[0])].name.c_str();
    }
    profile.nanos = took;
    function(user_data, profile);
  };
  for (size_t k = 0; k < part_nanos.size() && k < step.parts.size(); ++k) {
    report(step.parts[k], static_cast<int>(k), part_nanos[k]);
    nanos -= part_nanos[k];
  }
  report(step, -1, std::max<int64_t>(nanos, 0));
}

}  // namespace topwork
