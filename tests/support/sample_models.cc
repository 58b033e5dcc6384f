// The small sound models of model_builder.h, their metadata and their zip archive.
#include "metadata_generated.h"
#include "runtime/base/inflate.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace test {
namespace {

std::vector<float> Ramp(size_t n, float scale) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) {
    values[i] = scale * static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  }
  return values;
}

void Put16(Bytes* out, uint32_t value) {
  out->push_back(static_cast<uint8_t>(value));
  out->push_back(static_cast<uint8_t>(value >> 8));
}

void Put32(Bytes* out, uint32_t value) {
  Put16(out, value & 0xffff);
  Put16(out, value >> 16);
}

// The fields that a zip's local header and directory entry have in common.
void PutCommon(Bytes* out, const ZipEntrySpec& entry) {
  Put16(out, 20);
  Put16(out, entry.flags);
  Put16(out, entry.method);
  Put32(out, 0);  // time and date
  Put32(out, entry.crc);
  Put32(out, static_cast<uint32_t>(entry.packed.size()));
  Put32(out, entry.size);
  Put16(out, static_cast<uint32_t>(entry.name.size()));
  Put16(out, 0);
}

}  // namespace

ModelSpec ImageSpec() {
  ModelSpec spec;
  spec.description = "a small image classifier";
  spec.main().name = "main";
  const int x = spec.AddInput("image", DType::kFloat32, {1, 6, 6, 1});
  spec.main().tensors[0].signature = {-1, 6, 6, 1};
  const int filter =
      spec.AddConstant("conv/filter", DType::kFloat32, {2, 3, 3, 1}, ToBytes(Ramp(18, 0.1f)));
  const int bias = spec.AddConstant("conv/bias", DType::kFloat32, {2}, ToBytes(Ramp(2, 0.01f)));
  const int conv = spec.AddTensor("conv", DType::kFloat32, {1, 6, 6, 2});
  const int pool = spec.AddTensor("pool", DType::kFloat32, {1, 3, 3, 2});
  const int weights =
      spec.AddConstant("dense/weights", DType::kFloat32, {3, 18}, ToBytes(Ramp(54, 0.05f)));
  const int dense = spec.AddTensor("dense", DType::kFloat32, {1, 3});
  const int out = spec.AddTensor("probabilities", DType::kFloat32, {1, 3});
  // Padding SAME, strides 1, RELU.
  spec.AddOp(OpCode::kConv2d, {x, filter, bias}, {conv},
             OptionsSpec(kConv2dOptions).Int(1, 1).Int(2, 1).Byte(3, 1));
  spec.AddOp(OpCode::kMaxPool2d, {conv}, {pool},
             OptionsSpec(kPool2dOptions).Byte(0, 1).Int(1, 2).Int(2, 2).Int(3, 2).Int(4, 2));
  spec.AddOp(OpCode::kFullyConnected, {pool, weights, -1}, {dense},
             OptionsSpec(kFullyConnectedOptions));
  spec.AddOp(OpCode::kSoftmax, {dense}, {out}, OptionsSpec(kSoftmaxOptions).Float(0, 1.0f));
  spec.main().outputs = {out};
  SignatureSpec signature;
  signature.key = "serving_default";
  signature.inputs = {{"x", static_cast<uint32_t>(x)}};
  signature.outputs = {{"y", static_cast<uint32_t>(out)}};
  spec.signatures.push_back(signature);
  spec.metadata.push_back(
      {"TFLITE_METADATA", spec.AddBuffer(BuildMetadata({127.5f}, {127.5f}, "classes.txt"))});
  return spec;
}

Bytes ImageModel() {
  Bytes bytes = BuildModel(ImageSpec());
  const Bytes zip = BuildZip({StoredEntry("classes.txt", "zero\none\r\ntwo")},
                             static_cast<uint32_t>(bytes.size()));
  bytes.insert(bytes.end(), zip.begin(), zip.end());
  return bytes;
}

ModelSpec LoopSpec() {
  ModelSpec spec;
  spec.subgraphs.resize(5);
  const char* const names[] = {"main", "condition", "body", "then", "else"};
  for (int s = 0; s < 5; ++s) {
    spec.subgraphs[static_cast<size_t>(s)].name = names[s];
    spec.AddInput("x", DType::kFloat32, {2}, s);
    spec.AddTensor("y", s == 1 ? DType::kBool : DType::kFloat32,
                   s == 1 ? std::vector<int32_t>{1} : std::vector<int32_t>{2}, s);
    spec.subgraphs[static_cast<size_t>(s)].outputs = {1};
  }
  spec.AddOp(OpCode::kWhile, {0}, {1}, OptionsSpec(kWhileOptions).Int(0, 1).Int(1, 2), 0);
  const int limit = spec.AddConstant("limit", DType::kFloat32, {2}, ToBytes<float>({8, 8}), 1);
  const int less = spec.AddTensor("less", DType::kBool, {2}, 1);
  const int axis = spec.AddConstant("axis", DType::kInt32, {1}, ToBytes<int32_t>({0}), 1);
  spec.AddOp(OpCode::kLess, {0, limit}, {less}, OptionsSpec(), 1);
  spec.AddOp(OpCode::kReduceAll, {less, axis}, {1}, OptionsSpec(kReducerOptions).Byte(0, 1), 1);
  const int choice = spec.AddConstant("choice", DType::kBool, {1}, {1}, 2);
  spec.AddOp(OpCode::kIf, {choice, 0}, {1}, OptionsSpec(kIfOptions).Int(0, 3).Int(1, 4), 2);
  const int one = spec.AddConstant("one", DType::kFloat32, {1}, ToBytes<float>({1}), 3);
  spec.AddOp(OpCode::kAdd, {0, one}, {1}, OptionsSpec(kAddOptions), 3);
  spec.AddOp(OpCode::kAdd, {0, 0}, {1}, OptionsSpec(kAddOptions), 4);
  return spec;
}

ModelSpec OddSpec() {
  ModelSpec spec;
  spec.main().name = "odd";
  const int x = spec.AddInput("x", DType::kInt8, {1, 4});
  spec.main().tensors[0].scales = {0.5f};
  spec.main().tensors[0].zero_points = {-3};
  // [[5, 0, 0, 0], [0, 0, 6, 7]]: rows dense, columns CSR.
  const int sparse = spec.AddConstant("sparse", DType::kInt8, {2, 4}, {5, 6, 7});
  TensorSpec& sparse_tensor = spec.main().tensors.back();
  sparse_tensor.scales = {0.25f, 0.5f};
  sparse_tensor.zero_points = {0, 0};
  sparse_tensor.traversal_order = {0, 1};
  sparse_tensor.levels.resize(2);
  sparse_tensor.levels[0].dense_size = 2;
  sparse_tensor.levels[1].format = 1;
  sparse_tensor.levels[1].index_type = 3;
  sparse_tensor.levels[1].segments = {0, 1, 3};
  sparse_tensor.levels[1].indices = {0, 2, 3};
  Bytes words = ToBytes<int32_t>({2, 16, 19, 21});
  for (const char c : std::string("abcde")) words.push_back(static_cast<uint8_t>(c));
  const int strings = spec.AddConstant("words", DType::kString, {2}, words);
  const int state = spec.AddTensor("state", DType::kFloat32, {3});
  spec.main().tensors.back().is_variable = true;
  const int out = spec.AddTensor("out", DType::kInt8, {1, 2});
  OpSpec op;
  op.opcode = spec.AddCode(OpCode::kCustom, "Odd");
  op.inputs = {x, sparse, strings, state, -1};
  op.outputs = {out};
  op.custom_options = {1, 2, 3};
  op.mutating = {0, 0, 0, 1, 0};
  spec.main().ops.push_back(op);
  spec.main().outputs = {out};
  return spec;
}

ZipEntrySpec StoredEntry(const std::string& name, const std::string& content) {
  ZipEntrySpec entry;
  entry.name = name;
  entry.packed = content;
  entry.size = static_cast<uint32_t>(content.size());
  entry.crc = Crc32(content.data(), content.size());
  return entry;
}

Bytes BuildZip(const std::vector<ZipEntrySpec>& entries, uint32_t base) {
  Bytes out;
  std::vector<uint32_t> offsets;
  for (const ZipEntrySpec& entry : entries) {
    offsets.push_back(base + static_cast<uint32_t>(out.size()));
    Put32(&out, 0x04034b50);
    PutCommon(&out, entry);
    out.insert(out.end(), entry.name.begin(), entry.name.end());
    out.insert(out.end(), entry.packed.begin(), entry.packed.end());
  }
  const uint32_t directory = static_cast<uint32_t>(out.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    Put32(&out, 0x02014b50);
    Put16(&out, 20);
    PutCommon(&out, entries[i]);
    Put32(&out, 0);  // comment length, disk
    Put32(&out, 0);  // internal attributes, half of the external ones
    Put16(&out, 0);
    Put32(&out, offsets[i]);
    out.insert(out.end(), entries[i].name.begin(), entries[i].name.end());
  }
  const uint32_t end = static_cast<uint32_t>(out.size());
  Put32(&out, 0x06054b50);
  Put32(&out, 0);
  Put16(&out, static_cast<uint32_t>(entries.size()));
  Put16(&out, static_cast<uint32_t>(entries.size()));
  Put32(&out, end - directory);
  Put32(&out, base + directory);
  Put16(&out, 0);
  return out;
}

Bytes BuildMetadata(const std::vector<float>& mean, const std::vector<float>& std,
                    const std::string& labels_file, uint32_t sample_rate) {
  namespace m = metadata_schema;
  flatbuffers::FlatBufferBuilder fbb;
  std::vector<flatbuffers::Offset<m::ProcessUnit>> units;
  if (!mean.empty()) {
    const auto normalization =
        m::CreateNormalizationOptions(fbb, fbb.CreateVector(mean), fbb.CreateVector(std));
    units.push_back(m::CreateProcessUnit(fbb, m::ProcessUnitOptions::NormalizationOptions,
                                         normalization.Union()));
  }
  std::vector<flatbuffers::Offset<m::AssociatedFile>> files;
  if (!labels_file.empty()) {
    files.push_back(m::CreateAssociatedFile(fbb, fbb.CreateString(labels_file), 0,
                                            m::AssociatedFileType::TENSOR_AXIS_LABELS));
  }
  flatbuffers::Offset<m::Content> content;
  if (sample_rate > 0) {
    content = m::CreateContent(fbb, m::ContentProperties::AudioProperties,
                               m::CreateAudioProperties(fbb, sample_rate, 1).Union());
  }
  const std::vector<flatbuffers::Offset<m::TensorMetadata>> inputs = {
      m::CreateTensorMetadata(fbb, fbb.CreateString(sample_rate > 0 ? "audio" : "image"), 0, 0,
                              content, fbb.CreateVector(units))};
  const std::vector<flatbuffers::Offset<m::TensorMetadata>> outputs = {m::CreateTensorMetadata(
      fbb, fbb.CreateString("probability"), 0, 0, 0, 0, 0, fbb.CreateVector(files))};
  const std::vector<flatbuffers::Offset<m::SubGraphMetadata>> subgraphs = {
      m::CreateSubGraphMetadata(fbb, 0, 0, fbb.CreateVector(inputs), fbb.CreateVector(outputs))};
  m::FinishModelMetadataBuffer(fbb, m::CreateModelMetadata(fbb, fbb.CreateString("sample"), 0, 0,
                                                           fbb.CreateVector(subgraphs)));
  return Bytes(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
}

}  // namespace test
}  // namespace topwork
