// AssignDevices: the first device that can run an operator gets it; the others' reasons are kept.
#include "runtime/plan/gpu_segment.h"
#include "runtime/plan/order.h"
#include "runtime/plan/work_graph.h"

namespace topwork {

void AssignDevices(const PlanOptions& options, WorkGraph* graph) {
  for (WorkOp& work : graph->ops) {
    work.device = nullptr;
    work.reason = options.no_device_reason;
    if (!kHasOpenCl || options.devices.empty()) continue;
    if (work.pinned) {
      work.reason = "pinned to the CPU";
      continue;
    }
    if (TouchesState(*graph, work.op)) {
      work.reason = "keeps state from run to run";
      continue;
    }
    for (const auto& device : options.devices) {
      const std::string why_not = work.pinned_to_float32 && device->storage() != Storage::kFloat32
                                      ? "pinned to float32"
                                      : WhyNotLaunched(*graph, work, device->storage(),
                                                       options.same_integers, &work.n_launches);
      if (why_not.empty()) {
        work.device = device.get();
        break;
      }
      const std::string reason = std::string("not on ") + device->name() + ": " + why_not;
      if (work.reason.find(reason) != std::string::npos) continue;  // the device in another storage
      work.reason += (work.reason.empty() ? "" : "; ") + reason;
    }
  }
}

}  // namespace topwork
