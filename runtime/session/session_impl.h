// Session's insides; private to runtime/session.
#ifndef TOPWORK_RUNTIME_SESSION_SESSION_IMPL_H_
#define TOPWORK_RUNTIME_SESSION_SESSION_IMPL_H_

#include <memory>
#include <vector>

#include "runtime/session/plan_runner.h"
#include "runtime/session/session.h"

namespace topwork {

// The strings of an input: references that the graph reads, and what they refer to.
struct Session::StringInput {
  Buffer references;
  Buffer text;
};

struct Session::Impl {
  // The caller's memory for an input or output; null: the session's.
  struct Bound {
    void* data = nullptr;
    size_t bytes = 0;
  };

  Buffer arena;  // activations, then scratch
  RunMemory memory;
  std::unique_ptr<CalleePlanner> planner;
  RunEnvironment environment;
  std::unique_ptr<PlanRunner> runner;
  std::vector<TensorView> inputs;  // as planned
  std::vector<Bound> bound_inputs, bound_outputs;
  std::vector<StringInput> string_inputs;       // without memory where an input has no strings
  std::unique_ptr<HeldBuffers> string_outputs;  // by output: references, then what they refer to
  std::unique_ptr<RunText> run_text;
  std::vector<Shape> wanted_shapes;        // of the inputs
  std::shared_ptr<const Plan> given_plan;  // for the first Prepare of a clone
  bool replan = true;
  bool rebind = true;
  ProfileFunction profile = nullptr;
  void* profile_user_data = nullptr;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_SESSION_IMPL_H_
