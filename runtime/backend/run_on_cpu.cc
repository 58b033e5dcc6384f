// The CPU: every operator of the table runs here.
#include "runtime/backend/device.h"

namespace topwork {

Status RunOnCpu(const OpDef& def, const RunContext& context, FunctionRef<std::string()> where) {
  const Status status = def.run_cpu(context);
  return status.ok() ? status : status.WithPrefix(where() + ": ");
}

}  // namespace topwork
