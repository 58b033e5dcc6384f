// PlanRunner: a plan's values and steps bound to memory, and the loop over the steps. A session has
// one for its graph, and one for every subgraph that an operator calls.
//
// Views point into memory given by the owner, or to the caller's where an input or output is bound.
#ifndef TOPWORK_RUNTIME_SESSION_PLAN_RUNNER_H_
#define TOPWORK_RUNTIME_SESSION_PLAN_RUNNER_H_

#include <map>
#include <memory>
#include <vector>

#include "runtime/plan/plan.h"
#include "runtime/session/run_environment.h"
#include "runtime/session/step_profile.h"

namespace topwork {

class DeferredRunner;
class StepCalls;

// The programs of a plan on one device, attached for one session.
struct AttachedSteps {
  std::unique_ptr<AttachedPrograms> programs;
  std::vector<size_t> steps;  // of each program
};
// Attaches all programs of the plan. Errors: those of the devices.
Result<std::vector<AttachedSteps>> AttachSteps(const Plan& plan);

class PlanRunner {
 public:
  // `attached`: what AttachSteps made of the plan; none for a plan without programs.
  static Result<std::unique_ptr<PlanRunner>> Create(std::shared_ptr<const Plan> plan,
                                                    const RunEnvironment& environment,
                                                    std::vector<AttachedSteps> attached = {});
  ~PlanRunner();

  const Plan& plan() const { return *plan_; }

  // Where inputs and outputs lie, null: in the runner's memory. Takes effect at the next Bind().
  void SetInput(size_t i, void* data) { bound_inputs_[i] = data; }
  void SetOutput(size_t i, void* data, size_t bytes);
  // Binds everything to `memory`, of the plan's run_bytes, aligned to kAlignment.
  void Bind(uint8_t* memory);
  // As SetInput and SetOutput, but at once, after Bind() and without programs of a device among the
  // steps: only the views of that memory change. `bytes`: of data.
  void MoveInput(size_t i, const void* data);
  void MoveOutput(size_t i, void* data, size_t bytes);

  // Runs the steps, then the deferred operators, and brings the outputs to where they belong.
  // CANCELLED where the environment says so. `profiler`: is told of each step; null: nothing is
  // timed. *failed_step: the step that failed; left alone where no step did.
  Status Run(const Profiler* profiler = nullptr, const Step** failed_step = nullptr);

  const TensorView& input(size_t i) const { return View(plan_->inputs[i]); }
  const TensorView& output(size_t i) const { return outputs_[i].view; }
  // What the caller of output(i) sees instead, until the next run or Bind().
  void ShowOutput(size_t i, void* data) { outputs_[i].view.data = data; }

 private:
  struct BoundStep {
    std::vector<const TensorView*> inputs;
    std::vector<TensorView*> outputs;
    std::unique_ptr<StepCalls> calls;
    RunContext context;  // of an operator
    // Of a program: the session's programs on its device, and which of them it is.
    AttachedPrograms* programs = nullptr;
    size_t program = 0;
    ProgramTensors tensors() const {
      return {{inputs.data(), inputs.size()}, {outputs.data(), outputs.size()}};
    }
  };
  struct Output {
    // An operator writes it into its place. False: a constant, an input passed through, a repeated
    // or a deferred output, copied to where the caller wants it.
    bool direct = true;
    TensorView view;  // what the caller sees
    void* bound = nullptr;
    size_t bound_bytes = 0;
  };
  struct WantedRange {
    int value;
    KeptRange range;
  };
  // A view that lies in an input's or output's memory.
  struct Part {
    size_t value;
    size_t offset;
  };

  PlanRunner(std::shared_ptr<const Plan> plan, const RunEnvironment& environment,
             std::vector<AttachedSteps> attached);
  Status Prepare();
  void FindOutputs();
  void FindRanges();
  void BindValues();
  void BindStep(size_t s);
  void BindPrograms();
  Status RunStep(size_t s, std::vector<int64_t>* part_nanos);
  Status RunTimed(size_t s, const Profiler& profiler);
  Status Finish();
  std::vector<Part> PartsOf(int v) const;
  void Move(const std::vector<Part>& parts, void* data);
  // Of value v; null: no step wants it.
  KeptRange* RangeOf(int v);
  const TensorView& View(int v) const { return views_[static_cast<size_t>(v)]; }

  const std::shared_ptr<const Plan> plan_;
  const RunEnvironment& environment_;
  const std::vector<AttachedSteps> attached_;
  uint8_t* memory_ = nullptr;
  std::vector<TensorView> views_;
  std::vector<BoundStep> steps_;
  std::vector<void*> bound_inputs_;
  std::vector<Output> outputs_;
  std::vector<std::vector<Part>> input_parts_, output_parts_;
  std::vector<WantedRange> ranges_;
  std::unique_ptr<KeptRange::Lanes[]> range_lanes_;  // of the pool's threads
  std::map<VariableKey, void*> variables_;
  std::unique_ptr<DeferredRunner> deferred_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_PLAN_RUNNER_H_
