// ModelTables: reading the tables, and the edits of tensors and operators.
#include "models/format/model_tables.h"

#include <algorithm>
#include <utility>

#include "models/format/verify_context.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

using Code = schema::OperatorCode;
using TensorVt = schema::Tensor;
using OperatorVt = schema::Operator;

constexpr char kMetadataName[] = "TFLITE_METADATA";

bool IsNotes(const EditedTable& entry) {
  return entry.Text(schema::Metadata::VT_NAME) == kMetadataName;
}

OpCode CodeIn(const EditedTable& code) {
  return static_cast<OpCode>(std::max<int>(code.Get<int32_t>(Code::VT_BUILTIN_CODE, 0),
                                           code.Get<int8_t>(Code::VT_DEPRECATED_BUILTIN_CODE, 0)));
}

int VersionIn(const EditedTable& code) { return code.Get<int32_t>(Code::VT_VERSION, 1); }

EditedTensor ReadTensor(EditedTable table) {
  EditedTensor tensor;
  tensor.name = table.Text(TensorVt::VT_NAME);
  tensor.type = static_cast<DType>(table.Get<int8_t>(TensorVt::VT_TYPE, 0));
  tensor.shape = table.List<int32_t>(TensorVt::VT_SHAPE);
  tensor.shape_signature = table.List<int32_t>(TensorVt::VT_SHAPE_SIGNATURE);
  tensor.buffer = table.Get<uint32_t>(TensorVt::VT_BUFFER, 0);
  tensor.table = std::move(table);
  return tensor;
}

// Options beyond 2 GiB move into the operator's own table.
EditedOperator ReadOperator(EditedTable table, Span<const uint8_t> bytes) {
  EditedOperator op;
  op.opcode_index = table.Get<uint32_t>(OperatorVt::VT_OPCODE_INDEX, 0);
  op.inputs = table.List<int32_t>(OperatorVt::VT_INPUTS);
  op.outputs = table.List<int32_t>(OperatorVt::VT_OUTPUTS);
  op.intermediates = table.List<int32_t>(OperatorVt::VT_INTERMEDIATES);
  const uint64_t offset = table.Get<uint64_t>(OperatorVt::VT_LARGE_CUSTOM_OPTIONS_OFFSET, 0);
  if (offset > 1) {
    const uint64_t size = table.Get<uint64_t>(OperatorVt::VT_LARGE_CUSTOM_OPTIONS_SIZE, 0);
    table.SetView(OperatorVt::VT_CUSTOM_OPTIONS,
                  bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(size)));
    table.Clear(OperatorVt::VT_LARGE_CUSTOM_OPTIONS_OFFSET);
    table.Clear(OperatorVt::VT_LARGE_CUSTOM_OPTIONS_SIZE);
  }
  op.table = std::move(table);
  return op;
}

EditedSubgraph ReadSubgraph(EditedTable table, Span<const uint8_t> bytes) {
  EditedSubgraph subgraph;
  for (EditedTable& tensor : table.Tables(schema::SubGraph::VT_TENSORS)) {
    subgraph.tensors.push_back(std::make_unique<EditedTensor>(ReadTensor(std::move(tensor))));
  }
  for (EditedTable& op : table.Tables(schema::SubGraph::VT_OPERATORS)) {
    subgraph.operators.push_back(
        std::make_unique<EditedOperator>(ReadOperator(std::move(op), bytes)));
  }
  subgraph.inputs = table.List<int32_t>(schema::SubGraph::VT_INPUTS);
  subgraph.outputs = table.List<int32_t>(schema::SubGraph::VT_OUTPUTS);
  subgraph.table = std::move(table);
  return subgraph;
}

std::vector<EditedSignature::Entry> ReadEntries(const std::vector<EditedTable>& tables) {
  std::vector<EditedSignature::Entry> entries;
  for (const EditedTable& table : tables) {
    entries.push_back({table.Text(schema::TensorMap::VT_NAME),
                       table.Get<uint32_t>(schema::TensorMap::VT_TENSOR_INDEX, 0)});
  }
  return entries;
}

}  // namespace

EditedTable* EditedOperator::Options(TableLayout layout) {
  EditedTable* options = table.Table(OperatorVt::VT_BUILTIN_OPTIONS);
  return options != nullptr && options->layout() == layout ? options : nullptr;
}

EditedTable* EditedOperator::NewOptions(TableLayout layout) {
  return table.NewTable(OperatorVt::VT_BUILTIN_OPTIONS, layout);
}

void EditedOperator::ClearOptions() { table.ClearUnion(OperatorVt::VT_BUILTIN_OPTIONS); }

EditedTable* EditedTensor::quantization() { return table.Table(TensorVt::VT_QUANTIZATION); }

void EditedTensor::ClearQuantization() { table.Clear(TensorVt::VT_QUANTIZATION); }

bool EditedTensor::is_variable() const {
  return table.Get<uint8_t>(TensorVt::VT_IS_VARIABLE, 0) != 0;
}

bool EditedTensor::is_sparse() const { return table.Has(TensorVt::VT_SPARSITY); }

ModelTables::ModelTables(const Model& model) : source_(model) {
  using M = schema::Model;
  root_ = schema::GetModel(model.bytes().data());
  model_ = EditedTable(kModel, root_);
  codes_ = std::move(model_.Tables(M::VT_OPERATOR_CODES));
  metadata_ = std::move(model_.Tables(M::VT_METADATA));
  for (EditedTable& subgraph : model_.Tables(M::VT_SUBGRAPHS)) {
    subgraphs_.push_back(ReadSubgraph(std::move(subgraph), model.bytes()));
  }
  for (EditedTable& table : model_.Tables(M::VT_SIGNATURE_DEFS)) {
    using S = schema::SignatureDef;
    signatures_.emplace_back();
    EditedSignature& signature = signatures_.back();
    signature.subgraph_index = table.Get<uint32_t>(S::VT_SUBGRAPH_INDEX, 0);
    signature.inputs = ReadEntries(table.Tables(S::VT_INPUTS));
    signature.outputs = ReadEntries(table.Tables(S::VT_OUTPUTS));
    signature.table = std::move(table);
  }
  files_ = model.associated_files();
  main_index_ = static_cast<uint32_t>(model.main_index());
  main_ = &subgraphs_[main_index_];
  const uint32_t n_buffers = root_->buffers() == nullptr ? 0 : root_->buffers()->size();
  if (n_buffers == 0) buffers_.emplace_back();
  for (uint32_t i = 0; i < n_buffers; ++i) {
    buffers_.push_back(BufferBytes(*root_, model.bytes(), i));
  }
  metadata_buffer_ = model_.List<int32_t>(M::VT_METADATA_BUFFER);
  for (const auto& op : main_->operators) ops_.push_back(op.get());
  used_before_ = UsedTensors();
}

ModelTables::~ModelTables() = default;

int ModelTables::n_tensors() const { return static_cast<int>(main_->tensors.size()); }

EditedTensor* ModelTables::tensor(int i) const {
  return main_->tensors[static_cast<size_t>(i)].get();
}

OpCode ModelTables::CodeOf(const EditedOperator& op) const {
  return CodeIn(codes_[op.opcode_index]);
}

int ModelTables::VersionOf(const EditedOperator& op) const {
  return VersionIn(codes_[op.opcode_index]);
}

DType ModelTables::TypeOf(int i) const { return tensor(i)->type; }

Span<const uint8_t> ModelTables::Data(int i) const { return buffers_[tensor(i)->buffer]; }

EditedOperator* ModelTables::ProducerOf(int i) const {
  for (const auto& op : main_->operators) {
    if (std::find(op->outputs.begin(), op->outputs.end(), i) != op->outputs.end()) return op.get();
  }
  return nullptr;
}

int64_t ModelTables::CountUses(int i) const {
  int64_t n = std::count(main_->outputs.begin(), main_->outputs.end(), i) +
              std::count(main_->inputs.begin(), main_->inputs.end(), i);
  for (const auto& op : main_->operators) {
    n += std::count(op->inputs.begin(), op->inputs.end(), i);
  }
  return n;
}

int ModelTables::AddTensor(const std::string& name, DType dtype,
                           const std::vector<int32_t>& shape) {
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(main_->tensors.begin(), main_->tensors.end(),
                       [&](const auto& t) { return t->name == candidate; });
  };
  auto tensor = std::make_unique<EditedTensor>();
  tensor->name = name;
  for (int i = 1; taken(tensor->name); ++i) tensor->name = StrFormat("{}_{}", name, i);
  tensor->type = dtype;
  tensor->shape = shape;
  main_->tensors.push_back(std::move(tensor));
  return n_tensors() - 1;
}

int ModelTables::CopyTensor(int i) {
  main_->tensors.push_back(std::make_unique<EditedTensor>(*tensor(i)));
  return n_tensors() - 1;
}

int ModelTables::OwnInput(EditedOperator* op, size_t input) {
  const int old = op->inputs[input];
  if (CountUses(old) > 1) op->inputs[input] = CopyTensor(old);
  return op->inputs[input];
}

uint32_t ModelTables::NewBuffer(const void* data, size_t bytes) {
  const uint8_t* begin = static_cast<const uint8_t*>(data);
  new_buffers_.push_back(std::make_unique<std::vector<uint8_t>>(begin, begin + bytes));
  buffers_.push_back(*new_buffers_.back());
  return static_cast<uint32_t>(buffers_.size() - 1);
}

void ModelTables::SetConstant(int i, const std::vector<int32_t>& shape,
                              const StoredConstant& stored) {
  EditedTensor* t = tensor(i);
  t->shape = shape;
  t->shape_signature.clear();
  t->type = stored.dtype;
  t->table.Clear(TensorVt::VT_SPARSITY);
  t->table.Clear(TensorVt::VT_IS_VARIABLE);
  t->table.Clear(TensorVt::VT_EXTERNAL_BUFFER);
  t->buffer = NewBuffer(stored.bytes.data(), stored.bytes.size());
  using Q = schema::QuantizationParameters;
  const EditedTable* old = t->quantization();
  const int32_t axis = old == nullptr ? 0 : old->Get<int32_t>(Q::VT_QUANTIZED_DIMENSION, 0);
  t->ClearQuantization();
  if (stored.scales.empty()) return;
  EditedTable* quantization = t->table.NewTable(TensorVt::VT_QUANTIZATION, kQuantizationParameters);
  quantization->SetList(Q::VT_SCALE, stored.scales);
  quantization->SetList(Q::VT_ZERO_POINT, stored.zero_points);
  quantization->Set(Q::VT_QUANTIZED_DIMENSION, stored.scales.size() > 1 ? axis : 0, 0);
}

void ModelTables::SetScale(int i, Affine affine) {
  using Q = schema::QuantizationParameters;
  EditedTable* quantization =
      tensor(i)->table.NewTable(TensorVt::VT_QUANTIZATION, kQuantizationParameters);
  quantization->SetList(Q::VT_SCALE, std::vector<float>{affine.scale});
  quantization->SetList(Q::VT_ZERO_POINT, std::vector<int64_t>{affine.zero_point});
}

void ModelTables::SetCode(EditedOperator* op, OpCode code, int version) {
  const auto found = std::find_if(codes_.begin(), codes_.end(), [&](const EditedTable& c) {
    return CodeIn(c) == code && VersionIn(c) == version && c.Text(Code::VT_CUSTOM_CODE).empty();
  });
  op->opcode_index = static_cast<uint32_t>(found - codes_.begin());
  if (found != codes_.end()) return;
  const int number = static_cast<int>(code);
  codes_.emplace_back(kOperatorCode);
  codes_.back().Set<int32_t>(Code::VT_BUILTIN_CODE, number, 0);
  codes_.back().Set(Code::VT_DEPRECATED_BUILTIN_CODE, static_cast<int8_t>(std::min(127, number)),
                    int8_t{0});
  codes_.back().Set<int32_t>(Code::VT_VERSION, version, 1);
}

size_t ModelTables::PositionOf(const EditedOperator* op) const {
  const auto found = std::find_if(main_->operators.begin(), main_->operators.end(),
                                  [&](const auto& other) { return other.get() == op; });
  return static_cast<size_t>(found - main_->operators.begin());
}

EditedOperator* ModelTables::InsertAt(size_t position, OpCode code, int version,
                                      const std::vector<int32_t>& inputs,
                                      const std::vector<int32_t>& outputs) {
  auto op = std::make_unique<EditedOperator>();
  SetCode(op.get(), code, version);
  op->inputs = inputs;
  op->outputs = outputs;
  const auto place = main_->operators.begin() + static_cast<ptrdiff_t>(position);
  ops_moved_ = ops_moved_ || place != main_->operators.end();
  return main_->operators.insert(place, std::move(op))->get();
}

EditedOperator* ModelTables::InsertOp(OpCode code, int version, const std::vector<int32_t>& inputs,
                                      const std::vector<int32_t>& outputs,
                                      const EditedOperator* before) {
  return InsertAt(PositionOf(before), code, version, inputs, outputs);
}

EditedOperator* ModelTables::InsertOpBehind(OpCode code, int version,
                                            const std::vector<int32_t>& inputs,
                                            const std::vector<int32_t>& outputs,
                                            const EditedOperator* after) {
  return InsertAt(PositionOf(after) + 1, code, version, inputs, outputs);
}

int DequantizeVersion(DType input) {
  if (input == DType::kUInt8) return 1;
  return input == DType::kInt16 || input == DType::kFloat16 ? 3 : 2;
}

EditedOperator* ModelTables::InsertConversionAt(size_t position, int from, int to) {
  if (TypeOf(to) == DType::kFloat32) {
    return InsertAt(position, OpCode::kDequantize, DequantizeVersion(TypeOf(from)), {from}, {to});
  }
  const int version = TypeOf(to) == DType::kInt16 ? 2 : 1;
  return InsertAt(position, OpCode::kQuantize, version, {from}, {to});
}

EditedOperator* ModelTables::InsertConversion(int from, int to, const EditedOperator* before) {
  return InsertConversionAt(PositionOf(before), from, to);
}

EditedOperator* ModelTables::InsertConversionBehind(int from, int to, const EditedOperator* after) {
  return InsertConversionAt(PositionOf(after) + 1, from, to);
}

void ModelTables::RemoveOp(const EditedOperator* op) {
  main_->operators.erase(main_->operators.begin() + static_cast<ptrdiff_t>(PositionOf(op)));
  std::replace(ops_.begin(), ops_.end(), const_cast<EditedOperator*>(op),
               static_cast<EditedOperator*>(nullptr));
  ops_moved_ = true;
}

void ModelTables::RemoveWithInputs(const EditedOperator* op) {
  std::vector<int32_t> open = op->inputs;
  RemoveOp(op);
  while (!open.empty()) {
    const int32_t t = open.back();
    open.pop_back();
    const EditedOperator* producer = t < 0 ? nullptr : ProducerOf(t);
    if (producer == nullptr) continue;
    const bool used = std::any_of(producer->outputs.begin(), producer->outputs.end(),
                                  [&](int32_t output) { return CountUses(output) > 0; });
    if (used) continue;
    for (int32_t input : producer->inputs) open.push_back(input);
    RemoveOp(producer);
  }
}

void ModelTables::DropNotes() {
  files_.clear();
  const auto entry = std::find_if(metadata_.begin(), metadata_.end(), IsNotes);
  if (entry != metadata_.end()) metadata_.erase(entry);
}

ModelNotes ModelTables::Notes() const {
  ModelNotes notes;
  notes.files = files_;
  const auto entry = std::find_if(metadata_.begin(), metadata_.end(), IsNotes);
  if (entry == metadata_.end()) return notes;
  const Span<const uint8_t> bytes = buffers_[entry->Get<uint32_t>(schema::Metadata::VT_BUFFER, 0)];
  notes.metadata.assign(bytes.begin(), bytes.end());
  return notes;
}

void ModelTables::SetNotes(ModelNotes notes) {
  files_ = std::move(notes.files);
  if (notes.metadata.empty()) return;
  auto entry = std::find_if(metadata_.begin(), metadata_.end(), IsNotes);
  if (entry == metadata_.end()) {
    metadata_.emplace_back(kMetadata);
    metadata_.back().SetText(schema::Metadata::VT_NAME, kMetadataName);
    entry = metadata_.end() - 1;
  }
  entry->Set<uint32_t>(schema::Metadata::VT_BUFFER,
                       NewBuffer(notes.metadata.data(), notes.metadata.size()), 0);
}

}  // namespace topwork
