// FindHead: the walk back from an output, and everything that must hold for the walk to be right.
#include "runtime/train/head/head.h"

#include <algorithm>
#include <utility>

#include "models/format/constants.h"
#include "runtime/train/head/appended_head.h"

namespace topwork {
namespace {

constexpr char kWhatIsAHead[] =
    "a trainable head is a FULLY_CONNECTED or 1x1 CONV_2D, followed at most by SOFTMAX, LOGISTIC, "
    "LOG_SOFTMAX, RESHAPE, SQUEEZE, DEQUANTIZE, QUANTIZE or, after a convolution, by pooling; "
    "append_head adds a new one after the output";

class HeadFinder {
 public:
  explicit HeadFinder(const Graph& graph) : graph_(graph) {}

  Result<Head> Find(int output) {
    head_.output = output;
    TW_RETURN_IF_ERROR(WalkBack());
    const bool conv = op().code == OpCode::kConv2d;
    TW_RETURN_IF_ERROR(conv ? ReadConvolution() : ReadFullyConnected());
    TW_RETURN_IF_ERROR(CheckRows());
    TW_RETURN_IF_ERROR(CheckTail());
    TW_RETURN_IF_ERROR(ReadParameters());
    return std::move(head_);
  }

 private:
  const Op& op() const { return graph_.ops[static_cast<size_t>(head_.op)]; }
  const Value& value(int v) const { return graph_.values[static_cast<size_t>(v)]; }

  std::string Where(const Op& op) const {
    return StrFormat("{} (operator #{})", op.name(), op.file_index);
  }

  int Producer(int v) const {
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const std::vector<int>& outputs = graph_.ops[i].outputs;
      if (std::find(outputs.begin(), outputs.end(), v) != outputs.end()) return static_cast<int>(i);
    }
    return -1;
  }

  Status WalkBack();
  Status ReadFullyConnected();
  Status ReadConvolution();
  Status CheckRows();
  Status CheckTail();
  Status CheckTailOp(const Op& op);
  Status CheckWholeMapPooling(const Op& op);
  Status CheckReaders(int v, int reader);
  Status ReadParameters();

  const Graph& graph_;
  Head head_;
  bool pooled_ = false;
};

Status HeadFinder::WalkBack() {
  int v = graph_.outputs[static_cast<size_t>(head_.output)];
  for (;;) {
    const int producer = Producer(v);
    if (producer < 0) {
      return Unsupported("output #{} is '{}', which no operator computes; {}", head_.output,
                         value(v).name, kWhatIsAHead);
    }
    const Op& op = graph_.ops[static_cast<size_t>(producer)];
    const HeadRole role = op.def == nullptr ? HeadRole::kNone : op.def->head;
    // Operators have not been prepared, so their inputs are counted here.
    const size_t n_needed = op.def == nullptr ? 1 : op.def->least_inputs;
    for (size_t i = 0; i < n_needed; ++i) {
      if (i >= op.inputs.size() || op.inputs[i] < 0) {
        return Unsupported("{} lacks its input {}", Where(op), i);
      }
    }
    switch (role) {
      case HeadRole::kDense:
        if (op.params.weights_format != 0) {
          return Unsupported("{} has shuffled weights, which cannot be trained", Where(op));
        }
        head_.op = producer;
        head_.logits = v;
        return Status::Ok();
      case HeadRole::kScores:
        if (head_.final_activation != OpCode::kCustom) {
          return Unsupported("output #{} comes from {} after {}; {}", head_.output,
                             OpCodeName(head_.final_activation), Where(op), kWhatIsAHead);
        }
        head_.final_activation = op.code;
        break;
      case HeadRole::kPooling:
        pooled_ = true;
        break;
      case HeadRole::kPassing:
        break;
      default:
        return Unsupported("output #{} '{}' comes from {}; {}", head_.output,
                           value(graph_.outputs[static_cast<size_t>(head_.output)]).name, Where(op),
                           kWhatIsAHead);
    }
    head_.tail.insert(head_.tail.begin(), producer);
    v = op.inputs[0];
  }
}

Status HeadFinder::ReadFullyConnected() {
  const Op& op = this->op();
  const Shape& weights = value(op.inputs[1]).shape;
  if (pooled_) {
    return Unsupported("output #{} is pooled after {}; {}", head_.output, Where(op), kWhatIsAHead);
  }
  if (op.params.weights_format != 0) {
    return Unsupported("{} has shuffled weights, which cannot be trained", Where(op));
  }
  if (weights.rank() != 2) {
    return Unsupported("{} has weights of shape {}, expected [classes, features]", Where(op),
                       weights.ToString());
  }
  head_.n_classes = weights[0];
  head_.dim = weights[1];
  return Status::Ok();
}

Status HeadFinder::ReadConvolution() {
  const Op& op = this->op();
  const Shape& weights = value(op.inputs[1]).shape;
  const Shape& input = value(op.inputs[0]).shape;
  if (weights.rank() != 4 || input.rank() != 4 || weights[1] != 1 || weights[2] != 1) {
    return Unsupported("output #{} ends in {} with a filter of shape {}; {}", head_.output,
                       Where(op), weights.ToString(), kWhatIsAHead);
  }
  if (weights[3] != input[3]) {
    return Unsupported("{} is a grouped convolution, whose weights cannot be trained", Where(op));
  }
  head_.n_classes = weights[0];
  head_.dim = weights[3];
  const int64_t n_positions = std::max<int64_t>(1, input.Product(1, 3));
  if (n_positions > INT32_MAX) return Unsupported("{} has too large a map", Where(op));
  head_.n_positions = static_cast<int>(n_positions);
  if (head_.n_positions == 1) return Status::Ok();
  if (!pooled_) {
    return Unsupported(
        "{} scores each of {} x {} positions: the model labels positions, not whole "
        "examples, and its head cannot be trained on labelled examples",
        Where(op), input[1], input[2]);
  }
  if (op.params.activation != Activation::kNone || op.params.stride_h != 1 ||
      op.params.stride_w != 1) {
    return Unsupported(
        "{} stands before pooling with a fused activation or a stride, so it cannot "
        "be trained on pooled features; where the model ends in a feature it has "
        "no head",
        Where(op));
  }
  return Status::Ok();
}

Status HeadFinder::CheckRows() {
  const Op& op = this->op();
  head_.feature = op.inputs[0];
  head_.weights = op.inputs[1];
  head_.bias = op.inputs.size() > 2 ? op.inputs[2] : -1;
  head_.activation = op.params.activation;
  TW_ASSIGN_OR_RETURN(head_.format, ReadHeadFormat(graph_, head_.op));
  head_.quantized = IsInteger(head_.format.storage);
  if (head_.dim < 1 || head_.n_classes < 1) {
    return Unsupported("{} has no weights", Where(op));
  }
  const int64_t row = static_cast<int64_t>(head_.dim) * head_.n_positions;
  const int64_t rows = value(head_.feature).shape.NumElements() / row;
  // Either the whole input is one example, or its first dimension counts examples.
  int64_t batch = 1;
  if (!graph_.inputs.empty() && value(graph_.inputs[0]).shape.rank() > 0) {
    batch = value(graph_.inputs[0]).shape[0];
  }
  if (rows != 1 && rows != batch) {
    return Unsupported(
        "{} scores {} rows of features for every example (its input '{}' has shape "
        "{}): the model labels positions, not whole examples",
        Where(op), rows / std::max<int64_t>(1, batch), value(head_.feature).name,
        value(head_.feature).shape.ToString());
  }
  head_.batch = static_cast<int>(rows);
  return Status::Ok();
}

// Only the operator `reader` of the tail may read v (−1: none may).
Status HeadFinder::CheckReaders(int v, int reader) {
  for (size_t i = 0; i < graph_.ops.size(); ++i) {
    const std::vector<int>& inputs = graph_.ops[i].inputs;
    if (static_cast<int>(i) != reader &&
        std::find(inputs.begin(), inputs.end(), v) != inputs.end()) {
      return Unsupported("the scores '{}' are also read by {}, which expects {} classes; {}",
                         value(v).name, Where(graph_.ops[i]), head_.n_classes, kWhatIsAHead);
    }
  }
  return Status::Ok();
}

Status HeadFinder::CheckWholeMapPooling(const Op& op) {
  const Shape& map = value(op.inputs[0]).shape;
  const OpParams& p = op.params;
  bool whole = map.rank() == 4;
  if (whole && op.code == OpCode::kAveragePool2d) {
    whole = p.filter_h == map[1] && p.filter_w == map[2] && p.activation == Activation::kNone;
  } else if (whole) {
    std::vector<int32_t> axes;
    TW_RETURN_IF_ERROR(ReadInts(graph_, op.inputs[1], &axes));
    for (int32_t& axis : axes) axis += axis < 0 ? 4 : 0;
    std::sort(axes.begin(), axes.end());
    whole = axes == std::vector<int32_t>{1, 2};
  }
  if (!whole) {
    return Unsupported("{} after the last layer does not average the whole map; {}", Where(op),
                       kWhatIsAHead);
  }
  return Status::Ok();
}

Status HeadFinder::CheckTailOp(const Op& op) {
  const bool pooling = op.def != nullptr && op.def->head == HeadRole::kPooling;
  if (pooling) TW_RETURN_IF_ERROR(CheckWholeMapPooling(op));
  if (op.code == OpCode::kReshape && op.inputs.size() > 1 && op.inputs[1] >= 0 &&
      value(op.inputs[1]).data == nullptr) {
    return Unsupported(
        "{} after the last layer computes its shape while running, so the number "
        "of classes cannot be changed",
        Where(op));
  }
  // With one class a squeezed class dimension cannot be told from the others.
  if (op.code == OpCode::kSqueeze && head_.n_classes == 1) {
    return Unsupported("{} after the last layer removes the dimension of the only class",
                       Where(op));
  }
  const Shape& shape = value(op.outputs[0]).shape;
  if (shape.rank() == 0 || shape.back() != head_.n_classes) {
    return Unsupported(
        "{} after the last layer gives shape {}, whose last dimension is not the {} classes",
        Where(op), shape.ToString(), head_.n_classes);
  }
  return Status::Ok();
}

Status HeadFinder::CheckTail() {
  int v = head_.logits;
  for (int i : head_.tail) {
    const Op& op = graph_.ops[static_cast<size_t>(i)];
    TW_RETURN_IF_ERROR(CheckReaders(v, i));
    TW_RETURN_IF_ERROR(CheckTailOp(op));
    v = op.outputs[0];
  }
  return CheckReaders(v, -1);
}

Status HeadFinder::ReadParameters() {
  const std::string where = Where(op());
  Status read = ReadFloats(graph_, head_.weights, &head_.shipped_weights);
  if (!read.ok()) return read.WithPrefix("the weights of " + where + ": ");
  const size_t n_classes = static_cast<size_t>(head_.n_classes);
  head_.shipped_bias.assign(n_classes, 0.0f);
  if (head_.bias >= 0) {
    read = ReadFloats(graph_, head_.bias, &head_.shipped_bias);
    if (!read.ok()) return read.WithPrefix("the bias of " + where + ": ");
  }
  if (head_.shipped_weights.size() != n_classes * static_cast<size_t>(head_.dim) ||
      head_.shipped_bias.size() != n_classes) {
    return Unsupported("{} has weights and bias that do not belong together", where);
  }
  return Status::Ok();
}

}  // namespace

Result<Head> FindHead(const Graph& graph, int output, bool append) {
  if (output < 0 || static_cast<size_t>(output) >= graph.outputs.size()) {
    return InvalidArgument("output #{} does not exist, the model has {}", output,
                           graph.outputs.size());
  }
  if (append) return HeadAfter(graph, output);
  Result<Head> head = HeadFinder(graph).Find(output);
  if (head.ok() || head.status().code() != StatusCode::kUnsupported) return head;
  if (EndsInFeature(graph, output)) return HeadAfter(graph, output);
  return head;
}

}  // namespace topwork
