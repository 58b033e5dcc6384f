// DeferredRunner: runs the operators whose shapes depend on run-time data, preparing each as its
// inputs become known. Its memory comes from the heap, tensor by tensor, not from the arena.
#ifndef TOPWORK_RUNTIME_SESSION_DEFERRED_H_
#define TOPWORK_RUNTIME_SESSION_DEFERRED_H_

#include <atomic>
#include <vector>

#include "runtime/plan/plan.h"

namespace topwork {

class DeferredRunner {
 public:
  // `limit_bytes`: for all tensors together; 0: none.
  DeferredRunner(const Plan& plan, const Allocator& allocator, const CpuKernels& cpu,
                 size_t limit_bytes);
  // Runs all deferred ops; fills shape and data of their outputs in *views. The tensors stay valid
  // until the next Run.
  Status Run(const Plan& plan, ThreadPool* pool, std::atomic<bool>* cancel,
             std::vector<TensorView>* views);
  size_t bytes() const;

 private:
  Status RunOp(const Plan& plan, const Op& op, ThreadPool* pool, std::vector<TensorView>* views);
  const Allocator& allocator_;
  const CpuKernels& cpu_;
  const size_t limit_bytes_;
  std::vector<Buffer> buffers_;  // by value index
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_DEFERRED_H_
