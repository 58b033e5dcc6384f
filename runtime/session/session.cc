// Session: memory bound to a plan's values once, then a loop over its steps.
#include "runtime/session/session.h"

#include <algorithm>
#include <cstring>
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

bool Session::has_custom_ops() const {
  const auto is_custom = [](const auto& op) {
    return op.def != nullptr && op.def->code == OpCode::kCustom;
  };
  return std::any_of(plan_->steps.begin(), plan_->steps.end(), is_custom) ||
         std::any_of(plan_->deferred.begin(), plan_->deferred.end(), is_custom);
}

Status Session::Impl::Attach(const Plan& plan) {
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
  return Status::Ok();
}

Status Session::Impl::AllocateFor(const Plan& plan, const Allocator& allocator,
                                  SessionState* state) {
  const SessionState::Lock lock(state->mutex);
  for (const PlanValue& value : plan.values) {
    if (!value.variable || value.last_step < 0) continue;
    TW_ASSIGN_OR_RETURN(variables[value.key], state->Variable(value.key, value.view));
  }
  TW_ASSIGN_OR_RETURN(arena,
                      Buffer::Allocate(std::max(plan.arena_bytes + plan.scratch_bytes, kAlignment),
                                       "the activation arena", allocator));
  bound_inputs.resize(plan.inputs.size(), nullptr);
  bound_input_bytes.resize(plan.inputs.size(), 0);
  outputs.resize(plan.outputs.size());
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const int v = plan.outputs[i];
    const PlanValue& value = plan.values[static_cast<size_t>(v)];
    const bool repeated =
        std::find(plan.outputs.begin(), plan.outputs.begin() + static_cast<std::ptrdiff_t>(i), v) !=
        plan.outputs.begin() + static_cast<std::ptrdiff_t>(i);
    const bool input = std::find(plan.inputs.begin(), plan.inputs.end(), v) != plan.inputs.end();
    outputs[i].kind = repeated || input || value.constant || value.variable || value.deferred
                          ? OutputKind::kCopied
                          : OutputKind::kDirect;
  }
  return Status::Ok();
}

void Session::Impl::BindValues(const Plan& plan) {
  std::vector<void*> base(plan.values.size(), nullptr);
  for (size_t v = 0; v < plan.values.size(); ++v) {
    const PlanValue& value = plan.values[v];
    if (value.arena_offset >= 0) base[v] = arena.as<uint8_t>() + value.arena_offset;
  }
  const auto root = [&](int v) {
    return static_cast<size_t>(plan.values[static_cast<size_t>(v)].root);
  };
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    if (bound_inputs[i] != nullptr) base[root(plan.inputs[i])] = bound_inputs[i];
  }
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    if (outputs[i].kind == OutputKind::kDirect && outputs[i].bound != nullptr) {
      base[root(plan.outputs[i])] = outputs[i].bound;
    }
  }
  views.resize(plan.values.size());
  for (size_t v = 0; v < plan.values.size(); ++v) {
    const PlanValue& value = plan.values[v];
    views[v] = value.view;
    if (value.variable && value.last_step >= 0) views[v].data = variables.at(value.key);
    if (value.variable || value.constant || value.deferred || value.last_step < 0) continue;
    views[v].data =
        static_cast<uint8_t*>(base[static_cast<size_t>(value.root)]) + value.root_offset;
  }
  inputs.clear();
  for (int v : plan.inputs) inputs.push_back(views[static_cast<size_t>(v)]);
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    Output& output = outputs[i];
    output.view = views[static_cast<size_t>(plan.outputs[i])];
    if (output.kind == OutputKind::kCopied && output.bound != nullptr)
      output.view.data = output.bound;
  }
}

void Session::Impl::BindSteps(const Plan& plan, ThreadPool* pool, const CpuKernels* cpu) {
  steps.clear();
  steps.resize(plan.steps.size());
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    BoundStep& bound = steps[s];
    for (int v : step.inputs) {
      bound.inputs.push_back(v < 0 ? nullptr : &views[static_cast<size_t>(v)]);
    }
    for (int v : step.outputs) {
      bound.outputs.push_back(v < 0 ? nullptr : &views[static_cast<size_t>(v)]);
    }
    bound.context.params = &step.params;
    bound.context.inputs = {bound.inputs.data(), bound.inputs.size()};
    bound.context.outputs = {bound.outputs.data(), bound.outputs.size()};
    const auto own = attached.find(static_cast<int>(s));
    bound.context.state = own == attached.end() ? step.state.get() : own->second.get();
    bound.context.scratch = arena.as<uint8_t>() + plan.arena_bytes;
    bound.context.pool = pool;
    bound.context.cpu = cpu;
  }
}

void Session::Impl::BindPrograms(const Plan& plan) {
  std::map<const Backend*, std::vector<const RunContext*>> programs;
  for (const auto& entry : attached) {
    const size_t s = static_cast<size_t>(entry.first);
    programs[plan.steps[s].backend].push_back(&steps[s].context);
  }
  for (const auto& entry : programs) entry.first->Bind(entry.second);
}

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

Status Session::Prepare() {
  Impl& impl = *impl_;
  if (impl.replan) {
    Result<std::shared_ptr<const Plan>> plan =
        impl.given_plan != nullptr ? std::move(impl.given_plan) : NewPlan();
    impl.given_plan = nullptr;
    Impl fresh;
    if (plan.ok()) {
      if (const Status attached = fresh.Attach(*plan.value()); !attached.ok()) {
        GiveUpBackends(attached, *plan.value());
        fresh.attached.clear();
        plan = NewPlan();
      }
    }
    Status status = plan.status();
    if (status.ok()) status = CheckBindings(*plan.value());
    if (status.ok()) status = fresh.AllocateFor(*plan.value(), *options_.allocator, state().get());
    if (!status.ok()) {
      if (plan_ != nullptr) {  // keep what worked
        for (size_t i = 0; i < impl.inputs.size(); ++i)
          impl.wanted_shapes[i] = impl.inputs[i].shape;
        impl.replan = false;
      }
      return status;
    }
    impl.attached = std::move(fresh.attached);
    impl.arena = std::move(fresh.arena);
    impl.variables = std::move(fresh.variables);
    for (size_t i = 0; i < fresh.outputs.size() && i < impl.outputs.size(); ++i) {
      fresh.outputs[i].bound = impl.outputs[i].bound;
      fresh.outputs[i].bound_bytes = impl.outputs[i].bound_bytes;
    }
    impl.outputs = std::move(fresh.outputs);
    impl.bound_inputs.resize(fresh.bound_inputs.size(), nullptr);
    impl.bound_input_bytes.resize(fresh.bound_input_bytes.size(), 0);
    plan_ = plan.value();
    impl.replan = false;
    impl.rebind = true;
    impl.wanted_shapes.clear();
    for (int v : plan_->inputs) {
      impl.wanted_shapes.push_back(plan_->values[static_cast<size_t>(v)].view.shape);
    }
    const size_t planned = plan_->arena_bytes + plan_->scratch_bytes + plan_->packed_bytes +
                           plan_->owned_bytes + plan_->state_bytes;
    // At least one byte is left, for 0 would mean no limit.
    const size_t all = options_.memory_limit_bytes;
    const size_t limit = all == 0 ? 0 : std::max<size_t>(1, all - planned);
    impl.deferred.reset(plan_->deferred.empty() ? nullptr
                                                : new DeferredRunner(*plan_, *options_.allocator,
                                                                     *options_.cpu, limit));
  }
  if (impl.rebind) {
    impl.BindValues(*plan_);
    impl.BindSteps(*plan_, pool_.get(), options_.cpu);
    impl.BindPrograms(*plan_);
    impl.rebind = false;
  }
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
  return impl_->arena.size() + (impl_->deferred ? impl_->deferred->bytes() : 0) + state()->bytes();
}

void Session::ResetState() {
  const SessionState::Lock lock(state()->mutex);
  state()->Reset();
}

Status Session::Run() {
  TW_RETURN_IF_ERROR(Prepare());
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
    if (impl_->bound_inputs[i] != nullptr || input.data == nullptr) continue;
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
  for (size_t s = 0; s < impl.steps.size(); ++s) {
    if (cancel_.exchange(false, std::memory_order_relaxed)) {
      return Cancelled("the run was cancelled before step %zu of %zu", s, impl.steps.size());
    }
    const Step& step = plan_->steps[s];
    const Status status = profiling
                              ? RunProfiled(s)
                              : step.backend->Run(*step.def, impl.steps[s].context, step.where);
    if (!status.ok()) {
      *out_backend_failed = step.backend->takes_programs();
      return status;
    }
  }
  if (impl.deferred)
    TW_RETURN_IF_ERROR(impl.deferred->Run(*plan_, pool_.get(), &cancel_, &impl.views));
  return impl.FinishOutputs(*plan_);
}

Status Session::RunProfiled(size_t s) {
  Impl& impl = *impl_;
  const Step& step = plan_->steps[s];
  std::vector<int64_t> part_nanos;
  const int64_t start = port::NowNanos();
  TW_RETURN_IF_ERROR(
      step.parts.empty()
          ? step.backend->Run(*step.def, impl.steps[s].context, step.where)
          : step.backend->RunTimed(*step.def, impl.steps[s].context, step.where, &part_nanos));
  int64_t rest = port::NowNanos() - start;
  const auto report = [&](const Step& what, int part, int64_t nanos) {
    StepProfile profile;
    profile.step = static_cast<int>(s);
    profile.part = part;
    profile.op = what.def->name;
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

Status Session::Impl::FinishOutputs(const Plan& plan) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Output& output = outputs[i];
    if (output.kind == OutputKind::kDirect) continue;
    const TensorView& source = views[static_cast<size_t>(plan.outputs[i])];
    output.view = source;
    if (output.bound == nullptr) continue;
    if (output.bound_bytes < source.bytes()) {
      return InvalidArgument(
          "output %zu '%s' turned out to need %zu bytes (shape %s), the buffer has %zu", i,
          plan.values[static_cast<size_t>(plan.outputs[i])].name.c_str(), source.bytes(),
          source.shape.ToString().c_str(), output.bound_bytes);
    }
    if (source.bytes() > 0) std::memmove(output.bound, source.data, source.bytes());
    output.view.data = output.bound;
  }
  return Status::Ok();
}

}  // namespace topwork
