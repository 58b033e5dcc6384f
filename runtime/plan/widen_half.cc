// WidenHalf: arithmetic on float16 and bfloat16 tensors is done by the float32 kernels, between two
// CASTs; so is that of an operator whose data come as another type (OpParams::as_float32).
//
// Operators that move data have kernels for any type of two bytes; those that compute have none for
// these. A widened value is shared by all its readers, constants are cast once (by folding), and an
// operator's result is rounded to the type in which the file says it is stored.
#include <algorithm>
#include <map>
#include <utility>

#include "runtime/plan/work_graph.h"

namespace topwork {
namespace {

bool Computes(const Op& op) { return op.def != nullptr && op.def->widens_half; }

bool IsHalf(const WorkGraph& graph, int v) {
  if (v < 0) return false;
  const DType dtype = graph.views[static_cast<size_t>(v)].dtype;
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// Whether the op wants its value v, an input or output, in float32.
bool IsWidened(const WorkGraph& graph, const Op& op, int v) {
  if (v < 0 || !op.params.as_float32 || v != op.inputs[0]) return IsHalf(graph, v);
  return !IsFloat(graph.views[static_cast<size_t>(v)].dtype);
}

int AddFloat(WorkGraph* graph, int half) {
  Value value;
  value.name = graph->values[static_cast<size_t>(half)].name + " as float32";
  value.shape = graph->values[static_cast<size_t>(half)].shape;
  value.signature = graph->values[static_cast<size_t>(half)].signature;
  TensorView view;
  view.shape = graph->views[static_cast<size_t>(half)].shape;
  graph->values.push_back(std::move(value));
  graph->views.push_back(view);
  graph->origin.push_back(nullptr);
  return static_cast<int>(graph->values.size()) - 1;
}

// A CAST (`def`) on the same side as the operator it serves.
WorkOp MakeCast(const OpDef* def, const WorkOp& served, int from, int to) {
  WorkOp cast;
  cast.op.code = def->code;
  cast.op.def = def;
  cast.op.inputs = {from};
  cast.op.outputs = {to};
  cast.pinned = served.pinned;
  cast.pinned_to_float32 = served.pinned_to_float32;
  return cast;
}

}  // namespace

void WidenHalf(WorkGraph* graph) {
  const bool any = std::any_of(graph->ops.begin(), graph->ops.end(), [&](const WorkOp& work) {
    const auto is_half = [&](int v) { return IsWidened(*graph, work.op, v); };
    return Computes(work.op) &&
           (std::any_of(work.op.inputs.begin(), work.op.inputs.end(), is_half) ||
            std::any_of(work.op.outputs.begin(), work.op.outputs.end(), is_half));
  });
  const OpDef* const cast = FindOp(OpCode::kCast);
  if (!any || cast == nullptr) return;
  std::map<int, int> wide;  // of half values
  std::vector<WorkOp> ops;
  for (WorkOp& work : graph->ops) {
    if (!Computes(work.op)) {
      ops.push_back(std::move(work));
      continue;
    }
    for (int& v : work.op.inputs) {
      if (!IsWidened(*graph, work.op, v)) continue;
      const auto [place, is_new] = wide.try_emplace(v, -1);
      if (is_new) {
        place->second = AddFloat(graph, v);
        ops.push_back(MakeCast(cast, work, v, place->second));
      }
      v = place->second;
    }
    std::vector<WorkOp> after;
    for (int& v : work.op.outputs) {
      if (!IsHalf(*graph, v)) continue;
      const int result = AddFloat(graph, v);
      after.push_back(MakeCast(cast, work, result, v));
      v = result;
    }
    ops.push_back(std::move(work));
    std::move(after.begin(), after.end(), std::back_inserter(ops));
  }
  graph->ops = std::move(ops);
  graph->first_deferred = graph->ops.size();
}

}  // namespace topwork
