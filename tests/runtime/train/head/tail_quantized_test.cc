// Several layers of quantized models: int8 weights behind float32 activations are trained and
// stored as int8 again; layers that compute in integers are refused, those behind a DEQUANTIZE not.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "models/format/constants.h"
#include "runtime/train/head/tail_graph.h"
#include "runtime/train/trainer.h"
#include "tests/support/classifiers.h"
#include "tests/support/model_builder.h"
#include "tests/support/npz.h"
#include "tests/support/random_floats.h"
#include "tests/support/skip.h"

namespace topwork {
namespace tail_quantized_test {

using test::ModelSpec;
using test::OptionsSpec;
using test::ToBytes;

constexpr int kInputs = 8;
constexpr int kUnits = 6;
constexpr int kClasses = 3;

// FULLY_CONNECTED layers one behind the other.
struct Layers {
  ModelSpec spec;
  int v = -1;  // the last value

  test::TensorSpec& tensor(int t) { return spec.main().tensors[static_cast<size_t>(t)]; }
  int Quantized(int t, size_t n_scales = 1) {
    tensor(t).scales.assign(n_scales, 0.02f);
    tensor(t).zero_points.assign(n_scales, 0);
    return t;
  }
  int Int8Weights(const char* name, int units, int depth, size_t n_scales) {
    test::Bytes bytes;
    for (float x : test::RandomFloats(static_cast<size_t>(units * depth), 5)) {
      bytes.push_back(static_cast<uint8_t>(static_cast<int8_t>(x * 60.0f)));
    }
    return Quantized(spec.AddConstant(name, DType::kInt8, {units, depth}, bytes), n_scales);
  }
  int Floats(const char* name, std::vector<int32_t> shape) {
    size_t n = 1;
    for (int32_t dim : shape) n *= static_cast<size_t>(dim);
    return spec.AddConstant(name, DType::kFloat32, shape, ToBytes(test::RandomFloats(n, 7)));
  }
  void Dense(int weights, int bias, int units, int8_t activation, DType dtype = DType::kFloat32) {
    const int out = spec.AddTensor("y" + std::to_string(spec.main().ops.size()), dtype, {1, units});
    spec.AddOp(OpCode::kFullyConnected, {v, weights, bias}, {out},
               OptionsSpec(test::kFullyConnectedOptions).Byte(0, activation));
    v = dtype == DType::kInt8 ? Quantized(out) : out;
  }
  std::shared_ptr<const Model> Finish() {
    Dense(Floats("w head", {kClasses, kUnits}), -1, kClasses, 0);
    spec.main().outputs = {v};
    return test::OpenBytes(BuildModel(spec));
  }
};

// Dynamic range: float32 input, int8 weights, float32 bias.
std::shared_ptr<const Model> DynamicModel(size_t n_scales) {
  Layers layers;
  layers.v = layers.spec.AddInput("x", DType::kFloat32, {1, kInputs});
  layers.Dense(layers.Int8Weights("w8", kUnits, kInputs, n_scales), layers.Floats("b", {kUnits}),
               kUnits, 1);
  return layers.Finish();
}

// An int8 layer, DEQUANTIZE, then n float32 layers below the head.
std::shared_ptr<const Model> MixedModel(int n_float_layers) {
  Layers layers;
  layers.v = layers.Quantized(layers.spec.AddInput("x", DType::kInt8, {1, kInputs}));
  layers.Dense(layers.Int8Weights("w8", kUnits, kInputs, 1), -1, kUnits, 0, DType::kInt8);
  const int real = layers.spec.AddTensor("real", DType::kFloat32, {1, kUnits});
  layers.spec.AddOp(OpCode::kDequantize, {layers.v}, {real});
  layers.v = real;
  for (int i = 0; i < n_float_layers; ++i) {
    layers.Dense(layers.Floats("w", {kUnits, kUnits}), -1, kUnits, 1);
  }
  return layers.Finish();
}

TrainerOptions Options(int n_layers) {
  TrainerOptions options;
  options.n_layers = n_layers;
  options.n_threads = 1;
  options.epochs = 40;
  options.learning_rate = 0.01f;
  options.validation_fraction = 0.0f;
  return options;
}

// Clusters that one layer on random features separates badly.
struct Data {
  std::vector<float> x;
  std::vector<int32_t> y;
  explicit Data(int n) {
    const std::vector<float> noise = test::RandomFloats(static_cast<size_t>(n * kInputs), 31);
    for (int i = 0; i < n; ++i) {
      y.push_back(i % kClasses);
      for (int d = 0; d < kInputs; ++d) {
        const float center = std::cos(static_cast<float>((i % kClasses + 1) * (d + 2)));
        x.push_back(center + 0.5f * noise[static_cast<size_t>(i * kInputs + d)]);
      }
    }
  }
};

std::vector<float> ConstantOf(const Model& model, const std::string& name, DType dtype) {
  const Graph& graph = model.main();
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (graph.values[v].name != name) continue;
    CHECK(graph.values[v].dtype == dtype);
    std::vector<float> values;
    REQUIRE(ReadFloats(graph, static_cast<int>(v), &values).ok());
    return values;
  }
  FAIL("no constant " << name);
  return {};
}

TEST_CASE("tail: int8 weights behind float32 activations are trained and stored as int8",
          "[train]") {
  for (size_t n_scales : {size_t{1}, size_t{kUnits}}) {
    INFO(n_scales << " scales");
    const auto model = DynamicModel(n_scales);
    auto trainer = Trainer::Create(model, Options(2));
    REQUIRE(trainer.status().ToString() == "OK");
    REQUIRE((*trainer)->state().layout().size() == 4);
    const ParameterInfo& info = (*trainer)->state().layout()[2];
    CHECK(info.name == "w8");
    const Data data(90);
    const size_t bytes = kInputs * sizeof(float);
    REQUIRE((*trainer)
                ->AddExamples(Examples::FromArray(data.x.data(), bytes, data.y.data(), 90))
                .ToString() == "OK");
    REQUIRE((*trainer)->Train().ToString() == "OK");
    const auto exported = (*trainer)->Export();
    REQUIRE(exported.status().ToString() == "OK");
    const auto result = test::OpenBytes(exported.value());
    const std::vector<float> before = ConstantOf(*model, "w8", DType::kInt8);
    const std::vector<float> stored = ConstantOf(*result, "w8", DType::kInt8);
    std::vector<float> trained((*trainer)->state().parameters().begin() + info.offset,
                               (*trainer)->state().parameters().begin() + info.offset + info.size);
    CHECK(test::LargestDifference(trained, before) > 0.05);
    CHECK(test::LargestDifference(trained, stored) > 0.0);
    CHECK(test::LargestDifference(trained, stored) < 0.01);
    // What an export is judged by is what it stores.
    const Graph& graph = model->main();
    const auto w8 = std::find_if(graph.values.begin(), graph.values.end(),
                                 [](const Value& value) { return value.name == "w8"; });
    RoundAsStored(graph, static_cast<int>(w8 - graph.values.begin()),
                  {trained.data(), trained.size()});
    CHECK(test::LargestDifference(trained, stored) <= 1e-7);
    const auto check = (*trainer)->judge().CheckExport(ExampleSet::kAll);
    REQUIRE(check.status().ToString() == "OK");
    CHECK(check->before > 0.95);
    CHECK(check->after > 0.95);
  }
}

TEST_CASE("tail: float32 layers behind a DEQUANTIZE are trained, integer ones are refused",
          "[train]") {
  const auto model = MixedModel(1);
  auto trainer = Trainer::Create(model, Options(2));
  CHECK(trainer.status().ToString() == "OK");
  const Status refused = Trainer::Create(model, Options(3)).status();
  CHECK(refused.code() == StatusCode::kUnsupported);
  CHECK(refused.message().find("DEQUANTIZE (operator #1) lies among the last 3 layers") !=
        std::string::npos);
  CHECK(refused.message().find("train 2 layers or fewer") != std::string::npos);
}

TEST_CASE("tail: what real quantized models allow", "[train][shared]") {
  const std::string folder = test::SharedModelsFolder();
  if (folder.empty()) TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  const struct {
    const char* name;
    bool trained;
  } cases[] = {
      {"dynamic/gen_digits_cnn_dynamic", true},     {"dynamic/gen_digits_mlp_dynamic", true},
      {"dynamic/gen_mlperf_resnet8_dynamic", true}, {"int8/gen_digits_cnn_int8", false},
      {"int8/gen_digits_cnn_int8_floatio", false},  {"int8/gen_digits_cnn_int8_uint8io", false},
      {"int8/gen_digits_cnn_int16x8", false},       {"int8/efficientnet_lite0_int8", false},
  };
  for (const auto& c : cases) {
    INFO(c.name);
    auto model = Model::OpenFile(folder + "/" + c.name + ".tflite");
    REQUIRE(model.status().ToString() == "OK");
    CHECK(Trainer::Create(*model, Options(1)).status().ToString() == "OK");
    const Status status = Trainer::Create(*model, Options(2)).status();
    if (c.trained) {
      CHECK(status.ToString() == "OK");
    } else {
      CHECK(status.code() == StatusCode::kUnsupported);
      CHECK(status.message().find("train the last layer alone") != std::string::npos);
    }
  }
}

}  // namespace tail_quantized_test
}  // namespace topwork
