// AppendToModel: checks, then edits of the tables. An operator's version is the lowest that reads its
// types.
#include "models/format/append.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "models/format/constants.h"
#include "models/format/model_tables.h"
#include "models/format/parts.h"
#include "models/format/write_steps.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

// False for a table whose fields are not written here.
bool WriteFields(const AddedOp& op, const ModelTables& tables, TableLayout layout,
                 EditedTable* options) {
  const auto type_of = [&](int tensor) { return static_cast<int8_t>(tables.TypeOf(tensor)); };
  const int8_t activation = static_cast<int8_t>(op.activation);
  switch (layout) {
    case kConv2DOptions: {
      using Conv = schema::Conv2DOptions;
      options->Set(Conv::VT_PADDING, static_cast<int8_t>(schema::Padding::VALID), int8_t{0});
      options->Set<int32_t>(Conv::VT_STRIDE_W, 1, 0);
      options->Set<int32_t>(Conv::VT_STRIDE_H, 1, 0);
      options->Set<int8_t>(Conv::VT_FUSED_ACTIVATION_FUNCTION, activation, 0);
      return true;
    }
    case kFullyConnectedOptions:
      options->Set<uint8_t>(schema::FullyConnectedOptions::VT_KEEP_NUM_DIMS, op.keep_dims, 0);
      [[fallthrough]];
    case kAddOptions:  // these tables begin alike
    case kSubOptions:
    case kMulOptions:
    case kDivOptions:
    case kL2NormOptions:
      options->Set<int8_t>(schema::AddOptions::VT_FUSED_ACTIVATION_FUNCTION, activation, 0);
      return true;
    case kConcatenationOptions:
    case kGatherOptions:
      options->Set<int32_t>(schema::GatherOptions::VT_AXIS, op.axis, 0);
      return true;
    case kReducerOptions:
      options->Set<uint8_t>(schema::ReducerOptions::VT_KEEP_DIMS, op.keep_dims, 0);
      return true;
    case kCastOptions:
      options->Set<int8_t>(schema::CastOptions::VT_IN_DATA_TYPE, type_of(op.inputs[0]), 0);
      options->Set<int8_t>(schema::CastOptions::VT_OUT_DATA_TYPE, type_of(op.outputs[0]), 0);
      return true;
    case kArgMaxOptions:
      options->Set<int8_t>(schema::ArgMaxOptions::VT_OUTPUT_TYPE, type_of(op.outputs[0]), 0);
      return true;
    case kSoftmaxOptions:
      options->Set(schema::SoftmaxOptions::VT_BETA, 1.0f, 0.0f);
      return true;
    default:
      return false;
  }
}

// In the table that the operator's row names. RESHAPE has its target as an input.
bool WriteOptions(const AddedOp& op, const OpDef& def, const ModelTables& tables,
                  EditedOperator* out) {
  if (def.options2 != OptionsType2::kNone) return false;
  const TableLayout layout = AlternativeOf(kBuiltinOptions, static_cast<uint8_t>(def.options));
  if (layout == kNoLayout || layout == kReshapeOptions || FieldsOf(layout).size() == 0) return true;
  return WriteFields(op, tables, layout, out->NewOptions(layout));
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
    if (InsertOp(op, nullptr, tables) != nullptr) continue;
    return InvalidArgument("no {} can be appended to a model", OpCodeName(op.code));
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

// What computes a tensor that nothing reads any more.
void RemoveUnused(int tensor, ModelTables* tables) {
  const EditedOperator* producer = tables->ProducerOf(tensor);
  if (producer != nullptr && tables->CountUses(tensor) == 0) tables->RemoveWithInputs(producer);
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
  if (old >= 0) RemoveUnused(old, tables);
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
    RemoveUnused(tensor, tables);
  }
}

// Files, and the names of outputs where the model's metadata lists them.
void WriteNotes(const Model& model, const GraphAddition& addition, ModelTables* tables) {
  if (!kHasMetadata) return tables->DropNotes();
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
  std::vector<uint8_t> made(static_cast<size_t>(n), false);
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

// With the memory of a constant.
Result<Value> ValueOf(const AddedTensor& tensor) {
  Value value;
  value.name = tensor.name;
  value.dtype = tensor.dtype;
  for (int32_t dim : tensor.shape) {
    value.signature.Append(dim);
    value.shape.Append(std::abs(dim));
  }
  const StoredConstant& constant = tensor.constant;
  if (constant.bytes.empty()) return value;
  if (!constant.scales.empty()) {
    return InvalidArgument("the constant '{}' has scales", tensor.name);
  }
  value.dtype = constant.dtype;
  TW_ASSIGN_OR_RETURN(Buffer buffer,
                      Buffer::Allocate(constant.bytes.size(), "a constant of a head"));
  std::copy(constant.bytes.begin(), constant.bytes.end(), buffer.as<uint8_t>());
  value.owned = std::make_shared<Buffer>(std::move(buffer));
  value.data = value.owned->data();
  return value;
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

EditedOperator* InsertOp(const AddedOp& op, const EditedOperator* before, ModelTables* tables) {
  const OpDef* def = FindOp(op.code);
  if (def == nullptr) return nullptr;
  const int version = IsDequantize(op.code) ? DequantizeVersion(tables->TypeOf(op.inputs[0]))
                      : op.keep_dims && def->head == HeadRole::kDense ? 5
                                                                      : 1;
  EditedOperator* out = tables->InsertOp(op.code, version, op.inputs, op.outputs, before);
  return WriteOptions(op, *def, *tables, out) ? out : nullptr;
}

Result<std::shared_ptr<const Model>> ExtendModel(std::shared_ptr<const Model> model,
                                                 const GraphAddition& addition) {
  TW_RETURN_IF_ERROR(CheckAddition(*model, addition));
  Graph graph = model->main();
  for (const AddedTensor& tensor : addition.tensors) {
    TW_ASSIGN_OR_RETURN(Value value, ValueOf(tensor));
    graph.values.push_back(std::move(value));
  }
  for (const AddedOp& added : addition.ops) {
    Op op;
    op.code = added.code;
    op.def = FindOp(added.code);
    if (op.def == nullptr) {
      return Unsupported("this library was built without {}", OpCodeName(added.code));
    }
    op.params.activation = added.activation;
    op.params.axis = added.axis;
    op.params.keep_dims = added.keep_dims;
    op.params.beta = 1.0f;
    op.inputs = added.inputs;
    op.outputs = added.outputs;
    graph.ops.push_back(std::move(op));
  }
  for (const AddedOutput& output : addition.outputs) graph.outputs.push_back(output.tensor);
  return Model::WithGraph(std::move(model), std::move(graph));
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
