// AssignBackends: the first backend that can run an operator gets it; the others' reasons are kept.
#include "runtime/plan/gpu_segment.h"
#include "runtime/plan/order.h"
#include "runtime/plan/work_graph.h"

namespace topwork {

void AssignBackends(const std::vector<const Backend*>& backends,
                    const std::string& no_backend_reason, WorkGraph* graph) {
  for (WorkOp& work : graph->ops) {
    std::vector<const TensorView*> inputs;
    for (int v : work.op.inputs) {
      inputs.push_back(v < 0 ? nullptr : &graph->views[static_cast<size_t>(v)]);
    }
    work.backend = &CpuBackend();
    work.reason = no_backend_reason;
    if (work.pinned && !backends.empty()) {
      work.reason = "pinned to the CPU";
      continue;
    }
    if (!backends.empty() && TouchesState(*graph, work.op)) {
      work.reason = "keeps state from run to run";
      continue;
    }
    for (const Backend* backend : backends) {
      const std::string why_not =
          work.pinned_to_float32 && backend->storage() != Storage::kFloat32 ? "pinned to float32"
          : backend->takes_programs()
              ? WhyNotLaunched(*graph, work, backend->storage(), &work.n_launches)
              : backend->WhyNot(*work.op.def, work.op.params, {inputs.data(), inputs.size()});
      if (why_not.empty()) {
        work.backend = backend;
        break;
      }
      const std::string reason = std::string("not on ") + backend->name() + ": " + why_not;
      if (work.reason.find(reason) != std::string::npos) continue;  // the device in another storage
      work.reason += (work.reason.empty() ? "" : "; ") + reason;
    }
  }
}

}  // namespace topwork
