// From a Tail to a TailGraph. Every value must have one entry per example in its first dimension;
// a model made for one example may also lack that dimension (after a SQUEEZE, say): it is added.
#include "runtime/train/head/tail_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "models/format/constants.h"

namespace topwork {
namespace {

class Builder {
 public:
  Builder(const Graph& graph, const Head& head, const Tail& tail, const AddedLayer& added,
          int n_outputs)
      : graph_(graph), head_(head), tail_(tail), added_(added) {
    out_.n_outputs = n_outputs;
    out_.dim = tail.dim;
    out_.seed = added.seed;
  }

  Result<TailGraph> Build() {
    AddHeadParameters();
    for (const TailConstant& constant : tail_.constants) AddParameter(constant);
    if (tail_.cut < 0) {
      values_[head_.feature] = out_.cut = NewActivation("features", head_.dim);
    } else {
      TW_ASSIGN_OR_RETURN(out_.cut, AddActivation(tail_.cut, -1));
    }
    for (const TailOp& op : tail_.ops) TW_RETURN_IF_ERROR(AddNode(op));
    int feature = AddPooling();
    if (added_.n_units > 0) feature = AddHidden(feature);
    out_.logits = AddDense({feature, head_weights_, head_bias_}, Activation::kNone,
                           "the last layer", "head/logits", static_cast<int>(out_.n_outputs));
    TW_RETURN_IF_ERROR(MarkGradients());
    return std::move(out_);
  }

 private:
  const Value& model_value(int v) const { return graph_.values[static_cast<size_t>(v)]; }

  int AddValue(TailValue value) {
    out_.values.push_back(std::move(value));
    return static_cast<int>(out_.values.size()) - 1;
  }
  int NewParameter(const std::string& name, const Shape& shape, bool decays, int tensor);
  void AddHeadParameters();
  void AddParameter(const TailConstant& constant);
  Result<int> AddActivation(int v, int storage);
  Result<int> AddConstant(int v);
  Result<int> InputOf(const TailOp& op, size_t i);
  Status AddNode(const TailOp& op);
  Status CheckNode(const TailNode& node, const Op& op) const;
  Status CheckAxes(const TailNode& node, const Op& op) const;
  int AddView(int source, const Shape& shape);
  int NewActivation(const std::string& name, int dim);
  int AddPooling();
  int AddHidden(int feature);
  int AddDense(const std::vector<int>& inputs, Activation activation, const char* where,
               const char* name, int n_units);
  Status MarkGradients();

  const Graph& graph_;
  const Head& head_;
  const Tail& tail_;
  const AddedLayer added_;
  TailGraph out_;
  std::map<int, int> values_;  // value of the model → value of the tail
  std::map<int, bool> lacks_batch_;
  int head_weights_ = -1;
  int head_bias_ = -1;
};

int Builder::NewParameter(const std::string& name, const Shape& shape, bool decays, int tensor) {
  ParameterInfo info;
  info.name = name;
  for (int i = 0; i < shape.rank(); ++i) info.dims.push_back(shape[i]);
  info.offset = out_.n_parameters;
  info.size = shape.NumElements();
  info.decays = decays;
  out_.n_parameters += info.size;
  TailValue value;
  value.kind = TailValue::kParameter;
  value.name = name;
  value.shape = shape;
  value.parameter = static_cast<int>(out_.parameters.size());
  value.needs_gradient = true;
  out_.parameters.push_back(std::move(info));
  out_.tensors.push_back(tensor);
  return AddValue(std::move(value));
}

void Builder::AddHeadParameters() {
  const int32_t n = static_cast<int32_t>(out_.n_outputs);
  const int32_t dim = added_.n_units > 0 ? added_.n_units : head_.dim;
  head_weights_ = NewParameter("head/weights", Shape{n, dim}, true, -1);
  head_bias_ = NewParameter("head/bias", Shape{n}, false, -1);
}

void Builder::AddParameter(const TailConstant& constant) {
  values_[constant.value] =
      NewParameter(constant.name, constant.shape, constant.decays, constant.value);
}

// `storage`: the value whose memory it is; −1: its own.
Result<int> Builder::AddActivation(int v, int storage) {
  const Value& from = model_value(v);
  TailValue value;
  value.name = from.name;
  const Shape& shape = from.shape;
  const bool counts = shape.rank() > 0 && shape[0] == tail_.batch;
  if (counts) {
    value.shape = shape;
    value.shape.set_dim(0, 1);
  } else if (tail_.batch == 1 && shape.rank() < kMaxRank) {
    value.shape = Shape{1};
    for (int i = 0; i < shape.rank(); ++i) value.shape.Append(shape[i]);
    lacks_batch_[v] = true;
  } else {
    return Unsupported(
        "'{}' of shape {}, among the last layers, does not count its {} examples in "
        "its first dimension",
        from.name, shape.ToString(), tail_.batch);
  }
  value.storage = storage;
  const int index = AddValue(std::move(value));
  if (storage < 0) out_.values[static_cast<size_t>(index)].storage = index;
  values_[v] = index;
  return index;
}

Result<int> Builder::AddConstant(int v) {
  const Value& from = model_value(v);
  TailValue value;
  value.kind = TailValue::kConstant;
  value.name = from.name;
  value.shape = from.shape;
  value.dtype = from.dtype;
  if (from.dtype == DType::kFloat32 || from.dtype == DType::kInt8) {
    TW_RETURN_IF_ERROR(ReadFloats(graph_, v, &value.floats));
    value.dtype = DType::kFloat32;
  } else {
    TW_RETURN_IF_ERROR(ReadInts(graph_, v, &value.integers));
    value.dtype = DType::kInt32;
  }
  const int index = AddValue(std::move(value));
  values_[v] = index;
  return index;
}

Result<int> Builder::InputOf(const TailOp& op, size_t i) {
  const int v = graph_.ops[static_cast<size_t>(op.op)].inputs[i];
  if (v < 0) return -1;
  const auto known = values_.find(v);
  // Two operators may share a constant that only one of them trains. It would change for both, so
  // it is one parameter everywhere.
  if (known != values_.end()) return known->second;
  return AddConstant(v);
}

// An operator's axes must keep examples apart. In a value without a dimension for examples the axes
// are shifted by one.
Status Builder::CheckNode(const TailNode& node, const Op& op) const {
  const bool has_axes = op.def != nullptr && op.def->counts_axes;
  for (int v : op.inputs) {
    if (has_axes && lacks_batch_.count(v) > 0) {
      return Unsupported("{} reads '{}' of shape {}, which has no dimension for the example",
                         node.where, model_value(v).name, model_value(v).shape.ToString());
    }
  }
  const int rank = model_value(op.outputs[0]).shape.rank();
  if (op.code == OpCode::kConcatenation && (op.params.axis == 0 || op.params.axis == -rank)) {
    return Unsupported("{} joins examples", node.where);
  }
  if (op.code == OpCode::kMean || op.code == OpCode::kPad) return CheckAxes(node, op);
  return Status::Ok();
}

// MEAN goes over neighbouring dimensions after the batch; PAD leaves the batch alone.
Status Builder::CheckAxes(const TailNode& node, const Op& op) const {
  std::vector<int32_t> numbers;
  const Status read = ReadInts(graph_, op.inputs[1], &numbers);
  if (!read.ok()) return read.WithPrefix(node.where + ": ");
  if (op.code == OpCode::kPad) {
    if (numbers.size() >= 2 && numbers[0] == 0 && numbers[1] == 0) return Status::Ok();
    return Unsupported("{} adds examples", node.where);
  }
  const int32_t rank = model_value(op.inputs[0]).shape.rank();
  for (int32_t& axis : numbers) axis += axis < 0 ? rank : 0;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  const bool sound = !numbers.empty() && numbers.front() > 0 && numbers.back() < rank &&
                     numbers.back() - numbers.front() + 1 == static_cast<int32_t>(numbers.size());
  if (sound) return Status::Ok();
  return Unsupported(
      "{} has no gradient for its axes: neighbouring ones after the first can be trained through",
      node.where);
}

Status Builder::AddNode(const TailOp& tail_op) {
  const Op& op = graph_.ops[static_cast<size_t>(tail_op.op)];
  TailNode node;
  node.where = StrFormat("{} (operator #{})", op.name(), op.file_index);
  if (op.code == OpCode::kReshape || op.code == OpCode::kSqueeze) {
    TW_ASSIGN_OR_RETURN(const int source, InputOf(tail_op, 0));
    const Result<int> view = AddActivation(op.outputs[0], out_.value(source).storage);
    if (!view.ok()) return view.status().WithPrefix(node.where + ": ");
    if (out_.value(*view).shape.NumElements() != out_.value(source).shape.NumElements()) {
      return Unsupported("{} changes the number of values of an example", node.where);
    }
    return Status::Ok();
  }
  TW_RETURN_IF_ERROR(CheckNode(node, op));
  node.op = op;
  node.backward = op.def == nullptr ? nullptr : op.def->gradient;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    TW_ASSIGN_OR_RETURN(node.op.inputs[i], InputOf(tail_op, i));
  }
  TW_ASSIGN_OR_RETURN(node.op.outputs[0], AddActivation(op.outputs[0], -1));
  out_.nodes.push_back(std::move(node));
  return Status::Ok();
}

int Builder::AddView(int source, const Shape& shape) {
  TailValue value;
  value.name = out_.value(source).name;
  value.shape = shape;
  value.storage = out_.value(source).storage;
  return AddValue(std::move(value));
}

// One vector an example, with memory of its own.
int Builder::NewActivation(const std::string& name, int dim) {
  TailValue value;
  value.name = name;
  value.shape = Shape{1, dim};
  value.storage = static_cast<int>(out_.values.size());
  return AddValue(std::move(value));
}

// The feature that the last layer reads, one vector an example.
int Builder::AddPooling() {
  const int feature = values_.at(head_.feature);
  if (tail_.cut < 0 || head_.n_positions == 1) return AddView(feature, Shape{1, head_.dim});
  TailValue axes;
  axes.kind = TailValue::kConstant;
  axes.name = "head/axes";
  axes.dtype = DType::kInt32;
  axes.shape = Shape{1};
  axes.integers = {1};
  TailNode node;
  node.where = "the pooling after the last layer";
  node.op.code = OpCode::kMean;
  node.op.def = FindOp(node.op.code);
  node.backward = node.op.def->gradient;
  node.op.inputs = {AddView(feature, Shape{1, head_.n_positions, head_.dim}),
                    AddValue(std::move(axes))};
  node.op.outputs = {NewActivation("head/mean", head_.dim)};
  out_.nodes.push_back(std::move(node));
  return out_.nodes.back().op.outputs[0];
}

int Builder::AddHidden(int feature) {
  const Shape shape = Shape{added_.n_units, head_.dim};
  if (added_.trained) {
    out_.added_weights = NewParameter(kHiddenWeights, shape, true, -1);
    const int bias = NewParameter(kHiddenBias, Shape{added_.n_units}, false, -1);
    const int hidden = AddDense({feature, out_.added_weights, bias}, Activation::kRelu,
                                "the hidden layer", "hidden", added_.n_units);
    out_.nodes.back().dropout = added_.dropout;
    return hidden;
  }
  TailValue weights;
  weights.kind = TailValue::kConstant;
  weights.name = "projection/weights";
  weights.shape = shape;
  weights.floats.resize(static_cast<size_t>(shape.NumElements()));
  DrawWeights(added_.seed, head_.dim, Span<float>(weights.floats.data(), weights.floats.size()));
  out_.added_weights = AddValue(std::move(weights));
  return AddDense({feature, out_.added_weights, -1}, Activation::kRelu, "the random projection",
                  "projection", added_.n_units);
}

int Builder::AddDense(const std::vector<int>& inputs, Activation activation, const char* where,
                      const char* name, int n_units) {
  TailNode node;
  node.where = where;
  node.op.code = OpCode::kFullyConnected;
  node.op.def = FindOp(node.op.code);
  node.op.params.activation = activation;
  node.backward = node.op.def->gradient;
  node.op.inputs = inputs;
  node.op.outputs = {NewActivation(name, n_units)};
  out_.nodes.push_back(std::move(node));
  return out_.nodes.back().op.outputs[0];
}

Status Builder::MarkGradients() {
  const auto storage = [&](int v) -> TailValue& {
    TailValue& value = out_.values[static_cast<size_t>(v)];
    return value.kind == TailValue::kActivation ? out_.values[static_cast<size_t>(value.storage)]
                                                : value;
  };
  for (TailNode& node : out_.nodes) {
    for (size_t i = 0; i < node.op.inputs.size(); ++i) {
      const int v = node.op.inputs[i];
      if (v >= 0 && storage(v).needs_gradient) node.wanted |= InputBit(static_cast<int>(i));
    }
    if (node.wanted == 0) continue;
    node.needs = node.backward->needs(node.op.params, node.wanted);
    storage(node.op.outputs[0]).needs_gradient = true;
  }
  return Status::Ok();
}

}  // namespace

Shape TailGraph::ShapeFor(int v, int64_t n) const {
  Shape shape = value(v).shape;
  if (value(v).kind == TailValue::kActivation) shape.set_dim(0, static_cast<int32_t>(n));
  return shape;
}

Result<TailGraph> MakeTailGraph(const Graph& graph, const Head& head, const Tail& tail,
                                const AddedLayer& added, int n_outputs) {
  for (OpCode code : {OpCode::kMean, OpCode::kFullyConnected}) {
    if (FindOp(code) != nullptr) continue;
    return Unsupported(
        "{}, which training needs, is left out of this build: write its selection by "
        "toolchains/select.py --train",
        OpCodeName(code));
  }
  return Builder(graph, head, tail, added, n_outputs).Build();
}

}  // namespace topwork
