// AppendToModel: checks, then edits of the tables. An operator's version is the lowest that reads its
// types.
#include "models/format/append.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "models/format/model_tables.h"
#include "models/format/write_steps.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

void WriteActivation(const AddedOp& op, int vt, EditedTable* options) {
  options->Set<int8_t>(vt, static_cast<int8_t>(op.activation), 0);
}

void WriteConvolution(const AddedOp& op, EditedOperator* out) {
  using Options = schema::Conv2DOptions;
  EditedTable* options = out->NewOptions(kConv2DOptions);
  options->Set(Options::VT_PADDING, static_cast<int8_t>(schema::Padding::VALID), int8_t{0});
  options->Set<int32_t>(Options::VT_STRIDE_W, 1, 0);
  options->Set<int32_t>(Options::VT_STRIDE_H, 1, 0);
  WriteActivation(op, Options::VT_FUSED_ACTIVATION_FUNCTION, options);
}

void WriteDense(const AddedOp& op, EditedOperator* out) {
  using Options = schema::FullyConnectedOptions;
  EditedTable* options = out->NewOptions(kFullyConnectedOptions);
  options->Set<uint8_t>(Options::VT_KEEP_NUM_DIMS, op.keep_dims ? 1 : 0, 0);
  WriteActivation(op, Options::VT_FUSED_ACTIVATION_FUNCTION, options);
}

void WriteCast(const AddedOp& op, const ModelTables& tables, EditedOperator* out) {
  using Options = schema::CastOptions;
  EditedTable* options = out->NewOptions(kCastOptions);
  options->Set(Options::VT_IN_DATA_TYPE, static_cast<int8_t>(tables.TypeOf(op.inputs[0])),
               int8_t{0});
  options->Set(Options::VT_OUT_DATA_TYPE, static_cast<int8_t>(tables.TypeOf(op.outputs[0])),
               int8_t{0});
}

// False for an operator whose options are not written here.
bool WriteOptions(const AddedOp& op, ModelTables* tables, EditedOperator* out) {
  switch (op.code) {
    case OpCode::kConv2d:
      WriteConvolution(op, out);
      return true;
    case OpCode::kFullyConnected:
      WriteDense(op, out);
      return true;
    case OpCode::kAdd:
      WriteActivation(op, schema::AddOptions::VT_FUSED_ACTIVATION_FUNCTION,
                      out->NewOptions(kAddOptions));
      return true;
    case OpCode::kSub:
      WriteActivation(op, schema::SubOptions::VT_FUSED_ACTIVATION_FUNCTION,
                      out->NewOptions(kSubOptions));
      return true;
    case OpCode::kMul:
      WriteActivation(op, schema::MulOptions::VT_FUSED_ACTIVATION_FUNCTION,
                      out->NewOptions(kMulOptions));
      return true;
    case OpCode::kDiv:
      WriteActivation(op, schema::DivOptions::VT_FUSED_ACTIVATION_FUNCTION,
                      out->NewOptions(kDivOptions));
      return true;
    case OpCode::kL2Normalization:
      WriteActivation(op, schema::L2NormOptions::VT_FUSED_ACTIVATION_FUNCTION,
                      out->NewOptions(kL2NormOptions));
      return true;
    case OpCode::kConcatenation:
      out->NewOptions(kConcatenationOptions)
          ->Set<int32_t>(schema::ConcatenationOptions::VT_AXIS, op.axis, 0);
      return true;
    case OpCode::kGather:
      out->NewOptions(kGatherOptions)->Set<int32_t>(schema::GatherOptions::VT_AXIS, op.axis, 0);
      return true;
    case OpCode::kSum:
    case OpCode::kMean:
    case OpCode::kReduceMax:
    case OpCode::kReduceMin:
      out->NewOptions(kReducerOptions)
          ->Set<uint8_t>(schema::ReducerOptions::VT_KEEP_DIMS, op.keep_dims ? 1 : 0, 0);
      return true;
    case OpCode::kCast:
      WriteCast(op, *tables, out);
      return true;
    case OpCode::kArgMax:
      out->NewOptions(kArgMaxOptions)
          ->Set(schema::ArgMaxOptions::VT_OUTPUT_TYPE,
                static_cast<int8_t>(schema::TensorType::INT32), int8_t{0});
      return true;
    case OpCode::kSoftmax:
      MakeActivation(FinalActivation::kSoftmax, DType::kFloat32, out, tables);
      return true;
    case OpCode::kReshape:
    case OpCode::kDequantize:
    case OpCode::kExp:
    case OpCode::kLog:
    case OpCode::kSqrt:
    case OpCode::kRsqrt:
    case OpCode::kNeg:
    case OpCode::kMaximum:
    case OpCode::kMinimum:
    case OpCode::kLogistic:
    case OpCode::kRelu:
    case OpCode::kTanh:
    case OpCode::kTopkV2:
    case OpCode::kSelectV2:
    case OpCode::kLess:
    case OpCode::kLessEqual:
    case OpCode::kGreater:
    case OpCode::kGreaterEqual:
    case OpCode::kEqual:
    case OpCode::kNotEqual:
    case OpCode::kLogicalAnd:
    case OpCode::kLogicalOr:
    case OpCode::kLogicalNot:
      return true;
    default:
      return false;
  }
}

int VersionOf(const AddedOp& op, const ModelTables& tables) {
  if (op.code == OpCode::kDequantize) return DequantizeVersion(tables.TypeOf(op.inputs[0]));
  return op.code == OpCode::kFullyConnected && op.keep_dims ? 5 : 1;
}

void AddTensors(const std::vector<AddedTensor>& added, ModelTables* tables) {
  for (const AddedTensor& tensor : added) {
    std::vector<int32_t> shape = tensor.shape;
    std::replace(shape.begin(), shape.end(), -1, 1);
    const bool constant = !tensor.constant.bytes.empty();
    const DType dtype = constant ? tensor.constant.dtype : tensor.dtype;
    const int i = tables->AddTensor(tensor.name, dtype, shape);
    if (constant) tables->SetConstant(i, shape, tensor.constant);
    if (shape != tensor.shape) tables->tensor(i)->shape_signature = tensor.shape;
  }
}

Status AddOps(const std::vector<AddedOp>& ops, ModelTables* tables) {
  for (const AddedOp& op : ops) {
    EditedOperator* out =
        tables->InsertOp(op.code, VersionOf(op, *tables), op.inputs, op.outputs, nullptr);
    if (!WriteOptions(op, tables, out)) {
      return InvalidArgument("no {} can be appended to a model", OpCodeName(op.code));
    }
  }
  return Status::Ok();
}

using Entries = std::vector<EditedSignature::Entry>;

std::string FreeName(const Entries& entries, const std::string& name) {
  std::string candidate = name;
  for (int i = 1; std::any_of(entries.begin(), entries.end(),
                              [&](const auto& e) { return e.name == candidate; });
       ++i) {
    candidate = StrFormat("{}_{}", name, i);
  }
  return candidate;
}

// `old`: the tensor whose place the output takes; −1: none.
void AddToSignature(const AddedOutput& output, int old, Entries* entries) {
  const auto found = std::find_if(entries->begin(), entries->end(), [&](const auto& e) {
    return old >= 0 && e.tensor_index == static_cast<uint32_t>(old);
  });
  const uint32_t tensor = static_cast<uint32_t>(output.tensor);
  if (found == entries->end()) {
    entries->push_back({FreeName(*entries, output.name), tensor});
    return;
  }
  found->name.clear();
  *found = {FreeName(*entries, output.name), tensor};
}

void AddOutput(const AddedOutput& output, ModelTables* tables) {
  int old = -1;
  std::vector<int32_t>& outputs = tables->main()->outputs;
  if (output.replaces < 0) {
    outputs.push_back(output.tensor);
  } else {
    std::swap(old, outputs[static_cast<size_t>(output.replaces)]);
    outputs[static_cast<size_t>(output.replaces)] = output.tensor;
  }
  for (EditedSignature& def : tables->signatures()) {
    if (def.subgraph_index == tables->main_index()) AddToSignature(output, old, &def.outputs);
  }
}

// Later ones first, so that the positions hold.
void RemoveOutputs(std::vector<int> removed, ModelTables* tables) {
  std::sort(removed.rbegin(), removed.rend());
  std::vector<int32_t>& outputs = tables->main()->outputs;
  for (int i : removed) {
    const int tensor = outputs[static_cast<size_t>(i)];
    outputs.erase(outputs.begin() + i);
    for (EditedSignature& def : tables->signatures()) {
      if (def.subgraph_index != tables->main_index()) continue;
      def.outputs.erase(std::remove_if(def.outputs.begin(), def.outputs.end(),
                                       [&](const auto& entry) {
                                         return entry.tensor_index == static_cast<uint32_t>(tensor);
                                       }),
                        def.outputs.end());
    }
    const EditedOperator* producer = tables->ProducerOf(tensor);
    if (producer != nullptr && tables->CountUses(tensor) == 0) tables->RemoveWithInputs(producer);
  }
}

// Files, and the names of outputs where the model's metadata lists them.
void WriteNotes(const Model& model, const GraphAddition& addition, ModelTables* tables) {
  ModelNotes notes = tables->Notes();
  for (const AssociatedFile& added : addition.files) {
    auto& files = notes.files;
    files.erase(std::remove_if(files.begin(), files.end(),
                               [&](const auto& old) { return old.name == added.name; }),
                files.end());
    if (!added.content.empty()) files.push_back(added);
  }
  if (model.main_index() == 0) {
    const size_t n_kept = model.main().outputs.size() - addition.removed_outputs.size();
    std::vector<std::string> names;
    for (const AddedOutput& output : addition.outputs) {
      if (output.replaces < 0) names.push_back(output.name);
    }
    ListOutputs(addition.removed_outputs, static_cast<int>(n_kept), names, &notes);
  }
  tables->SetNotes(std::move(notes));
}

Status CheckTensor(const AddedTensor& tensor) {
  int64_t n = 1;
  for (int32_t dim : tensor.shape) n *= dim;
  const StoredConstant& constant = tensor.constant;
  if (constant.bytes.empty()) return Status::Ok();
  const int64_t bits = n * DTypeBits(constant.dtype);
  if (n > 0 && static_cast<int64_t>(constant.bytes.size()) * 8 == bits) return Status::Ok();
  return InvalidArgument("the constant '{}' has {} bytes, which are not those of its shape",
                         tensor.name, constant.bytes.size());
}

Status CheckOps(const GraphAddition& addition) {
  const int n = addition.n_before + static_cast<int>(addition.tensors.size());
  std::vector<bool> made(static_cast<size_t>(n), false);
  for (int i = 0; i < n; ++i) {
    const int added = i - addition.n_before;
    made[static_cast<size_t>(i)] =
        added < 0 || !addition.tensors[static_cast<size_t>(added)].constant.bytes.empty();
  }
  for (const AddedOp& op : addition.ops) {
    bool valid = !op.inputs.empty() && op.inputs[0] >= 0 && !op.outputs.empty();
    for (int i : op.inputs)
      valid = valid && i >= -1 && i < n && (i < 0 || made[static_cast<size_t>(i)]);
    for (int i : op.outputs) {
      valid = valid && i >= 0 && i < n && !made[static_cast<size_t>(i)];
      if (valid) made[static_cast<size_t>(i)] = true;
    }
    if (valid) continue;
    return InvalidArgument(
        "an appended {} reads a tensor that is not there yet, or writes one that is",
        OpCodeName(op.code));
  }
  for (const AddedOutput& output : addition.outputs) {
    if (output.tensor < 0 || output.tensor >= n || !made[static_cast<size_t>(output.tensor)]) {
      return InvalidArgument("output '{}' is tensor #{}, which nothing computes", output.name,
                             output.tensor);
    }
  }
  return Status::Ok();
}

Status NoOutput(const Model& model, int output) {
  return InvalidArgument("output #{} does not exist, the model has {}", output,
                         model.main().outputs.size());
}

Status CheckAddition(const Model& model, const GraphAddition& addition) {
  if (addition.n_before != static_cast<int>(model.main().values.size())) {
    return InvalidArgument("the addition was made for another model");
  }
  for (const AddedTensor& tensor : addition.tensors) TW_RETURN_IF_ERROR(CheckTensor(tensor));
  for (const AddedOutput& output : addition.outputs) {
    if (output.replaces < static_cast<int>(model.main().outputs.size())) continue;
    return NoOutput(model, output.replaces);
  }
  for (int i : addition.removed_outputs) {
    if (i < 0 || i >= static_cast<int>(model.main().outputs.size())) return NoOutput(model, i);
  }
  return CheckOps(addition);
}

}  // namespace

int GraphAddition::Add(AddedTensor tensor) {
  tensors.push_back(std::move(tensor));
  return n_before + static_cast<int>(tensors.size()) - 1;
}

int GraphAddition::Floats(const std::string& name, const std::vector<int32_t>& shape,
                          Span<const float> values) {
  return Add({name, DType::kFloat32, shape, StoreFloats(values)});
}

int GraphAddition::Ints(const std::string& name, const std::vector<int32_t>& shape,
                        Span<const int32_t> values) {
  StoredConstant constant;
  constant.dtype = DType::kInt32;
  constant.bytes.resize(values.size() * sizeof(int32_t));
  std::memcpy(constant.bytes.data(), values.data(), constant.bytes.size());
  return Add({name, DType::kInt32, shape, std::move(constant)});
}

int GraphAddition::Op(OpCode code, const std::vector<int>& inputs, const std::string& name,
                      DType dtype, const std::vector<int32_t>& shape) {
  const int result = Add({name, dtype, shape, {}});
  AddedOp op;
  op.code = code;
  op.inputs = inputs;
  op.outputs = {result};
  ops.push_back(std::move(op));
  return result;
}

Result<std::vector<uint8_t>> AppendToModel(const Model& model, const GraphAddition& addition) {
  TW_RETURN_IF_ERROR(CheckAddition(model, addition));
  ModelTables tables(model);
  AddTensors(addition.tensors, &tables);
  TW_RETURN_IF_ERROR(AddOps(addition.ops, &tables));
  // New outputs come behind the others, whose positions hold until some are removed.
  for (const AddedOutput& output : addition.outputs) AddOutput(output, &tables);
  RemoveOutputs(addition.removed_outputs, &tables);
  WriteNotes(model, addition, &tables);
  return tables.Pack();
}

}  // namespace topwork
