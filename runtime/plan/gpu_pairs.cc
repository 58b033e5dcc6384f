// GpuPairs. A value that is an output of the graph, or has a second reader, keeps its two operators
// apart.
#include "runtime/plan/gpu_pairs.h"

#include <algorithm>

#include "kernels/gpu/gpu_context.h"

namespace topwork {

bool IsGpuPair(const WorkGraph& graph, size_t i, size_t j) {
  const Op& first = graph.ops[i].op;
  const Op& second = graph.ops[j].op;
  return graph.ops[i].device == graph.ops[j].device && MayPairOnGpu(first.code, second.code) &&
         first.outputs[0] == second.inputs[0] && graph.CountUses(first.outputs[0]) == 1;
}

void JoinGpuPairs(WorkGraph* graph) {
  for (size_t i = 0; i + 1 < graph->first_deferred; ++i) {
    const Device* const device = graph->ops[i].device;
    if (device == nullptr) continue;
    for (size_t j = i + 2; j < graph->first_deferred; ++j) {
      if (graph->ops[j - 1].device != device) break;
      if (!IsGpuPair(*graph, i, j)) continue;
      const auto at = graph->ops.begin() + static_cast<std::ptrdiff_t>(i);
      std::rotate(at, at + 1, graph->ops.begin() + static_cast<std::ptrdiff_t>(j));
      break;
    }
  }
}

}  // namespace topwork
