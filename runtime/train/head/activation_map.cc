// The map in front of a head's pooling, scored at every position.
#include "runtime/train/head/activation_map.h"

#include <string>

#include "models/format/append.h"
#include "models/format/constants.h"
#include "runtime/train/head/head.h"

namespace topwork {
namespace {

const Value& ValueAt(const Graph& graph, int v) { return graph.values[static_cast<size_t>(v)]; }

// The map whose mean the head reads, through what only hands values on.
Result<int> FindMap(const Graph& graph, const Head& head) {
  int v = head.feature;
  for (;;) {
    const Op* op = ProducerOf(graph, v);
    const HeadRole role = op == nullptr || op->def == nullptr ? HeadRole::kNone : op->def->head;
    if (role == HeadRole::kPooling) {
      TW_ASSIGN_OR_RETURN(const bool whole, AveragesWholeMap(graph, *op));
      if (whole && ValueAt(graph, op->inputs[0]).shape.back() == head.dim) return op->inputs[0];
    }
    if (role != HeadRole::kPassing || op->inputs[0] < 0) {
      return Unsupported(
          "the head of output #{} reads '{}', which is made by {}, not by the mean of a map over "
          "all its rows and columns: there is no class activation map",
          head.output, ValueAt(graph, head.feature).name,
          op == nullptr ? "no operator" : op->name());
    }
    v = op->inputs[0];
  }
}

}  // namespace

Result<std::vector<uint8_t>> ExportWithActivationMap(const Model& model, int output) {
  const Graph& graph = model.main();
  TW_ASSIGN_OR_RETURN(const Head head, FindHead(graph, output));
  if (head.appended()) return Unsupported("output #{} is a feature: it has no classes", output);
  if (head.activation != Activation::kNone) {
    return Unsupported("the head of output #{} has a fused activation, so its scores are no means",
                       output);
  }
  const bool scores_map = head.n_positions > 1;  // the head is a convolution in front of pooling
  int map = head.logits;
  if (!scores_map) {
    TW_ASSIGN_OR_RETURN(map, FindMap(graph, head));
  }
  GraphAddition addition(model);
  if (ValueAt(graph, map).dtype != DType::kFloat32) {
    map = addition.Dequantize(map, "class_activation_map/float");
  }
  if (!scores_map) {
    const int weights = addition.Floats("class_activation_map/weights", {head.n_classes, head.dim},
                                        head.shipped_weights);
    const int bias =
        addition.Floats("class_activation_map/bias", {head.n_classes}, head.shipped_bias);
    map = addition.Dense(map, weights, bias, kActivationMapName, true);
  }
  AddedOutput added;
  added.tensor = map;
  added.name = kActivationMapName;
  addition.outputs.push_back(added);
  return AppendToModel(model, addition);
}

}  // namespace topwork
