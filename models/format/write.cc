// ExportWithHead: the checks, and the steps in order.
#include "models/format/write.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/contract/selection.h"
#include "models/format/constants.h"
#include "models/format/layer_weights.h"
#include "models/format/parts.h"
#include "models/format/write_steps.h"
#include "runtime/base/log.h"

namespace topwork {
namespace {

bool AllFinite(Span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

// Graph::ops of a model's main subgraph are in the order of the file.
const Op& OpAt(const Model& model, int file_index) {
  return model.main().ops[static_cast<size_t>(file_index)];
}

Status CheckParameters(const HeadReplacement& head) {
  const size_t n_classes = static_cast<size_t>(std::max(0, head.n_classes));
  const size_t dim = static_cast<size_t>(std::max(0, head.dim));
  const size_t n_units = static_cast<size_t>(std::max(0, head.hidden.n_units));
  const size_t last_dim = n_units > 0 ? n_units : dim;
  if (n_classes < 1 || dim < 1 || head.weights.size() != n_classes * last_dim ||
      head.bias.size() != n_classes || head.hidden.weights.size() != n_units * dim ||
      head.hidden.bias.size() != n_units) {
    return InvalidArgument("a head of {} classes and {} features has {} weights and {} biases",
                           head.n_classes, head.dim, head.weights.size(), head.bias.size());
  }
  if (!AllFinite(head.weights) || !AllFinite(head.bias) || !AllFinite(head.hidden.weights) ||
      !AllFinite(head.hidden.bias)) {
    return InvalidArgument("the weights or biases of the new head are not finite");
  }
  return Status::Ok();
}

// The feature that the new head reads.
Status CheckEmbedding(const Model& model, const HeadReplacement& head) {
  const Graph& graph = model.main();
  const Value& value =
      graph.values[static_cast<size_t>(graph.outputs[static_cast<size_t>(head.output)])];
  const bool quantized =
      value.dtype == DType::kInt8 || value.dtype == DType::kUInt8 || value.dtype == DType::kInt16;
  if (value.dtype != DType::kFloat32 && !(quantized && value.quantization != nullptr)) {
    return Unsupported("output #{} '{}' is of type {}: no head can follow it", head.output,
                       value.name, DTypeName(value.dtype));
  }
  const int64_t n = value.shape.NumElements();
  const int64_t rows = value.shape.rank() > 0 ? std::max(1, value.shape[0]) : 1;
  if (n != head.dim && n != rows * head.dim) {
    return InvalidArgument("output #{} '{}' has shape {}, the new head takes {} features",
                           head.output, value.name, value.shape.ToString(), head.dim);
  }
  return Status::Ok();
}

bool Given(const Op& op, size_t input) { return input < op.inputs.size() && op.inputs[input] >= 0; }

// The layer's result must reach the output through the tail, one operator after the other.
Status CheckChain(const Model& model, const HeadReplacement& head) {
  int v = OpAt(model, head.op).outputs[0];
  for (int i : head.tail) {
    if (i < 0 || static_cast<size_t>(i) >= model.main().ops.size()) {
      return InvalidArgument("operator #{} does not exist", i);
    }
    const Op& op = OpAt(model, i);
    const bool follows =
        Given(op, 0) &&
        (op.inputs[0] == v || (op.code == OpCode::kAdd && Given(op, 1) && op.inputs[1] == v));
    if (!follows || op.outputs.empty()) {
      return InvalidArgument("operator #{} does not follow the one before it in the tail", i);
    }
    v = op.outputs[0];
  }
  if (v != model.main().outputs[static_cast<size_t>(head.output)]) {
    return InvalidArgument("the last layer, operator #{}, and its tail do not end in output #{}",
                           head.op, head.output);
  }
  return Status::Ok();
}

Status CheckConstants(const Model& model, const Op& layer) {
  const bool has_bias = Given(layer, 2);
  const bool constant = FindWeights(model.main(), layer).is_constant &&
                        (!has_bias || ConstantBehind(model.main(), layer.inputs[2]) != nullptr);
  if (constant) return Status::Ok();
  return Unsupported("the weights or the bias of operator #{} {} are computed, no constants",
                     layer.file_index, layer.name());
}

Status CheckLayer(const Model& model, const HeadReplacement& head) {
  const Graph& graph = model.main();
  if (static_cast<size_t>(head.op) >= graph.ops.size() || !Given(OpAt(model, head.op), 0) ||
      !Given(OpAt(model, head.op), 1) || OpAt(model, head.op).outputs.empty()) {
    return InvalidArgument("operator #{} is no last layer", head.op);
  }
  const Op& op = OpAt(model, head.op);
  const HeadRole role = op.def == nullptr ? HeadRole::kNone : op.def->head;
  if (role != HeadRole::kDense && role != HeadRole::kMatMul) {
    return InvalidArgument("operator #{} is no FULLY_CONNECTED, BATCH_MATMUL or CONV_2D", head.op);
  }
  const Shape shape = FindWeights(graph, op).shape;
  if (shape.rank() < 2 || shape.back() != head.dim) {
    return InvalidArgument("operator #{} takes {} features, the new head has {}", head.op,
                           shape.rank() == 0 ? 0 : shape.back(), head.dim);
  }
  TW_RETURN_IF_ERROR(CheckChain(model, head));
  return CheckConstants(model, op);
}

// The format in which the new layer is written. The range of the scores of an integer convolution
// in front of pooling is not known from pooled features, so it becomes one of real numbers.
Result<HeadFormat> NewFormat(const Model& model, const HeadReplacement& head) {
  TW_ASSIGN_OR_RETURN(const HeadFormat old, ReadHeadFormat(model.main(), head.op));
  if (head.float_head) return HeadFormat();
  if (!IsInteger(old.storage)) {
    const HeadFormat safe = SafeFormat(old, head.n_classes, head.dim, head.weights, head.bias);
    if (safe.storage != old.storage) WarnOfRowSums("the new head");
    return safe;
  }
  const Op& op = OpAt(model, head.op);
  const Shape& map = model.main().values[static_cast<size_t>(op.outputs[0])].shape;
  const bool pooled = op.code == OpCode::kConv2d && map.rank() == 4 && map[1] * int64_t{map[2]} > 1;
  return pooled ? HeadFormat() : old;
}

Status WriteNotes(const Model& model, const HeadReplacement& head, int old_classes,
                  ModelTables* tables) {
  if (!kHasMetadata) {
    tables->DropNotes();
    if (!head.class_names.empty() || !head.input_mean.empty()) {
      Log(LogLevel::kWarning,
          "the new model says neither the names of its classes nor how its inputs are normalised: "
          "this library was built without metadata; build it with TOPWORK_METADATA=ON");
    }
    return Status::Ok();
  }
  if (model.main_index() != 0) return Status::Ok();  // notes are of subgraph 0
  const bool new_labels = !head.class_names.empty() || head.n_classes != old_classes;
  if (!new_labels && head.input_mean.empty() && head.input_std.empty()) return Status::Ok();
  ModelNotes notes = tables->Notes();
  const int n_inputs = static_cast<int>(model.main().inputs.size());
  if (new_labels) {
    LabelledOutput labels;
    labels.output = head.output;
    labels.n_inputs = n_inputs;
    labels.n_outputs = static_cast<int>(model.main().outputs.size());
    labels.class_names = head.class_names;
    TW_RETURN_IF_ERROR(ReplaceLabels(labels, &notes));
  }
  if (!head.input_mean.empty() || !head.input_std.empty()) {
    TW_RETURN_IF_ERROR(ReplaceNormalization({head.input_mean, head.input_std}, n_inputs, &notes));
  }
  tables->SetNotes(std::move(notes));
  return Status::Ok();
}

}  // namespace

Status CheckReplacement(const Model& model, const HeadReplacement& head) {
  if (head.output < 0 || static_cast<size_t>(head.output) >= model.main().outputs.size()) {
    return InvalidArgument("output #{} does not exist, the model has {}", head.output,
                           model.main().outputs.size());
  }
  TW_RETURN_IF_ERROR(!kTrainsPlainly && head.op < 0 ? CheckEmbedding(model, head)
                                                    : CheckLayer(model, head));
  return CheckParameters(head);
}

Result<std::vector<uint8_t>> ExportWithHead(const Model& model, const HeadReplacement& head) {
  TW_RETURN_IF_ERROR(CheckReplacement(model, head));
  ModelTables tables(model);
  int old_classes = 0;
  // Comes before the head, because an operator that is removed takes its constants along.
  if (!kTrainsLastAlone) TW_RETURN_IF_ERROR(WriteConstants(model, head, &tables));
  if (!kTrainsPlainly && head.op < 0) {
    AppendHead(head, &tables);
  } else {
    old_classes = FindWeights(model.main(), OpAt(model, head.op)).shape[0];
    TW_ASSIGN_OR_RETURN(const HeadFormat format, NewFormat(model, head));
    WriteHeadParameters(head, format, &tables);
    if (!kTrainsLastAlone && head.hidden.n_units > 0)
      InsertHidden(head, tables.op(head.op), &tables);
    TW_RETURN_IF_ERROR(WriteTail(head, format, &tables));
  }
  TW_RETURN_IF_ERROR(WriteNotes(model, head, old_classes, &tables));
  return tables.Pack();
}

}  // namespace topwork
