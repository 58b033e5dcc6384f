// CalleePlanner: a short list of plans, the oldest of which goes first.
#include "runtime/plan/callee_planner.h"

#include <algorithm>
#include <utility>

#include "kernels/contract/selection.h"

namespace topwork {
namespace {

constexpr size_t kMaxKept = 16;

}  // namespace

CalleePlanner::CalleePlanner(const Model* model, const PlanOptions& options, bool keeps_all)
    : model_(model), keeps_all_(keeps_all) {
  options_.max_threads = options.max_threads;
  options_.cpu = options.cpu;
  options_.optimize = options.optimize;
  options_.allocator = options.allocator;
  options_.memory_limit_bytes = options.memory_limit_bytes;
  options_.call_depth = options.call_depth + 1;
}

bool CalleePlanner::MayKeep(const std::vector<const void*>& values) const {
  const Span<const uint8_t> file = model_->bytes();
  return keeps_all_ || std::all_of(values.begin(), values.end(), [&](const void* value) {
           const uint8_t* const at = static_cast<const uint8_t*>(value);
           return at == nullptr || (at >= file.data() && at < file.data() + file.size());
         });
}

Result<PlannedCallee> CalleePlanner::PlanFor(int subgraph, const std::vector<Shape>& shapes,
                                             const std::vector<const void*>& values) {
  for (const Kept& kept : kept_) {
    if (kept.callee.subgraph == subgraph && kept.shapes == shapes && kept.callee.values == values) {
      return kept.callee;
    }
  }
  PlanOptions options = options_;
  options.subgraph = subgraph;
  options.input_shapes = shapes;
  options.input_values = values;
  PlannedCallee callee;
  callee.subgraph = subgraph;
  callee.values = values;
  // The caller's plan or session holds the model.
  const std::shared_ptr<const Model> borrowed(std::shared_ptr<const Model>(), model_);
  TW_ASSIGN_OR_RETURN(callee.plan, BuildPlan(borrowed, options));
  if (!MayKeep(values)) return callee;
  if (kept_.size() >= kMaxKept) kept_.erase(kept_.begin());
  kept_.push_back({shapes, callee});
  return callee;
}

std::vector<int> CalleesOf(const Op& op) {
  std::vector<int> callees;
  if (!kHasCalls) return callees;
  for (int subgraph : {op.params.subgraph, op.params.else_subgraph}) {
    if (subgraph >= 0) callees.push_back(subgraph);
  }
  callees.insert(callees.end(), op.params.branches.begin(), op.params.branches.end());
  return callees;
}

// The verifier has ruled out recursion.
bool AnyOpBelow(const Model& model, int subgraph, FunctionRef<bool(const Graph&, const Op&)> is) {
  const Graph& graph = model.subgraphs()[static_cast<size_t>(subgraph)];
  return std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& op) {
    if (is(graph, op)) return true;
    const std::vector<int> callees = CalleesOf(op);
    return std::any_of(callees.begin(), callees.end(),
                       [&](int callee) { return AnyOpBelow(model, callee, is); });
  });
}

}  // namespace topwork
