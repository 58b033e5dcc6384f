// Opening models: from a path, a descriptor, memory; and what is read from them.
#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "models/format/model.h"
#include "runtime/base/sha256.h"
#include "tests/support/model_builder.h"
#include "tests/support/resident.h"
#include "tests/support/skip.h"

namespace topwork {
namespace test {
namespace {

// A file in the temporary folder that goes away with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Bytes& content) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/topwork_open_XXXXXX";
    fd_ = mkstemp(&path_[0]);
    REQUIRE(fd_ >= 0);
    REQUIRE(write(fd_, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  }
  ~TemporaryFile() {
    close(fd_);
    unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }
  int fd() const { return fd_; }

 private:
  std::string path_;
  int fd_ = -1;
};

void CheckImageModel(const Model& model) {
  REQUIRE(model.subgraphs().size() == 1);
  const Graph& graph = model.main();
  CHECK(graph.name == "main");
  REQUIRE(graph.values.size() == 8);
  REQUIRE(graph.ops.size() == 4);
  const Value& weights = graph.values[5];
  REQUIRE(weights.data != nullptr);
  CHECK(static_cast<const float*>(weights.data)[0] == -0.25f);
  CHECK(model.labels() == std::vector<std::string>{"zero", "one", "two"});
}

}  // namespace

TEST_CASE("open: what is forgotten leaves memory some MB at a time, and can be read again",
          "[format]") {
  constexpr size_t kPart = size_t{1} << 20;
  Bytes bytes = ImageModel();
  const size_t begin = bytes.size();
  for (size_t i = 0; i < 4 * kPart; ++i) bytes.push_back(static_cast<uint8_t>(i * i >> 7));
  const TemporaryFile file(bytes);
  const auto opened = Model::OpenFile(file.path());
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  const Model& model = **opened;
  const uint8_t* const data = model.bytes().data();
  const auto is_whole = [&] { return std::memcmp(data, bytes.data(), bytes.size()) == 0; };
  REQUIRE(is_whole());
  const int all = ResidentKb(data);
  model.Forget(data + begin, kPart);
  const int after_one = ResidentKb(data);
  model.Forget(data + begin + kPart, kPart);
  const int after_two = ResidentKb(data);
  model.Forget(data + begin + 2 * kPart, kPart);
  model.Forget(bytes.data(), bytes.size());  // lies elsewhere
  const int after_three = ResidentKb(data);
  model.ForgetRest();
  const int after_rest = ResidentKb(data);
  CHECK(is_whole());
  if (all < 4096) TW_SKIP("/proc/self/smaps does not tell what is in memory");
  CHECK(after_one == all);
  CHECK(after_two <= all - 1900);
  CHECK(after_three == after_two);
  CHECK(after_rest <= all - 2800);
}

TEST_CASE("open: a model keeps the bytes that it is given, where they lie", "[format]") {
  Bytes bytes = ImageModel();
  const uint8_t* const data = bytes.data();
  const bool is_aligned = reinterpret_cast<uintptr_t>(data) % 16 == 0;
  const auto opened = Model::OpenOwned(std::move(bytes));
  REQUIRE(opened.status().ToString() == "OK");
  CheckImageModel(**opened);
  CHECK(((*opened)->bytes().data() == data) == is_aligned);
  CHECK(Model::OpenOwned(Bytes{1, 2, 3}).status().code() == StatusCode::kInvalidModel);
}

TEST_CASE("open: everything in a model is read", "[format]") {
  const Bytes bytes = ImageModel();
  const auto opened = Model::OpenMemory(bytes.data(), bytes.size(), true);
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  const Model& model = **opened;
  CheckImageModel(model);
  CHECK(model.description() == "a small image classifier");
  CHECK(model.schema_version() == 3);
  CHECK(model.sha256() == Sha256Hex(bytes.data(), bytes.size()));

  const Graph& graph = model.main();
  CHECK(graph.inputs == std::vector<int>{0});
  CHECK(graph.outputs == std::vector<int>{7});
  CHECK(graph.values[0].name == "image");
  CHECK(graph.values[0].dtype == DType::kFloat32);
  CHECK(graph.values[0].shape == Shape({1, 6, 6, 1}));
  CHECK(graph.values[0].signature == Shape({-1, 6, 6, 1}));
  CHECK(graph.values[1].signature == graph.values[1].shape);
  CHECK(graph.values[0].data == nullptr);
  CHECK(graph.ops[0].code == OpCode::kConv2d);
  CHECK(graph.ops[0].inputs == std::vector<int>{0, 1, 2});
  CHECK(graph.ops[2].inputs == std::vector<int>{4, 5, -1});
  CHECK(graph.ops[2].file_index == 2);
  CHECK(std::string(graph.ops[3].name()) == "SOFTMAX");

  REQUIRE(model.signatures().size() == 1);
  CHECK(model.signatures()[0].key == "serving_default");
  CHECK(model.signatures()[0].inputs[0].name == "x");
  CHECK(model.signatures()[0].outputs[0].value == 7);
  REQUIRE(model.metadata().size() == 1);
  CHECK(model.metadata()[0].name == "TFLITE_METADATA");
  REQUIRE(model.associated_files().size() == 1);
  CHECK(model.associated_files()[0].name == "classes.txt");
  REQUIRE(model.normalization() != nullptr);
  CHECK(model.normalization()->mean == std::vector<float>{127.5f});
  CHECK(model.normalization()->std == std::vector<float>{127.5f});
}

TEST_CASE("open: subgraphs, quantization, variables, sparse and custom things are read",
          "[format]") {
  const Bytes odd = BuildModel(OddSpec());
  const auto opened = Model::OpenMemory(odd.data(), odd.size(), true);
  REQUIRE(opened.ok());
  const Graph& graph = (*opened)->main();
  REQUIRE(graph.values[0].quantization != nullptr);
  CHECK(graph.values[0].quantization->scales[0] == 0.5f);
  CHECK(graph.values[0].quantization->zero_points[0] == -3);
  REQUIRE(graph.values[1].quantization->scales.size() == 2);
  CHECK(graph.values[1].quantization->axis == 0);
  CHECK(graph.values[1].is_sparse);
  CHECK(graph.values[2].dtype == DType::kString);
  CHECK(graph.values[3].is_variable);
  CHECK(graph.values[4].quantization == nullptr);
  const Op& op = graph.ops[0];
  CHECK(op.code == OpCode::kCustom);
  CHECK(op.custom_name == "Odd");
  CHECK(std::string(op.params.custom_name) == "Odd");
  REQUIRE(op.params.custom_options.size() == 3);
  CHECK(op.params.custom_options[2] == 3);

  const Bytes loop = BuildModel(LoopSpec());
  const auto looped = Model::OpenMemory(loop.data(), loop.size(), true);
  REQUIRE(looped.ok());
  REQUIRE((*looped)->subgraphs().size() == 5);
  CHECK((*looped)->subgraphs()[4].name == "else");
  CHECK((*looped)->subgraphs()[2].ops[0].code == OpCode::kIf);
}

TEST_CASE("open: one zero point serves all scales, none means 0", "[format]") {
  ModelSpec spec = ImageSpec();
  spec.main().tensors[5].scales = {1, 2, 3};
  spec.main().tensors[5].zero_points = {7};
  spec.main().tensors[1].scales = {1, 2};
  // The axis of the weights, left on their bias by the converter.
  spec.main().tensors[2].scales = {1, 2};
  spec.main().tensors[2].axis = 3;
  // A single scale of 0 is how old converters say "not quantized".
  spec.main().tensors[3].scales = {0};
  const Bytes bytes = BuildModel(spec);
  const auto opened = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(opened.ok());
  const std::vector<Value>& values = (*opened)->main().values;
  CHECK(values[5].quantization->zero_points[2] == 7);
  CHECK(values[1].quantization->zero_points[1] == 0);
  CHECK(values[2].quantization->axis == 0);
  CHECK(values[3].quantization == nullptr);
}

TEST_CASE("open: a file, and a piece of a descriptor at any offset", "[format]") {
  const Bytes model = ImageModel();
  {
    const TemporaryFile file(model);
    const auto opened = Model::OpenFile(file.path());
    REQUIRE(opened.ok());
    CheckImageModel(**opened);
    CHECK((*opened)->bytes().size() == model.size());
  }
  for (const size_t offset : {0u, 1u, 2u, 3u, 4u, 8u, 12u, 16u, 4095u, 4096u, 4100u}) {
    Bytes archive(offset, 0xee);
    archive.insert(archive.end(), model.begin(), model.end());
    archive.insert(archive.end(), 77, 0xdd);
    const TemporaryFile file(archive);
    INFO("offset " << offset);
    const auto opened =
        Model::OpenFd(file.fd(), static_cast<int64_t>(offset), static_cast<int64_t>(model.size()));
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    CheckImageModel(**opened);
    CHECK((*opened)->sha256() == Sha256Hex(model.data(), model.size()));
  }
}

TEST_CASE("open: what cannot be read says why and names the file", "[format]") {
  const auto message = [](const Result<std::shared_ptr<const Model>>& result, StatusCode code) {
    CHECK(result.status().code() == code);
    return result.status().message();
  };
  using Catch::Contains;
  CHECK_THAT(message(Model::OpenFile("/no/such/model.tflite"), StatusCode::kIo),
             Contains("'/no/such/model.tflite'") && Contains("No such file"));
  CHECK_THAT(message(Model::OpenFile("/"), StatusCode::kIo), Contains("Is a directory"));
  CHECK_THAT(message(Model::OpenFile(""), StatusCode::kIo), Contains("No such file"));
  CHECK_THAT(message(Model::OpenFd(-1, 0, -1), StatusCode::kIo), Contains("descriptor -1"));
  CHECK_THAT(message(Model::OpenMemory(nullptr, 5, true), StatusCode::kInvalidArgument),
             Contains("null pointer"));
  const Bytes model = ImageModel();
  const TemporaryFile file(model);
  const int64_t size = static_cast<int64_t>(model.size());
  CHECK_THAT(message(Model::OpenFd(file.fd(), 1, size), StatusCode::kIo), Contains("cannot map"));
  CHECK_THAT(message(Model::OpenFd(file.fd(), -1, size), StatusCode::kIo), Contains("offset -1"));
  CHECK_THAT(message(Model::OpenFd(file.fd(), size, -1), StatusCode::kInvalidModel),
             Contains("the file is 0 bytes long"));
  CHECK_THAT(message(Model::OpenFd(file.fd(), 4, size - 4), StatusCode::kInvalidModel),
             Contains("not a .tflite model"));
  const TemporaryFile empty{Bytes()};
  CHECK_THAT(message(Model::OpenFile(empty.path()), StatusCode::kInvalidModel),
             Contains(empty.path()) && Contains("0 bytes long"));
}

TEST_CASE("open: memory is used in place only when it is aligned and lent", "[format]") {
  const Bytes model = ImageModel();
  Bytes memory(model.size() + 64);
  const size_t start = 16 - reinterpret_cast<uintptr_t>(memory.data()) % 16;
  for (const size_t shift : {0u, 1u, 4u, 8u}) {
    uint8_t* at = memory.data() + start + shift;
    std::memcpy(at, model.data(), model.size());
    const auto lent = Model::OpenMemory(at, model.size(), false);
    REQUIRE(lent.ok());
    CheckImageModel(**lent);
    CHECK(((*lent)->bytes().data() == at) == (shift == 0));
    const auto copied = Model::OpenMemory(at, model.size(), true);
    REQUIRE(copied.ok());
    CHECK((*copied)->bytes().data() != at);
  }
}

TEST_CASE("open: weights behind the FlatBuffer, at any alignment", "[format]") {
  ModelSpec spec = ImageSpec();
  const Bytes weights = spec.buffers[3].data;
  spec.buffers[3].data.clear();
  spec.buffers[3].offset = 1;  // written before the size is known: values do not change the size
  spec.buffers[3].size = weights.size();
  const size_t size = BuildModel(spec).size();
  for (const size_t gap : {0u, 1u, 2u, 3u, 64u}) {
    spec.buffers[3].offset = size + gap;
    Bytes bytes = BuildModel(spec);
    REQUIRE(bytes.size() == size);
    bytes.insert(bytes.end(), gap, 0);
    bytes.insert(bytes.end(), weights.begin(), weights.end());
    const auto opened = Model::OpenMemory(bytes.data(), bytes.size(), true);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    const Value& value = (*opened)->main().values[5];
    CHECK(std::memcmp(value.data, weights.data(), weights.size()) == 0);
    CHECK(reinterpret_cast<uintptr_t>(value.data) % 4 == 0);
    CHECK((value.owned != nullptr) == ((size + gap) % 4 != 0));
    bytes.pop_back();
    CHECK_FALSE(Model::OpenMemory(bytes.data(), bytes.size(), true).ok());
  }
}

TEST_CASE("open: a constant without elements has an address", "[format]") {
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1});
  const int shape = spec.AddTensor("shape", DType::kInt32, {0});
  const int y = spec.AddTensor("y", DType::kFloat32, {});
  spec.AddOp(OpCode::kReshape, {x, shape}, {y});
  spec.main().outputs = {y};
  const Bytes bytes = BuildModel(spec);
  const auto opened = Model::OpenMemory(bytes.data(), bytes.size(), true);
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  CHECK((*opened)->main().values[1].data != nullptr);
  CHECK((*opened)->main().values[0].data == nullptr);
}

TEST_CASE("open: labels come from well-known files when the metadata names none", "[format]") {
  ModelSpec spec = ImageSpec();
  spec.metadata.clear();
  Bytes bytes = BuildModel(spec);
  const Bytes zip =
      BuildZip({StoredEntry("other.txt", "no"), StoredEntry("labelmap.txt", "a\nb\n")},
               static_cast<uint32_t>(bytes.size()));
  bytes.insert(bytes.end(), zip.begin(), zip.end());
  const auto opened = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(opened.ok());
  CHECK((*opened)->labels() == std::vector<std::string>{"a", "b"});
  CHECK((*opened)->normalization() == nullptr);
}

TEST_CASE("open: the sample rate of the first audio input is read", "[format]") {
  const std::pair<uint32_t, int32_t> rates[] = {{0, 0}, {48000, 48000}, {4000000000u, 0}};
  for (const auto& [written, read] : rates) {
    ModelSpec spec = ImageSpec();
    spec.metadata = {{"TFLITE_METADATA", spec.AddBuffer(BuildMetadata({}, {}, "", written))}};
    const Bytes bytes = BuildModel(spec);
    const auto opened = Model::OpenMemory(bytes.data(), bytes.size(), true);
    REQUIRE(opened.status().ToString() == "OK");
    CHECK((*opened)->sample_rate() == read);
    CHECK((*opened)->normalization() == nullptr);
  }
}

TEST_CASE("open: whatever a file calls its parts, the names that are kept are printable",
          "[format]") {
  const std::string hostile = "\x1b[2J\nforged\xc2\x9b\xff<script>";
  const std::string shown = "\\x1b[2J\\nforged\\u009b\\xff<script>";
  ModelSpec spec;
  spec.description = hostile;
  spec.main().name = hostile;
  const int x = spec.AddInput(hostile, DType::kFloat32, {2});
  const int y = spec.AddTensor("y" + hostile, DType::kFloat32, {2});
  OpSpec op;
  op.opcode = spec.AddCode(OpCode::kCustom, hostile);
  op.inputs = {x};
  op.outputs = {y};
  spec.main().ops.push_back(op);
  spec.main().outputs = {y};
  spec.signatures.push_back({hostile, 0, {{hostile, 0}}, {{hostile, 1}}});
  spec.metadata = {{hostile, spec.AddBuffer({1})}};
  Bytes bytes = BuildModel(spec);
  const Bytes zip = BuildZip({StoredEntry("labels.txt", "one\x1b[2J\r\ntwo\xff\n")},
                             static_cast<uint32_t>(bytes.size()));
  bytes.insert(bytes.end(), zip.begin(), zip.end());
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  const Graph& graph = (*model)->main();
  CHECK((*model)->description() == shown);
  CHECK(graph.name == shown);
  CHECK(graph.values[0].name == shown);
  CHECK(graph.values[1].name == "y" + shown);
  CHECK(graph.ops[0].custom_name == shown);
  CHECK(graph.ops[0].name() == shown);
  const Signature& signature = (*model)->signatures()[0];
  CHECK(signature.key == shown);
  CHECK(signature.inputs[0].name == shown);
  CHECK(signature.outputs[0].name == shown);
  CHECK((*model)->metadata()[0].name == shown);
  CHECK((*model)->labels() == std::vector<std::string>{"one\\x1b[2J", "two\\xff"});
}

TEST_CASE("strings and numbers of one buffer do not meet", "[format]") {
  // A table of one string, which is two int64 to another tensor, at an address that suits no int64.
  Bytes table = ToBytes<int32_t>({1, 12, 16});
  table.insert(table.end(), {'a', 'b', 'c', 'd'});
  for (const bool strings_first : {false, true}) {
    ModelSpec spec;
    spec.AddBuffer({});
    spec.buffers[1].size = table.size();
    spec.buffers[1].offset = 1 << 20;
    for (const bool is_string : {strings_first, !strings_first}) {
      const int t =
          spec.AddTensor("t", is_string ? DType::kString : DType::kInt64, {is_string ? 1 : 2});
      spec.main().tensors[static_cast<size_t>(t)].buffer = 1;
    }
    const size_t size = BuildModel(spec).size();
    spec.buffers[1].offset = (size + 7) / 8 * 8 + 4;
    Bytes bytes = BuildModel(spec);
    REQUIRE(bytes.size() == size);
    bytes.resize(static_cast<size_t>(spec.buffers[1].offset));
    bytes.insert(bytes.end(), table.begin(), table.end());
    const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
    REQUIRE(model.status().ToString() == "OK");
    for (const Value& value : (*model)->main().values) {
      if (value.dtype == DType::kInt64) {
        CHECK(std::memcmp(value.data, table.data(), table.size()) == 0);
      } else {
        const StringRef& text = *static_cast<const StringRef*>(value.data);
        CHECK(std::string(text.data, text.size) == "abcd");
      }
    }
  }
}

}  // namespace test
}  // namespace topwork
