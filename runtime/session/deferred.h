// DeferredRunner: runs the operators whose shapes depend on run-time data, preparing each as its
// inputs become known. Its memory comes from the heap, tensor by tensor, not from the arena.
#ifndef TOPWORK_RUNTIME_SESSION_DEFERRED_H_
#define TOPWORK_RUNTIME_SESSION_DEFERRED_H_

#include <vector>

#include "runtime/session/plan_runner.h"

namespace topwork {

class DeferredRunner {
 public:
  // Both must outlive the runner.
  DeferredRunner(const Plan& plan, const RunEnvironment& environment)
      : plan_(plan), environment_(environment), held_(environment.memory, *environment.allocator) {}
  // Runs all deferred ops; fills shape and data of their outputs in *views. The tensors stay valid
  // until the next Run.
  Status Run(std::vector<TensorView>* views);

 private:
  Status RunOp(const Op& op, std::vector<TensorView>* views);
  const Plan& plan_;
  const RunEnvironment& environment_;
  HeldBuffers held_;  // by value; −1: scratch
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_DEFERRED_H_
