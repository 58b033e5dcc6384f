// Operators that the caller keeps on the CPU or in float32, by name.
#ifndef TOPWORK_RUNTIME_PLAN_PIN_H_
#define TOPWORK_RUNTIME_PLAN_PIN_H_

#include <string>
#include <vector>

#include "runtime/plan/work_graph.h"

namespace topwork {

// Marks the operators that `names` mean: "SOFTMAX" every operator of that kind (in any case), "#12"
// the operator of that number in the file, anything else the one with an output tensor of that
// name. What a marked operator is fused with stays on the CPU with it. INVALID_ARGUMENT for a name
// that means no operator; the message lists names that look like it.
Status PinToCpu(const std::vector<std::string>& names, WorkGraph* graph);
// The same for operators that no device may compute with float16 storage.
Status PinToFloat32(const std::vector<std::string>& names, WorkGraph* graph);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_PIN_H_
