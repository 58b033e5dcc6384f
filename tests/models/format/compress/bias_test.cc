// int8 layers: biases make up for what rounding the weights moves their results by on average.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "models/format/compress/quantize.h"
#include "models/format/constants.h"
#include "tests/support/classifiers.h"

namespace topwork {
namespace bias_test {

using test::ModelSpec;
using test::OptionsSpec;
using test::ToBytes;

constexpr int kChannels = 4;

// Numbers in [-1, 1] that int8 steps of 1/127 do not meet.
std::vector<float> Numbers(size_t n, float seed) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = std::sin(seed + 1.7f * static_cast<float>(i));
  values[0] = 1.0f;
  return values;
}

struct Layer {
  const char* name;
  OpCode code;
  std::vector<int32_t> weights, output;
  OptionsSpec options;
};

// Layers of every kind that read x [1, 2, 2, 4], each with an output of its own. `n_shared` dense
// layers more read the same weights.
ModelSpec Layers(int n_shared) {
  const std::vector<Layer> layers = {
      {"conv",
       OpCode::kConv2d,
       {3, 2, 2, kChannels},
       {1, 1, 1, 3},
       OptionsSpec(test::kConv2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1)},
      {"groups",
       OpCode::kConv2d,
       {6, 1, 1, 2},
       {1, 2, 2, 6},
       OptionsSpec(test::kConv2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1)},
      {"depthwise",
       OpCode::kDepthwiseConv2d,
       {1, 2, 2, 2 * kChannels},
       {1, 1, 1, 2 * kChannels},
       OptionsSpec(test::kDepthwiseConv2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1).Int(3, 2)},
      {"dense",
       OpCode::kFullyConnected,
       {5, 4 * kChannels},
       {1, 5},
       OptionsSpec(test::kFullyConnectedOptions)}};
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1, 2, 2, kChannels});
  const auto add = [&](const Layer& layer, int weights, const std::string& name) {
    const bool last = layer.code == OpCode::kFullyConnected || layer.code == OpCode::kConv2d;
    const int32_t n = last ? layer.weights[0] : layer.weights.back();
    const int bias = spec.AddConstant(name + "/bias", DType::kFloat32, {n},
                                      ToBytes(Numbers(static_cast<size_t>(n), 0.3f)));
    const int out = spec.AddTensor(name, DType::kFloat32, layer.output);
    spec.AddOp(layer.code, {x, weights, bias}, {out}, layer.options);
    spec.main().outputs.push_back(out);
  };
  int weights = 0;
  for (const Layer& layer : layers) {
    size_t n = 1;
    for (int32_t dim : layer.weights) n *= static_cast<size_t>(dim);
    weights = spec.AddConstant(std::string(layer.name) + "/weights", DType::kFloat32, layer.weights,
                               ToBytes(Numbers(n, static_cast<float>(n))));
    add(layer, weights, layer.name);
  }
  for (int i = 0; i < n_shared; ++i) add(layers[3], weights, "more" + std::to_string(i));
  return spec;
}

// The mean of each channel's result where each channel of x has this mean.
std::vector<double> MeanResults(const Graph& graph, const Op& op, const std::vector<float>& means) {
  std::vector<float> weights, bias;
  REQUIRE(ReadFloats(graph, op.inputs[1], &weights).ToString() == "OK");
  REQUIRE(ReadFloats(graph, op.inputs[2], &bias).ToString() == "OK");
  const Shape& shape = graph.values[static_cast<size_t>(op.inputs[1])].shape;
  const size_t n = bias.size(), dim = weights.size() / n;
  std::vector<double> results(bias.begin(), bias.end());
  for (size_t i = 0; i < weights.size(); ++i) {
    const bool depthwise = op.code == OpCode::kDepthwiseConv2d;
    const size_t c = depthwise ? i % n : i / dim;
    size_t channel = i % kChannels;
    if (depthwise) channel = c / 2;
    if (op.code == OpCode::kConv2d && shape[3] == 2) channel = c / (n / 2) * 2 + i % 2;
    results[c] += static_cast<double>(weights[i]) * static_cast<double>(means[channel]);
  }
  return results;
}

std::shared_ptr<const Model> Quantized(const Model& model, bool with_means,
                                       const std::vector<float>& means) {
  QuantizeSpec spec;
  spec.target = QuantizeTarget::kInt8;
  spec.ranges.assign(model.main().values.size(), {-8.0f, 8.0f});
  if (with_means) {
    spec.means.resize(model.main().values.size());
    spec.means[static_cast<size_t>(model.main().inputs[0])] = means;
  }
  QuantizeReport report;
  const auto bytes = QuantizeModel(model, spec, &report);
  REQUIRE(bytes.status().ToString() == "OK");
  return test::OpenBytes(*bytes);
}

// The largest difference of a layer's mean results from those of the float layer.
double Moved(const Model& before, const Model& after, const Op& layer,
             const std::vector<float>& means) {
  const std::string& name = before.main().values[static_cast<size_t>(layer.inputs[1])].name;
  for (const Op& op : after.main().ops) {
    if (op.inputs.size() < 3 || op.file_index < 0) continue;
    const Value& weights = after.main().values[static_cast<size_t>(op.inputs[1])];
    if (weights.name != name || weights.dtype != DType::kInt8) continue;
    const std::vector<double> x = MeanResults(before.main(), layer, means);
    const std::vector<double> y = MeanResults(after.main(), op, means);
    REQUIRE(x.size() == y.size());
    double most = 0.0;
    for (size_t i = 0; i < x.size(); ++i) most = std::max(most, std::fabs(x[i] - y[i]));
    return most;
  }
  FAIL(name);
  return 0.0;
}

TEST_CASE("quantize: biases take back what rounded weights add on average", "[format]") {
  const auto model = test::OpenBytes(test::BuildModel(Layers(0)));
  const std::vector<float> means = {0.9f, -0.2f, 3.0f, 1.5f};
  const auto plain = Quantized(*model, false, means);
  const auto corrected = Quantized(*model, true, means);
  for (const Op& op : model->main().ops) {
    INFO(op.name() << " " << op.file_index);
    CHECK(Moved(*model, *plain, op, means) > 2e-3);
    CHECK(Moved(*model, *corrected, op, means) < 5e-4);  // a bias' step is 16/255/127
  }
}

TEST_CASE("quantize: layers that share weights keep their biases", "[format]") {
  const auto model = test::OpenBytes(test::BuildModel(Layers(1)));
  const std::vector<float> means = {0.9f, -0.2f, 3.0f, 1.5f};
  const auto plain = Quantized(*model, false, means);
  const auto corrected = Quantized(*model, true, means);
  const Op& dense = model->main().ops[3];
  CHECK(Moved(*model, *corrected, dense, means) == Moved(*model, *plain, dense, means));
}

TEST_CASE("quantize: means of another number than the layer reads change nothing", "[format]") {
  const auto model = test::OpenBytes(test::BuildModel(Layers(0)));
  const auto plain = Quantized(*model, false, {});
  const auto corrected = Quantized(*model, true, {1.0f, 2.0f, 3.0f});
  CHECK(plain->bytes().size() == corrected->bytes().size());
  const std::vector<float> means(kChannels, 1.0f);
  for (const Op& op : {model->main().ops[1], model->main().ops[2], model->main().ops[3]}) {
    CHECK(Moved(*model, *corrected, op, means) == Moved(*model, *plain, op, means));
  }
}

}  // namespace bias_test
}  // namespace topwork
