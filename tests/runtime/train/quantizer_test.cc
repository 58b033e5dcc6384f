// Quantizing float models: types and scales of what is written, the borders between integers and
// floats, and the accuracy of what comes out.
#include "runtime/train/quantizer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "models/format/constants.h"
#include "tests/support/classifiers.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"

namespace topwork {
namespace quantizer_test {

using test::ModelSpec;
using test::OptionsSpec;
using test::ToBytes;

constexpr size_t kPixels = 64;

std::shared_ptr<const Model> Embedded(const char* name) {
  const test::EmbeddedFile* file = test::FindEmbedded(name);
  REQUIRE(file != nullptr);
  return test::OpenBytes(test::Bytes(file->data, file->data + file->size));
}

test::NpyArray Digits(const char* name) {
  const std::string path = std::string("models/zoo/data/digits_8x8/") + name;
  const test::EmbeddedFile* file = test::FindEmbedded(path.c_str());
  REQUIRE(file != nullptr);
  return test::ReadNpy(file->data, file->size);
}

Examples Unlabelled(const std::vector<float>& data, size_t floats) {
  Examples examples;
  examples.count = static_cast<int64_t>(data.size() / floats);
  examples.read = [&data, floats](int64_t i, Span<void* const> inputs, ExampleTarget*) {
    std::memcpy(inputs[0], data.data() + static_cast<size_t>(i) * floats, floats * sizeof(float));
    return Status::Ok();
  };
  return examples;
}

struct Quantized {
  std::shared_ptr<const Model> model;
  QuantizeReport report;
  size_t bytes = 0;
};

Quantized Quantize(const std::shared_ptr<const Model>& model, const QuantizerOptions& options,
                   const std::vector<float>& data, size_t floats) {
  auto quantizer = Quantizer::Create(model, options);
  REQUIRE(quantizer.status().ToString() == "OK");
  if (options.target == QuantizeTarget::kInt8) {
    REQUIRE((*quantizer)->AddExamples(Unlabelled(data, floats), nullptr).ToString() == "OK");
  }
  const auto bytes = (*quantizer)->Export();
  REQUIRE(bytes.status().ToString() == "OK");
  return {test::OpenBytes(*bytes), (*quantizer)->report(), bytes->size()};
}

double Accuracy(const std::vector<float>& scores, const std::vector<int32_t>& labels) {
  const size_t n = scores.size() / labels.size();
  size_t right = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto row = scores.begin() + static_cast<ptrdiff_t>(i * n);
    const auto best = std::max_element(row, row + static_cast<ptrdiff_t>(n)) - row;
    right += best == labels[i];
  }
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

const Op* FindFirst(const Graph& graph, OpCode code) {
  for (const Op& op : graph.ops) {
    if (op.code == code) return &op;
  }
  return nullptr;
}

TEST_CASE("quantizer: digits keep their accuracy in every target", "[train]") {
  const std::vector<float> train = Digits("train/x.npy").as<float>();
  const std::vector<float> x = Digits("test/x.npy").as<float>();
  const std::vector<int32_t> y = Digits("test/y.npy").as<int32_t>();
  const std::vector<float> some(train.begin(), train.begin() + 100 * kPixels);
  for (const char* name : {"models/zoo/digits_cnn_f32.tflite", "models/zoo/digits_cnn_fp16.tflite",
                           "models/zoo/digits_mlp_f32.tflite"}) {
    const auto model = Embedded(name);
    const double before = Accuracy(test::RunModel(model, x), y);
    for (QuantizeTarget target :
         {QuantizeTarget::kDynamicRange, QuantizeTarget::kFloat16, QuantizeTarget::kInt8}) {
      const bool halves = std::strstr(name, "fp16") != nullptr;
      if (halves && target == QuantizeTarget::kFloat16) continue;
      INFO(name << " " << static_cast<int>(target));
      QuantizerOptions options;
      options.target = target;
      options.n_threads = 1;
      const Quantized q = Quantize(model, options, some, kPixels);
      CHECK(Accuracy(test::RunModel(q.model, x), y) >= before - 0.01);
      const double share =
          static_cast<double>(q.bytes) / static_cast<double>(model->bytes().size());
      CHECK(share < (target == QuantizeTarget::kFloat16 ? 0.62 : halves ? 0.85 : 0.5));
      if (target == QuantizeTarget::kInt8) CHECK(q.report.float_ops.empty());
    }
  }
}

TEST_CASE("quantizer: int8 inputs and outputs", "[train]") {
  const std::vector<float> train = Digits("train/x.npy").as<float>();
  QuantizerOptions options;
  options.target = QuantizeTarget::kInt8;
  options.io = QuantizeIo::kInt8;
  options.n_threads = 1;
  const Quantized q = Quantize(Embedded("models/zoo/digits_cnn_f32.tflite"), options,
                               {train.begin(), train.begin() + 50 * kPixels}, kPixels);
  const Graph& graph = q.model->main();
  const Value& in = graph.values[static_cast<size_t>(graph.inputs[0])];
  const Value& out = graph.values[static_cast<size_t>(graph.outputs[0])];
  CHECK(in.dtype == DType::kInt8);
  REQUIRE(in.quantization != nullptr);
  CHECK(in.quantization->scales[0] == Approx(1.0f / 255.0f));
  CHECK(in.quantization->zero_points[0] == -128);
  CHECK(out.dtype == DType::kInt8);
  REQUIRE(out.quantization != nullptr);
  CHECK(out.quantization->scales[0] == 1.0f / 256.0f);
  CHECK(FindFirst(graph, OpCode::kQuantize) == nullptr);
  CHECK(FindFirst(graph, OpCode::kDequantize) == nullptr);
}

// x → CONV → RELU → {LOGISTIC, TANH} → CONCATENATION → EXP → output; CONV → MAX_POOL → RESHAPE →
// second output.
ModelSpec MixedSpec() {
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1, 4, 4, 2});
  std::vector<float> w(3 * 3 * 3 * 2), b = {0.5f, -0.25f, 0.0f};
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = 0.1f * static_cast<float>(static_cast<int>(i % 7) - 3);
  const int weights = spec.AddConstant("w", DType::kFloat32, {3, 3, 3, 2}, ToBytes(w));
  const int bias = spec.AddConstant("b", DType::kFloat32, {3}, ToBytes(b));
  const int conv = spec.AddTensor("conv", DType::kFloat32, {1, 4, 4, 3});
  spec.AddOp(OpCode::kConv2d, {x, weights, bias}, {conv},
             OptionsSpec(test::kConv2dOptions).Int(1, 1).Int(2, 1));
  const int logistic = spec.AddTensor("logistic", DType::kFloat32, {1, 4, 4, 3});
  spec.AddOp(OpCode::kLogistic, {conv}, {logistic});
  const int tanh = spec.AddTensor("tanh", DType::kFloat32, {1, 4, 4, 3});
  spec.AddOp(OpCode::kTanh, {conv}, {tanh});
  const int both = spec.AddTensor("both", DType::kFloat32, {1, 4, 4, 6});
  spec.AddOp(OpCode::kConcatenation, {logistic, tanh}, {both},
             OptionsSpec(test::kConcatenationOptions).Int(0, 3));
  const int out = spec.AddTensor("exp", DType::kFloat32, {1, 4, 4, 6});
  spec.AddOp(OpCode::kExp, {both}, {out});
  const int pool = spec.AddTensor("pool", DType::kFloat32, {1, 2, 2, 3});
  spec.AddOp(OpCode::kMaxPool2d, {conv}, {pool},
             OptionsSpec(test::kPool2dOptions).Byte(0, 1).Int(1, 2).Int(2, 2).Int(3, 2).Int(4, 2));
  spec.main().outputs = {out, pool};
  return spec;
}

TEST_CASE("quantizer: what has no int8 form stays float, and scales meet at CONCATENATION",
          "[train]") {
  const auto model = test::OpenBytes(test::BuildModel(MixedSpec()));
  std::vector<float> data;
  for (int i = 0; i < 20 * 32; ++i) data.push_back(std::sin(static_cast<float>(i * i % 97)));
  QuantizerOptions options;
  options.target = QuantizeTarget::kInt8;
  options.n_threads = 1;
  const Quantized q = Quantize(model, options, data, 32);
  REQUIRE(q.report.float_ops.size() == 1);
  CHECK(q.report.float_ops[0].name == "EXP");
  CHECK(q.report.float_ops[0].reason == "it has no int8 form");
  CHECK(q.report.n_integer_ops == 5);
  const Graph& graph = q.model->main();
  const auto value = [&](int v) -> const Value& { return graph.values[static_cast<size_t>(v)]; };
  const Op* concatenation = FindFirst(graph, OpCode::kConcatenation);
  REQUIRE(concatenation != nullptr);
  const Quantization& both = *value(concatenation->outputs[0]).quantization;
  for (int v : concatenation->inputs) {
    CHECK(value(v).quantization->scales[0] == both.scales[0]);
    CHECK(value(v).quantization->zero_points[0] == both.zero_points[0]);
  }
  const Op* conv = FindFirst(graph, OpCode::kConv2d);
  const Value& weights = value(conv->inputs[1]);
  const Value& bias = value(conv->inputs[2]);
  CHECK(weights.dtype == DType::kInt8);
  REQUIRE(weights.quantization->scales.size() == 3);
  CHECK(bias.dtype == DType::kInt32);
  CHECK(bias.quantization->scales[1] ==
        value(conv->inputs[0]).quantization->scales[0] * weights.quantization->scales[1]);
  const Op* pool = FindFirst(graph, OpCode::kMaxPool2d);
  CHECK(value(pool->inputs[0]).quantization->scales[0] ==
        value(pool->outputs[0]).quantization->scales[0]);
  CHECK(value(graph.outputs[0]).dtype == DType::kFloat32);
  CHECK(value(graph.outputs[1]).name == "pool");
  const std::vector<float> before = test::RunModel(model, data);
  const std::vector<float> after = test::RunModel(q.model, data);
  REQUIRE(before.size() == after.size());
  double most = 0.0;
  for (size_t i = 0; i < before.size(); ++i) {
    most = std::max(most, std::fabs(static_cast<double>(before[i] - after[i])));
  }
  CHECK(most < 0.06);  // three steps of 2/255, times e
}

TEST_CASE("quantizer: means over the examples correct biases", "[train]") {
  const auto model = test::OpenBytes(test::BuildModel(MixedSpec()));
  std::vector<float> data;
  std::vector<double> means(2);
  constexpr int kExamples = 6;
  for (int i = 0; i < kExamples * 32; ++i) {
    data.push_back(static_cast<float>(i % 2 == 0 ? 2 : -1) + std::sin(static_cast<float>(i)));
    means[static_cast<size_t>(i % 2)] += static_cast<double>(data.back()) / (kExamples * 16);
  }
  QuantizerOptions options;
  options.target = QuantizeTarget::kInt8;
  options.n_threads = 1;
  const Quantized q = Quantize(model, options, data, 32);
  const auto results = [&](const Graph& graph) {
    const Op* conv = FindFirst(graph, OpCode::kConv2d);
    REQUIRE(conv != nullptr);
    std::vector<float> weights, bias;
    REQUIRE(ReadFloats(graph, conv->inputs[1], &weights).ToString() == "OK");
    REQUIRE(ReadFloats(graph, conv->inputs[2], &bias).ToString() == "OK");
    std::vector<double> sums(bias.begin(), bias.end());
    for (size_t i = 0; i < weights.size(); ++i) {
      sums[i / 18] += static_cast<double>(weights[i]) * means[i % 2];
    }
    return sums;
  };
  const std::vector<double> before = results(model->main()), after = results(q.model->main());
  for (size_t c = 0; c < before.size(); ++c) {
    INFO(c);
    CHECK(std::fabs(before[c] - after[c]) < 1e-4);  // without it 1.6e-3 at least
  }
}

// Every output's bytes for the bytes of the only input.
std::vector<test::Bytes> RunBytes(const Quantized& q, const test::Bytes& input) {
  SessionOptions options;
  options.n_threads = 1;
  auto session = Session::Create(q.model, options);
  REQUIRE(session.status().ToString() == "OK");
  REQUIRE((*session)->input(0).shape.NumElements() == static_cast<int64_t>(input.size()));
  std::memcpy((*session)->input(0).data, input.data(), input.size());
  REQUIRE((*session)->Run().ToString() == "OK");
  std::vector<test::Bytes> outputs;
  for (int i = 0; i < (*session)->n_outputs(); ++i) {
    const TensorView& view = (*session)->output(i);
    outputs.emplace_back(view.as<uint8_t>(), view.as<uint8_t>() + view.shape.NumElements());
  }
  return outputs;
}

TEST_CASE("quantizer: uint8 inputs and outputs are the int8 ones with 128 added", "[train]") {
  const std::vector<float> train = Digits("train/x.npy").as<float>();
  const std::vector<float> some(train.begin(), train.begin() + 50 * kPixels);
  QuantizerOptions options;
  options.target = QuantizeTarget::kInt8;
  options.n_threads = 1;
  for (const bool mixed : {false, true}) {  // mixed: one output is made by a float operator
    const auto model = mixed ? test::OpenBytes(test::BuildModel(MixedSpec()))
                             : Embedded("models/zoo/digits_cnn_f32.tflite");
    const size_t n = mixed ? 32 : kPixels;
    options.io = QuantizeIo::kInt8;
    const Quantized q8 = Quantize(model, options, some, n);
    options.io = QuantizeIo::kUInt8;
    const Quantized u8 = Quantize(model, options, some, n);
    const auto value = [](const Quantized& q, int v) -> const Value& {
      return q.model->main().values[static_cast<size_t>(v)];
    };
    test::Bytes bytes(n);
    for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>(i * 53 % 256);
    test::Bytes flipped = bytes;
    for (uint8_t& b : flipped) b ^= 0x80;  // int8 = uint8 - 128
    const auto answers = RunBytes(u8, bytes);
    auto expected = RunBytes(q8, flipped);
    REQUIRE(answers.size() == expected.size());
    for (size_t i = 0; i < answers.size(); ++i) {
      const Value& a = value(u8, u8.model->main().outputs[i]);
      const Value& b = value(q8, q8.model->main().outputs[i]);
      CHECK(a.dtype == DType::kUInt8);
      CHECK(a.quantization->scales[0] == b.quantization->scales[0]);
      CHECK(a.quantization->zero_points[0] == b.quantization->zero_points[0] + 128);
      for (uint8_t& byte : expected[i]) byte ^= 0x80;
      CHECK(answers[i] == expected[i]);
    }
    const Value& in = value(u8, u8.model->main().inputs[0]);
    CHECK(in.dtype == DType::kUInt8);
    CHECK(in.quantization->zero_points[0] ==
          value(q8, q8.model->main().inputs[0]).quantization->zero_points[0] + 128);
  }
}

// Another instruction set rounds sums otherwise, as examples do that differ in their last bits.
TEST_CASE("quantizer: what differs by rounding gives the same model", "[train]") {
  const auto model = Embedded("models/zoo/digits_cnn_f32.tflite");
  std::vector<float> data = Digits("train/x.npy").as<float>();
  data.resize(50 * kPixels);
  QuantizerOptions options;
  options.target = QuantizeTarget::kInt8;
  options.n_threads = 1;
  const auto bytes = [&] {
    const Quantized q = Quantize(model, options, data, kPixels);
    return test::Bytes(q.model->bytes().begin(), q.model->bytes().end());
  };
  const test::Bytes before = bytes();
  for (size_t i = 0; i < data.size(); ++i) data[i] *= 1.0f - 1e-7f * static_cast<float>(1 + i % 3);
  CHECK(bytes() == before);
  for (float& x : data) x *= 0.5f;  // of the inputs, so that the model is another one
  CHECK(bytes() != before);
}

TEST_CASE("quantizer: a percentile leaves outliers out", "[train]") {
  const auto model = test::OpenBytes(test::BuildModel(MixedSpec()));
  std::vector<float> data(32, 0.5f);
  data[7] = 1000.0f;
  QuantizerOptions options;
  options.target = QuantizeTarget::kInt8;
  options.io = QuantizeIo::kInt8;
  options.n_threads = 1;
  const auto input_scale = [&](double percentile) {
    options.percentile = percentile;
    const Quantized q = Quantize(model, options, data, 32);
    const Graph& graph = q.model->main();
    return graph.values[static_cast<size_t>(graph.inputs[0])].quantization->scales[0];
  };
  CHECK(input_scale(100.0) == Approx(1000.0 / 255.0));
  CHECK(input_scale(90.0) == Approx(0.5 / 255.0));
}

TEST_CASE("quantizer: what cannot be done is refused", "[train]") {
  const auto model = test::OpenBytes(test::BuildModel(MixedSpec()));
  QuantizerOptions options;
  options.target = QuantizeTarget::kInt8;
  options.n_threads = 1;
  auto quantizer = Quantizer::Create(model, options);
  REQUIRE(quantizer.ok());
  CHECK((*quantizer)->Export().status().code() == StatusCode::kFailedPrecondition);
  std::vector<float> data(32, 1.0f);
  data[3] = std::nanf("");
  CHECK((*quantizer)->AddExamples(Unlabelled(data, 32), nullptr).code() == StatusCode::kNumeric);
  CHECK((*quantizer)->n_examples() == 0);
  const auto stop = [](int64_t, int64_t) { return false; };
  data[3] = 1.0f;
  CHECK((*quantizer)->AddExamples(Unlabelled(data, 32), stop).code() == StatusCode::kCancelled);

  options.io = static_cast<QuantizeIo>(3);
  CHECK(Quantizer::Create(model, options).status().code() == StatusCode::kInvalidArgument);
  options.io = QuantizeIo::kFloat32;
  options.percentile = 50.0;
  CHECK(Quantizer::Create(model, options).status().code() == StatusCode::kInvalidArgument);
  options = QuantizerOptions();
  auto dynamic = Quantizer::Create(model, options);
  REQUIRE(dynamic.ok());
  CHECK((*dynamic)->AddExamples(Unlabelled(data, 32), nullptr).code() ==
        StatusCode::kFailedPrecondition);
  const auto nothing = (*dynamic)->Export();
  CHECK(nothing.status().code() == StatusCode::kUnsupported);
  CHECK(nothing.status().message().find("1024 elements") != std::string::npos);
  options.min_elements = 1;
  auto small = Quantizer::Create(model, options);
  REQUIRE(small.ok());
  const auto written = (*small)->Export();
  REQUIRE(written.status().ToString() == "OK");
  const auto again = Quantizer::Create(test::OpenBytes(*written), options);
  REQUIRE(again.ok());
  CHECK((*again)->Export().status().code() == StatusCode::kUnsupported);
}

}  // namespace quantizer_test
}  // namespace topwork
