// Custom operators: the process-wide table of operators that applications add by name.
//
// An entry is found by the custom_code in a model's file. Entries are never removed, so a plan may
// keep pointers to them. Adding and finding are thread-safe.
#ifndef TOPWORK_KERNELS_CONTRACT_CUSTOM_OPS_H_
#define TOPWORK_KERNELS_CONTRACT_CUSTOM_OPS_H_

#include <memory>
#include <string>

#include "kernels/contract/kernel.h"

namespace topwork {

// An operator of the application. Its functions may be called from several threads at once.
class CustomOp {
 public:
  virtual ~CustomOp() = default;
  // Must set every output. A state made by context.NewState must derive from CustomOpState, be made
  // in every call that succeeds, and have `op` set to this object.
  virtual Status Prepare(PrepareContext& context) const = 0;
  virtual Status Run(const RunContext& context) const = 0;
  // True when registering `other` under the same name would change nothing.
  virtual bool SameAs(const CustomOp& other) const = 0;
};

struct CustomOpState : OpState {
  const CustomOp* op = nullptr;
};

// FAILED_PRECONDITION when a different operator has that name already.
Status RegisterCustomOp(const std::string& name, std::unique_ptr<const CustomOp> op);

// The operator with that name, or null. It lives as long as the process. Its prepare finds the
// entry by OpParams::custom_name. An application's operator comes before one of the library that
// has the same name.
const OpDef* FindCustomOp(const std::string& name);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_CUSTOM_OPS_H_
