// Session: plans, takes memory for the plan, and runs it; on the CPU where a device fails.
#include "runtime/session/session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/contract/selection.h"
#include "ports/port.h"
#include "runtime/session/first_answer.h"
#include "runtime/session/plan_runner.h"
#include "runtime/session/string_ports.h"

namespace topwork {

void SessionOptions::FillProcessors() {
  if (n_threads > 0 || processors != nullptr) return;
  processors = std::make_shared<port::Processors>(port::FindProcessors());
}

void SessionOptions::FillMemoryLimit() {
  if (memory_limit_bytes != 0) return;
  machine_memory_bytes = port::MemoryBytes();
  memory_limit_bytes = static_cast<size_t>(std::min<uint64_t>(machine_memory_bytes / 2, SIZE_MAX));
}

Session::Session() : control_(std::make_shared<RunControl>()) {}
Session::~Session() {
  // Otherwise another session has taken its place, or the handle has stopped it.
  if (control_.use_count() == 1) control_->Stop();
}

Result<std::unique_ptr<Session>> Session::Create(std::shared_ptr<const Model> model,
                                                 const SessionOptions& options) {
  if (options.subgraph < 0 || static_cast<size_t>(options.subgraph) >= model->subgraphs().size()) {
    return InvalidArgument("subgraph {} does not exist, the model has {}", options.subgraph,
                           model->subgraphs().size());
  }
  std::unique_ptr<Session> session(new Session);
  session->model_ = std::move(model);
  session->options_ = options;
  if (session->options_.cpu == nullptr) session->options_.cpu = &BestCpuKernels();
  if (session->options_.allocator == nullptr) session->options_.allocator = &DefaultAllocator();
  if (session->options_.state == nullptr) {
    session->options_.state = std::make_shared<SessionState>(*session->options_.allocator);
  }
  session->options_.FillProcessors();
  const int n_threads = session->options_.n_threads;
  session->options_.max_threads =
      n_threads > 0 ? n_threads : ChooseThreads(*session->options_.processors).n_threads;
  session->options_.FillMemoryLimit();
  session->wanted_shapes_ = options.input_shapes;
  TW_RETURN_IF_ERROR(session->Prepare());
  return session;
}

Result<std::unique_ptr<Session>> Session::Clone() const {
  std::unique_ptr<Session> session(new Session);
  session->model_ = model_;
  session->options_ = options_;
  session->options_.state = std::make_shared<SessionState>(*options_.allocator);
  if (has_custom_ops()) {
    for (const TensorView& input : inputs_) session->wanted_shapes_.push_back(input.shape);
  } else {
    session->given_plan_ = plan_;
  }
  TW_RETURN_IF_ERROR(session->Prepare());
  return session;
}

Result<std::unique_ptr<Session>> Session::WithModel(std::shared_ptr<const Model> model,
                                                    size_t n_outputs) const {
  std::unique_ptr<Session> session(new Session);
  session->model_ = std::move(model);
  session->options_ = options_;
  session->control_ = control_;
  session->profiler_ = profiler_;
  session->wanted_shapes_ = wanted_shapes_;
  session->bound_inputs_ = bound_inputs_;
  session->bound_outputs_ = bound_outputs_;
  session->bound_outputs_.resize(std::min(n_outputs, bound_outputs_.size()));
  TW_RETURN_IF_ERROR(session->Prepare());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorView& from = inputs_[i];
    const TensorView& to = session->inputs_[i];
    const bool own = bound_inputs_[i].data == nullptr && from.dtype != DType::kString;
    if (!own || from.bytes() != to.bytes() || from.bytes() == 0) continue;
    std::memcpy(to.data, from.data, from.bytes());
  }
  return session;
}

namespace {

bool HasCustomOps(const Plan& plan) {
  const auto in_step = [](const Step& step) {
    return (step.def != nullptr && step.def->is_custom()) ||
           std::any_of(step.callees.begin(), step.callees.end(),
                       [](const PlannedCallee& callee) { return HasCustomOps(*callee.plan); });
  };
  const auto in_deferred = [&](const Op& op) {
    const std::vector<int> callees = CalleesOf(op);
    return op.is_custom() || std::any_of(callees.begin(), callees.end(), [&](int callee) {
             return AnyOpBelow(*plan.model, callee,
                               [](const Graph&, const Op& inner) { return inner.is_custom(); });
           });
  };
  return std::any_of(plan.steps.begin(), plan.steps.end(), in_step) ||
         std::any_of(plan.deferred.begin(), plan.deferred.end(), in_deferred);
}

}  // namespace

bool Session::has_custom_ops() const { return kHasCustomOps && HasCustomOps(*plan_); }

Status Session::NewPlan(std::shared_ptr<const Plan>* plan, Buffer* arena) const {
  PlanOptions options = options_;
  options.input_shapes = wanted_shapes_;
  options.pool = pool_.get();
  const ThreadPool::Run packing(options.pool, false);
  TW_ASSIGN_OR_RETURN(*plan, BuildPlan(model_, options));
  TW_ASSIGN_OR_RETURN(*arena, NewArena(**plan));
  return Status::Ok();
}

Result<Buffer> Session::NewArena(const Plan& plan) const {
  constexpr char kWhat[] = "the activation arena";
  const size_t bytes = std::max(plan.run_bytes, kAlignment);
  if (!kPreparesOnThreads || !IsDefault(*options_.allocator)) {
    return Buffer::Allocate(bytes, kWhat, *options_.allocator);
  }
  TW_ASSIGN_OR_RETURN(Buffer arena, Buffer::Allocate(bytes, kWhat, UntouchedAllocator()));
  // Where threads touch a large page at once for the first time, each of them clears one.
  const auto take = [&](int64_t part, int) { port::TakePages(arena.data(), arena.size(), part); };
  if (pool_ != nullptr && pool_->n_threads() > 1) {
    pool_->ParallelFor(port::CountPageParts(arena.size()), take);
  } else {
    take(0, 0);
  }
  return arena;
}

// Where the caller gave other shapes than the file, a model that they do not fit is not malformed.
Status Session::AboutShapes(const Status& status) const {
  if (status.code() != StatusCode::kInvalidModel) return status;
  const Graph& graph = model_->subgraphs()[static_cast<size_t>(options_.subgraph)];
  std::string given;
  for (size_t i = 0; i < std::min(wanted_shapes_.size(), graph.inputs.size()); ++i) {
    const Value& input = graph.values[static_cast<size_t>(graph.inputs[i])];
    if (wanted_shapes_[i] == input.shape) continue;
    given += StrFormat("{}input {} '{}' {} (in the file {})", given.empty() ? "" : ", ", i,
                       input.name, wanted_shapes_[i].ToString(), input.shape.ToString());
  }
  if (given.empty()) return status;
  return InvalidArgument("the model does not fit the shapes that were given, {}: {}", given,
                         status.message());
}

// Everything that may fail comes before anything is changed.
Status Session::Replan() {
  // Small models may turn out to be faster on one thread, and are packed by one.
  constexpr size_t kLeastPacked = size_t{1} << 20;
  const bool packs = given_plan_ == nullptr && model_->bytes().size() >= kLeastPacked;
  if (pool_ == nullptr && packs) pool_.reset(new ThreadPool(options_.max_threads));
  std::shared_ptr<const Plan> plan = std::move(given_plan_);
  Buffer arena;
  if (plan == nullptr) {
    TW_RETURN_IF_ERROR(NewPlan(&plan, &arena));
  } else {
    TW_ASSIGN_OR_RETURN(arena, NewArena(*plan));
  }
  std::vector<AttachedSteps> attached;
  Result<std::vector<AttachedSteps>> own = AttachSteps(*plan);
  if (own.ok()) {
    attached = std::move(own.value());
  } else {
    GiveUpDevices(own.status(), *plan);
    arena.Reset();
    TW_RETURN_IF_ERROR(NewPlan(&plan, &arena));
  }
  TW_RETURN_IF_ERROR(CheckBindings(*plan));
  const ThreadChoice threads = ThreadsFor(*plan);
  std::unique_ptr<ThreadPool> pool;  // null: the one there is has as many threads
  if (pool_ == nullptr || pool_->n_threads() != threads.n_threads) {
    pool.reset(new ThreadPool(threads.n_threads));
  }
  std::unique_ptr<RunEnvironment> environment =
      NewEnvironment(pool != nullptr ? pool.get() : pool_.get());
  TW_ASSIGN_OR_RETURN(std::unique_ptr<PlanRunner> runner,
                      PlanRunner::Create(plan, *environment, std::move(attached)));
  TW_ASSIGN_OR_RETURN(std::vector<Buffer> strings, strings_->NewInputs(*plan));
  plan_ = std::move(plan);
  strings_->SetInputs(std::move(strings));
  runner_ = std::move(runner);  // the old one goes before what it points to
  environment_ = std::move(environment);
  if (pool != nullptr) pool_ = std::move(pool);
  threads_ = threads;
  arena_ = std::move(arena);
  bound_inputs_.resize(plan_->inputs.size());
  bound_outputs_.resize(plan_->outputs.size());
  SetLimits();
  return Status::Ok();
}

ThreadChoice Session::ThreadsFor(const Plan& plan) const {
  return options_.n_threads > 0 ? ThreadChoice{options_.n_threads, "as asked for"}
                                : ChooseThreads(*options_.processors, plan.cpu_flops);
}

std::unique_ptr<RunEnvironment> Session::NewEnvironment(ThreadPool* pool) {
  if (kHasCalls && planner_ == nullptr) {
    PlanOptions options;
    options.max_threads = options_.max_threads;
    options.cpu = options_.cpu;
    options.optimize = options_.optimize;
    options.allocator = options_.allocator;
    options.memory_limit_bytes = options_.memory_limit_bytes;
    planner_.reset(new CalleePlanner(model_.get(), options, false));
  }
  if (strings_ == nullptr) strings_.reset(new StringPorts(&memory_, *options_.allocator));
  return std::unique_ptr<RunEnvironment>(
      new RunEnvironment{pool, options_.cpu, options_.allocator, &control_->cancellation,
                         state().get(), planner_.get(), &memory_, strings_->run_text()});
}

// What the plan leaves to values whose size a run finds out, and to resources.
void Session::SetLimits() {
  const uint64_t all = options_.memory_limit_bytes;
  if (all == 0) return;
  const uint64_t planned = plan_->host_bytes();
  // At least one byte is left, for 0 would mean no limit.
  memory_.limit_bytes = all > planned ? static_cast<size_t>(all - planned) : 1;
  const SessionState::Lock lock(state()->mutex);
  state()->resources().set_limit_bytes(memory_.limit_bytes);
}

Status Session::Prepare() {
  if (replan_) {
    const Status status = AboutShapes(Replan());
    if (!status.ok()) {
      if (plan_ != nullptr) {  // keep what worked
        for (size_t i = 0; i < inputs_.size(); ++i) wanted_shapes_[i] = inputs_[i].shape;
        replan_ = false;
      }
      return status;
    }
    replan_ = false;
    rebind_ = true;
    wanted_shapes_.clear();
    for (int v : plan_->inputs) {
      wanted_shapes_.push_back(plan_->values[static_cast<size_t>(v)].view.shape);
    }
  }
  if (!rebind_) return Status::Ok();
  for (size_t i = 0; i < bound_inputs_.size(); ++i) {
    void* const strings = strings_->references(i);
    runner_->SetInput(i, strings != nullptr ? strings : bound_inputs_[i].data);
  }
  for (size_t i = 0; i < bound_outputs_.size(); ++i) {
    runner_->SetOutput(i, bound_outputs_[i].data, bound_outputs_[i].bytes);
  }
  runner_->Bind(arena_.as<uint8_t>());
  inputs_.clear();
  for (size_t i = 0; i < plan_->inputs.size(); ++i) inputs_.push_back(runner_->input(i));
  strings_->HideOutputs(runner_.get());
  rebind_ = false;
  return Status::Ok();
}

// The next plan is the CPU's, for the same shapes.
void Session::GiveUpDevices(const Status& failure, const Plan& plan) {
  options_.devices.clear();
  options_.no_device_reason = failure.message();
  if (!wanted_shapes_.empty()) return;
  for (int v : plan.inputs) {
    wanted_shapes_.push_back(plan.values[static_cast<size_t>(v)].view.shape);
  }
}

size_t Session::memory_bytes() const {
  const SessionState::Lock lock(state()->mutex);
  return arena_.size() + strings_->reference_bytes() + memory_.used_bytes + state()->bytes();
}

void Session::ResetState() {
  const SessionState::Lock lock(state()->mutex);
  state()->Reset();
}

Status Session::RunAsync(AsyncRun::Done done) {
  TW_RETURN_IF_ERROR(CheckIdle());
  // Now, so that a Cancel() that comes before the thread runs is not lost.
  control_->cancellation.Begin();
  const Status status = control_->async.Start(
      [this] {
        const Status result = Run();
        control_->cancellation.End();
        return result;
      },
      std::move(done));
  if (!status.ok()) control_->cancellation.End();
  return status;
}

Status Session::Run() {
  const Cancellation::Call call(&control_->cancellation);
  TW_RETURN_IF_ERROR(Prepare());
  strings_->run_text()->Forget();
  if (kHasTrials && first_answer_ != nullptr && first_answer_->is_known()) {
    const Status wrong = first_answer_->Verdict();
    if (!wrong.ok()) return RunOnCpu(wrong);
    first_answer_ = nullptr;
  }
  if (!plan_->keeps_state) {
    bool device_failed = false;
    const Status status = RunSteps(&device_failed);
    if (kHasOpenCl && device_failed) return RunOnCpu(status);
    if (kHasTrials && status.ok() && first_answer_ != nullptr && HasDeviceSteps())
      first_answer_->Check(*this);
    return status;
  }
  const SessionState::Lock lock(state()->mutex);
  // A run that goes to the CPU half-way starts over, from the state before it.
  SessionState::Saved saved;
  if (kHasOpenCl && HasDeviceSteps()) {
    TW_ASSIGN_OR_RETURN(saved, state()->Save());
  }
  bool device_failed = false;
  const Status status = RunSteps(&device_failed);
  if (!kHasOpenCl || !device_failed) return status;
  state()->Restore(std::move(saved));
  return RunOnCpu(status);
}

bool Session::HasDeviceSteps() const {
  return kHasOpenCl && std::any_of(plan_->steps.begin(), plan_->steps.end(),
                                   [](const Step& step) { return step.program != nullptr; });
}

void Session::CheckFirstAnswer(const FirstAnswerRecord& record) {
  if (kHasTrials && HasDeviceSteps() && FirstAnswer::CanCheck(*this))
    first_answer_.reset(new FirstAnswer(record));
}

// Inputs live through the whole run, so they are as the caller wrote them.
Status Session::RunOnCpu(const Status& failure) {
  std::vector<std::vector<uint8_t>> written(inputs_.size());
  for (size_t i = 0; i < written.size(); ++i) {
    const TensorView& input = inputs_[i];
    if (bound_inputs_[i].data != nullptr || input.data == nullptr) continue;
    written[i].assign(input.as<const uint8_t>(), input.as<const uint8_t>() + input.bytes());
  }
  GiveUpDevices(failure, *plan_);
  replan_ = true;
  const Status planned = Prepare();
  if (!planned.ok())
    return failure.WithPrefix("the CPU cannot take over (" + planned.message() + "): ");
  if (kHasTrials) first_answer_ = nullptr;  // until here it keeps the device's plan from running
  for (size_t i = 0; i < written.size(); ++i) {
    if (!written[i].empty()) {
      std::memcpy(inputs_[i].data, written[i].data(), written[i].size());
    }
  }
  bool device_failed = false;
  return RunSteps(&device_failed);
}

Status Session::RunSteps(bool* out_device_failed) {
  const ThreadPool::Run run(pool_.get());
  const Step* failed = nullptr;
  const Status status = runner_->Run(profiler_.function != nullptr ? &profiler_ : nullptr, &failed);
  *out_device_failed = failed != nullptr && failed->program != nullptr;
  TW_RETURN_IF_ERROR(status);
  return strings_->KeepOutputs(runner_.get());
}

}  // namespace topwork
