// Features as outputs, names of outputs, and what an export is told of a head.
#include "runtime/train/head/appended_head.h"

#include "models/format/constants.h"

namespace topwork {
namespace {

// The number of examples in the output: the first dimension of the model's input, where the output
// has it, too.
int64_t BatchOf(const Graph& graph, const Shape& shape) {
  if (graph.inputs.empty() || shape.rank() == 0) return 1;
  const Shape& input = graph.values[static_cast<size_t>(graph.inputs[0])].shape;
  return input.rank() > 0 && input[0] == shape[0] ? shape[0] : 1;
}

bool IsReal(const Value& value) {
  if (value.dtype == DType::kFloat32) return true;
  const bool bytes =
      value.dtype == DType::kInt8 || value.dtype == DType::kUInt8 || value.dtype == DType::kInt16;
  return bytes && value.quantization != nullptr && value.quantization->scales.size() == 1;
}

}  // namespace

bool EndsInFeature(const Graph& graph, int output) {
  int v = graph.outputs[static_cast<size_t>(output)];
  const Shape& shape = graph.values[static_cast<size_t>(v)].shape;
  if (shape.rank() == 0 || shape.NumElements() != BatchOf(graph, shape) * shape.back())
    return false;
  for (size_t i = 0; i <= graph.ops.size(); ++i) {
    const Op* op = ProducerOf(graph, v);
    if (op == nullptr || op->inputs.empty() || op->inputs[0] < 0) return false;
    switch (op->def == nullptr ? HeadRole::kNone : op->def->head) {
      case HeadRole::kPooling:
      case HeadRole::kEmbedding:
        return true;
      case HeadRole::kPassing:
        v = op->inputs[0];
        break;
      default:
        return false;
    }
  }
  return false;
}

Result<Head> HeadAfter(const Graph& graph, int output) {
  const int v = graph.outputs[static_cast<size_t>(output)];
  const Value& value = graph.values[static_cast<size_t>(v)];
  if (ProducerOf(graph, v) == nullptr) {
    return Unsupported("output #{} is '{}', which no operator computes: no head can follow it",
                       output, value.name);
  }
  if (!IsReal(value)) {
    return Unsupported(
        "output #{} '{}' is of type {}, which is not a feature: no head can follow it", output,
        value.name, DTypeName(value.dtype));
  }
  const int64_t batch = BatchOf(graph, value.shape);
  const int64_t n = value.shape.NumElements();
  if (n < 1 || batch < 1 || n / batch > INT32_MAX) {
    return Unsupported("output #{} '{}' has shape {}, which is not a feature", output, value.name,
                       value.shape.ToString());
  }
  Head head;
  head.output = output;
  head.feature = v;
  head.batch = static_cast<int>(batch);
  head.dim = static_cast<int>(n / batch);
  return head;
}

HeadReplacement ReplacementFor(const Graph& graph, const Head& head, Loss loss) {
  HeadReplacement replacement;
  replacement.output = head.output;
  replacement.dim = head.dim;
  if (!head.appended()) {
    replacement.op = graph.ops[static_cast<size_t>(head.op)].file_index;
    for (int i : head.tail) {
      replacement.tail.push_back(graph.ops[static_cast<size_t>(i)].file_index);
    }
  }
  if (IsRegression(loss) || (!head.appended() && !head.has_activation())) {
    replacement.activation = FinalActivation::kNone;
  } else if (loss == Loss::kSigmoidCrossEntropy) {
    replacement.activation = FinalActivation::kLogistic;
  } else if (head.final_activation == OpCode::kLogSoftmax) {
    replacement.activation = FinalActivation::kLogSoftmax;
  } else {
    replacement.activation = FinalActivation::kSoftmax;
  }
  return replacement;
}

}  // namespace topwork
