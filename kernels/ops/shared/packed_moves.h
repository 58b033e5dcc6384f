// Moving elements of 2 and 4 bits: the operators move bytes, so their packed inputs are unpacked to
// a byte an element and what they make is packed again.
#ifndef TOPWORK_KERNELS_OPS_SHARED_PACKED_MOVES_H_
#define TOPWORK_KERNELS_OPS_SHARED_PACKED_MOVES_H_

#include "kernels/contract/kernel.h"

namespace topwork {

// The end of prepare, once output 0 is set: asks for the scratch of RunWidened where output 0 is
// packed. The operator asks for none of its own, and grants no views then.
Status RequestWidening(PrepareContext& context, Status prepared);

// run of an operator of one output: `run` sees packed inputs of the output's type, and the output,
// as int8 tensors. Others it gets as they are.
Status RunWidened(const RunContext& context, Status (*run)(const RunContext&));

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_PACKED_MOVES_H_
