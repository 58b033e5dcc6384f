// Shape inference and constant folding in one forward walk: each op is prepared with the shapes
// known so far; one whose inputs are all known is run at once and replaced by its result.
#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/contract/unsupported.h"
#include "models/format/constants.h"
#include "runtime/plan/order.h"
#include "runtime/plan/prepare.h"
#include "runtime/plan/work_graph.h"

namespace topwork {
namespace {

// A folded constant may be this much larger than the model's constants it came from, and at least
// kFreeBytes: fp16 and int8 weights become float32, but a BROADCAST_TO of one number to a gigabyte
// stays at run time. What was folded itself may grow no further: many small steps make a large one.
constexpr size_t kMaxGrowth = 4;
constexpr size_t kFreeBytes = size_t{1} << 20;

// `folded`: which values are no constants of the model's.
bool CanFold(const WorkGraph& graph, const Op& op, const std::vector<TensorView>& outputs,
             const std::vector<uint8_t>& folded) {
  if (op.def == nullptr || op.outputs.empty()) return false;
  if (op.is_custom() && !op.def->needs_shapes_only) return false;
  if (HasEffects(graph, op)) return false;
  size_t most_bytes = 0, out_bytes = 0;
  for (int v : op.inputs) {
    if (v < 0) continue;
    const TensorView& view = graph.views[static_cast<size_t>(v)];
    const bool known = view.data != nullptr || view.shape.NumElements() == 0;
    if (!known && !op.def->needs_shapes_only) return false;
    most_bytes += (folded[static_cast<size_t>(v)] ? 1 : kMaxGrowth) * view.bytes();
  }
  for (const TensorView& view : outputs) out_bytes += view.bytes();
  if (DTypeBits(outputs[0].dtype) == 0) return false;
  return out_bytes <= std::min(graph.fold_limit_bytes, std::max(kFreeBytes, most_bytes));
}

// The model's float16 constant that the op widens, when all that read the result can pack it as it
// is; null: the result is needed.
const uint16_t* HalvesToPack(const WorkGraph& graph, const Op& op) {
  constexpr int64_t kLeast = 4096;
  if (!IsDequantize(op.code) && op.code != OpCode::kCast) return nullptr;
  const int half = op.inputs[0], v = op.outputs[0];
  const TensorView& from = graph.views[static_cast<size_t>(half)];
  if (from.dtype != DType::kFloat16 || from.shape.NumElements() < kLeast ||
      graph.values[static_cast<size_t>(half)].owned != nullptr ||
      graph.views[static_cast<size_t>(v)].dtype != DType::kFloat32) {
    return nullptr;
  }
  int n_packers = 0;
  for (const WorkOp& work : graph.ops) {
    const bool packs = work.op.def != nullptr && work.op.def->packs_halves;
    if (!work.dead && packs && work.op.inputs.size() > 1 && work.op.inputs[1] == v) ++n_packers;
  }
  return n_packers == graph.CountUses(v) ? from.as<const uint16_t>() : nullptr;
}

// Runs the prepared op into new owned constants.
Status FoldOp(const Op& op, const PlanPrepareContext& context, WorkGraph* graph) {
  std::vector<TensorView> out_views = context.outputs();
  std::vector<std::shared_ptr<Buffer>> buffers;
  const uint16_t* const halves = HalvesToPack(*graph, op);
  const bool stays_empty = halves != nullptr && IsDefault(*graph->allocator);
  const Allocator& from = stays_empty ? SpaceAllocator() : *graph->allocator;
  for (TensorView& view : out_views) {
    TW_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(std::max<size_t>(view.bytes(), 1),
                                                        "a folded constant", from));
    if (!stays_empty) graph->fold_limit_bytes -= std::min(graph->fold_limit_bytes, view.bytes());
    buffers.push_back(std::make_shared<Buffer>(std::move(buffer)));
    view.data = buffers.back()->data();
  }
  std::vector<const TensorView*> in;
  for (int v : op.inputs) in.push_back(v < 0 ? nullptr : &graph->views[static_cast<size_t>(v)]);
  std::vector<TensorView*> out;
  for (TensorView& view : out_views) out.push_back(&view);
  TW_ASSIGN_OR_RETURN(Buffer scratch, Buffer::Allocate(context.scratch_bytes(), "scratch memory",
                                                       *graph->allocator));
  ThreadPool pool(1);
  RunContext run;
  run.params = &op.params;
  run.inputs = {in.data(), in.size()};
  run.outputs = {out.data(), out.size()};
  run.state = context.state().get();
  run.scratch = scratch.as<uint8_t>();
  run.pool = &pool;
  run.cpu = graph->cpu;
  if (halves != nullptr) {
    graph->halves[op.outputs[0]] = halves;
  } else {
    TW_RETURN_IF_ERROR(RunOnCpu(*op.def, run, [&] { return context.Where(); }));
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const size_t v = static_cast<size_t>(op.outputs[i]);
    graph->views[v].shape = out_views[i].shape;
    graph->views[v].data = buffers[i]->data();
    graph->values[v].data = buffers[i]->data();
    graph->values[v].owned = buffers[i];
    if (IsDequantize(op.code) || halves != nullptr) {
      // Constants may share data and have other scales: those of a tensor are its alone.
      const Value& source = graph->values[static_cast<size_t>(op.inputs[0])];
      const bool is_half = halves != nullptr || source.dtype == DType::kFloat16;
      const void* const scales = is_half ? nullptr : source.quantization.get();
      // An input that a caller gives has scales, too, but other data with each caller.
      if (source.owned == nullptr && source.data != nullptr)
        graph->origin[v] = scales != nullptr ? scales : source.data;
    }
  }
  return Status::Ok();
}

Status RefuseUnsupported(const WorkGraph& graph) {
  UnsupportedOps unsupported;
  for (const WorkOp& work : graph.ops) {
    const Op& op = work.op;
    uint32_t types = 0;
    for (const std::vector<int>* list : {&op.inputs, &op.outputs}) {
      for (int v : *list) {
        if (v >= 0) types |= 1u << static_cast<int>(graph.views[static_cast<size_t>(v)].dtype);
      }
    }
    unsupported.Note(op.def, op.code, op.name(), op.version, op.file_index, types);
  }
  return unsupported.Refusal();
}

}  // namespace

std::vector<const TensorView*> InputViews(const WorkGraph& graph, const Op& op) {
  std::vector<const TensorView*> views;
  views.reserve(op.inputs.size());
  for (int v : op.inputs) views.push_back(v < 0 ? nullptr : &graph.views[static_cast<size_t>(v)]);
  return views;
}

PlanPrepareContext MakeContext(const WorkGraph& graph, const Op& op, PackMode mode) {
  std::vector<TensorView> declared;
  declared.reserve(op.outputs.size());
  for (int v : op.outputs) {
    TensorView view;
    if (v >= 0) {
      view = graph.views[static_cast<size_t>(v)];
      view.data = nullptr;
      // A variable may hold what the file leaves open.
      if (op.code == OpCode::kReadVariable) {
        view.shape = graph.values[static_cast<size_t>(v)].signature;
      }
    }
    declared.push_back(view);
  }
  std::vector<const void*> keys(mode == PackMode::kPack ? op.inputs.size() : 0);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (op.inputs[i] < 0) continue;
    const size_t v = static_cast<size_t>(op.inputs[i]);
    keys[i] = graph.values[v].owned == nullptr ? graph.values[v].data : graph.origin[v];
  }
  std::vector<const uint16_t*> halves(graph.halves.empty() ? 0 : op.inputs.size());
  for (size_t i = 0; i < halves.size(); ++i) {
    const auto half = graph.halves.find(op.inputs[i]);
    if (half != graph.halves.end()) halves[i] = half->second;
  }
  PlanPrepareContext context(op, InputViews(graph, op), std::move(declared), {}, {}, *graph.cpu,
                             graph.max_threads);
  context.SetGraph(&graph, &op);
  context.SetPacking(mode, graph.model, std::move(keys),
                     graph.pack_allocator != nullptr ? *graph.pack_allocator : *graph.allocator);
  context.SetHalves(std::move(halves), IsDefault(*graph.allocator));
  context.SetPool(graph.pool);
  std::vector<uint8_t> is_constant;
  for (int v : op.inputs) is_constant.push_back(v >= 0 && graph.IsConstant(v));
  context.SetCallees(graph.callee_planner.get(), std::move(is_constant));
  return context;
}

Status InferAndFold(WorkGraph* graph) {
  TW_RETURN_IF_ERROR(RefuseUnsupported(*graph));
  WidenHalf(graph);
  std::vector<uint8_t> folded(graph->values.size());
  for (size_t i = 0; i < graph->ops.size(); ++i) {
    Op& op = graph->ops[i].op;
    PlanPrepareContext context = MakeContext(*graph, op, PackMode::kShapesOnly);
    const Status status = context.Prepare(*op.def);
    if (!status.ok() && context.deferred()) {
      graph->first_deferred = i;
      graph->FillHalves();
      return Status::Ok();
    }
    TW_RETURN_IF_ERROR(status);
    if (op.params.axis_is_input) {
      op.params = context.params();
      op.inputs.pop_back();
    }
    for (size_t o = 0; o < op.outputs.size(); ++o) {
      if (op.outputs[o] < 0) continue;
      graph->views[static_cast<size_t>(op.outputs[o])].shape = context.outputs()[o].shape;
    }
    if (!CanFold(*graph, op, context.outputs(), folded)) {
      graph->packing_bytes += context.packing_bytes();
      continue;
    }
    PlanPrepareContext packed = MakeContext(*graph, op, PackMode::kPack);
    TW_RETURN_IF_ERROR(packed.Prepare(*op.def));
    TW_RETURN_IF_ERROR(FoldOp(op, packed, graph));
    for (int v : op.outputs) folded[static_cast<size_t>(v)] = 1;
    graph->ops[i].dead = true;
  }
  graph->first_deferred = graph->ops.size();
  return Status::Ok();
}

}  // namespace topwork
