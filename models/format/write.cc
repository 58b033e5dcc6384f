// Writing a model: its tables in object form are edited, the constants are copied once, from the
// old file into the new one.
#include "models/format/write.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "models/format/metadata_write.h"
#include "models/format/verify_context.h"
#include "models/format/zip_write.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

using schema::BuiltinOperator;
using schema::OperatorT;
using schema::SubGraphT;
using schema::TensorT;
using schema::TensorType;

constexpr char kMetadataName[] = "TFLITE_METADATA";

template <typename T>
std::vector<std::unique_ptr<T>> UnpackAll(
    const flatbuffers::Vector<flatbuffers::Offset<typename T::TableType>>* tables) {
  std::vector<std::unique_ptr<T>> result;
  for (uint32_t i = 0; tables != nullptr && i < tables->size(); ++i) {
    result.emplace_back(tables->Get(i)->UnPack());
  }
  return result;
}

class ModelWriter {
 public:
  ModelWriter(const Model& model, const HeadReplacement& head) : model_(model), head_(head) {}

  Result<std::vector<uint8_t>> Write() {
    Unpack();
    TW_RETURN_IF_ERROR(CheckHead());
    ReplaceParameters();
    ReplaceTail();
    RemoveFolded();
    TW_RETURN_IF_ERROR(ReplaceNotes());
    CompactBuffers();
    return Pack();
  }

 private:
  void Unpack();
  Status CheckHead() const;
  void ReplaceParameters();
  void ReplaceTail();
  void ReplaceTarget(OperatorT* reshape);
  void ReplaceLogistic(OperatorT* op);
  void RemoveFolded();
  Status ReplaceNotes();
  void CompactBuffers();
  Result<std::vector<uint8_t>> Pack();

  OperatorT* op(int i) const { return main_->operators[static_cast<size_t>(i)].get(); }
  TensorT* tensor(int i) const { return main_->tensors[static_cast<size_t>(i)].get(); }
  BuiltinOperator CodeOf(const OperatorT& op) const;
  void SetClasses(std::vector<int32_t>* dims) const;
  // Index of a tensor that only input `input` of `op` uses: the one there now or a copy of it.
  int OwnTensor(OperatorT* op, size_t input);
  uint32_t NewBuffer(const void* data, size_t bytes);

  const Model& model_;
  const HeadReplacement& head_;
  const schema::Model* root_ = nullptr;
  std::vector<std::unique_ptr<schema::OperatorCodeT>> codes_;
  std::vector<std::unique_ptr<SubGraphT>> subgraphs_;
  std::vector<std::unique_ptr<schema::MetadataT>> metadata_;
  SubGraphT* main_ = nullptr;
  // Contents of all buffers: the old file's, then those of new_buffers_.
  std::vector<Span<const uint8_t>> buffers_;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> new_buffers_;
  std::vector<int32_t> metadata_buffer_;
  std::vector<AssociatedFile> files_;
  // DEQUANTIZE operators whose result has become a constant.
  std::vector<const OperatorT*> folded_;
  int old_classes_ = 0;
};

void ModelWriter::Unpack() {
  root_ = schema::GetModel(model_.bytes().data());
  codes_ = UnpackAll<schema::OperatorCodeT>(root_->operator_codes());
  subgraphs_ = UnpackAll<SubGraphT>(root_->subgraphs());
  metadata_ = UnpackAll<schema::MetadataT>(root_->metadata());
  main_ = subgraphs_[0].get();
  const uint32_t n_buffers = root_->buffers() == nullptr ? 0 : root_->buffers()->size();
  if (n_buffers == 0) buffers_.emplace_back();
  for (uint32_t i = 0; i < n_buffers; ++i) {
    buffers_.push_back(BufferBytes(*root_, model_.bytes(), i));
  }
  if (root_->metadata_buffer() != nullptr) {
    metadata_buffer_.assign(root_->metadata_buffer()->begin(), root_->metadata_buffer()->end());
  }
  // Operators' options beyond 2 GiB move into the operator's own table.
  for (auto& subgraph : subgraphs_) {
    for (auto& op : subgraph->operators) {
      if (op->large_custom_options_offset <= 1) continue;
      const uint8_t* options = model_.bytes().data() + op->large_custom_options_offset;
      op->custom_options.assign(options, options + op->large_custom_options_size);
      op->large_custom_options_offset = 0;
      op->large_custom_options_size = 0;
    }
  }
}

BuiltinOperator ModelWriter::CodeOf(const OperatorT& op) const {
  const schema::OperatorCodeT& code = *codes_[op.opcode_index];
  return std::max(code.builtin_code, static_cast<BuiltinOperator>(code.deprecated_builtin_code));
}

Status ModelWriter::CheckHead() const {
  const int n_operators = static_cast<int>(main_->operators.size());
  for (int i : head_.tail) {
    if (i < 0 || i >= n_operators) return InvalidArgument("operator #%d does not exist", i);
  }
  if (head_.op < 0 || head_.op >= n_operators || op(head_.op)->inputs.size() < 2) {
    return InvalidArgument("operator #%d is no last layer", head_.op);
  }
  const OperatorT& op = *this->op(head_.op);
  const BuiltinOperator code = CodeOf(op);
  const bool conv = code == BuiltinOperator::CONV_2D;
  if (!conv && code != BuiltinOperator::FULLY_CONNECTED) {
    return InvalidArgument("operator #%d is no FULLY_CONNECTED or CONV_2D", head_.op);
  }
  const TensorT& input = *tensor(op.inputs[0]);
  const TensorT& output = *tensor(op.outputs[0]);
  if (input.type != TensorType::FLOAT32 || output.type != TensorType::FLOAT32) {
    return Unsupported(
        "operator #%d %s computes in %s: only a head that computes in float32 can be "
        "exchanged",
        head_.op, schema::EnumNameBuiltinOperator(code), schema::EnumNameTensorType(input.type));
  }
  if (head_.weights.size() !=
          static_cast<size_t>(head_.n_classes) * static_cast<size_t>(head_.dim) ||
      head_.bias.size() != static_cast<size_t>(head_.n_classes)) {
    return InvalidArgument("a head of %d classes and %d features has %zu weights and %zu biases",
                           head_.n_classes, head_.dim, head_.weights.size(), head_.bias.size());
  }
  const std::vector<int32_t>& shape = tensor(op.inputs[1])->shape;
  if (shape.empty() || shape.back() != head_.dim) {
    return InvalidArgument("operator #%d takes %d features, the new head has %d", head_.op,
                           shape.empty() ? 0 : shape.back(), head_.dim);
  }
  return Status::Ok();
}

uint32_t ModelWriter::NewBuffer(const void* data, size_t bytes) {
  const uint8_t* begin = static_cast<const uint8_t*>(data);
  new_buffers_.push_back(std::make_unique<std::vector<uint8_t>>(begin, begin + bytes));
  buffers_.push_back(*new_buffers_.back());
  return static_cast<uint32_t>(buffers_.size() - 1);
}

int ModelWriter::OwnTensor(OperatorT* op, size_t input) {
  const int old = op->inputs[input];
  int64_t n_uses = std::count(main_->outputs.begin(), main_->outputs.end(), old) +
                   std::count(main_->inputs.begin(), main_->inputs.end(), old);
  for (const auto& other : main_->operators) {
    n_uses += std::count(other->inputs.begin(), other->inputs.end(), old);
  }
  if (n_uses == 1) return old;
  main_->tensors.push_back(std::make_unique<TensorT>(*tensor(old)));
  op->inputs[input] = static_cast<int>(main_->tensors.size() - 1);
  return op->inputs[input];
}

void ModelWriter::ReplaceParameters() {
  OperatorT* op = this->op(head_.op);
  const bool conv = CodeOf(*op) == BuiltinOperator::CONV_2D;
  const TensorT& old = *tensor(op->inputs[1]);
  old_classes_ = old.shape[0];
  const auto replace = [&](int index, std::vector<int32_t> shape, Span<const float> values) {
    TensorT* t = tensor(index);
    t->shape = std::move(shape);
    t->shape_signature.clear();
    t->type = TensorType::FLOAT32;
    t->quantization.reset();
    t->sparsity.reset();
    t->is_variable = false;
    t->external_buffer = 0;
    t->buffer = NewBuffer(values.data(), values.size() * sizeof(float));
  };
  // float16 weights come out of a DEQUANTIZE: that operator goes, its result becomes the constant.
  const auto constant_input = [&](size_t input) {
    const int index = OwnTensor(op, input);
    for (auto& other : main_->operators) {
      if (!other->outputs.empty() && other->outputs[0] == index) folded_.push_back(other.get());
    }
    return index;
  };
  const int weights = constant_input(1);
  replace(weights,
          conv ? std::vector<int32_t>{head_.n_classes, 1, 1, head_.dim}
               : std::vector<int32_t>{head_.n_classes, head_.dim},
          head_.weights);
  if (op->inputs.size() < 3) op->inputs.push_back(-1);
  if (op->inputs[2] < 0) {
    main_->tensors.push_back(std::make_unique<TensorT>());
    main_->tensors.back()->name = tensor(op->outputs[0])->name + "/bias";
    op->inputs[2] = static_cast<int>(main_->tensors.size() - 1);
  }
  replace(constant_input(2), {head_.n_classes}, head_.bias);
}

// The last of `dims` counts classes unless it is −1, "whatever remains".
void ModelWriter::SetClasses(std::vector<int32_t>* dims) const {
  if (!dims->empty() && dims->back() == old_classes_) dims->back() = head_.n_classes;
}

void ModelWriter::ReplaceTarget(OperatorT* reshape) {
  if (auto* options = reshape->builtin_options.AsReshapeOptions()) SetClasses(&options->new_shape);
  if (reshape->inputs.size() < 2 || reshape->inputs[1] < 0) return;
  const Span<const uint8_t> old = buffers_[tensor(reshape->inputs[1])->buffer];
  if (old.empty()) return;
  TensorT* target = tensor(OwnTensor(reshape, 1));
  std::vector<int32_t> dims(old.size() / sizeof(int32_t));
  std::memcpy(dims.data(), old.data(), dims.size() * sizeof(int32_t));
  SetClasses(&dims);
  target->buffer = NewBuffer(dims.data(), dims.size() * sizeof(int32_t));
}

void ModelWriter::ReplaceLogistic(OperatorT* op) {
  const auto is_softmax = [](const auto& code) {
    return code->builtin_code == BuiltinOperator::SOFTMAX ||
           code->deprecated_builtin_code == static_cast<int8_t>(BuiltinOperator::SOFTMAX);
  };
  const auto found = std::find_if(codes_.begin(), codes_.end(), is_softmax);
  op->opcode_index = static_cast<uint32_t>(found - codes_.begin());
  if (found == codes_.end()) {
    codes_.push_back(std::make_unique<schema::OperatorCodeT>());
    codes_.back()->builtin_code = BuiltinOperator::SOFTMAX;
    codes_.back()->deprecated_builtin_code = static_cast<int8_t>(BuiltinOperator::SOFTMAX);
  }
  schema::SoftmaxOptionsT options;
  options.beta = 1.0f;
  op->builtin_options.Set(std::move(options));
}

void ModelWriter::ReplaceTail() {
  const auto replace_output = [&](const OperatorT& op) {
    TensorT* t = tensor(op.outputs[0]);
    SetClasses(&t->shape);
    SetClasses(&t->shape_signature);
    if (t->type == TensorType::FLOAT32) t->quantization.reset();  // ranges of the old scores
  };
  OperatorT* head = op(head_.op);
  if (auto* options = head->builtin_options.AsFullyConnectedOptions()) {
    options->fused_activation_function = schema::ActivationFunctionType::NONE;
    options->asymmetric_quantize_inputs = false;
  }
  if (auto* options = head->builtin_options.AsConv2DOptions()) {
    options->fused_activation_function = schema::ActivationFunctionType::NONE;
  }
  replace_output(*head);
  for (int i : head_.tail) {
    OperatorT* op = this->op(i);
    replace_output(*op);
    const BuiltinOperator code = CodeOf(*op);
    if (code == BuiltinOperator::RESHAPE) ReplaceTarget(op);
    const bool is_float = tensor(op->outputs[0])->type == TensorType::FLOAT32;
    if (head_.activation == FinalActivation::kSoftmax && code == BuiltinOperator::LOGISTIC &&
        is_float) {
      ReplaceLogistic(op);
    }
  }
}

void ModelWriter::RemoveFolded() {
  auto& operators = main_->operators;
  for (const OperatorT* folded : folded_) {
    const int source = folded->inputs[0];
    operators.erase(std::find_if(operators.begin(), operators.end(),
                                 [&](const auto& op) { return op.get() == folded; }));
    const bool used = std::any_of(operators.begin(), operators.end(), [&](const auto& op) {
      return std::count(op->inputs.begin(), op->inputs.end(), source) > 0;
    });
    // The tensor stays, so that no index changes; its data does not.
    if (!used) tensor(source)->buffer = 0;
  }
}

Status ModelWriter::ReplaceNotes() {
  files_ = model_.associated_files();
  if (head_.class_names.empty() && head_.n_classes == old_classes_) return Status::Ok();
  const auto entry = std::find_if(metadata_.begin(), metadata_.end(),
                                  [](const auto& m) { return m->name == kMetadataName; });
  ModelNotes notes;
  notes.files = std::move(files_);
  if (entry != metadata_.end()) {
    const Span<const uint8_t> old = buffers_[(*entry)->buffer];
    notes.metadata.assign(old.begin(), old.end());
  }
  LabelledOutput labels;
  labels.output = head_.output;
  labels.n_inputs = static_cast<int>(main_->inputs.size());
  labels.n_outputs = static_cast<int>(main_->outputs.size());
  labels.class_names = head_.class_names;
  TW_RETURN_IF_ERROR(ReplaceLabels(labels, &notes));
  files_ = std::move(notes.files);
  if (notes.metadata.empty()) return Status::Ok();
  const uint32_t buffer = NewBuffer(notes.metadata.data(), notes.metadata.size());
  if (entry != metadata_.end()) {
    (*entry)->buffer = buffer;
    return Status::Ok();
  }
  metadata_.push_back(std::make_unique<schema::MetadataT>());
  metadata_.back()->name = kMetadataName;
  metadata_.back()->buffer = buffer;
  return Status::Ok();
}

// Drops the buffers that nothing names; buffer 0 stays, it stands for "no data".
void ModelWriter::CompactBuffers() {
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
    for (auto& tensor : subgraph->tensors) tensor->buffer = keep(tensor->buffer);
  }
  for (auto& entry : metadata_) entry->buffer = keep(entry->buffer);
  for (int32_t& index : metadata_buffer_) {
    if (index < 0 || static_cast<size_t>(index) >= buffers_.size()) continue;
    index = static_cast<int32_t>(keep(static_cast<uint32_t>(index)));
  }
  buffers_ = std::move(kept);
}

Result<std::vector<uint8_t>> ModelWriter::Pack() {
  uint64_t bytes = 1 << 16;
  for (const Span<const uint8_t>& buffer : buffers_) bytes += buffer.size() + 64;
  if (bytes > FLATBUFFERS_MAX_BUFFER_SIZE - (1u << 24)) {
    return Unsupported("the new model would have %llu bytes, a .tflite ends at 2 GiB",
                       static_cast<unsigned long long>(bytes));
  }
  flatbuffers::FlatBufferBuilder builder(static_cast<size_t>(bytes));
  std::vector<flatbuffers::Offset<schema::Buffer>> buffers;
  for (const Span<const uint8_t>& buffer : buffers_) {
    flatbuffers::Offset<flatbuffers::Vector<uint8_t>> data = 0;
    if (!buffer.empty()) {
      builder.ForceVectorAlignment(buffer.size(), sizeof(uint8_t), 16);
      data = builder.CreateVector(buffer.data(), buffer.size());
    }
    buffers.push_back(schema::CreateBuffer(builder, data));
  }
  const auto pack = [&](const auto& tables) {
    using Table = typename std::decay_t<decltype(*tables[0])>::TableType;
    std::vector<flatbuffers::Offset<Table>> offsets;
    for (const auto& table : tables) offsets.push_back(Table::Pack(builder, table.get()));
    // A field without elements is left out.
    return offsets.empty() ? flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<Table>>>(0)
                           : builder.CreateVector(offsets);
  };
  const auto codes = pack(codes_);
  const auto subgraphs = pack(subgraphs_);
  const auto metadata = pack(metadata_);
  const auto signatures = pack(UnpackAll<schema::SignatureDefT>(root_->signature_defs()));
  const auto groups =
      pack(UnpackAll<schema::ExternalBufferGroupT>(root_->external_buffer_groups()));
  const auto externals = pack(UnpackAll<schema::ExternalBufferT>(root_->external_buffers()));
  const auto description =
      root_->description() == nullptr ? 0 : builder.CreateString(root_->description());
  const auto metadata_buffer =
      metadata_buffer_.empty() ? 0 : builder.CreateVector(metadata_buffer_);
  schema::FinishModelBuffer(
      builder, schema::CreateModel(builder, root_->version(), codes, subgraphs, description,
                                   builder.CreateVector(buffers), metadata_buffer, metadata,
                                   signatures, groups, externals));
  std::vector<uint8_t> out(builder.GetBufferPointer(),
                           builder.GetBufferPointer() + builder.GetSize());
  TW_RETURN_IF_ERROR(AppendZip(files_, &out));
  return out;
}

}  // namespace

Result<std::vector<uint8_t>> ExportWithHead(const Model& model, const HeadReplacement& head) {
  return ModelWriter(model, head).Write();
}

}  // namespace topwork
