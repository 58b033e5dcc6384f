// Partition: estimates of segments and of their parts, and what follows from them.
#include "runtime/plan/partition.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/contract/selection.h"
#include "runtime/plan/op_work.h"
#include "runtime/plan/order.h"

namespace topwork {
namespace {

// Operators that are tried on the device again.
constexpr size_t kMaxTries = 64;

bool OnDevice(const WorkOp& work) { return work.device != nullptr; }

// Estimates of sets of operators of one segment.
class Estimator {
 public:
  Estimator(const WorkGraph& graph, const DeviceCost& cost)
      : graph_(graph),
        cost_(cost),
        cpu_(cost.Cpu(graph.max_threads)),
        readers_(graph.values.size()),
        is_output_(graph.values.size(), false) {
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      for (int v : graph.ops[i].op.inputs) {
        if (v >= 0) readers_[static_cast<size_t>(v)].push_back(i);
      }
    }
    for (int v : graph.outputs) is_output_[static_cast<size_t>(v)] = true;
  }

  double CpuNanos(size_t i) const {
    const Work work = WorkOf(graph_, graph_.ops[i].op);
    return NanosOf(cpu_, 1, work.flops, work.bytes);
  }

  // An operator without a launch is a view of another's memory.
  double DeviceNanos(size_t i) const {
    const int n_launches = graph_.ops[i].n_launches;
    if (n_launches == 0) return 0.0;
    const Work work = WorkOf(graph_, graph_.ops[i].op);
    return NanosOf(cost_.device, n_launches, work.flops, work.bytes);
  }

  // What crosses the border of the set: values read that others make, values made that others read.
  double TransferNanos(const std::set<size_t>& ops) const {
    const Device* device = graph_.ops[*ops.begin()].device;
    const double element = static_cast<double>(
        StorageBytes(device != nullptr ? device->storage() : Storage::kFloat32));
    std::set<int> made, read;
    for (size_t i : ops) {
      for (int v : graph_.ops[i].op.outputs) made.insert(v);
    }
    double nanos = 0.0;
    for (size_t i : ops) {
      for (int v : graph_.ops[i].op.inputs) {
        if (v < 0 || graph_.IsConstant(v) || made.count(v) != 0 || !read.insert(v).second) continue;
        nanos += cost_.copy_ns + element * Elements(graph_, v) / cost_.up_bytes_per_ns;
      }
    }
    for (int v : made) {
      if (v < 0 || !ReadOutside(v, ops)) continue;
      nanos += cost_.copy_ns + element * Elements(graph_, v) / cost_.down_bytes_per_ns;
    }
    return nanos;
  }

  // The parts of [begin, end) that share no value made on the device.
  std::vector<std::set<size_t>> Parts(size_t begin, size_t end) const {
    std::vector<size_t> part(end - begin);
    for (size_t i = begin; i < end; ++i) {
      part[i - begin] = i;
      for (int v : graph_.ops[i].op.inputs) {
        for (size_t j = begin; v >= 0 && j < i; ++j) {
          const std::vector<int>& made = graph_.ops[j].op.outputs;
          if (std::find(made.begin(), made.end(), v) == made.end()) continue;
          const size_t from = part[j - begin], to = part[i - begin];
          std::replace(part.begin(), part.end(), from, to);
        }
      }
    }
    std::map<size_t, std::set<size_t>> grouped;
    for (size_t i = begin; i < end; ++i) grouped[part[i - begin]].insert(i);
    std::vector<std::set<size_t>> parts;
    for (auto& [id, ops] : grouped) parts.push_back(std::move(ops));
    return parts;
  }

 private:
  bool ReadOutside(int v, const std::set<size_t>& ops) const {
    if (is_output_[static_cast<size_t>(v)]) return true;
    const std::vector<size_t>& readers = readers_[static_cast<size_t>(v)];
    return std::any_of(readers.begin(), readers.end(), [&](size_t i) { return ops.count(i) == 0; });
  }

  const WorkGraph& graph_;
  const DeviceCost& cost_;
  const Rates cpu_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<uint8_t> is_output_;
};

struct Balance {
  double device = 0.0, transfers = 0.0, cpu = 0.0;
  bool worth_it() const { return device + transfers < cpu; }
};

Balance Weigh(const Estimator& estimator, const std::set<size_t>& ops, double round_trip_ns) {
  Balance balance;
  balance.transfers = estimator.TransferNanos(ops) + round_trip_ns;
  for (size_t i : ops) {
    balance.device += estimator.DeviceNanos(i);
    balance.cpu += estimator.CpuNanos(i);
  }
  return balance;
}

void BringBack(const std::set<size_t>& ops, const Balance& balance, WorkGraph* graph) {
  for (size_t i : ops) {
    WorkOp& work = graph->ops[i];
    work.reason = StrFormat(
        "not worth its transfers to {}: saves {:.1f} us ({:.1f} here, {:.1f} there), they cost "
        "{:.1f} us",
        work.device->name(), (balance.cpu - balance.device) / 1e3, balance.cpu / 1e3,
        balance.device / 1e3, balance.transfers / 1e3);
    work.given_up = work.device;
    work.device = nullptr;
  }
}

size_t EndOfSegment(const WorkGraph& graph, size_t begin) {
  size_t end = begin + 1;
  while (end < graph.first_deferred && graph.ops[end].device == graph.ops[begin].device) ++end;
  return end;
}

// True when something moved back to the CPU.
bool TrimSegment(const DeviceCost& cost, size_t begin, size_t end, WorkGraph* graph) {
  const Estimator estimator(*graph, cost);
  std::set<size_t> rest;
  bool changed = false;
  for (const std::set<size_t>& part : estimator.Parts(begin, end)) {
    const Balance balance = Weigh(estimator, part, 0.0);
    if (balance.worth_it()) {
      rest.insert(part.begin(), part.end());
      continue;
    }
    BringBack(part, Weigh(estimator, part, cost.round_trip_ns), graph);
    changed = true;
  }
  if (rest.empty()) return changed;
  const Balance balance = Weigh(estimator, rest, cost.round_trip_ns);
  if (balance.worth_it()) return changed;
  BringBack(rest, balance, graph);
  return true;
}

bool Trim(const DeviceCost& cost, WorkGraph* graph) {
  bool changed = false;
  for (size_t i = 0; i < graph->first_deferred;) {
    if (!OnDevice(graph->ops[i])) {
      ++i;
      continue;
    }
    const size_t end = EndOfSegment(*graph, i);
    changed = TrimSegment(cost, i, end, graph) || changed;
    i = end;
  }
  return changed;
}

// An operator that moved back to the CPU may be worth the device after all once its neighbours have
// stayed: then two segments become one. Each is tried by the estimate of the whole plan.
void TakeAgain(const DeviceCost& cost, WorkGraph* graph) {
  double best = EstimatePlan(*graph, cost).nanos;
  std::vector<int> tries;  // values that operators brought back make
  for (size_t i = 0; i < graph->first_deferred && tries.size() < kMaxTries; ++i) {
    const WorkOp& work = graph->ops[i];
    if (work.given_up != nullptr && work.op.outputs[0] >= 0) tries.push_back(work.op.outputs[0]);
  }
  for (const int v : tries) {
    std::vector<WorkOp> before = graph->ops;
    WorkOp& work = graph->ops[static_cast<size_t>(graph->Producer(v))];
    work.device = work.given_up;
    work.given_up = nullptr;
    work.reason.clear();
    GroupByDevice(graph);
    const double nanos = EstimatePlan(*graph, cost).nanos;
    if (nanos < best) {
      best = nanos;
    } else {
      graph->ops = std::move(before);
    }
  }
}

}  // namespace

void Partition(const DeviceCost* cost, WorkGraph* graph) {
  GroupByDevice(graph);
  if (!kHasTrials || cost == nullptr) return;
  // Operators that move back to the device may join segments.
  while (Trim(*cost, graph)) GroupByDevice(graph);
  TakeAgain(*cost, graph);
}

PlanEstimate EstimatePlan(const WorkGraph& graph, const DeviceCost& cost) {
  const Estimator estimator(graph, cost);
  PlanEstimate estimate;
  for (size_t i = 0; i < graph.first_deferred;) {
    const size_t begin = i;
    const bool on_device = OnDevice(graph.ops[i]);
    i = on_device ? EndOfSegment(graph, i) : i + 1;
    std::set<size_t> ops;
    for (size_t k = begin; k < i; ++k) ops.insert(k);
    const Balance balance = Weigh(estimator, ops, on_device ? cost.round_trip_ns : 0.0);
    estimate.cpu_nanos += balance.cpu;
    estimate.nanos += on_device ? balance.device + balance.transfers : balance.cpu;
  }
  return estimate;
}

}  // namespace topwork
