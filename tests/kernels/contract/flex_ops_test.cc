// TensorFlow's operators that are builtin ones: the same answers, and what is malformed.
#include "kernels/contract/flex_ops.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/tensor/strings.h"
#include "tests/support/open_session.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace test {
namespace flex_ops_test {

// Parts of a protocol buffer.
std::string Field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number * 8 + 2), static_cast<char>(bytes.size())} + bytes;
}
std::string Varint(int number, uint64_t value) {
  std::string text(1, static_cast<char>(number * 8));
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}
std::string Attribute(const std::string& key, const std::string& value) {
  return Field(5, Field(1, key) + Field(2, value));
}
std::string Number(const std::string& key, int64_t value) {
  return Attribute(key, Varint(3, static_cast<uint64_t>(value)));
}
std::string Flag(const std::string& key) { return Attribute(key, Varint(5, 1)); }
std::string Text(const std::string& key, const std::string& text) {
  return Attribute(key, Field(2, text));
}
std::string Real(const std::string& key, float value) {
  std::string bytes(1, 4 * 8 + 5);
  return Attribute(key, bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)));
}
std::string Packed(const std::string& key, const std::vector<char>& values) {
  return Attribute(key, Field(1, Field(3, std::string(values.begin(), values.end()))));
}
std::string Single(const std::string& key, const std::vector<char>& values) {
  std::string list;
  for (const char value : values) list += Varint(3, static_cast<uint64_t>(value));
  return Attribute(key, Field(1, list));
}

// FlexBuffers: a vector of two texts, all widths 4.
Bytes Options(const std::string& name, const std::string& node) {
  Bytes bytes;
  const auto word = [&](size_t value) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
  };
  size_t places[2];
  const std::string texts[2] = {name, node};
  for (int i = 0; i < 2; ++i) {
    word(texts[i].size());
    places[i] = bytes.size();
    bytes.insert(bytes.end(), texts[i].begin(), texts[i].end());
    do bytes.push_back(0);
    while (bytes.size() % 4 != 0);
  }
  word(2);
  const size_t vector = bytes.size();
  for (const size_t place : places) word(bytes.size() - place);
  for (int i = 0; i < 2; ++i) bytes.push_back(5 << 2 | 2);
  bytes.push_back(static_cast<uint8_t>(bytes.size() - vector));
  bytes.push_back(10 << 2 | 2);
  bytes.push_back(1);
  return bytes;
}

Bytes NodeOptions(const std::string& name, const std::string& attributes) {
  return Options(name, Field(1, "node/" + name) + Field(2, name) + attributes);
}

struct Use {
  const char* name;
  std::string attributes;
  std::vector<int32_t> shape;              // of the float32 input
  std::vector<std::vector<int32_t>> ints;  // further inputs, constants: vectors, {} a scalar of 1
  OpCode code;
  OptionsSpec options;
  DType out = DType::kFloat32;
  int n_outputs = 1;
  bool second_input = false;  // a float32 input of the same shape
};

std::vector<Bytes> Answers(const Use& use, bool flex) {
  ModelSpec spec;
  std::vector<int32_t> inputs = {spec.AddInput("x", DType::kFloat32, use.shape)}, outputs;
  if (use.second_input) inputs.push_back(spec.AddInput("y", DType::kFloat32, use.shape));
  for (const std::vector<int32_t>& values : use.ints) {
    const std::vector<int32_t> shape =
        values.empty() ? values : std::vector<int32_t>{static_cast<int32_t>(values.size())};
    inputs.push_back(
        spec.AddConstant("", DType::kInt32, shape,
                         ToBytes<int32_t>(values.empty() ? std::vector<int32_t>{1} : values)));
  }
  for (int i = 0; i < use.n_outputs; ++i) {
    outputs.push_back(spec.AddTensor("out", use.out, {}));
  }
  OpSpec& op = spec.AddOp(use.code, inputs, outputs, flex ? OptionsSpec() : use.options);
  if (flex) {
    op.opcode = spec.AddCode(OpCode::kCustom, std::string("Flex") + use.name);
    op.custom_options = NodeOptions(use.name, use.attributes);
  }
  spec.main().outputs = outputs;
  const auto session = OpenSession(spec);
  for (int i = 0; i < session->n_inputs(); ++i) {
    const size_t n = session->input(i).bytes() / sizeof(float);
    SetInput(session.get(), i, RandomFloats(n, static_cast<uint32_t>(i) + 1));
  }
  REQUIRE(session->Run().ToString() == "OK");
  std::vector<Bytes> answers;
  for (int o = 0; o < session->n_outputs(); ++o) {
    const TensorView& y = session->output(o);
    answers.emplace_back(y.as<uint8_t>(), y.as<uint8_t>() + y.bytes());
    for (int d = 0; d < y.shape.rank(); ++d)
      answers.back().push_back(static_cast<uint8_t>(y.shape[d]));
  }
  return answers;
}

TEST_CASE("flex: TensorFlow's operators give what the builtin ones give", "[ops]") {
  const OptionsSpec none, strided = OptionsSpec(kStridedSliceOptions).Int(0, 1).Int(4, 2);
  const OptionsSpec pool =
      OptionsSpec(kPool2dOptions).Byte(0, 1).Int(1, 2).Int(2, 1).Int(3, 3).Int(4, 2);
  const std::string window = Text("padding", "VALID") + Text("data_format", "NHWC");
  const Use uses[] = {
      {"AddV2", "", {2, 3}, {}, OpCode::kAdd, none, DType::kFloat32, 1, true},
      {"SubV2", "", {2, 3}, {}, OpCode::kSub, none, DType::kFloat32, 1, true},
      {"Mul", "", {2, 3}, {}, OpCode::kMul, none, DType::kFloat32, 1, true},
      {"Sigmoid", "", {2, 3}, {}, OpCode::kLogistic, none},
      {"Softmax", "", {2, 3}, {}, OpCode::kSoftmax, OptionsSpec(kSoftmaxOptions).Float(0, 1.0f)},
      {"Cast", Number("Truncate", 0), {5}, {}, OpCode::kCast, none, DType::kInt32},
      {"Identity", "", {2, 3}, {}, OpCode::kReshape, OptionsSpec(kReshapeOptions).Ints(0, {2, 3})},
      {"Sum",
       Flag("keep_dims"),
       {2, 3},
       {{1}},
       OpCode::kSum,
       OptionsSpec(kReducerOptions).Byte(0, 1)},
      {"Reshape", "", {2, 3}, {{3, 2}}, OpCode::kReshape, none},
      {"Max", "", {2, 3}, {{1}}, OpCode::kReduceMax, OptionsSpec(kReducerOptions)},
      {"StridedSlice",
       Number("begin_mask", 1) + Number("shrink_axis_mask", 2),
       {4, 3},
       {{2, 1}, {4, 2}, {2, 1}},
       OpCode::kStridedSlice,
       strided},
      {"Squeeze",
       Packed("squeeze_dims", {0, 2}),
       {1, 3, 1, 1},
       {},
       OpCode::kSqueeze,
       OptionsSpec(kSqueezeOptions).Ints(0, {0, 2})},
      {"MaxPool",
       window + Packed("ksize", {1, 2, 3, 1}) + Single("strides", {1, 1, 2, 1}),
       {1, 4, 7, 2},
       {},
       OpCode::kMaxPool2d,
       pool},
      {"AvgPool",
       window + Single("ksize", {1, 2, 3, 1}) + Packed("strides", {1, 1, 2, 1}),
       {1, 4, 7, 2},
       {},
       OpCode::kAveragePool2d,
       pool},
      {"Pack",
       Number("N", 2) + Number("axis", -1),
       {2, 3},
       {},
       OpCode::kPack,
       OptionsSpec(kPackOptions).Int(0, 2).Int(1, -1),
       DType::kFloat32,
       1,
       true},
      {"Unpack",
       Number("num", 3) + Number("axis", 1),
       {2, 3},
       {},
       OpCode::kUnpack,
       OptionsSpec(kUnpackOptions).Int(0, 3).Int(1, 1),
       DType::kFloat32,
       3},
      {"DepthToSpace",
       Number("block_size", 2),
       {1, 2, 2, 4},
       {},
       OpCode::kDepthToSpace,
       OptionsSpec(kDepthToSpaceOptions).Int(0, 2)},
      {"UnsortedSegmentSum", "", {4, 2}, {{0, 0, 0, 0}, {}}, OpCode::kUnsortedSegmentSum, none},
  };
  for (const Use& use : uses) {
    INFO(use.name);
    CHECK(Answers(use, true) == Answers(use, false));
  }
}

TEST_CASE("flex: names of TensorFlow's operators", "[ops]") {
  const std::pair<const char*, OpCode> names[] = {
      {"FlexSelectV2", OpCode::kSelectV2},
      {"FlexTopKV2", OpCode::kTopkV2},
      {"FlexBroadcastArgs", OpCode::kBroadcastArgs},
      {"FlexUnsortedSegmentSum", OpCode::kUnsortedSegmentSum},
      {"FlexMultinomial", OpCode::kMultinomial},
      {"FlexRFFT2D", OpCode::kRfft2d},
      {"FlexBatchMatMulV2", OpCode::kBatchMatmul},
      {"FlexSpaceToBatchND", OpCode::kSpaceToBatchNd},
      {"FlexLRN", OpCode::kLocalResponseNormalization},
  };
  for (const auto& [name, code] : names) {
    INFO(name);
    REQUIRE(FindFlexOp(name) != nullptr);
    CHECK(FindFlexOp(name)->code == code);
  }
  for (const char* name : {"Mul", "FlexConv2D", "FlexMu", "FlexMull", "Flex", "FlexSelectV", ""}) {
    INFO(name);
    CHECK(FindFlexOp(name) == nullptr);
  }
}

// x [2, 3] and x by `name`, with the axis as the last input, of that type.
ModelSpec AxisSpec(const char* name, const std::vector<int64_t>& axis, DType type, bool constant) {
  ModelSpec spec;
  const bool gathers = std::string(name) == "GatherV2";
  const int x = spec.AddInput("x", DType::kFloat32, {2, 3});
  const int other =
      gathers ? spec.AddConstant("i", DType::kInt32, {2}, ToBytes<int32_t>({1, 0})) : x;
  const std::vector<int32_t> few(axis.begin(), axis.end());
  const Bytes bytes = type == DType::kInt64 ? ToBytes<int64_t>(axis) : ToBytes<int32_t>(few);
  const std::vector<int32_t> shape = axis.size() == 1
                                         ? std::vector<int32_t>()
                                         : std::vector<int32_t>{static_cast<int32_t>(axis.size())};
  const int last =
      constant ? spec.AddConstant("axis", type, shape, bytes) : spec.AddInput("axis", type, shape);
  const int y = spec.AddTensor("y", DType::kFloat32, {});
  OpSpec& op = spec.AddOp(OpCode::kAbs, {x, other, last}, {y});
  op.opcode = spec.AddCode(OpCode::kCustom, std::string("Flex") + name);
  op.custom_options = NodeOptions(name, Number("N", 2));
  spec.main().outputs = {y};
  return spec;
}

TEST_CASE("flex: the axis of ConcatV2 and GatherV2 is an input", "[ops]") {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::tuple<const char*, int64_t, std::vector<float>> rows[] = {
      {"ConcatV2", -1, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
      {"ConcatV2", 0, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}},
      {"GatherV2", 0, {4, 5, 6, 1, 2, 3}},
      {"GatherV2", 1, {2, 1, 5, 4}},
  };
  for (const auto& [name, axis, expected] : rows) {
    for (const DType type : {DType::kInt32, DType::kInt64}) {
      INFO(name << " " << axis);
      const auto session = OpenSession(AxisSpec(name, {axis}, type, true));
      SetInput(session.get(), 0, x);
      REQUIRE(session->Run().ToString() == "OK");
      CHECK(GetOutput<float>(*session, 0) == expected);
    }
  }
  const auto refusal = [](const ModelSpec& spec) {
    return TryOpenSession(spec).status().ToString();
  };
  CHECK_THAT(refusal(AxisSpec("GatherV2", {0, 1}, DType::kInt32, true)),
             Catch::Contains("input 2 'axis' has shape [2], one value expected"));
  CHECK_THAT(refusal(AxisSpec("ConcatV2", {int64_t{1} << 40}, DType::kInt64, true)),
             Catch::Contains("2147483647"));
}

TEST_CASE("flex: an axis that only a run knows", "[ops]") {
  for (const char* name : {"ConcatV2", "GatherV2"}) {
    for (const DType type : {DType::kInt32, DType::kInt64}) {
      const auto session = OpenSession(AxisSpec(name, {0}, type, false));
      for (const int64_t axis : {0, 1, -1}) {
        INFO(name << " " << axis);
        const auto known = OpenSession(AxisSpec(name, {axis}, type, true));
        SetInput<float>(known.get(), 0, {1, 2, 3, 4, 5, 6});
        REQUIRE(known->Run().ToString() == "OK");
        SetInput<float>(session.get(), 0, {1, 2, 3, 4, 5, 6});
        std::memcpy(session->input(1).data, &axis, session->input(1).bytes());
        REQUIRE(session->Run().ToString() == "OK");
        CHECK(session->output(0).shape == known->output(0).shape);
        CHECK(GetOutput<float>(*session, 0) == GetOutput<float>(*known, 0));
      }
      for (const int64_t axis : {2, 100}) {
        std::memcpy(session->input(1).data, &axis, session->input(1).bytes());
        CHECK_THAT(session->Run().message(), Catch::Contains("xis"));
      }
    }
  }
}

ModelSpec FlexSpec(const char* name, std::vector<int32_t> shape, const Bytes& options) {
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, std::move(shape));
  const int y = spec.AddTensor("y", DType::kFloat32, {});
  OpSpec& op = spec.AddOp(OpCode::kAbs, {x}, {y});
  op.opcode = spec.AddCode(OpCode::kCustom, name);
  op.custom_options = options;
  spec.main().outputs = {y};
  return spec;
}

TEST_CASE("flex: numbers of a LeakyRelu", "[ops]") {
  const auto session =
      OpenSession(FlexSpec("FlexLeakyRelu", {2}, NodeOptions("LeakyRelu", Real("alpha", 0.5f))));
  SetInput<float>(session.get(), 0, {-4.0f, 3.0f});
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(GetOutput<float>(*session, 0) == std::vector<float>{-2.0f, 3.0f});
}

TEST_CASE("flex: rounding that the builtin operators lack", "[ops]") {
  constexpr uint64_t kFloat = 1, kInt8 = 6;
  const auto message = [](const char* name, uint64_t type) {
    const std::string attributes = Field(5, Field(1, "T") + Field(2, Varint(6, type)));
    ModelSpec spec =
        FlexSpec((std::string("Flex") + name).c_str(), {2}, NodeOptions(name, attributes));
    OpSpec& op = spec.main().ops[0];
    op.inputs.push_back(op.inputs[0]);
    return TryOpenSession(spec).status().ToString();
  };
  CHECK_THAT(message("TruncateDiv", kFloat),
             Catch::Contains("fractions of quotients of real numbers"));
  CHECK(message("Div", kFloat) == "OK");
  CHECK_THAT(message("Mean", kInt8), Catch::Contains("means of 8-bit and 16-bit integers"));
}

ModelSpec IdentitySpec(DType dtype) {
  ModelSpec spec;
  const int x = spec.AddInput("x", dtype, {2});
  const int y = spec.AddTensor("y", dtype, {2});
  OpSpec& op = spec.AddOp(OpCode::kAbs, {x}, {y});
  op.opcode = spec.AddCode(OpCode::kCustom, "FlexIdentity");
  op.custom_options = NodeOptions("Identity", "");
  spec.main().outputs = {y};
  return spec;
}

TEST_CASE("flex: Identity copies values of every type", "[ops]") {
  for (const DType dtype : {DType::kFloat64, DType::kUInt64, DType::kBFloat16, DType::kInt4}) {
    const auto session = OpenSession(IdentitySpec(dtype));
    const size_t bytes = session->input(0).bytes();
    for (size_t i = 0; i < bytes; ++i)
      session->input(0).as<uint8_t>()[i] = static_cast<uint8_t>(31 * i + 9);
    REQUIRE(session->Run().ToString() == "OK");
    CHECK(std::memcmp(session->output(0).data, session->input(0).data, bytes) == 0);
  }
  const auto session = OpenSession(IdentitySpec(DType::kString));
  const std::vector<StringRef> texts = {{"", 0}, {"two words", 9}};
  REQUIRE(session->WriteStrings(0, texts).ToString() == "OK");
  REQUIRE(session->Run().ToString() == "OK");
  const Span<const StringRef> copied = StringsOf(session->output(0));
  REQUIRE(copied.size() == 2);
  CHECK(copied[0].size == 0);
  CHECK(std::string(copied[1].data, copied[1].size) == "two words");
  CHECK_THAT(TryOpenSession(IdentitySpec(DType::kVariant)).status().ToString(),
             Catch::Contains("cannot be cast from variant to variant"));
}

TEST_CASE("flex: Identity of a variable's handle", "[ops]") {
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {2});
  const int handle = spec.AddTensor("handle", DType::kResource, {1});
  const int same = spec.AddTensor("same", DType::kResource, {1});
  const int y = spec.AddTensor("y", DType::kFloat32, {2});
  spec.AddOp(OpCode::kVarHandle, {}, {handle}, OptionsSpec(kVarHandleOptions).Text(1, "v"));
  OpSpec& op = spec.AddOp(OpCode::kAbs, {handle}, {same});
  op.opcode = spec.AddCode(OpCode::kCustom, "FlexIdentity");
  op.custom_options = NodeOptions("Identity", "");
  spec.AddOp(OpCode::kAssignVariable, {handle, x}, {});
  spec.AddOp(OpCode::kReadVariable, {same}, {y});
  spec.main().outputs = {y};
  const auto session = OpenSession(spec);
  SetInput<float>(session.get(), 0, {3.0f, -4.0f});
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(GetOutput<float>(*session, 0) == std::vector<float>{3.0f, -4.0f});
}

TEST_CASE("flex: malformed options", "[ops]") {
  const std::string ksize = Packed("ksize", {1, 2, 2, 1}) + Packed("strides", {1, 2, 2, 1});
  const std::tuple<const char*, Bytes, const char*> rows[] = {
      {"FlexAbs", {}, "FlexAbs: its options hold no NodeDef"},
      {"FlexAbs", {1, 2, 3, 4, 5}, "hold no NodeDef"},
      {"FlexMaxPool", NodeOptions("MaxPool", ksize), "padded as SAME or VALID"},
      {"FlexMaxPool", NodeOptions("MaxPool", ksize + Text("data_format", "NCHW")),
       "images are NCHW"},
      {"FlexMaxPool", NodeOptions("MaxPool", Text("padding", "SAME")), "its window is not one"},
  };
  for (const auto& [name, options, text] : rows) {
    const auto session = TryOpenSession(FlexSpec(name, {1, 4, 4, 1}, options));
    REQUIRE_FALSE(session.ok());
    CHECK_THAT(session.status().message(), Catch::Contains(text));
  }
  // Damaged bytes are read to their end at most.
  const Bytes whole = NodeOptions("MaxPool", ksize + Text("padding", "SAME"));
  int n_run = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const uint8_t mask : {0x01, 0x80, 0xff}) {
      Bytes bytes = whole;
      bytes[i] = static_cast<uint8_t>(bytes[i] ^ mask);
      n_run += TryOpenSession(FlexSpec("FlexMaxPool", {1, 4, 4, 1}, bytes)).ok();
    }
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK_FALSE(TryOpenSession(FlexSpec("FlexMaxPool", {1, 4, 4, 1}, cut)).ok());
  }
  CHECK(n_run > 0);
}

TEST_CASE("flex: Multinomial draws the builtin operator's numbers", "[ops]") {
  std::vector<int32_t> first;
  for (int round = 0; round < 2; ++round) {
    ModelSpec spec;
    const int x = spec.AddInput("x", DType::kFloat32, {1, 4});
    const int n = spec.AddConstant("n", DType::kInt32, {}, ToBytes<int32_t>({50}));
    const int y = spec.AddTensor("y", DType::kInt32, {1, 50});
    OpSpec& op = spec.AddOp(OpCode::kMultinomial, {x, n}, {y});
    op.opcode = spec.AddCode(OpCode::kCustom, "FlexMultinomial");
    op.custom_options = NodeOptions("Multinomial", Number("seed", 7) + Number("seed2", 9));
    spec.main().outputs = {y};
    const auto session = OpenSession(spec);
    SetInput<float>(session.get(), 0, {0.0f, 1.0f, 2.0f, -30.0f});
    REQUIRE(session->Run().ToString() == "OK");
    const std::vector<int32_t> drawn = GetOutput<int32_t>(*session, 0);
    for (const int32_t value : drawn) CHECK((value >= 0 && value < 3));
    if (round == 1) CHECK(drawn == first);
    first = drawn;
  }
}

}  // namespace flex_ops_test
}  // namespace test
}  // namespace topwork
