// From the last layer to the output: number of classes, types, scales and the final activation.
//
// Integers follow the rules of the public format: SOFTMAX and LOGISTIC give scale 1/256 (int8 with
// zero point −128, uint8 with 0) or 1/32768 (int16), LOG_SOFTMAX 16/256 with the largest number as
// zero point; scores have the scale of their range.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "models/format/constants.h"
#include "models/format/write_steps.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

constexpr OpCode kScores = OpCode::kCustom;  // no activation: values are scores

bool IsActivation(OpCode code) {
  const OpDef* def = FindOp(code);
  return def != nullptr && def->head == HeadRole::kScores;
}

// False when no rule exists. The operator's row has the scale of int8; of 16 bits there is none for
// logarithms.
bool FixedScale(OpCode activation, DType dtype, Affine* out) {
  *out = FindOp(activation)->integer_scale;
  const bool probabilities = out->zero_point == -128;
  if (dtype == DType::kInt8) return true;
  if (dtype == DType::kUInt8) {
    out->zero_point += 128;
    return true;
  }
  *out = {1.0f / 32768.0f, 0};
  return dtype == DType::kInt16 && probabilities;
}

// Turns `op` into the activation, for values of type `input`.
void MakeActivation(FinalActivation activation, DType input, EditedOperator* op,
                    ModelTables* tables) {
  const int version = input == DType::kInt8 ? 2 : input == DType::kInt16 ? 3 : 1;
  op->ClearOptions();
  if (activation == FinalActivation::kSoftmax) {
    op->NewOptions(kSoftmaxOptions)->Set(schema::SoftmaxOptions::VT_BETA, 1.0f, 0.0f);
  } else if (activation == FinalActivation::kLogSoftmax) {
    op->NewOptions(kLogSoftmaxOptions);
  }
  tables->SetCode(op, CodeFor(activation), version);
}

class TailWriter {
 public:
  TailWriter(const HeadReplacement& head, ModelTables* tables) : head_(head), tables_(*tables) {
    ops_.push_back(tables->op(head.op));
    for (int i : head.tail) ops_.push_back(tables->op(i));
  }

  Status Write(const HeadFormat& format) {
    old_classes_ = tables_.tensor(ops_[0]->outputs[0])->shape.empty()
                       ? 0
                       : tables_.tensor(ops_[0]->outputs[0])->shape.back();
    FoldBias();
    FitActivation();
    if (!IsInteger(format.storage) && OutType(*ops_[0]) != DType::kFloat32) MakeReal();
    for (EditedOperator* op : ops_) TW_RETURN_IF_ERROR(Finish(op));
    return Status::Ok();
  }

 private:
  DType OutType(const EditedOperator& op) const { return tables_.TypeOf(op.outputs[0]); }
  void Unlink(size_t k);
  void FoldBias();
  void FitActivation();
  void AddActivation();
  void RemoveActivation(size_t k);
  void MakeReal();
  void Quantize(EditedOperator* op);
  Status Finish(EditedOperator* op);
  Status SetScale(const EditedOperator& op);
  void SetClasses(std::vector<int32_t>* dims) const;
  void FoldTarget(EditedOperator* reshape);
  void ReplaceTarget(EditedOperator* reshape);
  void FixSqueeze(EditedOperator* squeeze);

  const HeadReplacement& head_;
  ModelTables& tables_;
  std::vector<EditedOperator*> ops_;  // the layer, then its tail
  int old_classes_ = 0;
  bool same_activation_ = true;
  OpCode meaning_ = kScores;  // the activation passed so far
};

// Whatever makes the operator's input makes its output.
void TailWriter::Unlink(size_t k) {
  ops_[k - 1]->outputs[0] = ops_[k]->outputs[0];
  tables_.RemoveWithInputs(ops_[k]);
  ops_.erase(ops_.begin() + static_cast<ptrdiff_t>(k));
}

// The layer's bias holds what an ADD added.
void TailWriter::FoldBias() {
  for (size_t k = ops_.size(); k-- > 1;) {
    if (tables_.CodeOf(*ops_[k]) == OpCode::kAdd) Unlink(k);
  }
}

void TailWriter::FitActivation() {
  const auto found = std::find_if(ops_.begin() + 1, ops_.end(), [&](const EditedOperator* op) {
    return IsActivation(tables_.CodeOf(*op));
  });
  const bool wanted = head_.activation != FinalActivation::kNone;
  if (found == ops_.end()) {
    same_activation_ = !wanted;
    if (wanted) AddActivation();
    return;
  }
  same_activation_ = wanted && tables_.CodeOf(**found) == CodeFor(head_.activation);
  if (same_activation_) return;
  if (wanted) {
    MakeActivation(head_.activation, tables_.TypeOf((*found)->inputs[0]), *found, &tables_);
  } else {
    RemoveActivation(static_cast<size_t>(found - ops_.begin()));
  }
}

// Behind the last operator, whose result becomes a new tensor: the output keeps its index and name.
void TailWriter::AddActivation() {
  EditedOperator* last = ops_.back();
  const int output = last->outputs[0];
  const int scores = tables_.CopyTensor(output);
  tables_.tensor(scores)->name += "/scores";
  last->outputs[0] = scores;
  ops_.push_back(InsertActivation(head_.activation, scores, output, last, &tables_));
}

// Whatever made its input makes its output; where the two differ in type it becomes a QUANTIZE.
void TailWriter::RemoveActivation(size_t k) {
  EditedOperator* op = ops_[k];
  if (tables_.TypeOf(op->inputs[0]) != OutType(*op)) {
    tables_.SetCode(op, OpCode::kQuantize, 2);
    op->ClearOptions();
    return;
  }
  Unlink(k);
}

// The layer has come to compute in real numbers: so does all after it, to the first QUANTIZE, or
// to one that is put in front of an output of integers.
void TailWriter::MakeReal() {
  for (size_t k = 0; k < ops_.size(); ++k) {
    EditedOperator* op = ops_[k];
    const OpCode code = tables_.CodeOf(*op);
    if (IsDequantize(code)) {
      Unlink(k);
      return;
    }
    if (IsConversion(code)) {
      tables_.SetCode(op, code, OutType(*op) == DType::kInt16 ? 2 : 1);
      return;
    }
    if (k > 0) tables_.SetCode(op, code, 1);
    if (k + 1 == ops_.size()) {
      Quantize(op);
      return;
    }
    EditedTensor* out = tables_.tensor(op->outputs[0]);
    out->type = DType::kFloat32;
    out->ClearQuantization();
  }
}

void TailWriter::Quantize(EditedOperator* op) {
  const int output = op->outputs[0];
  const int real = tables_.CopyTensor(output);
  tables_.tensor(real)->name += "/real";
  tables_.tensor(real)->type = DType::kFloat32;
  tables_.tensor(real)->ClearQuantization();
  op->outputs[0] = real;
  ops_.push_back(tables_.InsertConversionBehind(real, output, op));
}

Status TailWriter::SetScale(const EditedOperator& op) {
  const int output = op.outputs[0];
  const DType dtype = tables_.TypeOf(output);
  EditedTensor* t = tables_.tensor(output);
  if (dtype == DType::kFloat32) {
    t->ClearQuantization();  // the range of the old scores
    return Status::Ok();
  }
  const OpCode code = tables_.CodeOf(op);
  if (meaning_ != kScores && same_activation_ && t->quantization() != nullptr) {
    return Status::Ok();
  }
  Affine affine;
  const bool from_other = IsActivation(code) && tables_.TypeOf(op.inputs[0]) != dtype;
  const bool narrow = dtype == DType::kInt8 || dtype == DType::kUInt8 || dtype == DType::kInt16;
  const bool fits =
      narrow && !from_other && (meaning_ == kScores || FixedScale(meaning_, dtype, &affine));
  if (!fits) {
    return Unsupported(
        "{} gives {} in {}, for which there is no scale once the head is changed: "
        "give float_head, or keep the final activation",
        OpCodeName(meaning_ == kScores ? code : meaning_), t->name, DTypeName(dtype));
  }
  if (meaning_ == kScores) {
    if (!std::isfinite(head_.scores_min) || !std::isfinite(head_.scores_max) ||
        !(head_.scores_min < head_.scores_max)) {
      return InvalidArgument(
          "'{}' holds the scores in {} and needs their range, scores_min to scores_max, which is "
          "{} to {}",
          t->name, DTypeName(dtype), head_.scores_min, head_.scores_max);
    }
    affine = ScaleOfRange(dtype, head_.scores_min, head_.scores_max);
  }
  tables_.SetScale(output, affine);
  return Status::Ok();
}

// The last of `dims` counts classes unless it is −1, "whatever remains".
void TailWriter::SetClasses(std::vector<int32_t>* dims) const {
  if (!dims->empty() && dims->back() == old_classes_) dims->back() = head_.n_classes;
}

// The target that was computed becomes a tensor of its own, and what computed it goes.
void TailWriter::FoldTarget(EditedOperator* reshape) {
  const int computed = reshape->inputs[1];
  const EditedOperator* producer = tables_.ProducerOf(computed);
  reshape->inputs[1] = tables_.CopyTensor(computed);
  if (producer != nullptr && tables_.CountUses(computed) == 0) tables_.RemoveWithInputs(producer);
}

void TailWriter::ReplaceTarget(EditedOperator* reshape) {
  if (EditedTable* options = reshape->Options(kReshapeOptions)) {
    const int vt = schema::ReshapeOptions::VT_NEW_SHAPE;
    std::vector<int32_t> new_shape = options->List<int32_t>(vt);
    SetClasses(&new_shape);
    options->SetList(vt, new_shape);
  }
  if (reshape->inputs.size() < 2 || reshape->inputs[1] < 0) return;
  const Span<const uint8_t> old = tables_.Data(reshape->inputs[1]);
  if (old.empty()) FoldTarget(reshape);
  std::vector<int32_t> dims(old.size() / sizeof(int32_t));
  if (old.empty()) {
    dims = tables_.tensor(reshape->outputs[0])->shape;
    if (dims.size() > 1) dims[0] = -1;
  } else {
    std::memcpy(dims.data(), old.data(), dims.size() * sizeof(int32_t));
  }
  SetClasses(&dims);
  StoredConstant stored;
  stored.dtype = DType::kInt32;
  stored.bytes.resize(dims.size() * sizeof(int32_t));
  std::memcpy(stored.bytes.data(), dims.data(), stored.bytes.size());
  const int target = tables_.OwnInput(reshape, 1);
  tables_.SetConstant(target, {static_cast<int32_t>(dims.size())}, stored);
}

// A SQUEEZE of all dimensions of 1 must not take the class dimension when that becomes 1.
void TailWriter::FixSqueeze(EditedOperator* squeeze) {
  const int vt = schema::SqueezeOptions::VT_SQUEEZE_DIMS;
  EditedTable* options = squeeze->Options(kSqueezeOptions);
  const std::vector<int32_t>& shape = tables_.tensor(squeeze->inputs[0])->shape;
  if (options == nullptr || options->Has(vt) || head_.n_classes != 1) return;
  std::vector<int32_t> dims;
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    if (shape[i] == 1) dims.push_back(static_cast<int32_t>(i));
  }
  options->SetList(vt, dims);
}

Status TailWriter::Finish(EditedOperator* op) {
  const OpCode code = tables_.CodeOf(*op);
  if (IsActivation(code)) meaning_ = code;
  if (code == OpCode::kReshape) ReplaceTarget(op);
  if (code == OpCode::kSqueeze) FixSqueeze(op);
  EditedTensor* t = tables_.tensor(op->outputs[0]);
  SetClasses(&t->shape);
  SetClasses(&t->shape_signature);
  return SetScale(*op);
}

}  // namespace

bool KeepsDimensions(EditedOperator* op) {
  const EditedTable* options = op->Options(kFullyConnectedOptions);
  return options != nullptr &&
         options->Get<uint8_t>(schema::FullyConnectedOptions::VT_KEEP_NUM_DIMS, 0) != 0;
}

EditedOperator* InsertActivation(FinalActivation activation, int scores, int result,
                                 const EditedOperator* layer, ModelTables* tables) {
  EditedOperator* op = tables->InsertOpBehind(CodeFor(activation), 1, {scores}, {result}, layer);
  MakeActivation(activation, tables->TypeOf(scores), op, tables);
  return op;
}

Status WriteTail(const HeadReplacement& head, const HeadFormat& format, ModelTables* tables) {
  return TailWriter(head, tables).Write(format);
}

}  // namespace topwork
