// DeferredRunner: prepare, allocate, run, one operator after the other.
#include "runtime/session/deferred.h"

#include <utility>

#include "kernels/contract/selection.h"
#include "runtime/plan/prepare.h"
#include "runtime/session/step_calls.h"

namespace topwork {
namespace {

// Memory of outputs whose shapes run() finds out.
class LateOutputs final : public OutputMemory {
 public:
  LateOutputs(const Op& op, const std::vector<TensorView*>& outputs, const std::string& where,
              HeldBuffers* held)
      : op_(op), outputs_(outputs), where_(where), held_(*held) {}

  Status SetShape(int output, const Shape& shape) override {
    TensorView& view = *outputs_[static_cast<size_t>(output)];
    size_t bytes = 0;
    if (!CheckedByteSize(view.dtype, shape, &bytes)) {
      return InvalidArgument("{}: its output shape {} of {} is negative or too large", where_,
                             shape.ToString(), DTypeName(view.dtype));
    }
    view.shape = shape;
    const std::string what = where_ + ": its output of shape " + shape.ToString();
    TW_ASSIGN_OR_RETURN(view.data,
                        held_.Get(op_.outputs[static_cast<size_t>(output)], bytes, what.c_str()));
    return Status::Ok();
  }

 private:
  const Op& op_;
  const std::vector<TensorView*>& outputs_;
  const std::string& where_;
  HeldBuffers& held_;
};

}  // namespace

Status DeferredRunner::Run(std::vector<TensorView>* views) {
  for (const Op& op : plan_.deferred) {
    if (environment_.cancellation->requested()) {
      return Cancelled("the run was cancelled before {}", op.name());
    }
    TW_RETURN_IF_ERROR(RunOp(op, views));
  }
  return Status::Ok();
}

Status DeferredRunner::RunOp(const Op& op, std::vector<TensorView>* views) {
  const auto view = [&](int v) { return v < 0 ? nullptr : &(*views)[static_cast<size_t>(v)]; };
  const auto value = [&](int v) -> const PlanValue& {
    return plan_.values[static_cast<size_t>(v)];
  };
  std::vector<const TensorView*> inputs;
  std::vector<const std::string*> names;
  std::vector<uint8_t> is_constant;
  for (int v : op.inputs) {
    inputs.push_back(view(v));
    names.push_back(v < 0 ? nullptr : &value(v).name);
    is_constant.push_back(v >= 0 && value(v).constant);
  }
  std::vector<TensorView> declared;
  for (int v : op.outputs) {
    declared.push_back(v < 0 ? TensorView() : value(v).view);
    // A variable's shape is what it holds by now.
    if (op.code == OpCode::kReadVariable) declared.back().shape = Shape({-1});
  }
  const int first = op.outputs.empty() ? -1 : op.outputs[0];
  const std::string where =
      NameOperator(op.file_index, op.name(), op.inside, "", first < 0 ? "" : value(first).name);
  PlanPrepareContext context(op, inputs, std::move(declared), std::move(names), where,
                             *environment_.cpu, environment_.pool->n_threads());
  context.SetPacking(PackMode::kPack, nullptr, {}, *environment_.allocator);
  context.SetCallees(environment_.planner, std::move(is_constant));
  context.SetRunning();
  TW_RETURN_IF_ERROR(context.Prepare(*op.def));

  std::vector<TensorView*> outputs;
  for (int v : op.outputs) outputs.push_back(view(v));
  LateOutputs late(op, outputs, where, &held_);
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o] == nullptr) continue;
    *outputs[o] = context.outputs()[o];
    if (context.is_left_to_run(static_cast<int>(o))) continue;
    TW_RETURN_IF_ERROR(late.SetShape(static_cast<int>(o), outputs[o]->shape));
  }
  TW_ASSIGN_OR_RETURN(void* scratch, held_.Get(-1, context.scratch_bytes(), "scratch memory"));
  std::unique_ptr<StepCalls> calls;
  if (kHasCalls && !context.callees().empty()) {
    TW_ASSIGN_OR_RETURN(calls, StepCalls::Create(context.callees(), environment_));
    calls->Bind(static_cast<uint8_t*>(scratch));
  }
  RunContext run;
  run.params = &context.params();
  run.inputs = {inputs.data(), static_cast<size_t>(context.n_inputs())};
  run.outputs = {outputs.data(), outputs.size()};
  run.state = context.state().get();
  run.scratch = static_cast<uint8_t*>(scratch);
  run.pool = environment_.pool;
  run.cpu = environment_.cpu;
  run.resources = &environment_.state->resources();
  run.text = environment_.text;
  run.calls = calls.get();
  run.output_memory = &late;
  return RunOnCpu(*op.def, run, [&] { return where; });
}

}  // namespace topwork
