// MakeSteps. Most of the time goes into packing weights. Each operator is prepared for itself, so threads may
// take them in any order; the steps are put in order afterwards.
#include "runtime/plan/make_steps.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "kernels/contract/selection.h"
#include "runtime/base/log.h"
#include "runtime/plan/bands.h"
#include "runtime/plan/callee_planner.h"
#include "runtime/plan/gpu_segment.h"
#include "runtime/plan/order.h"
#include "runtime/plan/prepare.h"

namespace topwork {
namespace {

void GiveToCpu(const Status& why, WorkOp* work) {
  work->reason = std::string("not on ") + work->device->name() + ": " + why.message();
  work->device = nullptr;
}

// Why the device cannot compile the op's own launches.
Status CheckAlone(const WorkGraph& graph, size_t i) {
  const Device& device = *graph.ops[i].device;
  const Result<GpuProgram> alone = PlanGpuTrial(graph, i, i + 1, device);
  return alone.ok() ? device.Check(alone->launches) : alone.status();
}

// Changes the ops so that what their device cannot compile is not asked of it again. The CPU gets those
// whose own launches do not compile; those that share a launch get launches of their own; where
// neither explains the failure, the CPU gets all ops.
void GiveUpJoined(const Status& why, size_t begin, size_t end, WorkGraph* graph) {
  bool found = false;
  for (const Uncompiled& part : FindUncompiled(*graph, begin, end)) {
    found = true;
    bool one_fails = part.ops.size() == 1;
    if (one_fails) GiveToCpu(part.why, &graph->ops[part.ops.front()]);
    for (size_t k = 0; k < part.ops.size() && part.ops.size() > 1; ++k) {
      const Status status = CheckAlone(*graph, part.ops[k]);
      if (status.ok()) continue;
      GiveToCpu(status, &graph->ops[part.ops[k]]);
      one_fails = true;
    }
    if (one_fails) continue;  // the others may still share
    Log(LogLevel::kInfo, "launches that operators shared become their own: {}", part.why.message());
    for (const size_t i : part.ops) graph->ops[i].stays_apart = true;
  }
  for (size_t i = begin; i < end && !found; ++i) GiveToCpu(why, &graph->ops[i]);
}

// Makes one step of the ops from `begin` on that their device runs as one program. Where the
// device cannot load the program, some become other launches or the CPU's, and no step is added.
// Returns the position after them.
size_t AddGpuStep(WorkGraph* graph, size_t begin, std::vector<SharingOffer>* offers, Plan* plan) {
  size_t end = begin + 1;
  const Device* device = graph->ops[begin].device;
  while (end < graph->first_deferred && graph->ops[end].device == device) ++end;
  Result<Step> step = MakeGpuStep(*graph, begin, end);
  if (!step.ok()) {
    GiveUpJoined(step.status(), begin, end, graph);
    return begin;
  }
  plan->steps.push_back(std::move(step).value());
  offers->push_back({});
  return end;
}

// An op, or a chain of ops in bands, that is prepared.
struct Prepared {
  Step step;
  SharingOffer offer;
  std::vector<int> constants;  // that run() reads as they are
  std::vector<Shape> shapes;   // of an op's outputs
};

void KeepConstants(const Op& op, const PlanPrepareContext& context, std::vector<int>* kept) {
  const std::vector<int>& released = context.released_inputs();
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    if (std::find(released.begin(), released.end(), static_cast<int>(k)) == released.end()) {
      kept->push_back(op.inputs[k]);
    }
  }
}

Result<Prepared> PrepareOp(const WorkGraph& graph, const WorkOp& work) {
  PlanPrepareContext context = MakeContext(graph, work.op, PackMode::kPack);
  if (!work.pinned_to_float32) context.SetHalfProducts(graph.half_products);
  TW_RETURN_IF_ERROR(context.Prepare(*work.op.def));
  Prepared prepared;
  KeepConstants(work.op, context, &prepared.constants);
  for (const TensorView& output : context.outputs()) prepared.shapes.push_back(output.shape);
  Step& step = prepared.step;
  step = StepOf(work);
  step.state = context.state();
  step.packed = context.packed();
  step.scratch_bytes = context.scratch_bytes();
  step.variant = context.variant();
  step.products = context.products();
  step.n_tasks = context.n_tasks();
  step.wants_range = context.wants_range();
  step.reason = work.reason;
  step.inside = work.op.inside;
  step.callees = context.callees();
  step.where = context.Where();
  prepared.offer = {context.in_place(), context.views(), context.inside_output()};
  return prepared;
}

class StepsMaker {
 public:
  StepsMaker(const PlanOptions& options, WorkGraph* graph) : graph_(graph) {
    if (kHasBands && options.optimize) chains_ = ChooseBands(*graph, options.band_rows);
    prepared_.resize(graph->first_deferred);
  }

  // Where the op, or the chain, that begins at i ends.
  size_t EndAt(size_t i) const { return kHasBands && i < chains_.size() ? chains_[i].end : i + 1; }

  Result<Prepared> Prepare(size_t i) const {
    if (!kHasBands || EndAt(i) == i + 1) return PrepareOp(*graph_, graph_->ops[i]);
    Prepared prepared;
    const auto keep = [&](const Op& op, const PlanPrepareContext& context) {
      KeepConstants(op, context, &prepared.constants);
    };
    TW_ASSIGN_OR_RETURN(prepared.step, MakeBandStep(*graph_, i, chains_[i], keep));
    return prepared;
  }

  // Prepares ops on all threads, those with the most weights first. An op with more than a thread's share of
  // all weights is left out: the threads are to share its own.
  void PrepareOnThreads() {
    ThreadPool* const pool = graph_->pool;
    const size_t n_threads = static_cast<size_t>(pool->n_threads());
    std::vector<std::pair<size_t, size_t>> ops;  // bytes of weights, and where it begins
    for (size_t i = 0; i < graph_->first_deferred; i = EndAt(i)) {
      const size_t bytes = WeightBytes(i);
      if (bytes <= graph_->packing_bytes / n_threads) ops.push_back({bytes, i});
    }
    std::sort(ops.begin(), ops.end(), std::greater<std::pair<size_t, size_t>>());
    std::atomic<size_t> next{0};
    graph_->pool = nullptr;  // a thread has no threads of its own
    pool->ParallelFor(pool->n_threads(), [&](int64_t, int) {
      for (size_t k = next++; k < ops.size(); k = next++) {
        const size_t i = ops[k].second;
        prepared_[i].reset(new Result<Prepared>(Prepare(i)));
      }
    });
    graph_->pool = pool;
  }

  // Adds what begins at i.
  Status Add(size_t i, std::vector<SharingOffer>* offers, std::set<int>* needed_constants,
             Plan* plan) {
    if (prepared_[i] == nullptr) prepared_[i].reset(new Result<Prepared>(Prepare(i)));
    TW_ASSIGN_OR_RETURN(Prepared prepared, std::move(*prepared_[i]));
    for (const int v : prepared.constants) {
      graph_->FillHalf(v);
      needed_constants->insert(v);
    }
    for (size_t o = 0; o < prepared.shapes.size(); ++o) {
      const int v = graph_->ops[i].op.outputs[o];
      if (v < 0 || graph_->views[static_cast<size_t>(v)].shape == prepared.shapes[o]) continue;
      graph_->views[static_cast<size_t>(v)].shape = prepared.shapes[o];
      for (size_t later = i + 1; later < prepared_.size(); ++later) prepared_[later] = nullptr;
    }
    plan->scratch_bytes = std::max(plan->scratch_bytes, AlignUp(prepared.step.scratch_bytes));
    plan->steps.push_back(std::move(prepared.step));
    offers->push_back(std::move(prepared.offer));
    return Status::Ok();
  }

 private:
  // Of the constants of what begins at i, about.
  size_t WeightBytes(size_t i) const {
    size_t bytes = 0;
    for (const size_t end = EndAt(i); i < end; ++i) {
      for (const int v : graph_->ops[i].op.inputs) {
        if (v >= 0 && graph_->IsConstant(v)) bytes += graph_->views[static_cast<size_t>(v)].bytes();
      }
    }
    return bytes;
  }

  WorkGraph* const graph_;
  std::vector<BandChain> chains_;
  std::vector<std::unique_ptr<Result<Prepared>>> prepared_;  // by the first op
};

// Whether ops may be prepared on several threads: an application's functions are called by its own thread
// alone, other graphs are planned one after the other, and what is widened belongs to one op.
bool MayPrepareOnThreads(const WorkGraph& graph) {
  if (kShortLoops || graph.pool == nullptr || graph.pack_allocator == nullptr) return false;
  std::set<int> halves;
  for (size_t i = 0; i < graph.first_deferred; ++i) {
    const WorkOp& work = graph.ops[i];
    if (work.device != nullptr || work.op.is_custom() || !CalleesOf(work.op).empty()) return false;
    for (const int v : work.op.inputs) {
      if (graph.halves.count(v) != 0 && !halves.insert(v).second) return false;
    }
  }
  return true;
}

}  // namespace

Status MakeSteps(const PlanOptions& options, WorkGraph* graph, std::vector<SharingOffer>* offers,
                 std::set<int>* needed_constants, Plan* plan) {
  plan->steps.reserve(graph->ops.size());
  StepsMaker maker(options, graph);
  if (MayPrepareOnThreads(*graph)) maker.PrepareOnThreads();
  for (size_t i = 0; i < graph->first_deferred;) {
    if (kHasOpenCl && graph->ops[i].device != nullptr) {
      i = AddGpuStep(graph, i, offers, plan);
      continue;
    }
    TW_RETURN_IF_ERROR(maker.Add(i, offers, needed_constants, plan));
    i = maker.EndAt(i);
  }
  return Status::Ok();
}

}  // namespace topwork
