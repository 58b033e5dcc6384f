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

// The op's inputs that are read as they are, constants and others.
template <class Keep>
void KeepInputs(const Op& op, const PlanPrepareContext& context, Keep keep) {
  const std::vector<int>& released = context.released_inputs();
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    if (std::find(released.begin(), released.end(), static_cast<int>(k)) == released.end()) {
      keep(op.inputs[k]);
    }
  }
}

// What preparing an op, or a chain of ops in bands, gave.
struct Prepared {
  Status status;
  std::unique_ptr<PlanPrepareContext> context;  // null for a chain
  Step chain;
  std::vector<int> kept;  // inputs of the chain's ops
};

class StepsMaker {
 public:
  StepsMaker(const PlanOptions& options, WorkGraph* graph, std::vector<SharingOffer>* offers,
             std::set<int>* needed_constants, Plan* plan)
      : graph_(graph), offers_(*offers), needed_constants_(*needed_constants), plan_(*plan) {
    if (kHasBands && options.optimize) chains_ = ChooseBands(*graph, options.band_rows);
    prepared_.resize(graph->first_deferred);
  }

  // Where the op, or the chain, that begins at i ends.
  size_t EndAt(size_t i) const { return kHasBands && i < chains_.size() ? chains_[i].end : i + 1; }

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
      for (size_t k = next++; k < ops.size(); k = next++) Prepare(ops[k].second);
    });
    graph_->pool = pool;
  }

  // Adds what begins at i.
  Status Add(size_t i) {
    if (prepared_[i] == nullptr) Prepare(i);
    const std::unique_ptr<Prepared> prepared = std::move(prepared_[i]);
    TW_RETURN_IF_ERROR(prepared->status);
    if (kHasBands && prepared->context == nullptr) {
      for (const int v : prepared->kept) Keep(v);
      AddStep(std::move(prepared->chain), {});
      return Status::Ok();
    }
    const WorkOp& work = graph_->ops[i];
    const PlanPrepareContext& context = *prepared->context;
    KeepInputs(work.op, context, [&](int v) { Keep(v); });
    for (size_t o = 0; o < work.op.outputs.size(); ++o) {
      if (work.op.outputs[o] >= 0) SetShape(i, work.op.outputs[o], context.outputs()[o].shape);
    }
    AddStep(StepOf(work, context), {context.in_place(), context.views(), context.inside_output()});
    return Status::Ok();
  }

 private:
  void Prepare(size_t i) {
    prepared_[i].reset(new Prepared);
    Prepared& out = *prepared_[i];
    const WorkOp& work = graph_->ops[i];
    if (kHasBands && EndAt(i) > i + 1) {
      Result<Step> step = MakeBandStep(
          *graph_, i, chains_[i], [&](const Op& op, const PlanPrepareContext& context) {
            KeepInputs(op, context, [&](int v) { out.kept.push_back(v); });
          });
      out.status = step.status();
      if (step.ok()) out.chain = std::move(step).value();
      return;
    }
    out.context.reset(new PlanPrepareContext(MakeContext(*graph_, work.op, PackMode::kPack)));
    if (!work.pinned_to_float32) out.context->SetHalfProducts(graph_->half_products);
    out.status = out.context->Prepare(*work.op.def);
  }

  static Step StepOf(const WorkOp& work, const PlanPrepareContext& context) {
    Step step = topwork::StepOf(work);
    step.state = context.state();
    step.packed = context.packed();
    step.scratch_bytes = context.scratch_bytes();
    step.variant = context.variant();
    step.products = context.products();
    step.n_tasks = context.n_tasks();
    step.wants_range = context.wants_range();
    step.reason = work.reason;
    step.callees = context.callees();
    return step;
  }

  void AddStep(Step step, SharingOffer offer) {
    plan_.scratch_bytes = std::max(plan_.scratch_bytes, AlignUp(step.scratch_bytes));
    plan_.steps.push_back(std::move(step));
    offers_.push_back(std::move(offer));
  }

  void Keep(int v) {
    graph_->FillHalf(v);
    needed_constants_.insert(v);
  }

  // What was prepared for another shape is prepared again.
  void SetShape(size_t i, int v, const Shape& shape) {
    Shape& known = graph_->views[static_cast<size_t>(v)].shape;
    if (known == shape) return;
    known = shape;
    for (size_t later = i + 1; later < prepared_.size(); ++later) prepared_[later] = nullptr;
  }

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
  std::vector<SharingOffer>& offers_;
  std::set<int>& needed_constants_;
  Plan& plan_;
  std::vector<BandChain> chains_;
  std::vector<std::unique_ptr<Prepared>> prepared_;  // by the first op
};

// Whether ops may be prepared on several threads: an application's functions are called by its own thread
// alone, other graphs are planned one after the other, and what is widened belongs to one op.
bool MayPrepareOnThreads(const WorkGraph& graph) {
  if (graph.pool == nullptr || graph.pack_allocator == nullptr) return false;
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
  StepsMaker maker(options, graph, offers, needed_constants, plan);
  if (kPreparesOnThreads && MayPrepareOnThreads(*graph)) maker.PrepareOnThreads();
  for (size_t i = 0; i < graph->first_deferred;) {
    if (kHasOpenCl && graph->ops[i].device != nullptr) {
      i = AddGpuStep(graph, i, offers, plan);
      continue;
    }
    TW_RETURN_IF_ERROR(maker.Add(i));
    i = maker.EndAt(i);
  }
  return Status::Ok();
}

}  // namespace topwork
