// Planning: operators are prepared once; then for a number of segments the steps are listed and
// every value's and gradient's memory is placed by its lifetime.
#include "runtime/train/head/tail_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/plan/memory.h"
#include "runtime/train/head/tail_schedule.h"

namespace topwork {
namespace {

// The operator's tensors. Parameters and fixed floats are unknown to it, so it packs weights in
// every run; integers (axes, paddings) are known.
TailPlan::Prepared TensorsOf(const TailGraph& graph, const TailNode& node, int64_t n_rows) {
  TailPlan::Prepared prepared;
  for (int v : node.op.inputs) {
    TensorView view;
    if (v >= 0) {
      const TailValue& value = graph.value(v);
      view.dtype = value.dtype;
      view.shape = graph.ShapeFor(v, n_rows);
      if (value.dtype == DType::kInt32) view.data = const_cast<int32_t*>(value.integers.data());
    }
    prepared.inputs.push_back(view);
  }
  for (size_t i = 0; i < prepared.inputs.size(); ++i) {
    prepared.input_pointers.push_back(node.op.inputs[i] < 0 ? nullptr : &prepared.inputs[i]);
  }
  prepared.output.shape = graph.ShapeFor(node.op.outputs[0], n_rows);
  return prepared;
}

size_t BackwardScratch(const TailNode& node, const TailPlan::Prepared& prepared,
                       const TailPlanOptions& options) {
  if (node.wanted == 0 || node.backward->scratch_bytes == nullptr) return 0;
  BackwardContext context;
  context.params = &node.op.params;
  context.inputs = {prepared.input_pointers.data(), prepared.input_pointers.size()};
  context.output = &prepared.output;
  context.pool = options.pool;
  context.cpu = options.cpu;
  return node.backward->scratch_bytes(context, node.wanted);
}

Status PrepareNode(const TailGraph& graph, const TailNode& node, const TailPlanOptions& options,
                   TailPlan* plan) {
  plan->nodes.push_back(TensorsOf(graph, node, options.n_rows));
  TailPlan::Prepared& prepared = plan->nodes.back();
  std::vector<const std::string*> names;
  for (int v : node.op.inputs) names.push_back(v < 0 ? nullptr : &graph.value(v).name);
  PlanPrepareContext context(node.op, prepared.input_pointers, {prepared.output}, std::move(names),
                             node.where, *options.cpu, options.pool->n_threads());
  context.SetPacking(PackMode::kPack, nullptr, {}, DefaultAllocator());
  TW_RETURN_IF_ERROR(context.Prepare(*node.op.def));
  const Shape& computed = context.outputs()[0].shape;
  if (computed.NumElements() != prepared.output.shape.NumElements()) {
    return Unsupported("{} gives shape {} for {} examples where {} is expected: it mixes examples",
                       node.where, computed.ToString(), options.n_rows,
                       prepared.output.shape.ToString());
  }
  prepared.state = context.state();
  prepared.packed = context.packed();
  plan->scratch_bytes = std::max(plan->scratch_bytes, AlignUp(context.scratch_bytes()));
  if (options.backward) {
    plan->scratch_bytes =
        std::max(plan->scratch_bytes, AlignUp(BackwardScratch(node, prepared, options)));
  }
  return Status::Ok();
}

void ScheduleSteps(const TailGraph& graph, const TailPlanOptions& options, int n_segments,
                   TailPlan* plan) {
  plan->n_segments = n_segments;
  plan->steps = ListSteps(graph, options.backward, n_segments);
  PlaceSteps(graph, options.n_rows, plan);
}

}  // namespace

Result<std::unique_ptr<TailPlan>> MakeTailPlan(const TailGraph& graph,
                                               const TailPlanOptions& options) {
  auto plan = std::make_unique<TailPlan>();
  plan->n_rows = options.n_rows;
  plan->backward = options.backward;
  plan->nodes.reserve(graph.nodes.size());
  for (const TailNode& node : graph.nodes) {
    TW_RETURN_IF_ERROR(PrepareNode(graph, node, options, plan.get()));
  }
  ScheduleSteps(graph, options, 1, plan.get());
  const uint64_t limit = options.limit_bytes == 0 ? SIZE_MAX / 2 : options.limit_bytes;
  if (plan->bytes() <= limit) return plan;
  uint64_t least = plan->bytes();
  if (options.backward) {
    const int n = static_cast<int>(graph.nodes.size());
    std::vector<int> candidates = {static_cast<int>(std::lround(std::sqrt(n)))};
    for (int k = 2; k <= n; ++k) candidates.push_back(k);
    for (int k : candidates) {
      if (k < 2) continue;
      ScheduleSteps(graph, options, k, plan.get());
      if (plan->bytes() <= limit) return plan;
      least = std::min(least, plan->bytes());
    }
  }
  return OutOfMemory(
      "training the last layers on {} examples at once needs {} bytes of activations and "
      "working memory at least, the memory limit is {}; use a smaller batch_size or fewer layers",
      options.n_rows, least, limit);
}

}  // namespace topwork
