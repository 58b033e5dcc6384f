// UnsupportedOps: the operators of a model that this library cannot run, and why.
#ifndef TOPWORK_KERNELS_CONTRACT_UNSUPPORTED_H_
#define TOPWORK_KERNELS_CONTRACT_UNSUPPORTED_H_

#include <set>
#include <string>

#include "kernels/contract/op_def.h"
#include "runtime/base/status.h"

namespace topwork {

class UnsupportedOps {
 public:
  // Takes note of operator `index` of a file when it cannot run. `def` is null when the library has
  // no such operator; `name` is printable: the code's, or the custom_code. `types`: of its inputs and
  // outputs, bit i for DType i; a build with a selection may have the operator for other types only.
  void Note(const OpDef* def, OpCode code, const std::string& name, int version, int index,
            uint32_t types = 0);

  // UNSUPPORTED with the names of what was noted (the first eight), or OK.
  Status Refusal() const;

 private:
  std::set<std::string> names_;
  std::string list_;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_UNSUPPORTED_H_
