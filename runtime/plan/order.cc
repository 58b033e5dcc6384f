// GroupByDevice: list scheduling that runs all ready operators of one kind before it turns to the
// other. With two kinds no order has fewer segments: an operator waits only for what it needs, so
// the number of its segment is the longest alternation of kinds on any path to it.
#include "runtime/plan/order.h"

#include <algorithm>
#include <map>
#include <set>

namespace topwork {
namespace {

// What a run consists of: one device's operators, or the CPU's (null).
const Device* KindOf(const WorkOp& work) { return work.device; }

bool IsState(const WorkGraph& graph, int v) {
  if (v < 0) return false;
  const DType dtype = graph.views[static_cast<size_t>(v)].dtype;
  return graph.values[static_cast<size_t>(v)].is_variable || dtype == DType::kResource ||
         dtype == DType::kVariant;
}

struct Waiting {
  std::vector<int> n_needed;                 // operators still to run before this one
  std::vector<std::vector<size_t>> unlocks;  // those that wait for this one
};

Waiting FindWaiting(const WorkGraph& graph) {
  const size_t n = graph.first_deferred;
  Waiting waiting;
  waiting.n_needed.resize(n, 0);
  waiting.unlocks.resize(n);
  std::vector<int> maker(graph.values.size(), -1);
  int last_effect = -1;
  for (size_t i = 0; i < n; ++i) {
    const Op& op = graph.ops[i].op;
    std::set<int> needed;
    for (int v : op.inputs) {
      if (v >= 0 && maker[static_cast<size_t>(v)] >= 0)
        needed.insert(maker[static_cast<size_t>(v)]);
    }
    if (HasEffects(graph, op)) {
      if (last_effect >= 0) needed.insert(last_effect);
      last_effect = static_cast<int>(i);
    }
    for (int j : needed) waiting.unlocks[static_cast<size_t>(j)].push_back(i);
    waiting.n_needed[i] = static_cast<int>(needed.size());
    for (int v : op.outputs) {
      if (v >= 0) maker[static_cast<size_t>(v)] = static_cast<int>(i);
    }
  }
  return waiting;
}

struct Order {
  std::vector<size_t> ops;
  size_t n_segments = 0;  // runs of GPU operators
  size_t n_runs = 0;
};

Order OrderFrom(const WorkGraph& graph, Waiting waiting, const Device* kind) {
  Order order;
  std::map<const Device*, std::set<size_t>> ready;
  for (size_t i = 0; i < graph.first_deferred; ++i) {
    if (waiting.n_needed[i] == 0) ready[KindOf(graph.ops[i])].insert(i);
  }
  bool new_run = true;
  while (order.ops.size() < graph.first_deferred) {
    if (ready[kind].empty()) {  // turn to the kind of the earliest operator that is ready
      size_t earliest = graph.first_deferred;
      for (const auto& [other, ops] : ready) {
        if (ops.empty() || *ops.begin() >= earliest) continue;
        earliest = *ops.begin();
        kind = other;
      }
      new_run = true;
      continue;
    }
    order.n_runs += new_run;
    order.n_segments += new_run && kind != nullptr;
    new_run = false;
    const size_t i = *ready[kind].begin();
    ready[kind].erase(i);
    order.ops.push_back(i);
    for (size_t j : waiting.unlocks[i]) {
      if (--waiting.n_needed[j] == 0) ready[KindOf(graph.ops[j])].insert(j);
    }
  }
  return order;
}

// Apart from its tensors.
bool KeepsState(const Op& op) {
  return op.code == OpCode::kCallOnce || (op.def != nullptr && op.def->keeps_state);
}

}  // namespace

bool TouchesState(const WorkGraph& graph, const Op& op) {
  const auto is_state = [&](int v) { return IsState(graph, v); };
  if (KeepsState(op) || std::any_of(op.inputs.begin(), op.inputs.end(), is_state) ||
      std::any_of(op.outputs.begin(), op.outputs.end(), is_state)) {
    return true;
  }
  const auto has_state = [](const Graph& callee, const Op& inner) {
    const auto is_state_there = [&](int v) {
      if (v < 0) return false;
      const Value& value = callee.values[static_cast<size_t>(v)];
      return value.is_variable || value.dtype == DType::kResource || value.dtype == DType::kVariant;
    };
    return KeepsState(inner) ||
           std::any_of(inner.inputs.begin(), inner.inputs.end(), is_state_there) ||
           std::any_of(inner.outputs.begin(), inner.outputs.end(), is_state_there);
  };
  const std::vector<int> callees = CalleesOf(op);
  return graph.model != nullptr && std::any_of(callees.begin(), callees.end(), [&](int callee) {
           return AnyOpBelow(*graph.model, callee, has_state);
         });
}

bool HasEffects(const WorkGraph& graph, const Op& op) {
  if (op.def == nullptr || op.def->has_effects) return true;
  return op.outputs.empty() || TouchesState(graph, op);
}

void GroupByDevice(WorkGraph* graph) {
  std::vector<const Device*> kinds;  // in order of appearance, so that ties fall the same way
  for (size_t i = 0; i < graph->first_deferred; ++i) {
    const Device* kind = KindOf(graph->ops[i]);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  if (kinds.size() < 2) return;
  const Waiting waiting = FindWaiting(*graph);
  Order best;
  for (const Device* kind : kinds) {
    Order order = OrderFrom(*graph, waiting, kind);
    const bool better = order.n_segments != best.n_segments ? order.n_segments < best.n_segments
                                                            : order.n_runs < best.n_runs;
    if (best.ops.empty() || better) best = std::move(order);
  }
  std::vector<WorkOp> ops;
  for (size_t i : best.ops) ops.push_back(std::move(graph->ops[i]));
  std::move(ops.begin(), ops.end(), graph->ops.begin());
}

}  // namespace topwork
