// Each operator is planned and measured alone, once with each of its variants forced; then pairs
// that may be one launch, as that and apart.
#include "runtime/plan/tune_segment.h"

#include <algorithm>
#include <utility>

#include "kernels/contract/selection.h"
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
int64_t Measure(const WorkGraph& graph, size_t begin, size_t end, const Device& device,
                const std::string& variant) {
  std::vector<int> inputs, outputs;
  Result<GpuProgram> program =
      PlanGpuSegment(graph, begin, end, device, &inputs, &outputs, device.tuner(), variant);
  Result<int64_t> nanos =
      program.ok() ? device.tuner()->MeasureNanos(std::move(program).value()) : program.status();
  if (nanos.ok()) return nanos.value();
  Log(LogLevel::kDebug, "tuning: {} of {}: {}", variant, graph.Where(graph.ops[begin].op),
      nanos.status().message());
  return INT64_MAX;
}

// False when the time is over.
bool MeasureAll(const WorkGraph& graph, size_t begin, size_t end, const Device& device,
                const GpuChoice& choice) {
  GpuTuner* tuner = device.tuner();
  for (const std::string& variant : InOrder(choice)) {
    if (tuner->IsMeasured(choice.work, variant)) continue;
    if (!tuner->HasTime()) return false;
    tuner->Keep(choice.work, variant, Measure(graph, begin, end, device, variant));
  }
  return true;
}

}  // namespace

void TuneSegment(const WorkGraph& graph, size_t begin, size_t end, const Device& device) {
  GpuTuner* tuner = device.tuner();
  if (!kHasTrials || tuner == nullptr || !tuner->HasTime()) return;
  for (size_t i = begin; i < end; ++i) {
    GpuProgram trial;
    trial.storage = device.storage();
    trial.half_products = device.has_half_products();
    trial.family = &device.family();
    trial.tuner = tuner;
    if (!TryPlan(graph, graph.ops[i], &trial).ok()) continue;
    for (const GpuChoice& choice : trial.choices) {
      if (!MeasureAll(graph, i, i + 1, device, choice)) return;
    }
  }
  // Compared with the best of their own kernels, which are known now.
  for (size_t i = begin; i + 1 < end; ++i) {
    if (!IsGpuPair(graph, i, i + 1)) continue;
    const Result<GpuProgram> trial = PlanGpuTrial(graph, i, i + 2, device);
    if (!trial.ok() || trial->choices.empty()) continue;
    // The choice of the pair comes before those of its operators.
    if (!MeasureAll(graph, i, i + 2, device, trial->choices.front())) return;
  }
}

}  // namespace topwork
