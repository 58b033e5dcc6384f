// Session's insides; private to runtime/session.
#ifndef TOPWORK_RUNTIME_SESSION_SESSION_IMPL_H_
#define TOPWORK_RUNTIME_SESSION_SESSION_IMPL_H_

#include <map>
#include <memory>
#include <vector>

#include "runtime/session/deferred.h"
#include "runtime/session/session.h"

namespace topwork {

// A step's context with the arrays that it points to.
struct BoundStep {
  std::vector<const TensorView*> inputs;
  std::vector<TensorView*> outputs;
  RunContext context;
};

// How an output of the graph reaches the caller.
enum class OutputKind {
  kDirect,  // an operator writes it into its place
  kCopied,  // a constant, an input passed through, a repeated or a deferred output
};

struct Output {
  OutputKind kind = OutputKind::kDirect;
  TensorView view;  // what the caller sees
  void* bound = nullptr;
  size_t bound_bytes = 0;
};

struct Session::Impl {
  Buffer arena;                                      // activations, then scratch
  std::map<int, std::shared_ptr<OpState>> attached;  // by step, see Backend::Attach
  std::vector<TensorView> views;
  std::vector<BoundStep> steps;
  std::vector<TensorView> inputs;
  std::vector<void*> bound_inputs;
  std::vector<size_t> bound_input_bytes;
  std::vector<Output> outputs;
  std::map<VariableKey, void*> variables;
  std::unique_ptr<DeferredRunner> deferred;
  std::vector<Shape> wanted_shapes;        // of the inputs
  std::shared_ptr<const Plan> given_plan;  // for the first Prepare of a clone
  bool replan = true;
  bool rebind = true;
  ProfileFunction profile = nullptr;
  void* profile_user_data = nullptr;

  Status Attach(const Plan& plan);
  Status AllocateFor(const Plan& plan, const Allocator& allocator, SessionState* state);
  void BindValues(const Plan& plan);
  void BindSteps(const Plan& plan, ThreadPool* pool, const CpuKernels* cpu);
  void BindPrograms(const Plan& plan);
  Status FinishOutputs(const Plan& plan);
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_SESSION_IMPL_H_
