// Functions of floats: LOGISTIC, its product with its input and HARD_SWISH behind a convolution that nobody
// else reads become the end of its tasks, which have their results in the cache.
#include "kernels/contract/selection.h"
#include "kernels/ops/elementwise/unary.h"
#include "runtime/plan/order.h"
#include "runtime/plan/work_graph.h"

namespace topwork {
namespace {

// The function that the op computes; −1: none that a convolution takes.
int FunctionOf(const WorkGraph& graph, const Op& op) {
  if (op.def == nullptr || op.inputs.size() != 1 || op.outputs.size() != 1) return -1;
  if (graph.views[static_cast<size_t>(op.inputs[0])].dtype != DType::kFloat32) return -1;
  return EndingFunction(op.code, op.params);
}

// The convolution that makes v for one reader alone and can end with a function; −1: there is none.
int TakerOf(const WorkGraph& graph, int v) {
  const int maker = graph.Producer(v);
  if (maker < 0) return -1;
  const Op& op = graph.ops[static_cast<size_t>(maker)].op;
  if (op.def == nullptr || !op.def->fuses_function || TouchesState(graph, op)) return -1;
  // TANH and SIGN_BIT are no clamps: they come when all results are there, or not at all.
  const bool clamps =
      op.params.activation != Activation::kTanh && op.params.activation != Activation::kSignBit;
  // The values of a pixel are few: no pass over memory is saved, and tasks would wait for theirs.
  const TensorView& made = graph.views[static_cast<size_t>(v)];
  const bool is_pixel = made.shape.NumElements() == made.shape.back();
  const bool takes = clamps && !is_pixel && op.params.fused_function < 0;
  return takes && graph.CountUses(v) == 1 ? maker : -1;
}

}  // namespace

void FuseFunctions(WorkGraph* graph) {
  for (size_t i = 0; i < graph->first_deferred; ++i) {
    const Op& op = graph->ops[i].op;
    const int function = FunctionOf(*graph, op);
    const int maker = function < 0 || TouchesState(*graph, op) ? -1 : TakerOf(*graph, op.inputs[0]);
    if (maker < 0) continue;
    graph->ops[static_cast<size_t>(maker)].op.params.fused_function = static_cast<int8_t>(function);
    graph->Absorb(maker, i, op.name());
  }
  RemoveDeadOps(graph);
}

}  // namespace topwork
