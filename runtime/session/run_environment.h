// RunEnvironment: what the runners of one session have in common.
#ifndef TOPWORK_RUNTIME_SESSION_RUN_ENVIRONMENT_H_
#define TOPWORK_RUNTIME_SESSION_RUN_ENVIRONMENT_H_

#include "kernels/contract/kernel.h"
#include "runtime/base/cancellation.h"
#include "runtime/base/thread_pool.h"
#include "runtime/plan/callee_planner.h"
#include "runtime/session/run_memory.h"
#include "runtime/session/session_state.h"

namespace topwork {

// Outlives the runners.
struct RunEnvironment {
  ThreadPool* pool = nullptr;
  const CpuKernels* cpu = nullptr;
  const Allocator* allocator = nullptr;
  const Cancellation* cancellation = nullptr;
  SessionState* state = nullptr;
  CalleePlanner* planner = nullptr;  // of subgraphs whose shapes only a run finds out
  RunMemory* memory = nullptr;
  TextMemory* text = nullptr;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_RUN_ENVIRONMENT_H_
