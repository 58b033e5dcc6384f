// Session: owns a plan and its memory, and runs it. One thread at a time; many sessions may share a
// Model. Cancel(), Wait() and is_running() alone may be called from any thread.
#ifndef TOPWORK_RUNTIME_SESSION_SESSION_H_
#define TOPWORK_RUNTIME_SESSION_SESSION_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ports/port.h"
#include "runtime/base/thread_pool.h"
#include "runtime/plan/plan.h"
#include "runtime/session/run_control.h"
#include "runtime/session/run_environment.h"
#include "runtime/session/run_memory.h"
#include "runtime/session/session_state.h"
#include "runtime/session/step_profile.h"

namespace topwork {

class FirstAnswer;
class PlanRunner;
class StringPorts;
struct FirstAnswerRecord;

struct SessionOptions : PlanOptions {
  int n_threads = 0;  // 0: see ChooseThreads
  // Of which ChooseThreads chooses; null: those of this machine.
  std::shared_ptr<const port::Processors> processors;
  // Shared with the sessions that have it as well; null: the session's own. See SessionState.
  std::shared_ptr<SessionState> state;

  // Reads `processors` where the number of threads depends on them and they are not there yet.
  void FillProcessors();
  // Without a limit of the caller's: half of the machine's memory.
  void FillMemoryLimit();
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> Create(std::shared_ptr<const Model> model,
                                                 const SessionOptions& options);
  ~Session();
  // Another session with this one's options and shapes that shares its plan: packed weights, folded
  // constants and a device's constants exist once. The two may be used on two threads: the clone's
  // state is its own, and begins anew. With custom operators, whose instances belong to one
  // session, the clone is planned anew.
  Result<std::unique_ptr<Session>> Clone() const;

  // A session to take this one's place, with its options, shapes, inputs, bindings and state, of a model
  // that has the same inputs and, as its first outputs, the first n_outputs of this one's. Bindings of
  // further outputs are not taken over. May be called in the callback of this one's run.
  Result<std::unique_ptr<Session>> WithModel(std::shared_ptr<const Model> model,
                                             size_t n_outputs) const;

  const Model& model() const { return *model_; }
  const std::shared_ptr<const Model>& shared_model() const { return model_; }
  const Plan& plan() const { return *plan_; }
  bool has_custom_ops() const;
  const SessionOptions& options() const { return options_; }
  // Why options().devices is empty now although there were some; "" while they work.
  const std::string& device_failure() const { return options_.no_device_reason; }
  int n_inputs() const;
  int n_outputs() const;
  // Current dtype, shape, quantization and memory. After ResizeInput the views (outputs' shapes
  // included) are refreshed by Prepare() or Run(). With deferred operators the outputs' shapes and
  // pointers are final only after Run(). Strings of an output have a zero after them; before the
  // first run the data of such an output is null.
  const TensorView& input(int i) const;
  const TensorView& output(int i) const;
  const std::string& input_name(int i) const;
  const std::string& output_name(int i) const;

  // Asks for another shape of input i; takes effect at the next Prepare() or Run(). Where the new
  // shape does not fit the model, that call fails, and the old shape stays in force.
  Status ResizeInput(int i, const Shape& shape);
  // Plans anew after a resize; a no-op otherwise.
  Status Prepare();

  // The caller's memory in place of the session's; `bytes` must be ≥ the tensor's and the memory
  // must stay valid until rebound (null: back to the session's own). Any alignment of at least the
  // element's size works. Not for strings: UNSUPPORTED.
  Status BindInput(int i, void* data, size_t bytes);
  Status BindOutput(int i, void* data, size_t bytes);

  // Copies the elements of input i, a string tensor. Other sessions' and this one's own strings are
  // allowed. An input that was never written, or that has changed its number of elements since,
  // holds empty strings.
  Status WriteStrings(int i, Span<const StringRef> strings);

  // A device that fails while running is given up: the session plans anew on the CPU, for good,
  // and runs there on the same inputs; the plan tells why.
  Status Run();
  // Has the CPU compute the next answer of a device, too, beside the runs that follow. Where it differs,
  // the first run after that is known goes to the CPU, for good, as after a failure. Clones are not
  // checked. Does nothing where a run's answer may depend on more than its inputs (see FirstAnswer).
  void CheckFirstAnswer(const FirstAnswerRecord& record);
  // Variables of the model back to their initial values, resources gone, CALL_ONCE to run again: as
  // a new session would begin. After a run that failed or was cancelled, state may be half changed.
  void ResetState();
  const std::shared_ptr<SessionState>& state() const { return options_.state; }
  // Makes the Run() in progress, or in flight, return CANCELLED at its next operator; does nothing
  // where there is none.
  void Cancel() { control_->cancellation.Request(); }
  // Run() on a thread of the session's, then done(its status) there; returns at once. Until then,
  // and while done runs on any other thread, the session must not be used (CheckIdle() tells), but
  // by Cancel(), Wait() and is_running(). `done` may use it, and start the next run.
  // FAILED_PRECONDITION while a run is in flight.
  Status RunAsync(AsyncRun::Done done);
  // See AsyncRun.
  Status Wait() { return control_->async.Wait(); }
  Status CheckIdle() const { return control_->async.CheckIdle(); }
  bool is_running() const { return control_->async.is_running(); }
  // Of this session, and of the one that takes its place.
  const std::shared_ptr<RunControl>& control() const { return control_; }
  // Called after every step of Run() on the running thread; null: off.
  void SetProfile(ProfileFunction function, void* user_data) { profiler_ = {function, user_data}; }
  // Arena, scratch, deferred values and state now held by this session (packed weights are in
  // plan()).
  size_t memory_bytes() const;

  ThreadPool& pool() { return *pool_; }
  // How many threads the runs use, and why.
  const ThreadChoice& threads() const { return threads_; }

 private:
  // The caller's memory for an input or output; null: the session's.
  struct Bound {
    void* data = nullptr;
    size_t bytes = 0;
  };
  Session();
  Status NewPlan(std::shared_ptr<const Plan>* plan, Buffer* arena) const;
  Result<Buffer> NewArena(const Plan& plan) const;
  Status Replan();
  Status AboutShapes(const Status& status) const;
  ThreadChoice ThreadsFor(const Plan& plan) const;
  std::unique_ptr<RunEnvironment> NewEnvironment(ThreadPool* pool);
  void SetLimits();
  Status CheckBindings(const Plan& plan) const;
  Status RunSteps(bool* out_device_failed);
  bool HasDeviceSteps() const;
  Status RunOnCpu(const Status& failure);
  void GiveUpDevices(const Status& failure, const Plan& plan);

  std::shared_ptr<const Model> model_;
  SessionOptions options_;
  ThreadChoice threads_;
  std::unique_ptr<ThreadPool> pool_;
  Profiler profiler_;

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<const Plan> given_plan_;  // for the first Prepare of a clone
  std::vector<Shape> wanted_shapes_;        // of the inputs
  bool replan_ = true;
  bool rebind_ = true;

  Buffer arena_;      // activations, then scratch
  RunMemory memory_;  // what else a run takes
  std::unique_ptr<RunEnvironment> environment_;
  std::unique_ptr<CalleePlanner> planner_;
  std::unique_ptr<StringPorts> strings_;
  std::unique_ptr<PlanRunner> runner_;
  std::vector<TensorView> inputs_;  // as planned
  std::vector<Bound> bound_inputs_, bound_outputs_;
  std::unique_ptr<FirstAnswer> first_answer_;  // null: nothing is to be checked any more
  std::shared_ptr<RunControl> control_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_SESSION_H_
