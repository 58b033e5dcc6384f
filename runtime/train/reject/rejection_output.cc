// Finding and removing the verdict of an earlier export.
#include "models/format/append.h"
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

Result<std::vector<uint8_t>> WithoutRejection(const Model& model) {
  GraphAddition removal(model);
  const int output = FindRejection(model);
  if (output >= 0) removal.removed_outputs = {output};
  removal.files.push_back({kStoredNames, ""});
  return AppendToModel(model, removal);
}

}  // namespace topwork
