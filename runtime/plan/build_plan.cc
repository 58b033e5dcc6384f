// BuildPlan: the walk from a verified model to steps with memory.
#include <algorithm>
#include <set>
#include <utility>

#include "kernels/contract/selection.h"
#include "kernels/cpu/gemm.h"
#include "ports/port.h"
#include "runtime/base/slab.h"
#include "runtime/plan/alias.h"
#include "runtime/plan/gpu_memory.h"
#include "runtime/plan/gpu_pairs.h"
#include "runtime/plan/make_steps.h"
#include "runtime/plan/memory.h"
#include "runtime/plan/op_work.h"
#include "runtime/plan/order.h"
#include "runtime/plan/partition.h"
#include "runtime/plan/prepare.h"
#include "runtime/plan/work_graph.h"

namespace topwork {

PlanOptions::PlanOptions() = default;
PlanOptions::~PlanOptions() = default;
PlanOptions::PlanOptions(PlanOptions&&) noexcept = default;
PlanOptions& PlanOptions::operator=(PlanOptions&&) noexcept = default;
PlanOptions::PlanOptions(const PlanOptions&) = default;
PlanOptions& PlanOptions::operator=(const PlanOptions&) = default;

namespace {

// A model's first packed weights lie side by side, of at least so much. A later plan finds most of them
// there, and its own would lie alone in memory for all. An application's own allocator hands out each
// constant's by itself.
constexpr size_t kLeastSlab = size_t{1} << 20;
bool WantsSlab(const WorkGraph& graph) {
  return IsDefault(*graph.allocator) && graph.packing_bytes >= kLeastSlab &&
         (graph.model == nullptr || graph.model->pack_cache().bytes() == 0);
}

// The graph's names become the plan's.
void MakeValues(const std::set<int>& needed_constants, WorkGraph* from, Plan* plan) {
  WorkGraph& graph = *from;
  plan->values.reserve(graph.values.size());
  for (size_t v = 0; v < graph.values.size(); ++v) {
    PlanValue value;
    value.name = std::move(graph.values[v].name);
    value.view = graph.views[v];
    value.constant = value.view.data != nullptr;
    if (graph.values[v].is_variable) {
      value.variable = true;
      value.key = graph.variable_keys.at(static_cast<int>(v));
    }
    if (value.constant && graph.values[v].owned != nullptr) {
      plan->quantizations.push_back(graph.values[v].quantization);
      if (needed_constants.count(static_cast<int>(v)) != 0) {
        plan->owned.push_back(graph.values[v].owned);
        plan->owned_bytes += graph.values[v].owned->size();
      } else {
        value.view.data = nullptr;  // its packed form is all that run() reads
      }
    }
    plan->values.push_back(std::move(value));
  }
}

Status AssignArena(Plan* plan) {
  std::vector<MemoryBlock> blocks;
  std::vector<int> owners;
  for (size_t v = 0; v < plan->values.size(); ++v) {
    const PlanValue& value = plan->values[v];
    if (value.constant || value.variable || value.root != static_cast<int>(v) ||
        value.last_step < 0)
      continue;
    blocks.push_back({value.view.bytes(), value.first_step, value.last_step, 0});
    owners.push_back(static_cast<int>(v));
  }
  const uint64_t arena = PlanMemory(&blocks);
  if (std::max<uint64_t>(arena, plan->scratch_bytes) > SIZE_MAX / 2) {  // nor do both overflow
    return OutOfMemory("its activations need {} bytes, more than the address space has", arena);
  }
  plan->arena_bytes = static_cast<size_t>(arena);
  plan->live_bytes = static_cast<size_t>(LargestLiveSet(blocks));
  for (size_t i = 0; i < blocks.size(); ++i) {
    plan->values[static_cast<size_t>(owners[i])].arena_offset =
        static_cast<int64_t>(blocks[i].offset);
  }
  return Status::Ok();
}

Status CheckMemoryLimit(const Plan& plan, const PlanOptions& options) {
  const size_t limit = options.memory_limit_bytes;
  const uint64_t total = plan.host_bytes();
  if (limit == 0 || total <= limit) return Status::Ok();
  return OutOfMemory(
      "the plan needs {} bytes (activations {}, scratch {}, packed weights {}, constants {}, "
      "variables {}); the memory limit is {}{}",
      total, plan.run_bytes - plan.scratch_bytes, plan.scratch_bytes,
      plan.packed_bytes + plan.packed_spare_bytes, plan.owned_bytes, plan.state_bytes, limit,
      options.machine_memory_bytes == 0
          ? std::string()
          : StrFormat(", half of what there is ({} bytes): memory_limit_bytes (--memory-limit) "
                      "allows more",
                      options.machine_memory_bytes));
}

// Packed weights of the steps and their callees, each once, and callees' own constants.
void CountConstants(const Plan& plan, std::set<const Buffer*>* distinct, Plan* total) {
  for (const Step& step : plan.steps) {
    for (const std::shared_ptr<const Buffer>& block : step.packed) {
      if (distinct->insert(block.get()).second) total->packed_bytes += block->size();
    }
    for (const PlannedCallee& callee : step.callees) {
      for (const std::shared_ptr<Buffer>& block : callee.plan->owned) {
        if (distinct->insert(block.get()).second) total->owned_bytes += block->size();
      }
      CountConstants(*callee.plan, distinct, total);
    }
  }
}

// Plans memory for the values that are used; the others need none.
void CountState(const WorkGraph& graph, Plan* plan) {
  for (const PlanValue& value : plan->values) {
    if (value.variable && value.last_step >= 0) plan->state_bytes += value.view.bytes();
  }
  for (const Step& step : plan->steps) {
    for (const PlannedCallee& callee : step.callees) plan->state_bytes += callee.plan->state_bytes;
  }
  plan->keeps_state = std::any_of(graph.ops.begin(), graph.ops.end(),
                                  [&](const WorkOp& work) { return TouchesState(graph, work.op); });
}

// After MakeSteps, which knows all shapes.
double CountCpuFlops(const WorkGraph& graph, const Plan& plan) {
  if (!plan.deferred.empty()) return -1.0;
  for (const Step& step : plan.steps) {
    if (!step.callees.empty()) return -1.0;
  }
  double flops = 0.0;
  for (const WorkOp& work : graph.ops) {
    if (work.op.is_custom()) return -1.0;
    if (work.device == nullptr) flops += WorkOf(graph, work.op).flops;
  }
  return flops;
}

// Values that deferred ops make get their memory while the session runs.
void ExcludeDeferred(Plan* plan) {
  for (const Op& op : plan->deferred) {
    for (int v : op.outputs) {
      if (v < 0) continue;
      PlanValue& value = plan->values[static_cast<size_t>(v)];
      value.deferred = true;
      value.first_step = 0;
      value.last_step = -1;
    }
  }
}

// The plan's line about the 16-bit products that were asked for.
std::string HalfNote(const WorkGraph& graph, const Plan& plan) {
  if (graph.half_products == nullptr) {
    return StrFormat("precision float16: no 16-bit products with {} here, so all is float32",
                     graph.cpu->isa);
  }
  size_t n = 0, n_ops = plan.deferred.size();
  for (const Step& step : plan.steps) {
    n_ops += std::max<size_t>(1, step.parts.size());
    if (step.products[0] != '\0') ++n;
    for (const Step& part : step.parts) n += part.products[0] != '\0' ? 1 : 0;
  }
  return StrFormat("precision float16: {} products in {} of {} operators",
                   graph.half_products->half, n, n_ops);
}

// Moves operators back to the CPU that are not worth their transfers, or do not fit into the
// device's memory, until neither finds any more.
void PlaceOnDevices(const PlanOptions& options, WorkGraph* graph) {
  const auto n_placed = [&] {
    return std::count_if(graph->ops.begin(), graph->ops.end(),
                         [](const WorkOp& work) { return work.device != nullptr; });
  };
  for (auto before = n_placed() + 1; n_placed() < before;) {
    Partition(kHasTrials ? options.device_cost.get() : nullptr, graph);
    before = n_placed();
    FitDeviceMemory(options.device_memory_limit_bytes, graph);
  }
}

}  // namespace

uint64_t Plan::host_bytes() const {
  return uint64_t{run_bytes} + packed_bytes + packed_spare_bytes + owned_bytes + state_bytes;
}

std::string Plan::Where(const Step& step) const {
  const bool on_device = step.program != nullptr;
  const Step& named = step.parts.empty() ? step
                      : on_device        ? step.parts.front()
                                         : step.parts.back();
  const int v = named.outputs.empty() ? -1 : named.outputs[0];
  const std::string in_subgraph =
      subgraph == 0 ? "" : model->subgraphs()[static_cast<size_t>(subgraph)].name;
  return (on_device ? "the GPU's part from " : "") +
         NameOperator(named.file_index, named.def->name(), named.inside, in_subgraph,
                      v < 0 ? "" : values[static_cast<size_t>(v)].name);
}

std::string NameOperator(int file_index, const char* name, const std::string& inside,
                         const std::string& subgraph, const std::string& output) {
  const std::string number = file_index < 0 ? std::string() : StrFormat("#{} ", file_index);
  return StrFormat("operator {}{}{}{}{}{}{} (output '{}')", number, name,
                   inside.empty() ? "" : " in ", inside, subgraph.empty() ? "" : " of subgraph '",
                   subgraph, subgraph.empty() ? "" : "'", output);
}

Result<std::shared_ptr<const Plan>> BuildPlan(std::shared_ptr<const Model> model,
                                              const PlanOptions& options) {
  TW_ASSIGN_OR_RETURN(WorkGraph graph, MakeWorkGraph(*model, options));
  TW_RETURN_IF_ERROR(InferAndFold(&graph));
  RemoveDeadOps(&graph);
  if (options.optimize) TW_RETURN_IF_ERROR(Fuse(&graph));
  if (!kShortLoops && options.optimize && options.devices.empty()) {
    TW_RETURN_IF_ERROR(FuseBytes(&graph));
    if (kFusesFunctions) FuseFunctions(&graph);
  }
  if (!options.devices.empty()) graph.FillHalves();
  AssignDevices(options, &graph);
  if (kHasOpenCl) {
    PlaceOnDevices(options, &graph);
    JoinGpuPairs(&graph);
  }

  auto plan = std::make_shared<Plan>();
  plan->model = std::move(model);
  plan->subgraph = options.subgraph;
  plan->devices = options.devices;
  plan->inputs = graph.inputs;
  plan->outputs = graph.outputs;
  std::vector<SharingOffer> offers;
  std::set<int> needed_constants(graph.outputs.begin(), graph.outputs.end());
  for (size_t i = graph.first_deferred; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i].op;
    needed_constants.insert(op.inputs.begin(), op.inputs.end());
    plan->deferred.push_back(op);
  }
  const SlabAllocator slab(graph.packing_bytes, *graph.allocator);
  if (WantsSlab(graph)) graph.pack_allocator = &slab.allocator();
  TW_RETURN_IF_ERROR(MakeSteps(options, &graph, &offers, &needed_constants, plan.get()));
  plan->model->ForgetRest();
  if (kHasDescriptions && options.half_products) plan->half_note = HalfNote(graph, *plan);
  plan->gpu_bytes = DeviceBytes(plan->steps);
  plan->cpu_flops = CountCpuFlops(graph, *plan);
  if (kHasTrials && options.device_cost != nullptr) {
    const PlanEstimate estimate = EstimatePlan(graph, *options.device_cost);
    plan->estimated_ns = estimate.nanos;
    plan->estimated_cpu_ns = estimate.cpu_nanos;
  }
  MakeValues(needed_constants, &graph, plan.get());
  AssignViews(offers, options.optimize, plan.get());
  ExcludeDeferred(plan.get());
  TW_RETURN_IF_ERROR(AssignArena(plan.get()));
  CountState(graph, plan.get());
  std::set<const Buffer*> distinct;
  CountConstants(*plan, &distinct, plan.get());
  plan->packed_spare_bytes = slab.spare_bytes();
  plan->run_bytes = plan->arena_bytes + plan->scratch_bytes;
#if !defined(__OPTIMIZE_SIZE__)
  if (IsDefault(*graph.allocator)) plan->run_bytes = port::WithLastPage(plan->run_bytes);
#endif
  TW_RETURN_IF_ERROR(CheckMemoryLimit(*plan, options));
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace topwork
