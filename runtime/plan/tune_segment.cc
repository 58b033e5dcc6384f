// Each operator is planned and measured alone, once with each of its variants forced.
#include "runtime/plan/tune_segment.h"

#include <algorithm>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/plan/gpu_segment.h"

namespace topwork {
namespace {

// The variants of a choice, the usual one first.
std::vector<std::string> InOrder(const GpuChoice& choice) {
  std::vector<std::string> order = {choice.usual};
  for (const char* variant : choice.variants) {
    if (variant != order.front()) order.push_back(variant);
  }
  return order;
}

int64_t Measure(const WorkGraph& graph, size_t op, const Backend& backend,
                const std::string& variant) {
  std::vector<int> inputs, outputs;
  Result<GpuProgram> program = PlanGpuSegment(graph, op, op + 1, backend.storage(), &inputs,
                                              &outputs, backend.tuner(), variant);
  Result<int64_t> nanos =
      program.ok() ? backend.tuner()->MeasureNanos(std::move(program).value()) : program.status();
  if (nanos.ok()) return nanos.value();
  Log(LogLevel::kDebug, "tuning: %s of %s: %s", variant.c_str(),
      graph.Where(graph.ops[op].op).c_str(), nanos.status().message().c_str());
  return INT64_MAX;
}

}  // namespace

void TuneSegment(const WorkGraph& graph, size_t begin, size_t end, const Backend& backend) {
  GpuTuner* tuner = backend.tuner();
  if (tuner == nullptr || !tuner->HasTime()) return;
  for (size_t i = begin; i < end; ++i) {
    GpuProgram trial;
    trial.storage = backend.storage();
    trial.tuner = tuner;
    if (!TryPlan(graph, graph.ops[i], &trial).ok()) continue;
    for (const GpuChoice& choice : trial.choices) {
      for (const std::string& variant : InOrder(choice)) {
        if (tuner->IsMeasured(choice.work, variant)) continue;
        if (!tuner->HasTime()) return;
        tuner->Keep(choice.work, variant, Measure(graph, i, backend, variant));
      }
    }
  }
}

}  // namespace topwork
