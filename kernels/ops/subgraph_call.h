// What CALL, STABLEHLO_COMPOSITE and a decided IF have in common: one callee, called once.
#ifndef TOPWORK_KERNELS_OPS_SUBGRAPH_CALL_H_
#define TOPWORK_KERNELS_OPS_SUBGRAPH_CALL_H_

#include "kernels/subgraphs.h"

namespace topwork {

// Options that name a subgraph have no sound default.
Status CheckCallOptions(const OptionsView& options);
// The callee's inputs are the operator's from `first_input` on; its outputs are the operator's.
// Sets the outputs' shapes, or leaves them to run(), and asks for scratch.
Status PrepareOneCall(PrepareContext& context, int subgraph, int first_input);
// Callee `number`, into the operator's outputs; where shapes are found while running, those get the
// shapes that it found.
Status RunOneCall(const RunContext& context, int number, int first_input);
// Inputs [first, …) of the operator, the same at every call.
Result<std::vector<CalleeInput>> InputsFrom(const PrepareContext& context, int first);
// The callee must make as many outputs of the same dtypes as the operator declares.
Status CheckCalleeOutputs(const PrepareContext& context, const Callee& callee, int subgraph);
// Callees with the same outputs give them the same shapes.
bool SameShapes(const Callee& a, const Callee& b);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SUBGRAPH_CALL_H_
