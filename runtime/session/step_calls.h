// StepCalls: the subgraphs that one operator calls, each with a runner of its own.
#ifndef TOPWORK_RUNTIME_SESSION_STEP_CALLS_H_
#define TOPWORK_RUNTIME_SESSION_STEP_CALLS_H_

#include <memory>
#include <vector>

#include "kernels/contract/subgraphs.h"
#include "runtime/session/plan_runner.h"

namespace topwork {

class StepCalls final : public SubgraphCalls {
 public:
  // `environment` must outlive the object.
  static Result<std::unique_ptr<StepCalls>> Create(const std::vector<PlannedCallee>& callees,
                                                   const RunEnvironment& environment);
  // `scratch`: the operator's. Callees begin there, all in the same place: one runs at a time.
  void Bind(uint8_t* scratch);

  Status Call(int number, Span<const TensorView> inputs, Span<TensorView> outputs) override;
  Result<void*> Hold(int slot, size_t bytes) override;

 private:
  struct Slot {
    PlannedCallee callee;
    std::unique_ptr<PlanRunner> runner;
  };
  explicit StepCalls(const RunEnvironment& environment)
      : environment_(environment), held_(environment.memory, *environment.allocator) {}
  Status Replan(int number, Span<const TensorView> inputs);

  const RunEnvironment& environment_;
  HeldBuffers held_;
  std::vector<Slot> slots_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_STEP_CALLS_H_
