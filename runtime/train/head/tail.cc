// FindTail: the walk back keeps the set of values that the operators taken so far still need. It
// takes the producer that runs last. Whenever one value is left, that value could be the cut.
#include "runtime/train/head/tail.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kernels/train/backward.h"
#include "models/format/constants.h"

namespace topwork {
namespace {

bool IsLayer(const Op& op) {
  const HeadRole role = op.def == nullptr ? HeadRole::kNone : op.def->head;
  return role == HeadRole::kDense || role == HeadRole::kLayer;
}

bool IsAffine(OpCode code) {
  return code == OpCode::kAdd || code == OpCode::kSub || code == OpCode::kMul ||
         code == OpCode::kDiv;
}

class TailFinder {
 public:
  TailFinder(const Graph& graph, const Head& head, Trained trained)
      : graph_(graph), head_(head), trained_(trained), producer_(graph.values.size(), -1) {
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      for (int v : graph.ops[i].outputs) {
        if (v >= 0) producer_[static_cast<size_t>(v)] = static_cast<int>(i);
      }
    }
  }

  Result<Tail> Find(int n_layers) {
    tail_.n_layers = n_layers;
    tail_.batch = head_.batch;
    TW_RETURN_IF_ERROR(WalkBack());
    TW_RETURN_IF_ERROR(CheckCut());
    std::sort(taken_.begin(), taken_.end());
    for (int op : taken_) TW_RETURN_IF_ERROR(AddOp(op));
    return std::move(tail_);
  }

 private:
  const Value& value(int v) const { return graph_.values[static_cast<size_t>(v)]; }
  const Op& op(int i) const { return graph_.ops[static_cast<size_t>(i)]; }
  std::string Where(const Op& op) const {
    return StrFormat("{} (operator #{})", op.name(), op.file_index);
  }
  std::string Gradients() const { return "gradients exist for " + BackwardOpNames(); }

  // The constant that the file stores for v: v itself, or the float16 one that a DEQUANTIZE reads;
  // −1 when v is computed.
  int Stored(int v) const {
    if (value(v).data != nullptr) return v;
    const int producer = producer_[static_cast<size_t>(v)];
    if (producer < 0 || !IsDequantize(op(producer).code) || op(producer).inputs.empty()) {
      return -1;
    }
    const int source = op(producer).inputs[0];
    return source >= 0 && value(source).data != nullptr ? source : -1;
  }

  bool HasConstant(const Op& op, size_t input) const {
    return input < op.inputs.size() && op.inputs[input] >= 0 && Stored(op.inputs[input]) >= 0;
  }
  // True for 8-bit weights with scales that stand for real numbers: the operator's input is float32
  // (dynamic range), or a DEQUANTIZE follows them.
  bool IsScaled(const Value& stored) const {
    return stored.dtype == DType::kInt8 && stored.data != nullptr &&
           stored.quantization != nullptr && !stored.quantization->scales.empty();
  }
  // The input of an affine operator that is a constant per channel; −1 when there is none.
  int PerChannelInput(const Op& op) const;
  Status Take(int index);
  Status WalkBack();
  Status CheckCut();
  Status AddOp(int index);
  Status AddTrained(const Op& op, size_t input, bool decays, TailOp* out);
  Status CheckReaders(const TailConstant& constant) const;

  const Graph& graph_;
  const Head& head_;
  const Trained trained_;
  std::vector<int> producer_;
  Tail tail_;
  std::vector<int> taken_;   // operators
  std::vector<int> layers_;  // those of them that are layers, from the last one on
  std::set<int> needed_;     // values that operators of taken_ read and none of them makes
};

int TailFinder::PerChannelInput(const Op& op) const {
  if (!IsAffine(op.code) || op.outputs.empty() || value(op.outputs[0]).shape.rank() == 0) return -1;
  const int32_t channels = value(op.outputs[0]).shape.back();
  for (size_t i = 0; i < 2 && i < op.inputs.size(); ++i) {
    if (!HasConstant(op, i)) continue;
    // A dividend is not a scale.
    if (op.code == OpCode::kDiv && i == 0) continue;
    const Shape& shape = value(op.inputs[i]).shape;
    if (channels > 1 && shape.rank() > 0 && shape.back() == channels &&
        shape.NumElements() == channels) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

Status TailFinder::Take(int index) {
  const Op& taken = op(index);
  if (IsConversion(taken.code)) {
    return Unsupported(
        "{} lies among the last {} layers: layers that compute in integers cannot be trained; "
        "train "
        "{} {} or fewer, or a float32 or float16 model",
        Where(taken), tail_.n_layers, layers_.size() + 1, layers_.empty() ? "layer" : "layers");
  }
  if (taken.def == nullptr || taken.def->gradient == nullptr) {
    return Unsupported("{} lies among the last {} layers and has no gradient; {}", Where(taken),
                       tail_.n_layers, Gradients());
  }
  if (taken.outputs.size() != 1 || taken.def == nullptr) {
    return Unsupported("{} has {} outputs", Where(taken), taken.outputs.size());
  }
  // Operators have not been prepared: their inputs are counted here.
  for (size_t i = 0; i < taken.def->least_inputs; ++i) {
    if (i >= taken.inputs.size() || taken.inputs[i] < 0) {
      return Unsupported("{} lacks its input {}", Where(taken), i);
    }
  }
  if (!HasActivationGradient(taken.params.activation)) {
    return Unsupported("{} has a fused activation without a gradient", Where(taken));
  }
  taken_.push_back(index);
  if (IsLayer(taken) && HasConstant(taken, 1)) layers_.push_back(index);
  needed_.erase(taken.outputs[0]);
  for (int v : taken.inputs) {
    if (v >= 0 && Stored(v) < 0) needed_.insert(v);
  }
  return Status::Ok();
}

Status TailFinder::WalkBack() {
  needed_.insert(head_.feature);
  const size_t n_below = static_cast<size_t>(tail_.n_layers - 1);
  while (layers_.size() < n_below || needed_.size() > 1) {
    int last = -1;
    for (int v : needed_) last = std::max(last, producer_[static_cast<size_t>(v)]);
    if (last < 0) {
      if (needed_.size() > 1 && layers_.size() >= n_below) {
        return Unsupported(
            "the last {} layers depend on {} inputs of the model and on no single value; train "
            "fewer layers",
            tail_.n_layers, needed_.size());
      }
      return InvalidArgument(
          "the model has {} layers with constant weights, fewer than the {} that n_layers asks for",
          layers_.size() + 1, tail_.n_layers);
    }
    TW_RETURN_IF_ERROR(Take(last));
  }
  if (needed_.empty()) return Unsupported("the last layers depend on no input of the model");
  tail_.cut = *needed_.begin();
  layers_.resize(n_below);
  return Status::Ok();
}

Status TailFinder::CheckCut() {
  const Value& cut = value(tail_.cut);
  if (cut.dtype != DType::kFloat32) {
    return Unsupported(
        "the last {} layers start from '{}' of type {}: layers that compute in integers cannot be "
        "trained; train the last layer alone, or a float32 or float16 model",
        tail_.n_layers, cut.name, DTypeName(cut.dtype));
  }
  const int64_t n = cut.shape.NumElements();
  if (n <= 0 || n % tail_.batch != 0) {
    return Unsupported("'{}' of shape {}, below the last {} layers, is not one value per example",
                       cut.name, cut.shape.ToString(), tail_.n_layers);
  }
  tail_.dim = n / tail_.batch;
  return Status::Ok();
}

// No operator outside the tail may read a constant that changes. The head has parameters of its
// own.
Status TailFinder::CheckReaders(const TailConstant& constant) const {
  for (size_t i = 0; i < graph_.ops.size(); ++i) {
    const Op& reader = graph_.ops[i];
    const bool inside = std::binary_search(taken_.begin(), taken_.end(), static_cast<int>(i)) ||
                        static_cast<int>(i) == head_.op;
    for (int v : reader.inputs) {
      if ((v != constant.value && v != constant.stored) || inside) continue;
      if (IsDequantize(reader.code) && !reader.outputs.empty() &&
          reader.outputs[0] == constant.value) {
        continue;
      }
      return Unsupported(
          "'{}' cannot be trained: {}, which is not among the last {} layers, reads it, too",
          constant.name, Where(reader), tail_.n_layers);
    }
  }
  return Status::Ok();
}

Status TailFinder::AddTrained(const Op& op, size_t input, bool decays, TailOp* out) {
  const int v = op.inputs[input];
  for (size_t i = 0; i < tail_.constants.size(); ++i) {
    if (tail_.constants[i].value == v) {
      out->trained[input] = static_cast<int>(i);
      return Status::Ok();
    }
  }
  TailConstant constant;
  constant.value = v;
  constant.stored = Stored(v);
  constant.name = value(v).name;
  constant.shape = value(v).shape;
  constant.decays = decays;
  const Value& stored = value(constant.stored);
  const DType dtype = stored.dtype;
  const bool real = dtype == DType::kFloat32 || dtype == DType::kFloat16 || IsScaled(stored);
  if (!real || stored.is_sparse) {
    return Unsupported(
        "'{}' of {} is stored as {}{}: below the last layer only dense float32, float16 and scaled "
        "int8 weights are trained; train the last layer alone",
        constant.name, Where(op), stored.is_sparse ? "sparse " : "", DTypeName(dtype));
  }
  TW_RETURN_IF_ERROR(CheckReaders(constant));
  out->trained[input] = static_cast<int>(tail_.constants.size());
  tail_.constants.push_back(std::move(constant));
  return Status::Ok();
}

Status TailFinder::AddOp(int index) {
  const Op& op = this->op(index);
  TailOp out;
  out.op = index;
  out.trained.assign(op.inputs.size(), -1);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const int v = op.inputs[i];
    if (v < 0) continue;
    const Value& read = value(v);
    const bool integers = read.dtype == DType::kInt32 || read.dtype == DType::kInt64;
    if (read.dtype == DType::kFloat32 || (integers && read.data != nullptr)) continue;
    if (IsLayer(op) && i == 1 && IsScaled(read)) continue;
    return Unsupported(
        "{} reads '{}' of type {}: among the last {} layers there must be float32 alone; train the "
        "last layer, or a float32 or float16 model",
        Where(op), read.name, DTypeName(read.dtype), tail_.n_layers);
  }
  if (IsLayer(op) && std::find(layers_.begin(), layers_.end(), index) != layers_.end()) {
    if (trained_ == Trained::kAll) TW_RETURN_IF_ERROR(AddTrained(op, 1, true, &out));
    if (HasConstant(op, 2)) TW_RETURN_IF_ERROR(AddTrained(op, 2, false, &out));
  }
  const int affine = PerChannelInput(op);
  const bool above = !layers_.empty() && index > layers_.back();
  if (affine >= 0 && above) {
    const bool scale = op.code == OpCode::kMul || op.code == OpCode::kDiv;
    TW_RETURN_IF_ERROR(AddTrained(op, static_cast<size_t>(affine), scale, &out));
  }
  tail_.ops.push_back(std::move(out));
  return Status::Ok();
}

}  // namespace

Result<Tail> FindTail(const Graph& graph, const Head& head, int n_layers, Trained trained) {
  if (n_layers < 1) return InvalidArgument("n_layers is {}, at least 1 expected", n_layers);
  return TailFinder(graph, head, trained).Find(n_layers);
}

}  // namespace topwork
