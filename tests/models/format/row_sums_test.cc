// Dynamic range where LiteRT's 16-bit sums of a row's weights overflow: noticed exactly, and stored
// in float32 instead.
#include <catch2/catch.hpp>

#include "models/format/compress/quantize.h"
#include "models/format/constants.h"
#include "runtime/train/head/tail_graph.h"
#include "runtime/train/random.h"
#include "tests/support/log_capture.h"
#include "tests/support/new_head.h"

namespace topwork {
namespace row_sums_test {

using test::Bytes;
using test::ModelSpec;
using test::NewHead;
using test::OptionsSpec;
using test::ToBytes;

// SseReductionSumVector of LiteRT, with 16-bit registers as integers; last_block: with SSE4.1.
int32_t SumAsLiteRt(const int8_t* row, size_t dim, bool last_block) {
  uint16_t lanes[8] = {};
  size_t i = 0;
  for (; i + 16 <= dim; i += 16) {
    for (size_t j = 0; j < 8; ++j) {
      lanes[j] = static_cast<uint16_t>(lanes[j] + row[i + 2 * j] + row[i + 2 * j + 1]);
    }
  }
  if (last_block && i + 8 <= dim) {
    for (size_t j = 0; j < 8; ++j) lanes[j] = static_cast<uint16_t>(lanes[j] + row[i + j]);
    i += 8;
  }
  int32_t sum = 0;
  for (uint16_t lane : lanes) sum += static_cast<int16_t>(lane);
  for (; i < dim; ++i) sum += row[i];
  return sum;
}

TEST_CASE("row sums: an overflow is noticed where LiteRT's sum is wrong, and nowhere else",
          "[format]") {
  Random random(7);
  int n_wrong = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    const size_t dim = 2048 + random.Next() % 4096;
    // Means around the one with which a lane's dim / 8 weights reach 32768.
    const double mean = (trial % 2 == 0 ? 1.0 : -1.0) * 8 * 32768.0 / static_cast<double>(dim) *
                        (0.97 + 0.06 * static_cast<double>(random.Next() % 1000) / 1000);
    std::vector<int8_t> row;
    for (size_t i = 0; i < dim; ++i) {
      const double q = mean + static_cast<double>(random.Next() % 41) - 20;
      row.push_back(static_cast<int8_t>(std::min(127.0, std::max(-127.0, q))));
    }
    int32_t sum = 0;
    for (int8_t q : row) sum += q;
    const bool wrong =
        SumAsLiteRt(row.data(), dim, true) != sum || SumAsLiteRt(row.data(), dim, false) != sum;
    INFO(dim << " weights of mean " << mean);
    CHECK(RowSumsOverflow(row.data(), 1, dim) == wrong);
    n_wrong += wrong;
  }
  CHECK(n_wrong > kTrials / 10);
  CHECK(n_wrong < kTrials * 9 / 10);
  // 258 weights of 127 in a lane are the most that fit.
  const std::vector<int8_t> rows(2 * 2080, 127);
  CHECK_FALSE(RowSumsOverflow(rows.data(), 1, 2064));
  CHECK(RowSumsOverflow(rows.data(), 1, 2080));
  CHECK(RowSumsOverflow(rows.data(), 2, 2080));
}

// A dense layer of int8 weights on an input of floats; asymmetric: the input gets a zero point.
std::shared_ptr<const Model> DynamicModel(int dim, bool asymmetric) {
  constexpr int kClasses = 2;
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1, dim});
  const int weights = spec.AddConstant("w", DType::kInt8, {kClasses, dim},
                                       Bytes(static_cast<size_t>(kClasses * dim), 1));
  spec.main().tensors[static_cast<size_t>(weights)].scales = {0.01f, 0.02f};
  spec.main().tensors[static_cast<size_t>(weights)].zero_points = {0, 0};
  const int bias =
      spec.AddConstant("b", DType::kFloat32, {kClasses}, ToBytes(std::vector<float>(kClasses)));
  const int y = spec.AddTensor("y", DType::kFloat32, {1, kClasses});
  spec.AddOp(OpCode::kFullyConnected, {x, weights, bias}, {y},
             OptionsSpec(test::kFullyConnectedOptions).Byte(3, asymmetric ? 1 : 0));
  spec.main().outputs = {y};
  return test::OpenBytes(test::BuildModel(spec));
}

TEST_CASE("row sums: a head whose sums overflow is exported in float32, with a warning",
          "[format]") {
  for (const bool asymmetric : {false, true}) {
    for (const int dim : {2064, 2080}) {
      INFO(dim << (asymmetric ? " asymmetric" : " symmetric"));
      const auto model = DynamicModel(dim, asymmetric);
      NewHead head = test::MakeHead(3, dim, 4);
      for (int d = 0; d < dim; ++d) head.weights[static_cast<size_t>(dim + d)] = 0.25f;
      const test::LogCapture log;
      const auto exported =
          test::Export(*model, test::Replacement(*model, head, Loss::kSoftmaxCrossEntropy));
      const bool overflows = asymmetric && dim == 2080;
      const Head found = test::Found(*exported);
      CHECK(found.format.storage ==
            (overflows ? HeadStorage::kFloat32 : HeadStorage::kDynamicRange));
      CHECK((found.shipped_weights == head.weights) == overflows);
      CHECK((log.text().find("LiteRT on x86 without XNNPACK") != std::string::npos) == overflows);
      // What the trainer judges is what the file holds.
      std::vector<float> weights(head.weights.size()), bias(head.bias.size());
      RoundHead(test::Found(*model).format, 3, dim, head.weights, head.bias, weights.data(),
                bias.data());
      CHECK(weights == found.shipped_weights);
    }
  }
}

TEST_CASE("row sums: the quantizer leaves a layer whose sums overflow in float32", "[format]") {
  ModelSpec spec;
  int v = spec.AddInput("x", DType::kFloat32, {1, 2080});
  const int widths[] = {2080, 3, 2080, 3};
  for (size_t i = 0; i + 1 < 4; ++i) {
    // The last layer's weights differ in sign.
    std::vector<float> weights(static_cast<size_t>(widths[i] * widths[i + 1]), 0.5f);
    for (size_t k = 0; i == 2 && k < weights.size(); k += 2) weights[k] = -0.5f;
    const int w =
        spec.AddConstant("w", DType::kFloat32, {widths[i + 1], widths[i]}, ToBytes(weights));
    const int y = spec.AddTensor("y", DType::kFloat32, {1, widths[i + 1]});
    spec.AddOp(OpCode::kFullyConnected, {v, w, -1}, {y}, OptionsSpec(test::kFullyConnectedOptions));
    v = y;
  }
  spec.main().outputs = {v};
  QuantizeSpec quantize;
  quantize.target = QuantizeTarget::kDynamicRange;
  QuantizeReport report;
  const test::LogCapture log;
  const auto bytes = QuantizeModel(*test::OpenBytes(test::BuildModel(spec)), quantize, &report);
  REQUIRE(bytes.status().ToString() == "OK");
  const auto model = test::OpenBytes(bytes.value());
  std::vector<DType> types;
  for (const Op& op : model->main().ops) {
    types.push_back(model->main().values[static_cast<size_t>(op.inputs[1])].dtype);
  }
  CHECK(types == std::vector<DType>{DType::kFloat32, DType::kInt8, DType::kInt8});
  CHECK(log.text().find("FULLY_CONNECTED is stored in float32") != std::string::npos);
}

// Two dense layers of int8 weights below a head; `tied` reads the first one's weights once more.
std::shared_ptr<const Model> DeepModel(int dim, bool asymmetric, bool tied = false) {
  constexpr int kUnits = 2;
  constexpr int8_t kRelu = 1;
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1, dim});
  const int w = spec.AddConstant("w", DType::kInt8, {kUnits, dim},
                                 Bytes(static_cast<size_t>(kUnits * dim), 1));
  spec.main().tensors[static_cast<size_t>(w)].scales = {0.01f};
  spec.main().tensors[static_cast<size_t>(w)].zero_points = {0};
  const int y = spec.AddTensor("y", DType::kFloat32, {1, kUnits});
  const auto options = OptionsSpec(test::kFullyConnectedOptions).Byte(0, kRelu);
  spec.AddOp(OpCode::kFullyConnected, {x, w, -1}, {y},
             OptionsSpec(options).Byte(3, asymmetric ? 1 : 0));
  if (tied) {
    const int read = spec.AddTensor("read", DType::kFloat32, {kUnits, dim});
    spec.AddOp(OpCode::kDequantize, {w}, {read});
  }
  const int head = spec.AddConstant("head", DType::kFloat32, {3, kUnits},
                                    ToBytes(std::vector<float>(3 * kUnits, 0.5f)));
  const int scores = spec.AddTensor("scores", DType::kFloat32, {1, 3});
  spec.AddOp(OpCode::kFullyConnected, {y, head, -1}, {scores},
             OptionsSpec(test::kFullyConnectedOptions));
  spec.main().outputs = {scores};
  return test::OpenBytes(test::BuildModel(spec));
}

int ValueNamed(const Graph& graph, const std::string& name) {
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (graph.values[v].name == name) return static_cast<int>(v);
  }
  return -1;
}

TEST_CASE("row sums: a deeper layer whose sums overflow is exported in float32, with a warning",
          "[format]") {
  for (const bool asymmetric : {false, true}) {
    for (const int dim : {2064, 2080}) {
      INFO(dim << (asymmetric ? " asymmetric" : " symmetric"));
      const auto model = DeepModel(dim, asymmetric);
      const int w = ValueNamed(model->main(), "w");
      const std::vector<float> trained(static_cast<size_t>(2 * dim), 0.3f);
      const NewHead head = test::MakeHead(3, 2, 4);
      HeadReplacement replacement = test::Replacement(*model, head, Loss::kSoftmaxCrossEntropy);
      replacement.constants.push_back({w, trained});
      const test::LogCapture log;
      const auto exported = test::Export(*model, replacement);
      const bool overflows = asymmetric && dim == 2080;
      const Graph& graph = exported->main();
      CHECK(graph.values[static_cast<size_t>(ValueNamed(graph, "w"))].dtype ==
            (overflows ? DType::kFloat32 : DType::kInt8));
      CHECK((log.text().find("weights 'w' is stored in float32") != std::string::npos) ==
            overflows);
      const Op& layer = graph.ops[0];
      CHECK(layer.params.asymmetric_quantize_inputs == (asymmetric && !overflows));
      CHECK(layer.params.activation == model->main().ops[0].params.activation);
      // What the trainer judges is what the file holds.
      std::vector<float> judged = trained;
      RoundAsStored(model->main(), w, {judged.data(), judged.size()});
      std::vector<float> stored;
      REQUIRE(ReadFloats(graph, ValueNamed(graph, "w"), &stored).ToString() == "OK");
      CHECK(judged == stored);
    }
  }
}

TEST_CASE("row sums: weights that a DEQUANTIZE reads, too, stay int8", "[format]") {
  const std::vector<int8_t> rows(2 * 2080, 127);
  for (const bool tied : {false, true}) {
    const auto model = DeepModel(2080, true, tied);
    CHECK(LayerSumsOverflow(model->main(), ValueNamed(model->main(), "w"), rows.data()) == !tied);
  }
}

}  // namespace row_sums_test
}  // namespace topwork
