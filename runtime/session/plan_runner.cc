// PlanRunner: binds a plan's values and steps to memory once, then runs the steps in order.
#include "runtime/session/plan_runner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/contract/selection.h"
#include "ports/port.h"
#include "runtime/session/deferred.h"
#include "runtime/session/step_calls.h"

namespace topwork {

Result<std::vector<AttachedSteps>> AttachSteps(const Plan& plan) {
  std::map<const Device*, std::vector<size_t>> steps;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (plan.steps[s].program != nullptr) steps[plan.steps[s].device].push_back(s);
  }
  std::vector<AttachedSteps> attached;
  for (auto& [device, of_device] : steps) {
    LoadedPrograms loaded;
    for (size_t s : of_device) loaded.push_back(plan.steps[s].program);
    TW_ASSIGN_OR_RETURN(std::unique_ptr<AttachedPrograms> programs, device->Attach(loaded));
    attached.push_back({std::move(programs), std::move(of_device)});
  }
  return attached;
}

PlanRunner::PlanRunner(std::shared_ptr<const Plan> plan, const RunEnvironment& environment,
                       std::vector<AttachedSteps> attached)
    : plan_(std::move(plan)), environment_(environment), attached_(std::move(attached)) {}

PlanRunner::~PlanRunner() = default;

Result<std::unique_ptr<PlanRunner>> PlanRunner::Create(std::shared_ptr<const Plan> plan,
                                                       const RunEnvironment& environment,
                                                       std::vector<AttachedSteps> attached) {
  std::unique_ptr<PlanRunner> runner(
      new PlanRunner(std::move(plan), environment, std::move(attached)));
  TW_RETURN_IF_ERROR(runner->Prepare());
  return runner;
}

Status PlanRunner::Prepare() {
  {
    const SessionState::Lock lock(environment_.state->mutex);
    for (const PlanValue& value : plan_->values) {
      if (!value.variable || value.last_step < 0) continue;
      TW_ASSIGN_OR_RETURN(variables_[value.key],
                          environment_.state->Variable(value.key, value.view));
    }
  }
  bound_inputs_.resize(plan_->inputs.size(), nullptr);
  FindOutputs();
  FindRanges();
  for (int v : plan_->inputs) input_parts_.push_back(PartsOf(v));
  for (int v : plan_->outputs) output_parts_.push_back(PartsOf(v));
  steps_.resize(plan_->steps.size());
  for (size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = plan_->steps[s];
    if (!kHasCalls || step.callees.empty()) continue;
    TW_ASSIGN_OR_RETURN(steps_[s].calls, StepCalls::Create(step.callees, environment_));
  }
  for (const AttachedSteps& on_device : attached_) {
    for (size_t k = 0; k < on_device.steps.size(); ++k) {
      BoundStep& bound = steps_[on_device.steps[k]];
      bound.programs = on_device.programs.get();
      bound.program = k;
    }
  }
  if (!plan_->deferred.empty()) deferred_.reset(new DeferredRunner(*plan_, environment_));
  return Status::Ok();
}

void PlanRunner::FindOutputs() {
  outputs_.resize(plan_->outputs.size());
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    const int v = plan_->outputs[i];
    const PlanValue& value = plan_->values[static_cast<size_t>(v)];
    const auto end = plan_->outputs.begin() + static_cast<std::ptrdiff_t>(i);
    const bool repeated = std::find(plan_->outputs.begin(), end, v) != end;
    const bool input =
        std::find(plan_->inputs.begin(), plan_->inputs.end(), v) != plan_->inputs.end();
    outputs_[i].direct = !(repeated || input || value.constant || value.variable || value.deferred);
  }
}

void PlanRunner::FindRanges() {
  if (!kHasQuantized) return;
  for (const Step& step : plan_->steps) {
    const bool is_new = step.wants_range && RangeOf(step.inputs[0]) == nullptr;
    if (is_new) ranges_.push_back({step.inputs[0], {}});
  }
  if (ranges_.empty()) return;
  const int n_threads = environment_.pool->n_threads();
  range_lanes_.reset(new KeptRange::Lanes[static_cast<size_t>(n_threads)]);
  for (WantedRange& wanted : ranges_) {
    wanted.range.threads = range_lanes_.get();
    wanted.range.n_threads = n_threads;
  }
}

KeptRange* PlanRunner::RangeOf(int v) {
  for (WantedRange& wanted : ranges_) {
    if (wanted.value == v) return &wanted.range;
  }
  return nullptr;
}

// A group of values that share memory holds at most one input or output, which is all of it.
std::vector<PlanRunner::Part> PlanRunner::PartsOf(int v) const {
  std::vector<Part> parts;
  if (plan_->values[static_cast<size_t>(v)].constant) return parts;
  const int root = plan_->values[static_cast<size_t>(v)].root;
  for (size_t k = 0; k < plan_->values.size(); ++k) {
    const PlanValue& value = plan_->values[k];
    if (value.root != root || value.variable || value.constant || value.deferred) continue;
    if (value.last_step >= 0) parts.push_back({k, value.root_offset});
  }
  return parts;
}

void PlanRunner::SetOutput(size_t i, void* data, size_t bytes) {
  outputs_[i].bound = data;
  outputs_[i].bound_bytes = data == nullptr ? 0 : bytes;
}

void PlanRunner::Bind(uint8_t* memory) {
  memory_ = memory;
  BindValues();
  for (size_t s = 0; s < steps_.size(); ++s) BindStep(s);
  BindPrograms();
}

void PlanRunner::Move(const std::vector<Part>& parts, void* data) {
  for (const Part& part : parts) {
    views_[part.value].data = static_cast<uint8_t*>(data) + part.offset;
  }
}

void PlanRunner::BindValues() {
  views_.resize(plan_->values.size());
  for (size_t v = 0; v < plan_->values.size(); ++v) {
    const PlanValue& value = plan_->values[v];
    views_[v] = value.view;
    if (value.variable && value.last_step >= 0) views_[v].data = variables_.at(value.key);
    if (value.variable || value.constant || value.deferred || value.last_step < 0) continue;
    const PlanValue& root = plan_->values[static_cast<size_t>(value.root)];
    views_[v].data = memory_ + root.arena_offset + value.root_offset;
  }
  for (size_t i = 0; i < plan_->inputs.size(); ++i) {
    if (bound_inputs_[i] != nullptr) Move(input_parts_[i], bound_inputs_[i]);
  }
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    Output& output = outputs_[i];
    if (output.direct && output.bound != nullptr) Move(output_parts_[i], output.bound);
    output.view = View(plan_->outputs[i]);
    if (!output.direct && output.bound != nullptr) output.view.data = output.bound;
  }
}

void PlanRunner::BindStep(size_t s) {
  const Step& step = plan_->steps[s];
  BoundStep& bound = steps_[s];
  bound.inputs.clear();
  bound.outputs.clear();
  const auto view = [&](int v) { return v < 0 ? nullptr : &views_[static_cast<size_t>(v)]; };
  for (int v : step.inputs) bound.inputs.push_back(view(v));
  for (int v : step.outputs) bound.outputs.push_back(view(v));
  if (step.program != nullptr) return;
  bound.context.params = &step.params;
  bound.context.inputs = {bound.inputs.data(), bound.inputs.size()};
  bound.context.outputs = {bound.outputs.data(), bound.outputs.size()};
  bound.context.state = step.state.get();
  bound.context.scratch = memory_ + plan_->arena_bytes;
  bound.context.pool = environment_.pool;
  bound.context.cpu = environment_.cpu;
  bound.context.resources = &environment_.state->resources();
  bound.context.text = environment_.text;
  bound.context.calls = bound.calls.get();
  if (step.wants_range) bound.context.in_range = RangeOf(step.inputs[0]);
  if (!step.outputs.empty()) bound.context.out_range = RangeOf(step.outputs[0]);
  if (kHasCalls && bound.calls != nullptr) bound.calls->Bind(bound.context.scratch);
}

void PlanRunner::BindPrograms() {
  for (const AttachedSteps& on_device : attached_) {
    std::vector<ProgramTensors> tensors;
    for (size_t s : on_device.steps) tensors.push_back(steps_[s].tensors());
    on_device.programs->Bind(tensors);
  }
}

void PlanRunner::MoveInput(size_t i, const void* data) {
  bound_inputs_[i] = const_cast<void*>(data);
  if (data != nullptr) Move(input_parts_[i], bound_inputs_[i]);
}

void PlanRunner::MoveOutput(size_t i, void* data, size_t bytes) {
  SetOutput(i, data, bytes);
  Output& output = outputs_[i];
  if (output.direct) {
    const PlanValue& value = plan_->values[static_cast<size_t>(plan_->outputs[i])];
    const int64_t offset = plan_->values[static_cast<size_t>(value.root)].arena_offset;
    Move(output_parts_[i], data != nullptr ? data : memory_ + offset);
  }
  output.view = View(plan_->outputs[i]);
}

Status PlanRunner::RunStep(size_t s, std::vector<int64_t>* part_nanos) {
  const Step& step = plan_->steps[s];
  const BoundStep& bound = steps_[s];
  if (step.program == nullptr) {
    return RunOnCpu(*step.def, bound.context, [&] { return plan_->Where(step); });
  }
  const Status status = bound.programs->Run(bound.program, bound.tensors(), part_nanos);
  return status.ok() ? status : status.WithPrefix(plan_->Where(step) + ": ");
}

Status PlanRunner::RunTimed(size_t s, const Profiler& profiler) {
  std::vector<int64_t> part_nanos;
  const int64_t start = port::NowNanos();
  TW_RETURN_IF_ERROR(RunStep(s, &part_nanos));
  profiler.Report(*plan_, s, port::NowNanos() - start, part_nanos);
  return Status::Ok();
}

Status PlanRunner::Run(const Profiler* profiler, const Step** failed_step) {
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (environment_.cancellation->requested()) {
      return Cancelled("the run was cancelled before step {} of {}, {}", s, steps_.size(),
                       plan_->Where(plan_->steps[s]));
    }
    const Status status = profiler != nullptr ? RunTimed(s, *profiler) : RunStep(s, nullptr);
    if (status.ok()) continue;
    if (failed_step != nullptr) *failed_step = &plan_->steps[s];
    return status;
  }
  return Finish();
}

Status PlanRunner::Finish() {
  if (deferred_ != nullptr) {
    for (size_t i = 0; i < outputs_.size(); ++i) {  // their memory goes, even if the run ends early
      const bool late = plan_->values[static_cast<size_t>(plan_->outputs[i])].deferred;
      if (late && !outputs_[i].direct) outputs_[i].view.data = nullptr;
    }
    TW_RETURN_IF_ERROR(deferred_->Run(&views_));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    if (output.direct) {
      output.view.data = View(plan_->outputs[i]).data;  // ShowOutput may have changed it
      continue;
    }
    const TensorView& source = View(plan_->outputs[i]);
    output.view = source;
    if (output.bound == nullptr) continue;
    if (output.bound_bytes < source.bytes()) {
      return InvalidArgument(
          "output {} '{}' turned out to need {} bytes (shape {}), the buffer has {}", i,
          plan_->values[static_cast<size_t>(plan_->outputs[i])].name, source.bytes(),
          source.shape.ToString(), output.bound_bytes);
    }
    if (source.bytes() > 0 && source.data != output.bound) {
      std::memmove(output.bound, source.data, source.bytes());
    }
    output.view.data = output.bound;
  }
  return Status::Ok();
}

}  // namespace topwork
