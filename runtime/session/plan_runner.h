// PlanRunner: a plan's values and steps bound to memory, and the loop over the steps. A session has
// one for its graph, and one for every subgraph that an operator calls.
//
// Views point into memory given by the owner, or to the caller's where an input or output is bound.
#ifndef TOPWORK_RUNTIME_SESSION_PLAN_RUNNER_H_
#define TOPWORK_RUNTIME_SESSION_PLAN_RUNNER_H_

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "runtime/plan/callee_planner.h"
#include "runtime/session/run_memory.h"
#include "runtime/session/session_state.h"

namespace topwork {

class DeferredRunner;
class StepCalls;

// What the runners of one session have in common; outlives them.
struct RunEnvironment {
  ThreadPool* pool = nullptr;
  const CpuKernels* cpu = nullptr;
  const Allocator* allocator = nullptr;
  std::atomic<bool>* cancel = nullptr;
  SessionState* state = nullptr;
  CalleePlanner* planner = nullptr;  // of subgraphs whose shapes only a run finds out
  RunMemory* memory = nullptr;
  TextMemory* text = nullptr;
};

class PlanRunner {
 public:
  // `attached`: states of steps that replace the plan's own, see Backend::Attach.
  using Attached = std::map<int, std::shared_ptr<OpState>>;
  static Result<std::unique_ptr<PlanRunner>> Create(std::shared_ptr<const Plan> plan,
                                                    const RunEnvironment& environment,
                                                    Attached attached);
  ~PlanRunner();

  // Bytes that Bind wants.
  static size_t MemoryBytes(const Plan& plan) { return plan.arena_bytes + plan.scratch_bytes; }
  const Plan& plan() const { return *plan_; }

  // Where inputs and outputs lie, null: in the runner's memory. Takes effect at the next Bind().
  void SetInput(size_t i, void* data) { bound_inputs_[i] = data; }
  void SetOutput(size_t i, void* data, size_t bytes);
  // Binds everything to `memory`, of MemoryBytes, aligned to kAlignment.
  void Bind(uint8_t* memory);
  // As SetInput and SetOutput, but at once, after Bind() and without programs of a device among the
  // steps: only the views of that memory change. `bytes`: of data.
  void MoveInput(size_t i, const void* data);
  void MoveOutput(size_t i, void* data, size_t bytes);

  // Step s alone, timed where `part_nanos` is given (see Backend::RunTimed).
  Status RunStep(size_t s, std::vector<int64_t>* part_nanos);
  // What follows the steps: deferred operators, then outputs to where they belong.
  Status Finish();
  // All of it; CANCELLED where the environment says so.
  Status Run();

  const TensorView& input(size_t i) const { return View(plan_->inputs[i]); }
  const TensorView& output(size_t i) const { return outputs_[i].view; }
  // What the caller of output(i) sees instead, until the next run or Bind().
  void ShowOutput(size_t i, void* data) { outputs_[i].view.data = data; }

 private:
  struct BoundStep {
    std::vector<const TensorView*> inputs;
    std::vector<TensorView*> outputs;
    std::unique_ptr<StepCalls> calls;
    RunContext context;
  };
  struct Output {
    // An operator writes it into its place. False: a constant, an input passed through, a repeated
    // or a deferred output, copied to where the caller wants it.
    bool direct = true;
    TensorView view;  // what the caller sees
    void* bound = nullptr;
    size_t bound_bytes = 0;
  };
  // A view that lies in an input's or output's memory.
  struct Part {
    size_t value;
    size_t offset;
  };

  PlanRunner(std::shared_ptr<const Plan> plan, const RunEnvironment& environment,
             Attached attached);
  Status Prepare();
  void FindOutputs();
  void BindValues();
  void BindStep(size_t s);
  void BindPrograms();
  std::vector<Part> PartsOf(int v) const;
  void Move(const std::vector<Part>& parts, void* data);
  const TensorView& View(int v) const { return views_[static_cast<size_t>(v)]; }

  const std::shared_ptr<const Plan> plan_;
  const RunEnvironment& environment_;
  const Attached attached_;
  uint8_t* memory_ = nullptr;
  std::vector<TensorView> views_;
  std::vector<BoundStep> steps_;
  std::vector<void*> bound_inputs_;
  std::vector<Output> outputs_;
  std::vector<std::vector<Part>> input_parts_, output_parts_;
  std::map<VariableKey, void*> variables_;
  std::unique_ptr<DeferredRunner> deferred_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_PLAN_RUNNER_H_
