// Each operator is planned and measured alone, once with each of its variants forced; then pairs
// that may be one launch, as that and apart.
#include "runtime/plan/tune_segment.h"

#include <algorithm>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/plan/gpu_pairs.h"
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

// Ops [begin, end) as a program of their own.
int64_t Measure(const WorkGraph& graph, size_t begin, size_t end, const Backend& backend,
                const std::string& variant) {
  std::vector<int> inputs, outputs;
  Result<GpuProgram> program = PlanGpuSegment(graph, begin, end, backend.storage(), &inputs,
                                              &outputs, backend.tuner(), variant);
  Result<int64_t> nanos =
      program.ok() ? backend.tuner()->MeasureNanos(std::move(program).value()) : program.status();
  if (nanos.ok()) return nanos.value();
  Log(LogLevel::kDebug, "tuning: %s of %s: %s", variant.c_str(),
      graph.Where(graph.ops[begin].op).c_str(), nanos.status().message().c_str());
  return INT64_MAX;
}

// False when the time is over.
bool MeasureAll(const WorkGraph& graph, size_t begin, size_t end, const Backend& backend,
                const GpuChoice& choice) {
  GpuTuner* tuner = backend.tuner();
  for (const std::string& variant : InOrder(choice)) {
    if (tuner->IsMeasured(choice.work, variant)) continue;
    if (!tuner->HasTime()) return false;
    tuner->Keep(choice.work, variant, Measure(graph, begin, end, backend, variant));
  }
  return true;
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
      if (!MeasureAll(graph, i, i + 1, backend, choice)) return;
    }
  }
  // Compared with the best of their own kernels, which are known now.
  for (size_t i = begin; i + 1 < end; ++i) {
    if (!IsGpuPair(graph, i, i + 1)) continue;
    const Result<GpuProgram> trial = PlanGpuTrial(graph, i, i + 2, backend.storage());
    if (!trial.ok() || trial->choices.empty()) continue;
    // The choice of the pair comes before those of its operators.
    if (!MeasureAll(graph, i, i + 2, backend, trial->choices.front())) return;
  }
}

}  // namespace topwork
