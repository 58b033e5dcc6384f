// Finding the verdict of an earlier export.
#include "runtime/train/reject/rejection.h"

namespace topwork {

int FindRejection(const Model& model) {
  const Graph& graph = model.main();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value& value = graph.values[static_cast<size_t>(graph.outputs[i])];
    if (value.name == kRejectionOutput && value.dtype == DType::kFloat32)
      return static_cast<int>(i);
  }
  return -1;
}

}  // namespace topwork
