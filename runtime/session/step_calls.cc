// StepCalls: binds a callee's inputs and outputs to the caller's memory, and runs it there.
#include "runtime/session/step_calls.h"

#include <utility>

namespace topwork {

Result<std::unique_ptr<StepCalls>> StepCalls::Create(const std::vector<PlannedCallee>& callees,
                                                     const RunEnvironment& environment) {
  std::unique_ptr<StepCalls> calls(new StepCalls(environment));
  for (const PlannedCallee& callee : callees) {
    calls->slots_.push_back({callee, nullptr});
    TW_ASSIGN_OR_RETURN(calls->slots_.back().runner, PlanRunner::Create(callee.plan, environment));
  }
  return calls;
}

void StepCalls::Bind(uint8_t* scratch) {
  for (Slot& slot : slots_) slot.runner->Bind(scratch);
}

// Memory of the callee's own: the scratch has the size of what was planned first. Negative slots
// are the callees'.
Status StepCalls::Replan(int number, Span<const TensorView> inputs) {
  Slot& slot = slots_[static_cast<size_t>(number)];
  std::vector<Shape> shapes;
  for (const TensorView& input : inputs) shapes.push_back(input.shape);
  TW_ASSIGN_OR_RETURN(
      slot.callee, environment_.planner->PlanFor(slot.callee.subgraph, shapes, slot.callee.values));
  slot.runner.reset();  // its memory may be given back
  TW_ASSIGN_OR_RETURN(void* memory, held_.Get(-1 - number, slot.callee.plan->run_bytes,
                                              "the memory of a subgraph"));
  TW_ASSIGN_OR_RETURN(slot.runner, PlanRunner::Create(slot.callee.plan, environment_));
  slot.runner->Bind(static_cast<uint8_t*>(memory));
  return Status::Ok();
}

Status StepCalls::Call(int number, Span<const TensorView> inputs, Span<TensorView> outputs) {
  if (environment_.cancellation->requested()) {
    return Cancelled("the run was cancelled before a call of a subgraph");
  }
  Slot& slot = slots_[static_cast<size_t>(number)];
  bool same = slot.runner != nullptr;
  for (size_t i = 0; same && i < inputs.size(); ++i) {
    same = slot.runner->input(i).shape == inputs[i].shape;
  }
  if (!same) TW_RETURN_IF_ERROR(Replan(number, inputs));
  PlanRunner& runner = *slot.runner;
  for (size_t i = 0; i < inputs.size(); ++i) runner.MoveInput(i, inputs[i].data);
  for (size_t i = 0; i < outputs.size(); ++i) {
    runner.MoveOutput(i, outputs[i].data, runner.output(i).bytes());
  }
  TW_RETURN_IF_ERROR(runner.Run());
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = runner.output(i);
  return Status::Ok();
}

Result<void*> StepCalls::Hold(int slot, size_t bytes) {
  return held_.Get(slot, bytes, "a loop's variable");
}

}  // namespace topwork
