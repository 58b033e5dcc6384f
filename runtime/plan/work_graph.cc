// WorkGraph: construction and small queries.
#include "runtime/plan/work_graph.h"

#include <algorithm>
#include <utility>

#include "kernels/contract/custom_ops.h"
#include "kernels/contract/flex_ops.h"
#include "kernels/contract/selection.h"
#include "kernels/cpu/elementwise.h"
#include "runtime/plan/order.h"
#include "runtime/plan/pin.h"

namespace topwork {

WorkOp::WorkOp() = default;
WorkOp::~WorkOp() = default;
WorkOp::WorkOp(WorkOp&&) noexcept = default;
WorkOp& WorkOp::operator=(WorkOp&&) noexcept = default;
WorkOp::WorkOp(const WorkOp&) = default;
WorkOp& WorkOp::operator=(const WorkOp&) = default;

Step StepOf(const WorkOp& work) {
  Step step;
  step.def = work.op.def;
  step.params = work.op.params;
  step.inputs = work.op.inputs;
  step.outputs = work.op.outputs;
  step.fused = work.fused;
  step.file_index = work.op.file_index;
  step.inside = work.op.inside;
  return step;
}

int WorkGraph::AddConstant(const std::string& name, DType dtype, const Shape& shape,
                           std::shared_ptr<Buffer> data) {
  Value value;
  value.name = name;
  value.dtype = dtype;
  value.shape = value.signature = shape;
  value.data = data->data();
  value.owned = std::move(data);
  TensorView view;
  view.dtype = dtype;
  view.shape = shape;
  view.data = const_cast<void*>(value.data);
  values.push_back(std::move(value));
  views.push_back(view);
  origin.push_back(nullptr);
  return static_cast<int>(values.size()) - 1;
}

void WorkGraph::FillHalf(int v) {
  const auto half = halves.find(v);
  if (half == halves.end()) return;
  const TensorView& view = views[static_cast<size_t>(v)];
  cpu->elementwise->half_to_float(half->second, view.as<float>(), view.shape.NumElements());
  halves.erase(half);
}

void WorkGraph::FillHalves() {
  while (!halves.empty()) FillHalf(halves.begin()->first);
}

int WorkGraph::CountUses(int v) const {
  int uses = std::find(outputs.begin(), outputs.end(), v) != outputs.end() ? 1 : 0;
  for (const WorkOp& work : ops) {
    if (work.dead) continue;
    uses += static_cast<int>(std::count(work.op.inputs.begin(), work.op.inputs.end(), v));
  }
  return uses;
}

int WorkGraph::Producer(int v) const {
  for (size_t i = 0; i < ops.size(); ++i) {
    const std::vector<int>& made = ops[i].op.outputs;
    if (!ops[i].dead && std::find(made.begin(), made.end(), v) != made.end()) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

void WorkGraph::Absorb(int producer, size_t i, const std::string& what) {
  WorkOp& kept = ops[static_cast<size_t>(producer)];
  WorkOp& gone = ops[i];
  kept.op.outputs = gone.op.outputs;
  for (const std::string& name : {what, gone.fused}) {
    if (!name.empty()) kept.fused += (kept.fused.empty() ? "" : ", ") + name;
  }
  kept.pinned = kept.pinned || gone.pinned;
  kept.pinned_to_float32 = kept.pinned_to_float32 || gone.pinned_to_float32;
  gone.dead = true;
}

std::string WorkGraph::Where(const Op& op) const {
  const int v = op.outputs.empty() ? -1 : op.outputs[0];
  return NameOperator(op.file_index, op.name(), op.inside, subgraph_name,
                      v < 0 ? "" : values[static_cast<size_t>(v)].name);
}

void RemoveDeadOps(WorkGraph* graph) {
  std::vector<uint8_t> needed(graph->values.size(), false);
  for (int v : graph->outputs) needed[static_cast<size_t>(v)] = true;
  std::vector<uint8_t> lives(graph->ops.size());
  bool needs_state = graph->keeps_effects;
  for (size_t i = graph->ops.size(); i-- > 0;) {
    WorkOp& work = graph->ops[i];
    bool live = !work.dead && work.op.outputs.empty() && graph->keeps_effects;
    for (int v : work.op.outputs)
      live = live || (!work.dead && v >= 0 && needed[static_cast<size_t>(v)]);
    const bool touches_state = !work.dead && TouchesState(*graph, work.op);
    live = live || (touches_state && needs_state);
    needs_state = needs_state || (touches_state && live);
    lives[i] = live;
    if (!live && i < graph->first_deferred) --graph->first_deferred;
    for (size_t k = 0; live && k < work.op.inputs.size(); ++k) {
      if (work.op.inputs[k] >= 0) needed[static_cast<size_t>(work.op.inputs[k])] = true;
    }
  }
  size_t n = 0;
  for (size_t i = 0; i < lives.size(); ++i) {
    if (!lives[i]) continue;
    if (n != i) graph->ops[n] = std::move(graph->ops[i]);
    ++n;
  }
  graph->ops.resize(n);
}

namespace {

Status ApplyInputShapes(const Graph& source, const PlanOptions& options, WorkGraph* graph) {
  if (!options.input_shapes.empty() && options.input_shapes.size() != source.inputs.size()) {
    return InvalidArgument("{} input shapes given, the model has {} inputs",
                           options.input_shapes.size(), source.inputs.size());
  }
  for (size_t i = 0; i < options.input_shapes.size(); ++i) {
    const size_t v = static_cast<size_t>(source.inputs[i]);
    const Shape& shape = options.input_shapes[i];
    size_t bytes = 0;
    if (!CheckedByteSize(graph->values[v].dtype, shape, &bytes)) {
      return InvalidArgument("input {} '{}' cannot have shape {}: negative or too large", i,
                             graph->values[v].name, shape.ToString());
    }
    graph->views[v].shape = shape;
  }
  for (size_t i = 0; i < options.input_values.size(); ++i) {
    // A constant without a key in the pack cache: the address is that of the caller's value.
    graph->views[static_cast<size_t>(source.inputs[i])].data =
        const_cast<void*>(options.input_values[i]);
  }
  return Status::Ok();
}

// TensorFlow's operator, and builtin all the same: `op` becomes that, whose definition it has.
Status TakeFlexOp(Op* op) {
  op->code = op->def->code;
  return ReadFlexOptions(op->code, op->inputs.size(), &op->params);
}

}  // namespace

Result<WorkGraph> MakeWorkGraph(const Model& model, const PlanOptions& options) {
  if (options.subgraph < 0 || static_cast<size_t>(options.subgraph) >= model.subgraphs().size()) {
    return InvalidArgument("subgraph {} does not exist, the model has {}", options.subgraph,
                           model.subgraphs().size());
  }
  const Graph& source = model.subgraphs()[static_cast<size_t>(options.subgraph)];
  if (options.call_depth > kMaxCallDepth) {
    return InvalidModel("subgraph {}: subgraphs call each other more than {} deep",
                        options.subgraph, kMaxCallDepth);
  }
  WorkGraph graph;
  graph.model = &model;
  graph.allocator = options.allocator != nullptr ? options.allocator : &DefaultAllocator();
  graph.cpu = options.cpu != nullptr ? options.cpu : &BestCpuKernels();
  if (options.half_products) graph.half_products = HalfProductsOf(*graph.cpu);
  graph.max_threads = std::max(1, options.max_threads);
  if (options.memory_limit_bytes != 0) graph.fold_limit_bytes = options.memory_limit_bytes;
  graph.pool = options.pool;
  if (options.subgraph != 0) graph.subgraph_name = source.name;
  graph.values = source.values;
  graph.inputs = source.inputs;
  graph.outputs = options.outputs.empty() ? source.outputs : options.outputs;
  graph.keeps_effects = options.outputs.empty();
  graph.origin.assign(source.values.size(), nullptr);
  for (size_t v = 0; v < source.values.size(); ++v) {
    const int at = static_cast<int>(v);
    if (source.values[v].is_variable) graph.variable_keys[at] = {options.subgraph, at};
  }
  graph.views.reserve(source.values.size());
  for (const Value& value : source.values) {
    TensorView view;
    view.dtype = value.dtype;
    view.shape = value.shape;
    view.quantization = value.quantization.get();
    view.data = const_cast<void*>(value.data);
    graph.views.push_back(view);
  }
  graph.ops.reserve(source.ops.size());
  for (const Op& op : source.ops) {
    graph.ops.emplace_back();
    graph.ops.back().op = op;
  }
  if (kHasCalls) TW_RETURN_IF_ERROR(InlineCalls(model, &graph));
  for (WorkOp& work : graph.ops) {
    // Applications register custom operators when they like: looked up anew for every plan.
    if (!work.op.is_custom()) continue;
    work.op.def = FindCustomOp(work.op.custom_name);
    if (!kHasFlex || work.op.def == nullptr || work.op.def->is_custom()) continue;
    const Status taken = TakeFlexOp(&work.op);
    if (taken.ok()) continue;
    return taken.WithPrefix(graph.Where(work.op) + " " + work.op.custom_name + ": ");
  }
  for (int v : graph.outputs) {
    if (v < 0 || static_cast<size_t>(v) >= graph.values.size()) {
      return InvalidArgument("output value {} does not exist, the subgraph has {} values", v,
                             graph.values.size());
    }
  }
  if (kHasCalls) graph.callee_planner = std::make_shared<CalleePlanner>(&model, options, true);
  graph.first_deferred = graph.ops.size();
  TW_RETURN_IF_ERROR(PinToCpu(options.cpu_ops, &graph));
  TW_RETURN_IF_ERROR(PinToFloat32(options.float32_ops, &graph));
  TW_RETURN_IF_ERROR(ApplyInputShapes(source, options, &graph));
  RemoveDeadOps(&graph);
  return graph;
}

}  // namespace topwork
