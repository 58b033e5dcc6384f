// Pruning: which weights go, in blocks and over all layers.
#include "models/format/compress/prune.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "models/format/constants.h"
#include "tests/support/classifiers.h"

namespace topwork {
namespace prune_test {

// Two dense layers of 4 × 8 weights; those of the second are ten times as large.
test::ModelSpec TwoLayersSpec() {
  test::ModelSpec spec;
  int v = spec.AddInput("x", DType::kFloat32, {1, 8});
  for (int layer = 0; layer < 2; ++layer) {
    std::vector<float> w(layer == 0 ? 64 : 32);
    for (size_t i = 0; i < w.size(); ++i) {
      const float sign = i % 2 == 0 ? 1.0f : -1.0f;
      w[i] = sign * static_cast<float>(i + 1) * (layer == 0 ? 0.01f : 1.0f);
    }
    const int rows = layer == 0 ? 8 : 4;
    const int weights =
        spec.AddConstant(layer == 0 ? "w0" : "w1", DType::kFloat32, {rows, 8}, test::ToBytes(w));
    const int out = spec.AddTensor(layer == 0 ? "h" : "y", DType::kFloat32, {1, rows});
    spec.AddOp(OpCode::kFullyConnected, {v, weights, -1}, {out},
               test::OptionsSpec(test::kFullyConnectedOptions));
    v = out;
  }
  spec.main().outputs = {v};
  return spec;
}

std::shared_ptr<const Model> TwoLayers() {
  return test::OpenBytes(test::BuildModel(TwoLayersSpec()));
}

std::vector<float> WeightsOf(const Model& model, const char* name) {
  for (size_t v = 0; v < model.main().values.size(); ++v) {
    if (model.main().values[v].name != name) continue;
    std::vector<float> values;
    REQUIRE(ReadFloats(model.main(), static_cast<int>(v), &values).ToString() == "OK");
    return values;
  }
  FAIL("no tensor " << name);
  return {};
}

std::shared_ptr<const Model> Pruned(const PruneSpec& spec, PruneReport* report) {
  const auto bytes = PruneModel(*TwoLayers(), spec, report);
  REQUIRE(bytes.status().ToString() == "OK");
  return test::OpenBytes(*bytes);
}

int64_t Zeros(const std::vector<float>& values) {
  return std::count(values.begin(), values.end(), 0.0f);
}

// What a newer format may have would be missing in every file that is written.
TEST_CASE("export: options of unknown kinds and unknown fields are refused", "[format]") {
  const auto refusal = [](OpCode code, const test::OptionsSpec& options) {
    test::ModelSpec spec = TwoLayersSpec();
    const int extra = spec.AddTensor("extra", DType::kFloat32, {1, 4});
    spec.AddOp(code, {spec.main().outputs[0]}, {extra}, options);
    PruneSpec prune;
    prune.min_elements = 1;
    prune.sparsity = 0.5;
    PruneReport report;
    const auto model = test::OpenBytes(test::BuildModel(spec));
    const Status status = PruneModel(*model, prune, &report).status();
    CHECK(status.code() == (status.ok() ? StatusCode::kOk : StatusCode::kUnsupported));
    return status.message();
  };
  using test::OptionsSpec;
  CHECK(refusal(OpCode::kNeg, OptionsSpec()) == "");
  CHECK(refusal(OpCode::kLeakyRelu, OptionsSpec(75).Float(0, 0.5f)) == "");
  CHECK(refusal(OpCode::kLeakyRelu, OptionsSpec(75).Float(0, 0.5f).Int(1, 7))
            .find("LEAKY_RELU of subgraph #0 has the option field #1") != std::string::npos);
  CHECK(
      refusal(OpCode::kStablehloAdd, OptionsSpec(127).Int(0, 7)).find("options of the kind #127") !=
      std::string::npos);
  CHECK(refusal(OpCode::kStablehloAdd, OptionsSpec(24, true).Int(0, 7))
            .find("options of the kind #24") != std::string::npos);
  CHECK(refusal(OpCode::kReduceWindow, OptionsSpec(20, true).Int(0, 1)) == "");
  CHECK(refusal(OpCode::kReduceWindow, OptionsSpec(20, true).Int(0, 1).Int(2, 7))
            .find("the option field #2") != std::string::npos);
}

TEST_CASE("prune: the smallest weights of each layer, or of all", "[format]") {
  PruneSpec spec;
  spec.min_elements = 1;
  spec.sparsity = 0.5;
  PruneReport report;
  const auto each = Pruned(spec, &report);
  CHECK(report.n_layers == 2);
  CHECK(report.n_weights == 96);
  CHECK(report.n_zeros == 48);
  const std::vector<float> first = WeightsOf(*each, "w0");
  for (size_t i = 0; i < first.size(); ++i) CHECK((first[i] == 0.0f) == (i < 32));
  CHECK(first[33] == -0.34f);
  CHECK(Zeros(WeightsOf(*each, "w1")) == 16);
  spec.global = true;
  const auto all = Pruned(spec, &report);
  CHECK(Zeros(WeightsOf(*all, "w0")) == 48);
  CHECK(Zeros(WeightsOf(*all, "w1")) == 0);
}

TEST_CASE("prune: blocks go as a whole", "[format]") {
  PruneSpec spec;
  spec.min_elements = 33;  // only the first layer
  spec.sparsity = 0.25;
  spec.block_rows = 2;
  spec.block_columns = 3;  // the third of a row has two columns
  PruneReport report;
  const auto model = Pruned(spec, &report);
  CHECK(report.n_layers == 1);
  const std::vector<float> w = WeightsOf(*model, "w0");
  int n_blocks = 0;
  for (size_t r = 0; r < 8; r += 2) {
    for (size_t c = 0; c < 8; c += 3) {
      int zeros = 0, n = 0;
      for (size_t i = r; i < r + 2; ++i) {
        for (size_t j = c; j < std::min<size_t>(8, c + 3); ++j, ++n) zeros += w[i * 8 + j] == 0.0f;
      }
      CHECK((zeros == 0 || zeros == n));
      n_blocks += zeros == n;
    }
  }
  CHECK(n_blocks == 3);
}

TEST_CASE("prune: what makes no sense is refused", "[format]") {
  PruneReport report;
  PruneSpec spec;
  CHECK(PruneModel(*TwoLayers(), spec, &report).status().code() == StatusCode::kUnsupported);
  spec.min_elements = 1;
  for (double sparsity : {0.0, 1.0, -1.0, std::nan("")}) {
    spec.sparsity = sparsity;
    CHECK(PruneModel(*TwoLayers(), spec, &report).status().code() == StatusCode::kInvalidArgument);
  }
  spec.sparsity = 0.5;
  spec.block_columns = 0;
  CHECK(PruneModel(*TwoLayers(), spec, &report).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("prune: a layer never loses all its weights", "[format]") {
  PruneSpec spec;
  spec.min_elements = 1;
  for (const bool global : {false, true}) {
    spec.global = global;
    spec.block_rows = spec.block_columns = 1000;  // a layer is one block
    spec.sparsity = 0.5;
    PruneReport report;
    const auto whole = Pruned(spec, &report);
    CHECK(Zeros(WeightsOf(*whole, "w1")) == 0);
    CHECK(report.n_zeros == (global ? 64 : 0));  // of all layers together, one block in two
    spec.block_rows = spec.block_columns = 1;
    spec.sparsity = 0.999;
    (void)Pruned(spec, &report);
    CHECK(report.n_zeros == (global ? 95 : 94));
  }
}

}  // namespace prune_test
}  // namespace topwork
