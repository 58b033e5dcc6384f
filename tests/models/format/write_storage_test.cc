// Export into every storage that heads have: scales, zero points, biases, types and operators.
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/train/random.h"
#include "tests/support/classifiers.h"
#include "tests/support/new_head.h"

namespace topwork {
namespace write_storage_test {

using test::Export;
using test::Found;
using test::MakeHead;
using test::ModelSpec;
using test::NewHead;
using test::OptionsSpec;
using test::Replacement;
using test::ToBytes;

constexpr int kDim = 6;
constexpr int kOldClasses = 4;

enum class End { kNone, kDequantize, kQuantize };

struct Kind {
  DType type;        // of embedding and scores
  bool per_channel;  // weights
  bool wide_bias;
  OpCode activation;  // kCustom: none
  End end;
  bool bias = true;
};

DType WeightType(const Kind& kind) {
  return kind.type == DType::kUInt8 ? DType::kUInt8 : DType::kInt8;
}

void Scale(ModelSpec* spec, int tensor, std::vector<float> scales, std::vector<int64_t> zeros) {
  test::TensorSpec& t = spec->main().tensors[static_cast<size_t>(tensor)];
  t.scales = std::move(scales);
  t.zero_points = std::move(zeros);
}

// An embedding of integers as the input, and a layer of integers.
ModelSpec IntegerSpec(const Kind& kind) {
  ModelSpec spec;
  const int x = spec.AddInput("embedding", kind.type, {1, kDim});
  const int64_t zero = kind.type == DType::kInt16 ? 0 : 3;
  Scale(&spec, x, {0.05f}, {zero});
  const size_t n_scales = kind.per_channel ? kOldClasses : 1;
  const int weights = spec.AddConstant("head/weights", WeightType(kind), {kOldClasses, kDim},
                                       test::Bytes(kOldClasses * kDim, 5));
  Scale(&spec, weights, std::vector<float>(n_scales, 0.01f),
        std::vector<int64_t>(n_scales, kind.type == DType::kUInt8 ? 120 : 0));
  int bias = -1;
  if (kind.bias) {
    const size_t bytes = kind.wide_bias ? 8 : 4;
    bias = spec.AddConstant("head/bias", kind.wide_bias ? DType::kInt64 : DType::kInt32,
                            {kOldClasses}, test::Bytes(kOldClasses * bytes, 0));
    Scale(&spec, bias, std::vector<float>(n_scales, 0.0005f), std::vector<int64_t>(n_scales, 0));
  }
  int v = spec.AddTensor("logits", kind.type, {1, kOldClasses});
  spec.main().tensors[static_cast<size_t>(v)].signature = {-1, kOldClasses};
  Scale(&spec, v, {0.1f}, {zero});
  spec.AddOp(OpCode::kFullyConnected, {x, weights, bias}, {v},
             OptionsSpec(test::kFullyConnectedOptions));
  if (kind.activation != OpCode::kCustom) {
    const int scores = spec.AddTensor("scores", kind.type, {1, kOldClasses});
    const bool wide = kind.type == DType::kInt16;
    Scale(&spec, scores, {wide ? 1.0f / 32768 : 1.0f / 256},
          {kind.type == DType::kInt8 ? -128 : 0});
    const bool softmax = kind.activation == OpCode::kSoftmax;
    spec.AddOp(kind.activation, {v}, {scores},
               softmax ? OptionsSpec(test::kSoftmaxOptions).Float(0, 1.0f) : OptionsSpec());
    v = scores;
  }
  if (kind.end != End::kNone) {
    const bool real = kind.end == End::kDequantize;
    const int out = spec.AddTensor("out", real ? DType::kFloat32 : DType::kUInt8, {1, kOldClasses});
    if (!real) Scale(&spec, out, {1.0f / 256}, {0});
    spec.AddOp(real ? OpCode::kDequantize : OpCode::kQuantize, {v}, {out});
    v = out;
  }
  spec.main().outputs = {v};
  return spec;
}

const Value& ValueAt(const Model& model, int v) {
  return model.main().values[static_cast<size_t>(v)];
}

const Value& Output(const Model& model) { return ValueAt(model, model.main().outputs[0]); }

std::vector<OpCode> Codes(const Model& model) {
  std::vector<OpCode> codes;
  for (const Op& op : model.main().ops) codes.push_back(op.code);
  return codes;
}

void CheckScale(const Value& value, float scale, int64_t zero_point) {
  INFO(value.name);
  REQUIRE(value.quantization != nullptr);
  REQUIRE(value.quantization->scales.size() == 1);
  CHECK(value.quantization->scales[0] == scale);
  CHECK(value.quantization->zero_points[0] == zero_point);
}

const Kind kKinds[] = {
    {DType::kInt8, true, false, OpCode::kSoftmax, End::kNone},
    {DType::kInt8, false, false, OpCode::kSoftmax, End::kDequantize},
    {DType::kInt8, true, false, OpCode::kLogistic, End::kQuantize},
    {DType::kInt8, false, false, OpCode::kCustom, End::kNone},
    {DType::kInt8, true, false, OpCode::kSoftmax, End::kNone, false},
    {DType::kUInt8, false, false, OpCode::kSoftmax, End::kNone},
    {DType::kUInt8, false, false, OpCode::kLogistic, End::kDequantize},
    {DType::kInt16, true, true, OpCode::kSoftmax, End::kDequantize},
    {DType::kInt16, false, false, OpCode::kLogistic, End::kNone},
    {DType::kInt16, true, true, OpCode::kCustom, End::kDequantize},
};

std::string Name(const Kind& kind) {
  return StrFormat("{}{}, activation {}, end {}", DTypeName(kind.type),
                   kind.per_channel ? " per channel" : "", static_cast<int>(kind.activation),
                   static_cast<int>(kind.end));
}

TEST_CASE("export: heads of integers stay heads of integers", "[format]") {
  for (const Kind& kind : kKinds) {
    const auto model = test::OpenBytes(test::BuildModel(IntegerSpec(kind)));
    const HeadFormat format = Found(*model).format;
    CHECK(format.per_channel == kind.per_channel);
    for (int n_classes : {1, 2, 9}) {
      INFO(Name(kind) << ", " << n_classes << " classes");
      const NewHead head = MakeHead(n_classes, kDim, 3);
      const auto exported = Export(*model, Replacement(*model, head, Loss::kSoftmaxCrossEntropy));
      const Head again = Found(*exported);
      CHECK(again.format.storage == format.storage);
      CHECK(again.format.wide_bias == format.wide_bias);
      CHECK(again.quantized);
      CHECK(again.n_classes == n_classes);
      std::vector<float> weights(head.weights.size()), bias(head.bias.size());
      RoundHead(format, n_classes, kDim, head.weights, head.bias, weights.data(), bias.data());
      CHECK(again.shipped_weights == weights);
      CHECK(again.shipped_bias == bias);
      const Value& stored_bias = ValueAt(*exported, again.bias);
      const Value& stored_weights = ValueAt(*exported, again.weights);
      CHECK(stored_bias.dtype == (kind.wide_bias ? DType::kInt64 : DType::kInt32));
      CHECK(stored_weights.dtype == WeightType(kind));
      const size_t n_scales = kind.per_channel ? static_cast<size_t>(n_classes) : 1;
      REQUIRE(stored_weights.quantization->scales.size() == n_scales);
      REQUIRE(stored_bias.quantization->scales.size() == n_scales);
      for (size_t s = 0; s < n_scales; ++s) {
        CHECK(stored_bias.quantization->scales[s] ==
              0.05f * stored_weights.quantization->scales[s]);
      }
      // Scores in their range; what comes behind keeps its scale.
      const Affine affine = ScaleOfRange(kind.type, -7.0f, 5.0f);
      CheckScale(ValueAt(*exported, again.logits), affine.scale, affine.zero_point);
      CHECK(Output(*exported).dtype == Output(*model).dtype);
      CHECK(Output(*exported).shape == Shape({1, n_classes}));
      CHECK(ValueAt(*exported, again.logits).signature == Shape({-1, n_classes}));
      const size_t new_bias = kind.bias ? 0 : 1;
      CHECK(exported->main().values.size() == model->main().values.size() + new_bias);
    }
  }
}

TEST_CASE("export: a head of integers can become one of real numbers", "[format]") {
  for (const Kind& kind : kKinds) {
    INFO(Name(kind));
    const auto model = test::OpenBytes(test::BuildModel(IntegerSpec(kind)));
    const NewHead head = MakeHead(3, kDim, 5);
    HeadReplacement replacement = Replacement(*model, head, Loss::kSoftmaxCrossEntropy);
    replacement.float_head = true;
    const auto exported = Export(*model, replacement);
    std::vector<OpCode> expected = {OpCode::kDequantize, OpCode::kFullyConnected};
    if (kind.activation != OpCode::kCustom) expected.push_back(OpCode::kSoftmax);
    if (kind.end != End::kDequantize) expected.push_back(OpCode::kQuantize);
    CHECK(Codes(*exported) == expected);
    const Head again = Found(*exported);
    CHECK(again.format.storage == HeadStorage::kFloat32);
    CHECK(again.shipped_weights == head.weights);
    CHECK(again.shipped_bias == head.bias);
    CHECK(Output(*exported).dtype == Output(*model).dtype);
    CHECK(Output(*exported).name == Output(*model).name);
    CHECK(Output(*exported).shape == Shape({1, 3}));
    if (Output(*exported).dtype != DType::kFloat32)
      CHECK(Output(*exported).quantization != nullptr);
    CHECK(ValueAt(*exported, again.logits).dtype == DType::kFloat32);
  }
}

TEST_CASE("export: final activations of integers have the scales of the format", "[format]") {
  const NewHead head = MakeHead(3, kDim, 5);
  for (const Kind& kind : kKinds) {
    if (kind.end != End::kNone) continue;
    const auto model = test::OpenBytes(test::BuildModel(IntegerSpec(kind)));
    for (int i = 0; i < 4; ++i) {
      INFO(Name(kind) << ", now " << i);
      HeadReplacement replacement = Replacement(*model, head, Loss::kSoftmaxCrossEntropy);
      replacement.activation = static_cast<FinalActivation>(i);
      const auto bytes = ExportWithHead(*model, replacement);
      if (kind.type == DType::kInt16 && replacement.activation == FinalActivation::kLogSoftmax) {
        CHECK(bytes.status().code() == StatusCode::kUnsupported);
        CHECK(bytes.status().message().find("give float_head") != std::string::npos);
        continue;
      }
      REQUIRE(bytes.status().ToString() == "OK");
      const auto exported = test::OpenBytes(bytes.value());
      const Value& out = Output(*exported);
      CHECK(out.dtype == kind.type);
      const bool log = replacement.activation == FinalActivation::kLogSoftmax;
      if (replacement.activation == FinalActivation::kNone) {
        const Affine affine = ScaleOfRange(kind.type, -7.0f, 5.0f);
        CheckScale(out, affine.scale, affine.zero_point);
        CHECK(exported->main().ops.size() == 1);
      } else if (kind.type == DType::kInt8) {
        CheckScale(out, log ? 16.0f / 256 : 1.0f / 256, log ? 127 : -128);
      } else if (kind.type == DType::kUInt8) {
        CheckScale(out, log ? 16.0f / 256 : 1.0f / 256, log ? 255 : 0);
      } else {
        CheckScale(out, 1.0f / 32768, 0);
      }
      CHECK(out.name == Output(*model).name);
    }
  }
}

TEST_CASE("export: scores of integers need their range", "[format]") {
  const auto model = test::OpenBytes(test::BuildModel(IntegerSpec(kKinds[0])));
  const NewHead head = MakeHead(3, kDim, 5);
  HeadReplacement replacement = Replacement(*model, head, Loss::kSoftmaxCrossEntropy);
  for (const auto& range :
       {std::pair<float, float>(0.0f, 0.0f), {1.0f, -1.0f}, {NAN, 1.0f}, {-1.0f, INFINITY}}) {
    replacement.scores_min = range.first;
    replacement.scores_max = range.second;
    const auto bytes = ExportWithHead(*model, replacement);
    REQUIRE(bytes.status().code() == StatusCode::kInvalidArgument);
    CHECK(bytes.status().message().find("needs their range, scores_min") != std::string::npos);
  }
  replacement.float_head = true;
  CHECK(ExportWithHead(*model, replacement).ok());
  const std::vector<float> bad(head.weights.size(), NAN);
  replacement.weights = bad;
  CHECK(ExportWithHead(*model, replacement).status().message() ==
        "the weights or biases of the new head are not finite");
}

// An embedding: an L2_NORMALIZATION of the input, of any type.
ModelSpec EmbedderSpec(DType type, const Shape& shape) {
  ModelSpec spec;
  const std::vector<int32_t> dims(shape.dims(), shape.dims() + shape.rank());
  const int x = spec.AddInput("x", type, dims);
  const int out = spec.AddTensor("embedding", type, dims);
  if (type != DType::kFloat32) {
    Scale(&spec, x, {0.01f}, {0});
    Scale(&spec, out, {1.0f / 128}, {0});
  }
  spec.AddOp(OpCode::kL2Normalization, {x}, {out});
  spec.main().outputs = {out};
  test::SignatureSpec signature;
  signature.key = "serve";
  signature.inputs = {{"x", 0}};
  signature.outputs = {{"embedding", static_cast<uint32_t>(out)}};
  spec.signatures.push_back(signature);
  return spec;
}

TEST_CASE("export: heads are appended to embeddings", "[format]") {
  const Loss losses[] = {Loss::kSoftmaxCrossEntropy, Loss::kSigmoidCrossEntropy,
                         Loss::kMeanSquaredError};
  for (DType type : {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}) {
    for (const Shape& shape : {Shape({1, kDim}), Shape({1, 1, 1, kDim}), Shape({5, kDim})}) {
      const auto model = test::OpenBytes(test::BuildModel(EmbedderSpec(type, shape)));
      for (Loss loss : losses) {
        INFO(DTypeName(type) << shape.ToString() << ", " << LossName(loss));
        const Head found = Found(*model);
        CHECK(found.appended());
        CHECK(found.dim == kDim);
        CHECK(found.batch == shape[0]);
        const NewHead head = MakeHead(3, kDim, 9);
        HeadReplacement replacement = Replacement(*model, head, loss);
        replacement.class_names = {"a", "b", "c"};
        const auto exported = Export(*model, replacement);
        std::vector<OpCode> expected = {OpCode::kL2Normalization};
        if (type != DType::kFloat32) expected.push_back(OpCode::kDequantize);
        expected.push_back(OpCode::kFullyConnected);
        if (loss == Loss::kSoftmaxCrossEntropy) expected.push_back(OpCode::kSoftmax);
        if (loss == Loss::kSigmoidCrossEntropy) expected.push_back(OpCode::kLogistic);
        CHECK(Codes(*exported) == expected);
        CHECK(Output(*exported).name == "scores");
        CHECK(Output(*exported).dtype == DType::kFloat32);
        CHECK(Output(*exported).shape == Shape({shape[0], 3}));
        CHECK(exported->labels() == replacement.class_names);
        CHECK(exported->signatures()[0].outputs[0].name == "scores");
        CHECK(exported->signatures()[0].outputs[0].value == exported->main().outputs[0]);
        const Head again = Found(*exported);
        CHECK_FALSE(again.appended());
        CHECK(again.shipped_weights == head.weights);
        CHECK(again.shipped_bias == head.bias);
      }
    }
  }
}

TEST_CASE("export: an appended head of real numbers runs", "[format]") {
  const auto model = test::OpenBytes(test::BuildModel(EmbedderSpec(DType::kFloat32, {1, kDim})));
  const NewHead head = MakeHead(3, kDim, 9);
  const std::vector<float> x = {1.0f, -2.0f, 0.5f, 3.0f, 0.0f, 1.5f};
  const auto scores =
      test::RunModel(Export(*model, Replacement(*model, head, Loss::kMeanSquaredError)), x);
  const std::vector<float> embedding = test::RunModel(model, x);
  REQUIRE(scores.size() == 3);
  for (size_t c = 0; c < 3; ++c) {
    double z = static_cast<double>(head.bias[c]);
    for (size_t d = 0; d < kDim; ++d) {
      z += static_cast<double>(head.weights[c * kDim + d]) * static_cast<double>(embedding[d]);
    }
    CHECK(scores[c] == Approx(z).margin(1e-6));
  }
}

TEST_CASE("export: damaged models of integers never crash the writer", "[format]") {
  const NewHead head = MakeHead(3, kDim, 5);
  Random random(23);
  int n_exported = 0;
  for (const Kind& kind : kKinds) {
    const test::Bytes sound = test::BuildModel(IntegerSpec(kind));
    for (int i = 0; i < 1500; ++i) {
      test::Bytes bytes = sound;
      const uint64_t n_changes = 1 + random.Below(3);
      for (uint64_t change = 0; change < n_changes; ++change) {
        bytes[random.Below(bytes.size())] = static_cast<uint8_t>(random.Next());
      }
      const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
      if (!model.ok()) continue;
      for (bool append : {false, true}) {
        const auto found = FindHead((*model)->main(), 0, append);
        if (!found.ok() || found->dim != kDim) continue;
        HeadReplacement replacement =
            ReplacementFor((*model)->main(), found.value(), Loss::kSigmoidCrossEntropy);
        replacement.n_classes = 3;
        replacement.weights = head.weights;
        replacement.bias = head.bias;
        replacement.scores_max = 1.0f;
        replacement.float_head = random.Below(2) == 0;
        const auto exported = ExportWithHead(**model, replacement);
        if (!exported.ok()) continue;
        ++n_exported;
        const Status opened = Model::OpenMemory(exported->data(), exported->size(), true).status();
        // Integers of a large size may be too large as floats where addresses have 32 bits.
        const bool is_large = opened.message().find("whose size overflows") != std::string::npos;
        if (sizeof(size_t) > 4 || !is_large) CHECK(opened.ToString() == "OK");
      }
    }
  }
  CHECK(n_exported > 1000);
}

}  // namespace write_storage_test
}  // namespace topwork
