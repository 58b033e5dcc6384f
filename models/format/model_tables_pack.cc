// ModelTables: leaving out what is no longer used, and writing the file.
#include <algorithm>
#include <utility>

#include "models/format/model_tables.h"
#include "models/format/parts.h"
#include "models/format/unknown_parts.h"
#include "models/format/zip_write.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

// The order in which operators with side effects run, by their positions in the file.
constexpr char kControlName[] = "model_control_dependencies";

// Calls `visit` with every index of a tensor inside the tensor's own quantization.
template <typename Visit>
void ForEachDetail(EditedTensor* tensor, Visit visit) {
  EditedTable* quantization = tensor->quantization();
  EditedTable* details = quantization == nullptr
                             ? nullptr
                             : quantization->Table(schema::QuantizationParameters::VT_DETAILS);
  using Blocks = schema::BlockwiseQuantization;  // MultiAxisQuantization has the same places
  if (details == nullptr || details->layout() == kCustomQuantization) return;
  for (int vt : {Blocks::VT_SCALES, Blocks::VT_ZERO_POINTS}) {
    int32_t index = details->Get<int32_t>(vt, 0);
    visit(&index);
    details->Set<int32_t>(vt, index, 0);
  }
}

// Calls `visit` with every index of a tensor in operators, inputs and outputs.
template <typename Visit>
void ForEachIndex(EditedSubgraph* subgraph, Visit visit) {
  for (int32_t& index : subgraph->inputs) visit(&index);
  for (int32_t& index : subgraph->outputs) visit(&index);
  for (auto& op : subgraph->operators) {
    for (int32_t& index : op->inputs) visit(&index);
    for (int32_t& index : op->outputs) visit(&index);
    for (int32_t& index : op->intermediates) visit(&index);
  }
}

// The edited fields of a tensor or operator go into its table.
void Finish(EditedTensor* tensor) {
  using T = schema::Tensor;
  tensor->table.SetText(T::VT_NAME, tensor->name);
  tensor->table.Set(T::VT_TYPE, static_cast<int8_t>(tensor->type), int8_t{0});
  tensor->table.SetList(T::VT_SHAPE, tensor->shape);
  tensor->table.SetList(T::VT_SHAPE_SIGNATURE, tensor->shape_signature);
  tensor->table.Set<uint32_t>(T::VT_BUFFER, tensor->buffer, 0);
}

void Finish(EditedOperator* op) {
  using O = schema::Operator;
  op->table.Set<uint32_t>(O::VT_OPCODE_INDEX, op->opcode_index, 0);
  op->table.SetList(O::VT_INPUTS, op->inputs);
  op->table.SetList(O::VT_OUTPUTS, op->outputs);
  op->table.SetList(O::VT_INTERMEDIATES, op->intermediates);
}

template <typename Edited>
void FinishAll(std::vector<std::unique_ptr<Edited>>* edited, std::vector<EditedTable>* tables) {
  tables->clear();
  for (auto& one : *edited) {
    Finish(one.get());
    tables->push_back(std::move(one->table));
  }
}

void Finish(EditedSubgraph* subgraph) {
  using G = schema::SubGraph;
  FinishAll(&subgraph->tensors, &subgraph->table.Tables(G::VT_TENSORS));
  FinishAll(&subgraph->operators, &subgraph->table.Tables(G::VT_OPERATORS));
  subgraph->table.SetList(G::VT_INPUTS, subgraph->inputs);
  subgraph->table.SetList(G::VT_OUTPUTS, subgraph->outputs);
}

void FinishEntries(const std::vector<EditedSignature::Entry>& entries,
                   std::vector<EditedTable>* tables) {
  tables->resize(entries.size(), EditedTable(kTensorMap));
  for (size_t i = 0; i < entries.size(); ++i) {
    (*tables)[i].SetText(schema::TensorMap::VT_NAME, entries[i].name);
    (*tables)[i].Set<uint32_t>(schema::TensorMap::VT_TENSOR_INDEX, entries[i].tensor_index, 0);
  }
}

}  // namespace

std::vector<uint8_t> ModelTables::UsedTensors() const {
  std::vector<uint8_t> used(main_->tensors.size(), false);
  std::vector<size_t> found;
  const auto use = [&](const int32_t* index) {
    if (*index < 0 || static_cast<size_t>(*index) >= used.size()) return;
    const size_t i = static_cast<size_t>(*index);
    if (!used[i]) found.push_back(i);
    used[i] = true;
  };
  ForEachIndex(main_, use);
  for (const auto& signature : signatures_) {
    if (signature.subgraph_index != main_index_) continue;
    for (const auto* maps : {&signature.inputs, &signature.outputs}) {
      for (const auto& entry : *maps) {
        const int32_t index = static_cast<int32_t>(entry.tensor_index);
        use(&index);
      }
    }
  }
  while (!found.empty()) {
    EditedTensor* tensor = main_->tensors[found.back()].get();
    found.pop_back();
    ForEachDetail(tensor, use);
  }
  return used;
}

void ModelTables::RemoveUnusedTensors() {
  const std::vector<uint8_t> used = UsedTensors();
  std::vector<int32_t> new_index(used.size(), -1);
  std::vector<std::unique_ptr<EditedTensor>> kept;
  for (size_t i = 0; i < used.size(); ++i) {
    const bool orphan = !used[i] && (i >= used_before_.size() || used_before_[i]);
    if (orphan) continue;
    new_index[i] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(main_->tensors[i]));
  }
  main_->tensors = std::move(kept);
  const auto renumber = [&](int32_t* index) {
    if (*index < 0 || static_cast<size_t>(*index) >= new_index.size()) return;
    *index = new_index[static_cast<size_t>(*index)];
  };
  ForEachIndex(main_, renumber);
  for (auto& tensor : main_->tensors) ForEachDetail(tensor.get(), renumber);
  for (auto& signature : signatures_) {
    if (signature.subgraph_index != main_index_) continue;
    for (auto* maps : {&signature.inputs, &signature.outputs}) {
      for (auto& entry : *maps) {
        if (entry.tensor_index >= new_index.size()) continue;
        entry.tensor_index = static_cast<uint32_t>(new_index[entry.tensor_index]);
      }
    }
  }
}

// Drops the buffers that nothing names; buffer 0 stays, it stands for "no data".
void ModelTables::CompactBuffers() {
  std::vector<uint32_t> new_index(buffers_.size(), 0);
  std::vector<Span<const uint8_t>> kept = {buffers_[0]};
  const auto keep = [&](uint32_t old) {
    if (old == 0) return uint32_t{0};
    if (new_index[old] == 0) {
      new_index[old] = static_cast<uint32_t>(kept.size());
      kept.push_back(buffers_[old]);
    }
    return new_index[old];
  };
  for (auto& subgraph : subgraphs_) {
    for (auto& tensor : subgraph.tensors) tensor->buffer = keep(tensor->buffer);
  }
  for (EditedTable& entry : metadata_) {
    const int vt = schema::Metadata::VT_BUFFER;
    entry.Set<uint32_t>(vt, keep(entry.Get<uint32_t>(vt, 0)), 0);
  }
  for (int32_t& index : metadata_buffer_) {
    if (index < 0 || static_cast<size_t>(index) >= buffers_.size()) continue;
    index = static_cast<int32_t>(keep(static_cast<uint32_t>(index)));
  }
  buffers_ = std::move(kept);
}

// Puts the edited fields into the tables.
void ModelTables::FinishTables() {
  using M = schema::Model;
  for (EditedSubgraph& subgraph : subgraphs_) Finish(&subgraph);
  std::vector<EditedTable>& subgraphs = model_.Tables(M::VT_SUBGRAPHS);
  for (size_t i = 0; i < subgraphs.size(); ++i) subgraphs[i] = std::move(subgraphs_[i].table);
  std::vector<EditedTable>& signatures = model_.Tables(M::VT_SIGNATURE_DEFS);
  for (size_t i = 0; i < signatures.size(); ++i) {
    EditedTable& table = signatures_[i].table;
    FinishEntries(signatures_[i].inputs, &table.Tables(schema::SignatureDef::VT_INPUTS));
    FinishEntries(signatures_[i].outputs, &table.Tables(schema::SignatureDef::VT_OUTPUTS));
    signatures[i] = std::move(table);
  }
  model_.Tables(M::VT_OPERATOR_CODES) = std::move(codes_);
  model_.Tables(M::VT_METADATA) = std::move(metadata_);
  model_.SetList(M::VT_METADATA_BUFFER, metadata_buffer_);
  std::vector<EditedTable>& buffers = model_.Tables(M::VT_BUFFERS);
  buffers.clear();
  for (const Span<const uint8_t>& bytes : buffers_) {
    buffers.emplace_back(kBuffer);
    if (!bytes.empty()) buffers.back().SetView(schema::Buffer::VT_DATA, bytes);
  }
}

Result<std::vector<uint8_t>> ModelTables::Pack() {
  TW_RETURN_IF_ERROR(RefuseUnknownParts(*root_));
  if (ops_moved_) {
    metadata_.erase(std::remove_if(metadata_.begin(), metadata_.end(),
                                   [](const EditedTable& entry) {
                                     return entry.Text(schema::Metadata::VT_NAME) == kControlName;
                                   }),
                    metadata_.end());
  }
  RemoveUnusedTensors();
  CompactBuffers();
  FinishTables();
  uint64_t bytes = (1 << 16) + model_.Size();
  for (const AssociatedFile& file : files_) bytes += file.content.size();
  if (bytes > FLATBUFFERS_MAX_BUFFER_SIZE - (1u << 24)) {
    return Unsupported("the new model would have {} bytes, a .tflite ends at 2 GiB", bytes);
  }
  std::vector<uint8_t> out =
      model_.WriteFile(schema::ModelIdentifier(), static_cast<size_t>(bytes), &source_);
  source_.ForgetRest();
  if (kHasMetadata) TW_RETURN_IF_ERROR(AppendZip(files_, &out));
  return out;
}

}  // namespace topwork
