// Session: memory bound to a plan's values once, then a loop over its steps.
#include "runtime/session/session.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "ports/port.h"
#include "runtime/session/session_impl.h"

namespace topwork {
Session::Session() : impl_(new Impl) {}
Session::~Session() { StopAsync(); }

Result<std::unique_ptr<Session>> Session::Create(std::shared_ptr<const Model> model,
                                                 const SessionOptions& options) {
  if (options.subgraph < 0 || static_cast<size_t>(options.subgraph) >= model->subgraphs().size()) {
    return InvalidArgument("subgraph %d does not exist, the model has %zu", options.subgraph,
                           model->subgraphs().size());
  }
  std::unique_ptr<Session> session(new Session);
  session->model_ = std::move(model);
  session->options_ = options;
  if (session->options_.n_threads <= 0) session->options_.n_threads = port::NumCpus();
  if (session->options_.cpu == nullptr) session->options_.cpu = &BestCpuKernels();
  if (session->options_.allocator == nullptr) session->options_.allocator = &DefaultAllocator();
  if (session->options_.state == nullptr) {
    session->options_.state = std::make_shared<SessionState>(*session->options_.allocator);
  }
  session->pool_.reset(new ThreadPool(session->options_.n_threads));
  session->impl_->wanted_shapes = options.input_shapes;
  TW_RETURN_IF_ERROR(session->Prepare());
  return session;
}

Result<std::unique_ptr<Session>> Session::Clone() const {
  std::unique_ptr<Session> session(new Session);
  session->model_ = model_;
  session->options_ = options_;
  session->options_.state = std::make_shared<SessionState>(*options_.allocator);
  session->backend_failure_ = backend_failure_;
  session->note_ = note_;
  session->pool_.reset(new ThreadPool(options_.n_threads));
  if (has_custom_ops()) {
    for (const TensorView& input : impl_->inputs) {
      session->impl_->wanted_shapes.push_back(input.shape);
    }
  } else {
    session->impl_->given_plan = plan_;
  }
  TW_RETURN_IF_ERROR(session->Prepare());
  return session;
}

namespace {

// States of the session's own for the plan's programs.
Result<PlanRunner::Attached> Attach(const Plan& plan) {
  PlanRunner::Attached attached;
  std::map<const Backend*, std::vector<int>> programs;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Backend* backend = plan.steps[s].backend;
    if (backend->takes_programs()) programs[backend].push_back(static_cast<int>(s));
  }
  for (const auto& entry : programs) {
    Backend::States loaded;
    for (int s : entry.second) loaded.push_back(plan.steps[static_cast<size_t>(s)].state);
    TW_ASSIGN_OR_RETURN(Backend::States own, entry.first->Attach(loaded));
    for (size_t k = 0; k < own.size(); ++k) attached[entry.second[k]] = std::move(own[k]);
  }
  return attached;
}

bool IsCustom(const Op& op) { return op.code == OpCode::kCustom; }

bool HasCustomOps(const Plan& plan) {
  const auto in_step = [](const Step& step) {
    return (step.def != nullptr && step.def->code == OpCode::kCustom) ||
           std::any_of(step.callees.begin(), step.callees.end(),
                       [](const PlannedCallee& callee) { return HasCustomOps(*callee.plan); });
  };
  const auto in_deferred = [&](const Op& op) {
    const std::vector<int> callees = CalleesOf(op);
    return IsCustom(op) || std::any_of(callees.begin(), callees.end(), [&](int callee) {
             return AnyOpBelow(*plan.model, callee,
                               [](const Graph&, const Op& inner) { return IsCustom(inner); });
           });
  };
  return std::any_of(plan.steps.begin(), plan.steps.end(), in_step) ||
         std::any_of(plan.deferred.begin(), plan.deferred.end(), in_deferred);
}

}  // namespace

bool Session::has_custom_ops() const { return HasCustomOps(*plan_); }

Result<std::shared_ptr<const Plan>> Session::NewPlan() const {
  PlanOptions options;
  options.subgraph = options_.subgraph;
  options.input_shapes = impl_->wanted_shapes;
  options.outputs = options_.outputs;
  options.max_threads = pool_->n_threads();
  options.cpu = options_.cpu;
  options.memory_limit_bytes = options_.memory_limit_bytes;
  options.device_memory_limit_bytes = options_.device_memory_limit_bytes;
  for (const auto& backend : options_.backends) options.backends.push_back(backend.get());
  options.no_backend_reason = backend_failure_;
  options.cpu_ops = options_.cpu_ops;
  options.device_cost = options_.device_cost.get();
  options.float32_ops = options_.float32_ops;
  options.optimize = options_.optimize;
  options.allocator = options_.allocator;
  return BuildPlan(model_, options);
}

// Everything that may fail comes before anything is changed.
Status Session::Replan() {
  Impl& impl = *impl_;
  Result<std::shared_ptr<const Plan>> plan =
      impl.given_plan != nullptr ? std::move(impl.given_plan) : NewPlan();
  impl.given_plan = nullptr;
  PlanRunner::Attached attached;
  if (plan.ok()) {
    Result<PlanRunner::Attached> own = Attach(*plan.value());
    if (own.ok()) {
      attached = std::move(own.value());
    } else {
      GiveUpBackends(own.status(), *plan.value());
      plan = NewPlan();
    }
  }
  TW_RETURN_IF_ERROR(plan.status());
  TW_RETURN_IF_ERROR(CheckBindings(*plan.value()));
  const size_t bytes = std::max(PlanRunner::MemoryBytes(*plan.value()), kAlignment);
  TW_ASSIGN_OR_RETURN(Buffer arena,
                      Buffer::Allocate(bytes, "the activation arena", *options_.allocator));
  SetEnvironment();
  TW_ASSIGN_OR_RETURN(std::unique_ptr<PlanRunner> runner,
                      PlanRunner::Create(plan.value(), impl.environment, std::move(attached)));
  std::vector<Buffer> strings;
  TW_RETURN_IF_ERROR(NewStringInputs(*plan.value(), &strings));
  plan_ = plan.value();
  SetStringInputs(std::move(strings));
  impl.runner = std::move(runner);
  impl.arena = std::move(arena);
  impl.bound_inputs.resize(plan_->inputs.size());
  impl.bound_outputs.resize(plan_->outputs.size());
  SetLimits();
  return Status::Ok();
}

void Session::SetEnvironment() {
  Impl& impl = *impl_;
  if (impl.planner == nullptr) {
    PlanOptions options;
    options.max_threads = pool_->n_threads();
    options.cpu = options_.cpu;
    options.optimize = options_.optimize;
    options.allocator = options_.allocator;
    impl.planner.reset(new CalleePlanner(model_.get(), options));
  }
  if (impl.run_text == nullptr) {
    impl.run_text.reset(new RunText(&impl.memory, *options_.allocator));
    impl.string_outputs.reset(new HeldBuffers(&impl.memory, *options_.allocator));
  }
  impl.environment = {pool_.get(),   options_.cpu,       options_.allocator, &cancel_,
                      state().get(), impl.planner.get(), &impl.memory,       impl.run_text.get()};
}

// What the plan leaves to values whose size a run finds out, and to resources.
void Session::SetLimits() {
  const size_t all = options_.memory_limit_bytes;
  if (all == 0) return;
  const size_t planned = plan_->arena_bytes + plan_->scratch_bytes + plan_->packed_bytes +
                         plan_->owned_bytes + plan_->state_bytes;
  // At least one byte is left, for 0 would mean no limit.
  impl_->memory.limit_bytes = all > planned ? all - planned : 1;
  const SessionState::Lock lock(state()->mutex);
  state()->resources().set_limit_bytes(impl_->memory.limit_bytes);
}

Status Session::Prepare() {
  Impl& impl = *impl_;
  if (impl.replan) {
    const Status status = Replan();
    if (!status.ok()) {
      if (plan_ != nullptr) {  // keep what worked
        for (size_t i = 0; i < impl.inputs.size(); ++i)
          impl.wanted_shapes[i] = impl.inputs[i].shape;
        impl.replan = false;
      }
      return status;
    }
    impl.replan = false;
    impl.rebind = true;
    impl.wanted_shapes.clear();
    for (int v : plan_->inputs) {
      impl.wanted_shapes.push_back(plan_->values[static_cast<size_t>(v)].view.shape);
    }
  }
  if (!impl.rebind) return Status::Ok();
  PlanRunner& runner = *impl.runner;
  for (size_t i = 0; i < impl.bound_inputs.size(); ++i) {
    void* const strings = impl.string_inputs[i].references.data();
    runner.SetInput(i, strings != nullptr ? strings : impl.bound_inputs[i].data);
  }
  for (size_t i = 0; i < impl.bound_outputs.size(); ++i) {
    runner.SetOutput(i, impl.bound_outputs[i].data, impl.bound_outputs[i].bytes);
  }
  runner.Bind(impl.arena.as<uint8_t>());
  impl.inputs.clear();
  for (size_t i = 0; i < plan_->inputs.size(); ++i) impl.inputs.push_back(runner.input(i));
  HideStringOutputs();
  impl.rebind = false;
  return Status::Ok();
}

// The next plan is the CPU's, for the same shapes.
void Session::GiveUpBackends(const Status& failure, const Plan& plan) {
  options_.backends.clear();
  backend_failure_ = failure.message();
  if (!impl_->wanted_shapes.empty()) return;
  for (int v : plan.inputs) {
    impl_->wanted_shapes.push_back(plan.values[static_cast<size_t>(v)].view.shape);
  }
}

void Session::SetProfile(ProfileFunction function, void* user_data) {
  impl_->profile = function;
  impl_->profile_user_data = user_data;
}

size_t Session::memory_bytes() const {
  const SessionState::Lock lock(state()->mutex);
  size_t strings = 0;
  for (const StringInput& input : impl_->string_inputs) strings += input.references.size();
  return impl_->arena.size() + strings + impl_->memory.used_bytes + state()->bytes();
}

void Session::ResetState() {
  const SessionState::Lock lock(state()->mutex);
  state()->Reset();
}

Status Session::Run() {
  TW_RETURN_IF_ERROR(Prepare());
  impl_->run_text->Forget();
  if (!plan_->keeps_state) {
    bool backend_failed = false;
    const Status status = RunSteps(&backend_failed);
    return backend_failed ? RunOnCpu(status) : status;
  }
  const SessionState::Lock lock(state()->mutex);
  // A run that goes to the CPU half-way starts over, from the state before it.
  SessionState::Saved saved;
  const bool may_start_over =
      std::any_of(plan_->steps.begin(), plan_->steps.end(),
                  [](const Step& step) { return step.backend->takes_programs(); });
  if (may_start_over) {
    TW_ASSIGN_OR_RETURN(saved, state()->Save());
  }
  bool backend_failed = false;
  const Status status = RunSteps(&backend_failed);
  if (!backend_failed) return status;
  state()->Restore(std::move(saved));
  return RunOnCpu(status);
}

// Inputs live through the whole run, so they are as the caller wrote them.
Status Session::RunOnCpu(const Status& failure) {
  std::vector<std::vector<uint8_t>> written(impl_->inputs.size());
  for (size_t i = 0; i < written.size(); ++i) {
    const TensorView& input = impl_->inputs[i];
    if (impl_->bound_inputs[i].data != nullptr || input.data == nullptr) continue;
    written[i].assign(input.as<const uint8_t>(), input.as<const uint8_t>() + input.bytes());
  }
  GiveUpBackends(failure, *plan_);
  impl_->replan = true;
  const Status planned = Prepare();
  if (!planned.ok())
    return failure.WithPrefix("the CPU cannot take over (" + planned.message() + "): ");
  for (size_t i = 0; i < written.size(); ++i) {
    if (!written[i].empty()) {
      std::memcpy(impl_->inputs[i].data, written[i].data(), written[i].size());
    }
  }
  bool backend_failed = false;
  return RunSteps(&backend_failed);
}

Status Session::RunSteps(bool* out_backend_failed) {
  Impl& impl = *impl_;
  const bool profiling = impl.profile != nullptr;
  for (size_t s = 0; s < plan_->steps.size(); ++s) {
    if (cancel_.exchange(false, std::memory_order_relaxed)) {
      return Cancelled("the run was cancelled before step %zu of %zu", s, plan_->steps.size());
    }
    const Status status = profiling ? RunProfiled(s) : impl.runner->RunStep(s, nullptr);
    if (!status.ok()) {
      *out_backend_failed = plan_->steps[s].backend->takes_programs();
      return status;
    }
  }
  TW_RETURN_IF_ERROR(impl.runner->Finish());
  return KeepStringOutputs();
}

Status Session::RunProfiled(size_t s) {
  Impl& impl = *impl_;
  const Step& step = plan_->steps[s];
  std::vector<int64_t> part_nanos;
  const int64_t start = port::NowNanos();
  TW_RETURN_IF_ERROR(impl.runner->RunStep(s, step.parts.empty() ? nullptr : &part_nanos));
  int64_t rest = port::NowNanos() - start;
  const auto report = [&](const Step& what, int part, int64_t nanos) {
    StepProfile profile;
    profile.step = static_cast<int>(s);
    profile.part = part;
    profile.op = what.def->name();
    profile.variant = what.variant;
    profile.backend = what.backend->name();
    if (!what.outputs.empty() && what.outputs[0] >= 0) {
      profile.output_name = plan_->values[static_cast<size_t>(what.outputs[0])].name.c_str();
    }
    profile.nanos = nanos;
    impl.profile(impl.profile_user_data, profile);
  };
  for (size_t k = 0; k < part_nanos.size() && k < step.parts.size(); ++k) {
    report(step.parts[k], static_cast<int>(k), part_nanos[k]);
    rest -= part_nanos[k];
  }
  report(step, -1, std::max<int64_t>(rest, 0));
  return Status::Ok();
}

}  // namespace topwork
