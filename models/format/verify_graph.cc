// Operators of a subgraph: indices, options, and that every tensor is made once, before it is read.
// The order of operators in the file is the order of execution, so this also rules out cycles.
#include <vector>

#include "kernels/contract/kernel.h"
#include "models/format/verify_context.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

using Indices = flatbuffers::Vector<int32_t>;

uint64_t Size(const Indices* indices) { return indices == nullptr ? 0 : indices->size(); }

constexpr int kNobody = -1;
constexpr int kGraphInput = -2;
constexpr int kConstant = -3;
constexpr int kVariable = -4;

// Walks one subgraph. maker_[t]: which operator makes tensor t, or one of the constants above.
class GraphVerifier {
 public:
  GraphVerifier(VerifyContext* context, int subgraph)
      : context_(context),
        model_(*context->model),
        subgraph_index_(subgraph),
        subgraph_(*context->model->subgraphs()->Get(static_cast<uint32_t>(subgraph))),
        n_tensors_(subgraph_.tensors() == nullptr ? 0
                                                  : static_cast<int>(subgraph_.tensors()->size())),
        maker_(static_cast<size_t>(n_tensors_), kNobody) {}

  Status Verify() {
    TW_RETURN_IF_ERROR(context_->Charge(4 * Size(subgraph_.inputs())));
    TW_RETURN_IF_ERROR(context_->Charge(4 * Size(subgraph_.outputs())));
    NoteSources();
    TW_RETURN_IF_ERROR(NoteInputs());
    const auto* operators = subgraph_.operators();
    const uint32_t n = operators == nullptr ? 0 : operators->size();
    for (uint32_t i = 0; i < n; ++i) TW_RETURN_IF_ERROR(NoteOutputs(i, *operators->Get(i)));
    for (uint32_t i = 0; i < n; ++i) TW_RETURN_IF_ERROR(VerifyInputs(i, *operators->Get(i)));
    return VerifyGraphOutputs();
  }

 private:
  std::string Name() const { return SubgraphName(model_, subgraph_index_); }
  std::string Op(uint32_t i) const {
    return OperatorName(model_, subgraph_index_, static_cast<int>(i));
  }
  std::string TensorText(int t) const { return TensorName(model_, subgraph_index_, t); }
  bool InRange(int t) const { return t >= 0 && t < n_tensors_; }
  int& Maker(int t) { return maker_[static_cast<size_t>(t)]; }

  void NoteSources() {
    for (int t = 0; t < n_tensors_; ++t) {
      const schema::Tensor& tensor = *subgraph_.tensors()->Get(static_cast<uint32_t>(t));
      if (tensor.is_variable()) {
        Maker(t) = kVariable;
      } else if (!BufferBytes(model_, context_->bytes, tensor.buffer()).empty()) {
        Maker(t) = kConstant;
      }
    }
  }

  Status NoteInputs() {
    for (uint32_t i = 0; i < Size(subgraph_.inputs()); ++i) {
      const int t = subgraph_.inputs()->Get(i);
      if (!InRange(t)) {
        return InvalidModel("{}: its input #{} is tensor {}, but it has {}", Name(), i, t,
                            n_tensors_);
      }
      if (Maker(t) == kGraphInput) {
        return InvalidModel("{} lists {} twice as its input", Name(), TensorText(t));
      }
      if (Maker(t) != kNobody) {
        return InvalidModel("{}: its input #{} is {}, which is a {}", Name(), i, TensorText(t),
                            Maker(t) == kConstant ? "constant" : "variable");
      }
      Maker(t) = kGraphInput;
    }
    return Status::Ok();
  }

  Status NoteOutputs(uint32_t i, const schema::Operator& op) {
    TW_RETURN_IF_ERROR(context_->Charge(
        24 + 4 * (Size(op.inputs()) + Size(op.outputs()) + Size(op.intermediates()))));
    TW_RETURN_IF_ERROR(VerifyOptions(i, op));
    for (uint32_t j = 0; j < Size(op.outputs()); ++j) {
      const int t = op.outputs()->Get(j);
      if (!InRange(t)) {
        return InvalidModel("{}: its output #{} is tensor {}, but the subgraph has {}", Op(i), j, t,
                            n_tensors_);
      }
      if (Maker(t) == kNobody) {
        Maker(t) = static_cast<int>(i);
        continue;
      }
      const int maker = Maker(t);
      const std::string what = maker == kGraphInput ? "is an input of the subgraph"
                               : maker == kConstant ? "is a constant"
                               : maker == kVariable
                                   ? "is a variable"
                                   : "is already made by operator #" + std::to_string(maker);
      return InvalidModel("{} writes {}, which {}", Op(i), TensorText(t), what);
    }
    return Status::Ok();
  }

  Status VerifyType(uint32_t i, const char* schema_union, const void* options, int type, int own) {
    if (options == nullptr || own == 0 || type == own) return Status::Ok();
    return InvalidModel(
        "{} has options of type {}, its own type is {} (numbers of {} in tflite.fbs)", Op(i), type,
        own, schema_union);
  }

  Status VerifyOptions(uint32_t i, const schema::Operator& op) {
    const auto* codes = model_.operator_codes();
    const uint32_t n_codes = codes == nullptr ? 0 : codes->size();
    if (op.opcode_index() >= n_codes) {
      return InvalidModel("{} has opcode_index {}, but the model has {} operator codes", Op(i),
                          op.opcode_index(), n_codes);
    }
    const OpDef* def = FindOp(BuiltinCode(*codes->Get(op.opcode_index())));
    if (def != nullptr) {
      TW_RETURN_IF_ERROR(VerifyType(i, "BuiltinOptions", op.builtin_options(),
                                    static_cast<int>(op.builtin_options_type()),
                                    static_cast<int>(def->options)));
      TW_RETURN_IF_ERROR(VerifyType(i, "BuiltinOptions2", op.builtin_options2(),
                                    static_cast<int>(op.builtin_options2_type()),
                                    static_cast<int>(def->options2)));
    }
    const auto* mutating = op.mutating_variable_inputs();
    if (mutating != nullptr && mutating->size() > Size(op.inputs())) {
      return InvalidModel("{} has {} mutating_variable_inputs for {} inputs", Op(i),
                          mutating->size(), static_cast<uint32_t>(Size(op.inputs())));
    }
    const uint64_t offset = op.large_custom_options_offset();
    const uint64_t size = op.large_custom_options_size();
    const uint64_t file = context_->bytes.size();
    if (offset > 1 && (offset > file || size > file - offset)) {
      return InvalidModel(
          "{} has large_custom_options at offset {} with {} bytes, but the file has {}", Op(i),
          offset, size, file);
    }
    return Status::Ok();
  }

  Status VerifyInputs(uint32_t i, const schema::Operator& op) {
    for (uint32_t j = 0; j < Size(op.intermediates()); ++j) {
      const int t = op.intermediates()->Get(j);
      if (t == -1 || InRange(t)) continue;
      return InvalidModel("{}: its intermediate #{} is tensor {}, but the subgraph has {}", Op(i),
                          j, t, n_tensors_);
    }
    for (uint32_t j = 0; j < Size(op.inputs()); ++j) {
      const int t = op.inputs()->Get(j);
      if (t == -1) continue;  // left out; whether it may be is the operator's affair
      if (!InRange(t)) {
        return InvalidModel("{}: its input #{} is tensor {}, but the subgraph has {}", Op(i), j, t,
                            n_tensors_);
      }
      const int maker = Maker(t);
      const bool available = maker == kNobody ? IsEmptyConstant(t) : maker < static_cast<int>(i);
      if (available) continue;
      const std::string problem =
          maker == kNobody ? "which has no data, is no input of the subgraph and is made by nobody"
          : maker == static_cast<int>(i)
              ? "which is its own output"
              : "which only operator #" + std::to_string(maker) + ", after it, makes";
      return InvalidModel("{} reads {}, {}", Op(i), TensorText(t), problem);
    }
    return Status::Ok();
  }

  bool IsEmptyConstant(int t) const {
    return HasNoElements(*subgraph_.tensors()->Get(static_cast<uint32_t>(t)));
  }

  Status VerifyGraphOutputs() {
    for (uint32_t i = 0; i < Size(subgraph_.outputs()); ++i) {
      const int t = subgraph_.outputs()->Get(i);
      if (!InRange(t)) {
        return InvalidModel("{}: its output #{} is tensor {}, but it has {}", Name(), i, t,
                            n_tensors_);
      }
      if (Maker(t) != kNobody || IsEmptyConstant(t)) continue;
      return InvalidModel("{}: its output #{} is {}, which has no data and is made by nobody",
                          Name(), i, TensorText(t));
    }
    return Status::Ok();
  }

  VerifyContext* context_;
  const schema::Model& model_;
  const int subgraph_index_;
  const schema::SubGraph& subgraph_;
  const int n_tensors_;
  std::vector<int> maker_;
};

}  // namespace

Status VerifyOperators(VerifyContext* context, int subgraph) {
  return GraphVerifier(context, subgraph).Verify();
}

}  // namespace topwork
