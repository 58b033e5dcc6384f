// FitDeviceMemory: plans programs on trial, without the values of their constants. Need = the
// largest arena (the programs of a session share one) + all constants. Equal constants are shared
// when they are loaded, so the need is an upper bound.
#include "runtime/plan/gpu_memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "runtime/plan/gpu_segment.h"

namespace topwork {
namespace {

size_t Least(size_t a, size_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

class Fitter {
 public:
  Fitter(const Device& device, size_t limit_bytes, WorkGraph* graph)
      : device_(device), limits_(device.limits()), graph_(graph) {
    limits_.total_bytes = Least(limits_.total_bytes, limit_bytes);
  }

  void Fit() {
    if (limits_.total_bytes == 0 && limits_.block_bytes == 0) return;
    std::vector<size_t> ops;
    for (size_t i = 0; i < graph_->first_deferred; ++i) {
      if (graph_->ops[i].device == &device_) ops.push_back(i);
    }
    if (Fits(ops)) return;
    std::vector<size_t> single;
    for (size_t i : ops) {
      if (Fits({i})) {
        single.push_back(i);
      } else {
        const GpuNeed need = NeedOf({i});
        GiveUp(i, StrFormat("it alone needs {} bytes of device memory", need.total()));
      }
    }
    const size_t head = LongestThatFits(single, true), tail = LongestThatFits(single, false);
    const size_t begin = head >= tail ? 0 : single.size() - tail;
    const size_t end = head >= tail ? head : single.size();
    for (size_t k = 0; k < single.size(); ++k) {
      if (k < begin || k >= end) GiveUp(single[k], "no device memory is left for it");
    }
  }

 private:
  struct GpuNeed {
    size_t arena_bytes = 0, constant_bytes = 0, block_bytes = 0;
    size_t total() const { return arena_bytes + constant_bytes; }
  };

  // The need of these ops alone on the device, in order.
  GpuNeed NeedOf(const std::vector<size_t>& ops) const {
    GpuNeed need;
    for (size_t k = 0; k < ops.size();) {
      size_t end = k + 1;
      while (end < ops.size() && ops[end] == ops[end - 1] + 1) ++end;
      const Result<GpuProgram> program = PlanGpuTrial(*graph_, ops[k], ops[end - 1] + 1, device_);
      k = end;
      if (!program.ok()) continue;  // the CPU gets it when it is planned for good
      need.arena_bytes = std::max(need.arena_bytes, program->arena_bytes);
      need.constant_bytes += program->constant_bytes;
      need.block_bytes =
          std::max({need.block_bytes, program->arena_bytes, program->largest_constant_bytes});
    }
    return need;
  }

  bool Fits(const std::vector<size_t>& ops) const {
    const GpuNeed need = NeedOf(ops);
    return (limits_.total_bytes == 0 || need.total() <= limits_.total_bytes) &&
           (limits_.block_bytes == 0 || need.block_bytes <= limits_.block_bytes);
  }

  // How many of the ops fit, counted from the first on or up to the last.
  size_t LongestThatFits(const std::vector<size_t>& ops, bool from_first) const {
    size_t fits = 0, too_many = ops.size() + 1;
    while (fits + 1 < too_many) {
      const size_t n = fits + (too_many - fits) / 2;
      const auto begin = from_first ? ops.begin() : ops.end() - static_cast<std::ptrdiff_t>(n);
      const std::vector<size_t> some(begin, begin + static_cast<std::ptrdiff_t>(n));
      (Fits(some) ? fits : too_many) = n;
    }
    return fits;
  }

  void GiveUp(size_t i, const std::string& why) {
    WorkOp& work = graph_->ops[i];
    work.device = nullptr;
    std::string limit;
    if (limits_.total_bytes != 0) limit += StrFormat("{} bytes", limits_.total_bytes);
    if (limits_.block_bytes != 0) {
      limit += StrFormat("{}{} in one buffer", limit.empty() ? "" : ", ", limits_.block_bytes);
    }
    work.reason =
        std::string("not on ") + device_.name() + ": " + why + " (" + limit + " may be used)";
  }

  const Device& device_;
  DeviceLimits limits_;
  WorkGraph* graph_;
};

}  // namespace

void FitDeviceMemory(size_t limit_bytes, WorkGraph* graph) {
  std::set<const Device*> devices;
  for (const WorkOp& work : graph->ops) {
    if (work.device != nullptr) devices.insert(work.device);
  }
  for (const Device* device : devices) Fitter(*device, limit_bytes, graph).Fit();
}

size_t DeviceBytes(const std::vector<Step>& steps) {
  std::map<const Device*, LoadedPrograms> programs;
  for (const Step& step : steps) {
    if (step.program != nullptr) programs[step.device].push_back(step.program);
  }
  size_t bytes = 0;
  for (const auto& entry : programs) bytes += entry.first->MemoryBytes(entry.second);
  return bytes;
}

}  // namespace topwork
