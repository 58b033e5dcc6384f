// FindHead: the walk back from an output, and everything that must hold for the walk to be right.
#include "runtime/train/head/head.h"

#include <algorithm>
#include <utility>

#include "models/format/constants.h"
#include "models/format/layer_weights.h"
#include "runtime/train/head/appended_head.h"
#include "runtime/train/reject/rejection.h"

namespace topwork {
namespace {

constexpr char kWhatIsAHead[] =
    "a trainable head is a FULLY_CONNECTED, a BATCH_MATMUL by a constant or a 1x1 CONV_2D, followed "
    "at most by ADD of a bias, SOFTMAX, LOGISTIC, LOG_SOFTMAX, RESHAPE, SQUEEZE, DEQUANTIZE, "
    "QUANTIZE or, after a convolution, by pooling; append_head adds a new one after the output";

class HeadFinder {
 public:
  HeadFinder(const Graph& graph, bool weights) : graph_(graph), reads_weights_(weights) {}

  Result<Head> Find(int output) {
    head_.output = output;
    TW_RETURN_IF_ERROR(WalkBack());
    const bool conv = op().code == OpCode::kConv2d;
    weights_ = FindWeights(graph_, op());
    TW_RETURN_IF_ERROR(conv ? ReadConvolution() : ReadDense());
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

  bool IsConstant(int v) const { return ConstantBehind(graph_, v) != nullptr; }

  int Producer(int v) const {
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const std::vector<int>& outputs = graph_.ops[i].outputs;
      if (std::find(outputs.begin(), outputs.end(), v) != outputs.end()) return static_cast<int>(i);
    }
    return -1;
  }

  Status WalkBack();
  Status NoHeadAt(const Op& op) const;
  Status ReadDense();
  Status ReadConvolution();
  Status CheckRows();
  int64_t CountRows() const;
  Status CheckTail();
  Status CheckTailOp(const Op& op);
  Status CheckWholeMapPooling(const Op& op);
  bool ReadsShape(const Op& op) const;
  std::vector<uint8_t> NeededOps() const;
  Status CheckReaders(int v, int reader);
  Status ReadParameters();

  const Graph& graph_;
  const bool reads_weights_;
  Head head_;
  LayerWeights weights_;
  bool pooled_ = false;
};

// A target that Keras' Reshape computes from the number of examples: SHAPE, STRIDED_SLICE, PACK.
bool ComputesTarget(const Graph& graph, const Op& op) {
  return op.code == OpCode::kReshape && op.inputs.size() > 1 && op.inputs[1] >= 0 &&
         graph.values[static_cast<size_t>(op.inputs[1])].data == nullptr;
}

// A dimension after the first is known only when the model runs.
bool HasOpenRest(const Value& value) {
  for (int i = 1; i < value.signature.rank(); ++i) {
    if (value.signature[i] < 0) return true;
  }
  return false;
}

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
    size_t data = 0;
    switch (role) {
      case HeadRole::kDense:
      case HeadRole::kMatMul:
        if (op.params.weights_format != 0) {
          return Unsupported("{} has shuffled weights, which cannot be trained", Where(op));
        }
        head_.op = producer;
        head_.logits = v;
        return Status::Ok();
      case HeadRole::kScores:
        if (head_.has_activation() || head_.added >= 0) {
          return Unsupported("output #{} comes from {} after {}; {}", head_.output,
                             OpCodeName(head_.added < 0 ? head_.final_activation : OpCode::kAdd),
                             Where(op), kWhatIsAHead);
        }
        head_.final_activation = op.code;
        break;
      case HeadRole::kPooling:
        pooled_ = true;
        break;
      case HeadRole::kPassing:
        break;
      case HeadRole::kBias:
        data = IsConstant(op.inputs[0]) ? 1 : 0;
        if (head_.added < 0 && IsConstant(op.inputs[1 - data]) &&
            op.params.activation == Activation::kNone) {
          head_.added = op.inputs[1 - data];
          break;
        }
        [[fallthrough]];
      default:
        return NoHeadAt(op);
    }
    head_.tail.insert(head_.tail.begin(), producer);
    v = op.inputs[data];
  }
}

Status HeadFinder::NoHeadAt(const Op& op) const {
  return Unsupported("output #{} '{}' comes from {}; {}", head_.output,
                     value(graph_.outputs[static_cast<size_t>(head_.output)]).name, Where(op),
                     kWhatIsAHead);
}

Status HeadFinder::ReadDense() {
  const Op& op = this->op();
  const Shape& weights = weights_.shape;
  if (pooled_) {
    return Unsupported("output #{} is pooled after {}; {}", head_.output, Where(op), kWhatIsAHead);
  }
  if (op.def->head == HeadRole::kMatMul &&
      (!weights_.is_constant || op.params.adj_x ||
       value(op.inputs[1]).shape.rank() > value(op.inputs[0]).shape.rank())) {
    return NoHeadAt(op);
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
  head_.weights = weights_.value;
  head_.transposed = weights_.transposed;
  head_.bias = op.inputs.size() > 2 ? op.inputs[2] : -1;
  head_.activation = op.params.activation;
  TW_ASSIGN_OR_RETURN(head_.format, ReadHeadFormat(graph_, head_.op));
  head_.quantized = IsInteger(head_.format.storage);
  if (head_.dim < 1 || head_.n_classes < 1) {
    return Unsupported("{} has no weights", Where(op));
  }
  const int64_t rows = CountRows();
  // Either the whole input is one example, or its first dimension counts examples.
  int64_t batch = 1;
  if (!graph_.inputs.empty() && value(graph_.inputs[0]).shape.rank() > 0) {
    batch = value(graph_.inputs[0]).shape[0];
  }
  if (rows != 1 && rows != batch && rows != 0) {
    return Unsupported(
        "{} scores {} rows of features for every example (its input '{}' has shape "
        "{}): the model labels positions, not whole examples",
        Where(op), rows / std::max<int64_t>(1, batch), value(head_.feature).name,
        value(head_.feature).shape.ToString());
  }
  head_.batch = static_cast<int>(rows == 0 ? batch : rows);
  return Status::Ok();
}

// Rows of features in a run; 0 where no shape tells. Behind a WHILE or a computed RESHAPE the
// feature's size is not in the file: then the size of the output tells.
int64_t HeadFinder::CountRows() const {
  const Value& feature = value(head_.feature);
  const int64_t row = static_cast<int64_t>(head_.dim) * head_.n_positions;
  const int64_t n = feature.shape.NumElements();
  if (n > 0 && n % row == 0 && !HasOpenRest(feature)) return n / row;
  const Value& out = value(graph_.outputs[static_cast<size_t>(head_.output)]);
  const int64_t n_scores = out.shape.NumElements();
  const bool known = n_scores > 0 && n_scores % head_.n_classes == 0 && !HasOpenRest(out);
  return known ? n_scores / head_.n_classes : 0;
}

// A RESHAPE whose result is read for its shape alone takes no scores either.
bool HeadFinder::ReadsShape(const Op& op) const {
  if (op.code == OpCode::kShape) return true;
  if (op.code != OpCode::kReshape) return false;
  for (const Op& next : graph_.ops) {
    const bool reads =
        std::find(next.inputs.begin(), next.inputs.end(), op.outputs[0]) != next.inputs.end();
    if (reads && next.code != OpCode::kShape) return false;
  }
  return op.outputs[0] != graph_.outputs[static_cast<size_t>(head_.output)];
}

// Those that another output needs than the verdict that an earlier export appended, which is made
// anew with the head.
std::vector<uint8_t> HeadFinder::NeededOps() const {
  std::vector<uint8_t> needed(graph_.ops.size(), false);
  std::vector<int> open;
  for (int v : graph_.outputs) {
    if (value(v).name != kRejectionOutput) open.push_back(v);
  }
  while (!open.empty()) {
    const int producer = Producer(open.back());
    open.pop_back();
    if (producer < 0 || needed[static_cast<size_t>(producer)]) continue;
    needed[static_cast<size_t>(producer)] = true;
    for (int v : graph_.ops[static_cast<size_t>(producer)].inputs) {
      if (v >= 0) open.push_back(v);
    }
  }
  return needed;
}

// Only the operator `reader` of the tail may read v (−1: none may), and any its shape.
Status HeadFinder::CheckReaders(int v, int reader) {
  const std::vector<uint8_t> needed = NeededOps();
  for (size_t i = 0; i < graph_.ops.size(); ++i) {
    const Op& op = graph_.ops[i];
    if (static_cast<int>(i) != reader && needed[i] &&
        std::find(op.inputs.begin(), op.inputs.end(), v) != op.inputs.end() && !ReadsShape(op)) {
      return Unsupported("the scores '{}' are also read by {}, which expects {} classes; {}",
                         value(v).name, Where(op), head_.n_classes, kWhatIsAHead);
    }
  }
  return Status::Ok();
}

Status HeadFinder::CheckWholeMapPooling(const Op& op) {
  TW_ASSIGN_OR_RETURN(const bool whole, AveragesWholeMap(graph_, op));
  if (whole) return Status::Ok();
  return Unsupported("{} after the last layer does not average the whole map; {}", Where(op),
                     kWhatIsAHead);
}

Status HeadFinder::CheckTailOp(const Op& op) {
  const bool pooling = op.def != nullptr && op.def->head == HeadRole::kPooling;
  if (pooling) TW_RETURN_IF_ERROR(CheckWholeMapPooling(op));
  if (ComputesTarget(graph_, op) &&
      (HasOpenRest(value(op.outputs[0])) || Producer(op.inputs[1]) < 0)) {
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
  const Status read = ReadShippedHead(
      graph_, head_, reads_weights_ ? &head_.shipped_weights : nullptr, &head_.shipped_bias);
  return read.ok() ? read : read.WithPrefix("the parameters of " + Where(op()) + ": ");
}

}  // namespace

Result<bool> AveragesWholeMap(const Graph& graph, const Op& op) {
  const Shape& map = graph.values[static_cast<size_t>(op.inputs[0])].shape;
  const OpParams& p = op.params;
  if (map.rank() != 4) return false;
  if (op.code == OpCode::kAveragePool2d) {
    return p.filter_h == map[1] && p.filter_w == map[2] && p.activation == Activation::kNone;
  }
  std::vector<int32_t> axes;
  TW_RETURN_IF_ERROR(ReadInts(graph, op.inputs[1], &axes));
  for (int32_t& axis : axes) axis += axis < 0 ? 4 : 0;
  std::sort(axes.begin(), axes.end());
  return axes == std::vector<int32_t>{1, 2};
}

Status ReadShippedHead(const Graph& graph, const Head& head, std::vector<float>* weights,
                       std::vector<float>* bias) {
  const size_t n = static_cast<size_t>(head.n_classes), dim = static_cast<size_t>(head.dim);
  TW_ASSIGN_OR_RETURN(const int64_t count, CountFloats(graph, head.weights));
  bool fits = static_cast<size_t>(count) == n * dim;
  if (weights != nullptr) TW_RETURN_IF_ERROR(ReadFloats(graph, head.weights, weights));
  if (weights != nullptr && fits && head.transposed) {
    const std::vector<float> columns = *weights;
    for (size_t i = 0; i < n * dim; ++i) (*weights)[i] = columns[i % dim * n + i / dim];
  }
  bias->assign(n, 0.0f);
  std::vector<float> part;
  for (int v : {head.bias, head.added}) {
    if (v < 0) continue;
    TW_RETURN_IF_ERROR(ReadFloats(graph, v, &part));
    fits = fits && part.size() == n;
    for (size_t c = 0; fits && c < n; ++c) (*bias)[c] += part[c];
  }
  if (!fits) return Unsupported("weights and bias do not belong together");
  return Status::Ok();
}

Result<Head> FindHead(const Graph& graph, int output, bool append, bool weights) {
  if (output < 0 || static_cast<size_t>(output) >= graph.outputs.size()) {
    return InvalidArgument("output #{} does not exist, the model has {}", output,
                           graph.outputs.size());
  }
  if (!kTrainsPlainly && append) return HeadAfter(graph, output);
  Result<Head> head = HeadFinder(graph, weights).Find(output);
  if (head.ok() || head.status().code() != StatusCode::kUnsupported) return head;
  if (!kTrainsPlainly && EndsInFeature(graph, output)) return HeadAfter(graph, output);
  return head;
}

}  // namespace topwork
