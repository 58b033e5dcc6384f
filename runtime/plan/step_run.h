// RunStep: one operator, run on the CPU.
#ifndef TOPWORK_RUNTIME_PLAN_STEP_RUN_H_
#define TOPWORK_RUNTIME_PLAN_STEP_RUN_H_

#include <string>

#include "kernels/kernel.h"

namespace topwork {

// Calls def.run_cpu; a failure gets `where` put before its message.
inline Status RunStep(const OpDef& def, const RunContext& context, const std::string& where) {
  Status status = def.run_cpu(context);
  if (status.ok()) return status;
  return status.WithPrefix(where + ": ");
}

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_STEP_RUN_H_
