// Operators that the caller keeps on the CPU or in float32, by name.
#ifndef TOPWORK_RUNTIME_PLAN_PIN_H_
#define TOPWORK_RUNTIME_PLAN_PIN_H_

#include <string>
#include <vector>

#include "runtime/plan/work_graph.h"

namespace topwork {

// Marks the operators that `names` mean: "SOFTMAX" means every operator of that kind (in any case),
// "#12" the operator with that number in the file, anything else the operator whose output tensor
// has that name. What a marked operator is fused with stays on the CPU with it. INVALID_ARGUMENT
// for a name that means no operator; the message lists similar names.
Status PinToCpu(const std::vector<std::string>& names, WorkGraph* graph);
// The same for operators that must not compute with float16 storage or 16-bit products.
Status PinToFloat32(const std::vector<std::string>& names, WorkGraph* graph);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_PIN_H_
