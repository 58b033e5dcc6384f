// From FlatBuffers tables to Graphs. Everything here has been verified, so nothing is checked
// again; only the operators' own parse functions can still refuse something.
#include <algorithm>
#include <cstring>
#include <map>

#include "models/format/read.h"
#include "models/format/text.h"
#include "models/format/verify_context.h"
#include "runtime/tensor/selected_types.h"
#include "runtime/tensor/strings.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

std::vector<int> Listed(const flatbuffers::Vector<int32_t>* indices) {
  return indices == nullptr ? std::vector<int>()
                            : std::vector<int>(indices->begin(), indices->end());
}

Shape ToShape(const flatbuffers::Vector<int32_t>* dims) {
  Shape shape;
  for (uint32_t i = 0; dims != nullptr && i < dims->size(); ++i) shape.Append(dims->Get(i));
  return shape;
}

bool IsAligned(const void* pointer, size_t alignment) {
  return reinterpret_cast<uintptr_t>(pointer) % alignment == 0;
}

// Quantization whose numbers lie in the file, or here where the file does not have them so.
struct OwnedQuantization {
  Quantization view;
  std::vector<float> scales;         // of blocks
  std::vector<int64_t> zero_points;  // where the file has too few or misaligned ones
};

std::shared_ptr<const Quantization> ReadQuantization(const schema::Tensor& tensor) {
  const schema::QuantizationParameters* file = tensor.quantization();
  if (file == nullptr || file->scale() == nullptr || file->scale()->size() == 0) return nullptr;
  const uint32_t n = file->scale()->size();
  if (n == 1 && file->scale()->Get(0) == 0.0f) return nullptr;
  auto owned = std::make_shared<OwnedQuantization>();
  const auto* zero_points = file->zero_point();
  const uint32_t n_zero_points = zero_points == nullptr ? 0 : zero_points->size();
  owned->view.scales = {file->scale()->data(), n};
  if (n_zero_points == n && IsAligned(zero_points->data(), alignof(int64_t))) {
    owned->view.zero_points = {zero_points->data(), n};
  } else {
    owned->zero_points.assign(n, n_zero_points == 1 ? zero_points->Get(0) : 0);
    for (uint32_t i = 0; n_zero_points == n && i < n; ++i) {
      owned->zero_points[i] = zero_points->Get(i);
    }
    owned->view.zero_points = owned->zero_points;
  }
  const uint32_t rank = tensor.shape() == nullptr ? 0 : tensor.shape()->size();
  owned->view.axis = rank == 1 || n == 1 ? 0 : file->quantized_dimension();
  return std::shared_ptr<const Quantization>(owned, &owned->view);
}

class GraphReader {
 public:
  GraphReader(const schema::Model& model, Span<const uint8_t> bytes)
      : model_(model), bytes_(bytes) {}

  Status Read(int index, Graph* graph) {
    const schema::SubGraph& subgraph = *model_.subgraphs()->Get(static_cast<uint32_t>(index));
    graph->name = Text(subgraph.name());
    graph->inputs = Listed(subgraph.inputs());
    graph->outputs = Listed(subgraph.outputs());
    const uint32_t n_values = subgraph.tensors() == nullptr ? 0 : subgraph.tensors()->size();
    const uint32_t n_ops = subgraph.operators() == nullptr ? 0 : subgraph.operators()->size();
    graph->values.resize(n_values);
    graph->ops.resize(n_ops);
    for (uint32_t i = 0; i < n_ops; ++i) {
      TW_RETURN_IF_ERROR(
          ReadOp(index, static_cast<int>(i), *subgraph.operators()->Get(i), &graph->ops[i]));
    }
    std::vector<uint8_t> computed(n_values, false);
    for (const int v : graph->inputs) computed[static_cast<size_t>(v)] = true;
    for (const Op& op : graph->ops) {
      for (const int v : op.outputs) computed[static_cast<size_t>(v)] = true;
    }
    for (uint32_t i = 0; i < n_values; ++i) {
      const schema::Tensor& tensor = *subgraph.tensors()->Get(i);
      const bool keeps_blocks =
          HasBlocks(tensor) && MultipliesFloats(subgraph, *graph, static_cast<int>(i));
      TW_RETURN_IF_ERROR(ReadValue(subgraph, tensor, computed[i], keeps_blocks, &graph->values[i]));
    }
    return Status::Ok();
  }

 private:
  // True when tensor v is read only by float32 FULLY_CONNECTED operators, as their weights.
  static bool MultipliesFloats(const schema::SubGraph& subgraph, const Graph& graph, int v) {
    const bool leaves =
        std::find(graph.outputs.begin(), graph.outputs.end(), v) != graph.outputs.end();
    for (const Op& op : graph.ops) {
      for (size_t i = 0; i < op.inputs.size(); ++i) {
        if (op.inputs[i] != v) continue;
        if (op.code != OpCode::kFullyConnected || i != 1 || op.inputs[0] < 0) return false;
        const uint32_t data = static_cast<uint32_t>(op.inputs[0]);
        if (subgraph.tensors()->Get(data)->type() != schema::TensorType::FLOAT32) return false;
      }
    }
    return !leaves;
  }

  Status ReadValue(const schema::SubGraph& subgraph, const schema::Tensor& tensor, bool computed,
                   bool keeps_blocks, Value* value) {
    value->name = Text(tensor.name());
    value->dtype = static_cast<DType>(tensor.type());
    value->shape = ToShape(tensor.shape());
    const auto* signature = tensor.shape_signature();
    value->signature =
        signature == nullptr || signature->size() == 0 ? value->shape : ToShape(signature);
    value->quantization = ReadQuantization(tensor);
    value->is_variable = tensor.is_variable();
    value->is_sparse = tensor.sparsity() != nullptr;
    const Span<const uint8_t> data = BufferBytes(model_, bytes_, tensor.buffer());
    if (value->dtype == DType::kString && !data.empty()) return ReadStrings(data, value);
    if (kHasSparse && value->is_sparse && !computed) return ReadSparse(tensor, data, value);
    if (!data.empty() && HasBlocks(tensor)) {
      return ReadBlocks(subgraph, tensor, data, keeps_blocks, value);
    }
    if (!data.empty()) return ReadConstant(data, value);
    static const uint64_t kNothing = 0;  // a constant without elements still has an address
    if (!computed && !value->is_variable && HasNoElements(tensor)) value->data = &kNothing;
    return Status::Ok();
  }

  // References to the table's strings, once for all users.
  Status ReadStrings(Span<const uint8_t> table, Value* value) {
    std::shared_ptr<Buffer>& strings = strings_[table.data()];
    if (strings == nullptr) {
      const size_t bytes = std::max<size_t>(ByteSize(value->dtype, value->shape), 1);
      TW_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(bytes, "the strings of a constant"));
      ReadStringTable(table, buffer.as<StringRef>());
      strings = std::make_shared<Buffer>(std::move(buffer));
    }
    value->owned = strings;
    value->data = strings->data();
    return Status::Ok();
  }

  // Expanded once for all users; DENSIFY has only to pass it on.
  Status ReadSparse(const schema::Tensor& tensor, Span<const uint8_t> data, Value* value) {
    std::shared_ptr<Buffer>& dense = expanded_[&tensor];
    if (dense == nullptr) {
      TW_ASSIGN_OR_RETURN(Buffer buffer, ExpandSparse(tensor, data, value->shape));
      dense = std::make_shared<Buffer>(std::move(buffer));
    }
    value->owned = dense;
    value->data = dense->data();
    return Status::Ok();
  }

  // Blocks of another form stay as they are; the layer that reads them refuses them.
  Status ReadBlocks(const schema::SubGraph& subgraph, const schema::Tensor& tensor,
                    Span<const uint8_t> data, bool keeps_blocks, Value* value) {
    int32_t block = 0;
    Result<std::vector<float>> scales =
        ReadBlockScales(model_, bytes_, subgraph, tensor, value->shape, &block);
    if (scales.status().code() == StatusCode::kUnsupported) return ReadConstant(data, value);
    if (!scales.ok()) return scales.status();
    if (keeps_blocks && value->dtype == DType::kInt4) {
      auto owned = std::make_shared<OwnedQuantization>();
      owned->scales = std::move(scales.value());
      owned->view.scales = owned->scales;
      owned->view.block = block;
      value->quantization = std::shared_ptr<const Quantization>(owned, &owned->view);
      return ReadConstant(data, value);
    }
    std::shared_ptr<Buffer>& dense = expanded_[&tensor];
    if (dense == nullptr) {
      TW_ASSIGN_OR_RETURN(Buffer buffer,
                          ExpandBlocks(value->dtype, data, value->shape, scales.value(), block));
      dense = std::make_shared<Buffer>(std::move(buffer));
    }
    value->dtype = DType::kFloat32;
    value->owned = dense;
    value->data = dense->data();
    return Status::Ok();
  }

  // No copy where the address suits the type; otherwise one aligned copy for all users.
  Status ReadConstant(Span<const uint8_t> data, Value* value) {
    const int bits = DTypeBits(value->dtype);
    const size_t alignment =
        bits == 0 ? 4 : std::clamp<size_t>(static_cast<size_t>(bits) / 8, 1, 8);
    if (IsAligned(data.data(), alignment)) {
      value->data = data.data();
      return Status::Ok();
    }
    std::shared_ptr<Buffer>& copy = copies_[data.data()];
    if (copy == nullptr) {
      TW_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(data.size(), "a misaligned constant"));
      std::memcpy(buffer.data(), data.data(), data.size());
      copy = std::make_shared<Buffer>(std::move(buffer));
    }
    value->owned = copy;
    value->data = copy->data();
    return Status::Ok();
  }

  Status ReadOp(int subgraph, int index, const schema::Operator& file, Op* op) {
    const schema::OperatorCode& code = *model_.operator_codes()->Get(file.opcode_index());
    op->code = BuiltinCode(code);
    op->def = FindOp(op->code);
    op->version = code.version();
    op->inputs = Listed(file.inputs());
    op->outputs = Listed(file.outputs());
    op->file_index = index;
    ReadHidden(*model_.subgraphs()->Get(static_cast<uint32_t>(subgraph)), file, op);
    if (op->is_custom()) {
      op->custom_name = Text(code.custom_code());
      op->params.custom_name = code.custom_code()->c_str();
    }
    if (file.custom_options() != nullptr) {
      op->params.custom_options = {file.custom_options()->data(), file.custom_options()->size()};
    } else if (file.large_custom_options_offset() > 1) {
      op->params.custom_options =
          bytes_.subspan(static_cast<size_t>(file.large_custom_options_offset()),
                         static_cast<size_t>(file.large_custom_options_size()));
    }
    if (op->def == nullptr || op->def->parse == nullptr) return Status::Ok();
    // The verifier has compared the tables' types with what the operator has.
    const void* table = op->def->options2 != OptionsType2::kNone ? file.builtin_options2()
                        : op->def->options != OptionsType::kNone ? file.builtin_options()
                                                                 : nullptr;
    const Status parsed =
        op->def->parse(OptionsView(static_cast<const uint8_t*>(table)), &op->params);
    return parsed.ok() ? parsed : parsed.WithPrefix(OperatorName(model_, subgraph, index) + ": ");
  }

  // What an operator's tensors say beyond its inputs and outputs.
  static void ReadHidden(const schema::SubGraph& subgraph, const schema::Operator& file, Op* op) {
    const auto tensor = [&](int t) { return subgraph.tensors()->Get(static_cast<uint32_t>(t)); };
    for (size_t i = 0; i < std::min<size_t>(op->inputs.size(), 64); ++i) {
      if (op->inputs[i] >= 0 && tensor(op->inputs[i])->is_variable()) {
        op->variable_inputs |= uint64_t{1} << i;
      }
    }
    for (const int t : Listed(file.intermediates())) {
      op->intermediates.push_back(t < 0 ? nullptr : ReadQuantization(*tensor(t)));
    }
  }

  const schema::Model& model_;
  Span<const uint8_t> bytes_;
  std::map<const void*, std::shared_ptr<Buffer>> copies_, strings_;
  std::map<const schema::Tensor*, std::shared_ptr<Buffer>> expanded_;
};

}  // namespace

void ReadHeader(const schema::Model& model, uint32_t* schema_version, std::string* description) {
  *schema_version = model.version();
  *description = Text(model.description());
}

Status ReadSubgraphs(const schema::Model& model, Span<const uint8_t> bytes,
                     std::vector<Graph>* out) {
  GraphReader reader(model, bytes);
  out->resize(model.subgraphs()->size());
  for (size_t i = 0; i < out->size(); ++i) {
    TW_RETURN_IF_ERROR(reader.Read(static_cast<int>(i), &(*out)[i]));
  }
  if (kHasLists) ResolveLists(out);
  return Status::Ok();
}

std::vector<Signature> ReadSignatures(const schema::Model& model) {
  std::vector<Signature> signatures;
  const auto* defs = model.signature_defs();
  for (uint32_t i = 0; defs != nullptr && i < defs->size(); ++i) {
    const schema::SignatureDef& def = *defs->Get(i);
    Signature signature;
    signature.key = Text(def.signature_key());
    signature.subgraph = static_cast<int>(def.subgraph_index());
    const auto* tensors = model.subgraphs()->Get(def.subgraph_index())->tensors();
    const uint32_t n_tensors = tensors == nullptr ? 0 : tensors->size();
    const auto read = [n_tensors](const auto* maps, std::vector<Signature::Entry>* entries) {
      for (uint32_t j = 0; maps != nullptr && j < maps->size(); ++j) {
        const uint32_t index = maps->Get(j)->tensor_index();
        const int value = index < n_tensors ? static_cast<int>(index) : -1;
        entries->push_back({Text(maps->Get(j)->name()), value});
      }
    };
    read(def.inputs(), &signature.inputs);
    read(def.outputs(), &signature.outputs);
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

}  // namespace topwork
