// BuildModel: records to FlatBuffers, through the generated builder functions.
#include "tests/support/model_builder.h"

#include "tflite_generated.h"

namespace topwork {
namespace test {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

class ModelWriter {
 public:
  Bytes Write(const ModelSpec& spec) {
    std::vector<Offset<schema::OperatorCode>> codes;
    for (const CodeSpec& code : spec.codes) codes.push_back(Code(code));
    std::vector<Offset<schema::SubGraph>> subgraphs;
    for (const SubgraphSpec& subgraph : spec.subgraphs) subgraphs.push_back(Subgraph(subgraph));
    std::vector<Offset<schema::Buffer>> buffers;
    for (const BufferSpec& buffer : spec.buffers) buffers.push_back(Buffer(buffer));
    std::vector<Offset<schema::Metadata>> metadata;
    for (const auto& entry : spec.metadata) {
      metadata.push_back(
          schema::CreateMetadata(fbb_, fbb_.CreateString(entry.first), entry.second));
    }
    std::vector<Offset<schema::SignatureDef>> signatures;
    for (const SignatureSpec& signature : spec.signatures) {
      signatures.push_back(Signature(signature));
    }
    const auto model = schema::CreateModel(
        fbb_, spec.version, fbb_.CreateVector(codes), fbb_.CreateVector(subgraphs),
        fbb_.CreateString(spec.description), fbb_.CreateVector(buffers), 0,
        fbb_.CreateVector(metadata), fbb_.CreateVector(signatures));
    schema::FinishModelBuffer(fbb_, model);
    return Bytes(fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize());
  }

 private:
  template <typename T>
  Offset<flatbuffers::Vector<T>> VectorOrNone(const std::vector<T>& values) {
    return values.empty() ? Offset<flatbuffers::Vector<T>>(0) : fbb_.CreateVector(values);
  }

  Offset<schema::OperatorCode> Code(const CodeSpec& code) {
    const auto custom = code.custom.empty() ? 0 : fbb_.CreateString(code.custom);
    return schema::CreateOperatorCode(fbb_, code.deprecated, custom, code.version,
                                      static_cast<schema::BuiltinOperator>(code.builtin));
  }

  Offset<schema::Buffer> Buffer(const BufferSpec& buffer) {
    Offset<flatbuffers::Vector<uint8_t>> data = 0;
    if (!buffer.data.empty()) {
      fbb_.ForceVectorAlignment(buffer.data.size(), 1, 16);
      data = fbb_.CreateVector(buffer.data);
    }
    return schema::CreateBuffer(fbb_, data, buffer.offset, buffer.size);
  }

  Offset<void> IndexVector(uint8_t type, const std::vector<int32_t>& values) {
    if (type == 1) return schema::CreateInt32Vector(fbb_, fbb_.CreateVector(values)).Union();
    if (type == 2) {
      const std::vector<uint16_t> narrow(values.begin(), values.end());
      fbb_.ForceVectorAlignment(narrow.size(), 2, 4);
      return schema::CreateUint16Vector(fbb_, fbb_.CreateVector(narrow)).Union();
    }
    if (type == 3) {
      const std::vector<uint8_t> narrow(values.begin(), values.end());
      return schema::CreateUint8Vector(fbb_, fbb_.CreateVector(narrow)).Union();
    }
    return 0;
  }

  Offset<schema::SparsityParameters> Sparsity(const TensorSpec& tensor) {
    std::vector<Offset<schema::DimensionMetadata>> levels;
    for (const SparseLevelSpec& level : tensor.levels) {
      const auto type = static_cast<schema::SparseIndexVector>(level.index_type);
      const auto segments = IndexVector(level.index_type, level.segments);
      const auto indices = IndexVector(level.index_type, level.indices);
      levels.push_back(
          schema::CreateDimensionMetadata(fbb_, static_cast<schema::DimensionType>(level.format),
                                          level.dense_size, type, segments, type, indices));
    }
    return schema::CreateSparsityParameters(fbb_, fbb_.CreateVector(tensor.traversal_order),
                                            VectorOrNone(tensor.block_map),
                                            fbb_.CreateVector(levels));
  }

  Offset<schema::Tensor> Tensor(const TensorSpec& tensor) {
    Offset<schema::QuantizationParameters> quantization = 0;
    if (!tensor.scales.empty() || !tensor.zero_points.empty()) {
      quantization = schema::CreateQuantizationParameters(
          fbb_, 0, 0, VectorOrNone(tensor.scales), VectorOrNone(tensor.zero_points),
          schema::QuantizationDetails::NONE, 0, tensor.axis);
    }
    Offset<schema::SparsityParameters> sparsity = 0;
    if (!tensor.traversal_order.empty() || !tensor.levels.empty()) sparsity = Sparsity(tensor);
    return schema::CreateTensor(
        fbb_, fbb_.CreateVector(tensor.shape), static_cast<schema::TensorType>(tensor.type),
        tensor.buffer, fbb_.CreateString(tensor.name), quantization, tensor.is_variable, sparsity,
        VectorOrNone(tensor.signature), false, 0, tensor.external_buffer);
  }

  Offset<void> Options(const OptionsSpec& options) {
    if (options.type == 0) return 0;
    std::vector<flatbuffers::uoffset_t> vectors(options.fields.size(), 0);
    for (size_t i = 0; i < vectors.size(); ++i) {
      const OptionsSpec::Field& field = options.fields[i];
      if (field.size == 0) vectors[i] = fbb_.CreateVector(field.values).o;
      if (field.size == -2) vectors[i] = fbb_.CreateVector(field.longs).o;
      if (field.size == -1) vectors[i] = fbb_.CreateString(field.text).o;
    }
    const auto start = fbb_.StartTable();
    for (size_t i = 0; i < vectors.size(); ++i) {
      const OptionsSpec::Field& field = options.fields[i];
      const auto slot = static_cast<flatbuffers::voffset_t>(4 + 2 * field.number);
      if (field.size <= 0) fbb_.AddOffset(slot, Offset<void>(vectors[i]));
      if (field.size == 1) fbb_.AddElement<uint8_t>(slot, static_cast<uint8_t>(field.bits));
      if (field.size == 8) fbb_.AddElement<uint64_t>(slot, field.bits);
      if (field.size == 4) fbb_.AddElement<uint32_t>(slot, field.bits);
    }
    return fbb_.EndTable(start);
  }

  Offset<schema::Operator> Operator(const OpSpec& op) {
    const Offset<void> options = Options(op.options);
    const bool second = op.options.second_union;
    const auto custom = VectorOrNone(op.custom_options);
    return schema::CreateOperator(
        fbb_, op.opcode, fbb_.CreateVector(op.inputs), fbb_.CreateVector(op.outputs),
        static_cast<schema::BuiltinOptions>(second ? 0 : op.options.type), second ? 0 : options,
        custom, schema::CustomOptionsFormat::FLEXBUFFERS, VectorOrNone(op.mutating),
        VectorOrNone(op.intermediates), op.large_offset, op.large_size,
        static_cast<schema::BuiltinOptions2>(second ? op.options.type : 0), second ? options : 0);
  }

  Offset<schema::SubGraph> Subgraph(const SubgraphSpec& subgraph) {
    std::vector<Offset<schema::Tensor>> tensors;
    for (const TensorSpec& tensor : subgraph.tensors) tensors.push_back(Tensor(tensor));
    std::vector<Offset<schema::Operator>> ops;
    for (const OpSpec& op : subgraph.ops) ops.push_back(Operator(op));
    return schema::CreateSubGraph(fbb_, fbb_.CreateVector(tensors),
                                  fbb_.CreateVector(subgraph.inputs),
                                  fbb_.CreateVector(subgraph.outputs), fbb_.CreateVector(ops),
                                  fbb_.CreateString(subgraph.name));
  }

  Offset<schema::SignatureDef> Signature(const SignatureSpec& signature) {
    const auto maps = [this](const std::vector<std::pair<std::string, uint32_t>>& entries) {
      std::vector<Offset<schema::TensorMap>> out;
      for (const auto& entry : entries) {
        out.push_back(schema::CreateTensorMap(fbb_, fbb_.CreateString(entry.first), entry.second));
      }
      return fbb_.CreateVector(out);
    };
    const auto inputs = maps(signature.inputs);
    const auto outputs = maps(signature.outputs);
    return schema::CreateSignatureDef(fbb_, inputs, outputs, fbb_.CreateString(signature.key),
                                      signature.subgraph);
  }

  FlatBufferBuilder fbb_;
};

}  // namespace

OptionsSpec& OptionsSpec::Int(int field, int32_t value) {
  fields.push_back({field, 4, static_cast<uint32_t>(value), {}, "", {}});
  return *this;
}

OptionsSpec& OptionsSpec::Byte(int field, int8_t value) {
  fields.push_back({field, 1, static_cast<uint8_t>(value), {}, "", {}});
  return *this;
}

OptionsSpec& OptionsSpec::Float(int field, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  fields.push_back({field, 4, bits, {}, "", {}});
  return *this;
}

OptionsSpec& OptionsSpec::Ints(int field, std::vector<int32_t> values) {
  fields.push_back({field, 0, 0, std::move(values), "", {}});
  return *this;
}

OptionsSpec& OptionsSpec::Long(int field, uint32_t value) {
  fields.push_back({field, 8, value, {}, "", {}});
  return *this;
}

OptionsSpec& OptionsSpec::Longs(int field, std::vector<int64_t> values) {
  fields.push_back({field, -2, 0, {}, "", std::move(values)});
  return *this;
}

OptionsSpec& OptionsSpec::Text(int field, std::string value) {
  fields.push_back({field, -1, 0, {}, std::move(value), {}});
  return *this;
}

int ModelSpec::AddTensor(const std::string& name, DType type, std::vector<int32_t> shape,
                         int subgraph) {
  TensorSpec tensor;
  tensor.name = name;
  tensor.type = static_cast<int>(type);
  tensor.shape = std::move(shape);
  std::vector<TensorSpec>& tensors = subgraphs[static_cast<size_t>(subgraph)].tensors;
  tensors.push_back(std::move(tensor));
  return static_cast<int>(tensors.size()) - 1;
}

int ModelSpec::AddInput(const std::string& name, DType type, std::vector<int32_t> shape,
                        int subgraph) {
  const int index = AddTensor(name, type, std::move(shape), subgraph);
  subgraphs[static_cast<size_t>(subgraph)].inputs.push_back(index);
  return index;
}

int ModelSpec::AddConstant(const std::string& name, DType type, std::vector<int32_t> shape,
                           Bytes data, int subgraph) {
  const int index = AddTensor(name, type, std::move(shape), subgraph);
  subgraphs[static_cast<size_t>(subgraph)].tensors.back().buffer = AddBuffer(std::move(data));
  return index;
}

uint32_t ModelSpec::AddBuffer(Bytes data) {
  BufferSpec buffer;
  buffer.data = std::move(data);
  buffers.push_back(std::move(buffer));
  return static_cast<uint32_t>(buffers.size()) - 1;
}

uint32_t ModelSpec::AddCode(OpCode code, const std::string& custom) {
  const int32_t number = static_cast<int32_t>(code);
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i].builtin == number && codes[i].custom == custom) return static_cast<uint32_t>(i);
  }
  CodeSpec spec;
  spec.deprecated = static_cast<int8_t>(number < 127 ? number : 127);
  spec.builtin = number;
  spec.custom = custom;
  codes.push_back(spec);
  return static_cast<uint32_t>(codes.size()) - 1;
}

OpSpec& ModelSpec::AddOp(OpCode code, std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                         const OptionsSpec& options, int subgraph) {
  OpSpec op;
  op.opcode = AddCode(code);
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.options = options;
  std::vector<OpSpec>& ops = subgraphs[static_cast<size_t>(subgraph)].ops;
  ops.push_back(std::move(op));
  return ops.back();
}

Bytes BuildModel(const ModelSpec& spec) { return ModelWriter().Write(spec); }

}  // namespace test
}  // namespace topwork
