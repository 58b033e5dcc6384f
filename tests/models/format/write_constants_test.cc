// Export with new values for constants of the backbone.
#include <catch2/catch.hpp>

#include "tests/support/classifiers.h"
#include "tests/support/new_head.h"

namespace topwork {
namespace write_constants_test {

using test::Export;
using test::Found;
using test::MakeHead;
using test::ModelSpec;
using test::NewHead;
using test::OptionsSpec;

void Scale(ModelSpec* spec, int tensor, std::vector<float> scales, std::vector<int64_t> zeros) {
  test::TensorSpec& t = spec->main().tensors[static_cast<size_t>(tensor)];
  t.scales = std::move(scales);
  t.zero_points = std::move(zeros);
}

const Value& ValueAt(const Model& model, int v) {
  return model.main().values[static_cast<size_t>(v)];
}

TEST_CASE("export: constants of the backbone are replaced in their storage", "[format]") {
  ModelSpec spec = test::ClassifierSpec(test::Tail::kDense);
  const auto model = test::OpenBytes(test::BuildModel(spec));
  const auto find = [](const Model& m, const std::string& name) {
    for (size_t i = 0; i < m.main().values.size(); ++i) {
      if (m.main().values[i].name == name) return static_cast<int>(i);
    }
    return -1;
  };
  const NewHead head = MakeHead(2, 8, 4);
  HeadReplacement replacement = ReplacementFor(model->main(), Found(*model), Loss::kHuber);
  replacement.n_classes = 2;
  replacement.weights = head.weights;
  replacement.bias = head.bias;
  std::vector<float> bias(8);
  for (size_t i = 0; i < 8; ++i) bias[i] = 0.1f * static_cast<float>(i);
  replacement.constants = {{find(*model, "conv/bias"), bias}};
  const auto exported = Export(*model, replacement);
  const Value& stored = ValueAt(*exported, find(*exported, "conv/bias"));
  CHECK(std::vector<float>(static_cast<const float*>(stored.data),
                           static_cast<const float*>(stored.data) + 8) == bias);
  CHECK(Found(*exported).shipped_bias == head.bias);

  replacement.constants[0].tensor = find(*model, "map");
  CHECK(ExportWithHead(*model, replacement).status().message().find("is no plain constant") !=
        std::string::npos);
  replacement.constants[0].tensor = 1000;
  CHECK(ExportWithHead(*model, replacement).status().message().find("does not exist") !=
        std::string::npos);
  replacement.constants = {{find(*model, "conv/bias"), {bias.data(), 7}}};
  CHECK(ExportWithHead(*model, replacement).status().message().find("has 8 elements; the new") !=
        std::string::npos);
}

// A layer in front of the head whose weights are stored as the test wants them.
ModelSpec TwoLayers(DType type, bool hybrid) {
  ModelSpec spec;
  const DType activations = hybrid || type == DType::kFloat16 ? DType::kFloat32 : DType::kInt8;
  const int x = spec.AddInput("x", activations, {1, 3});
  const test::Bytes data(2 * 3 * (type == DType::kFloat16 ? 2 : 1), 0);
  int weights = spec.AddConstant("first", type, {2, 3}, data);
  if (type == DType::kInt8) Scale(&spec, weights, {0.5f, 0.25f}, {0, 0});
  if (type == DType::kFloat16) {
    const int full = spec.AddTensor("first/full", DType::kFloat32, {2, 3});
    spec.AddOp(OpCode::kDequantize, {weights}, {full});
    weights = full;
  }
  const int h = spec.AddTensor("h", activations, {1, 2});
  if (activations == DType::kInt8) {
    Scale(&spec, x, {0.1f}, {0});
    Scale(&spec, h, {0.1f}, {0});
  }
  spec.AddOp(OpCode::kFullyConnected, {x, weights, -1}, {h},
             OptionsSpec(test::kFullyConnectedOptions));
  const bool integers = activations == DType::kInt8;
  const int last = spec.AddConstant("last", integers ? DType::kInt8 : DType::kFloat32, {2, 2},
                                    test::Bytes(integers ? 4 : 16, 0));
  const int out = spec.AddTensor("out", activations, {1, 2});
  if (integers) {
    Scale(&spec, last, {0.5f}, {0});
    Scale(&spec, out, {0.1f}, {0});
  }
  spec.AddOp(OpCode::kFullyConnected, {h, last, -1}, {out},
             OptionsSpec(test::kFullyConnectedOptions));
  spec.main().outputs = {out};
  return spec;
}

TEST_CASE("export: constants in float16 and int8 are rounded into their storage", "[format]") {
  const std::vector<float> values = {1.0f, -12.7f, 0.3f, 4.0f, 31.75f, -0.1f};
  const NewHead head = MakeHead(2, 2, 4);
  for (const auto& kind : {std::pair<DType, bool>(DType::kFloat16, false),
                           {DType::kInt8, true},
                           {DType::kInt8, false}}) {
    INFO(DTypeName(kind.first) << " " << kind.second);
    const auto model = test::OpenBytes(test::BuildModel(TwoLayers(kind.first, kind.second)));
    HeadReplacement replacement = ReplacementFor(model->main(), Found(*model), Loss::kHuber);
    replacement.n_classes = 2;
    replacement.weights = head.weights;
    replacement.bias = head.bias;
    replacement.scores_max = 1.0f;
    // The tensor that the layer reads: behind the DEQUANTIZE for float16.
    const size_t first = kind.first == DType::kFloat16 ? 1 : 0;
    replacement.constants = {{model->main().ops[first].inputs[1], values}};
    const auto exported = Export(*model, replacement);
    const Value* stored = nullptr;
    for (const Value& value : exported->main().values) {
      if (value.name == "first") stored = &value;
    }
    REQUIRE(stored != nullptr);
    REQUIRE(stored->dtype == kind.first);
    if (kind.first == DType::kFloat16) {
      for (size_t i = 0; i < 6; ++i) {
        CHECK(static_cast<const uint16_t*>(stored->data)[i] == FloatToHalf(values[i]));
      }
      continue;
    }
    const int8_t* q = static_cast<const int8_t*>(stored->data);
    const Span<const float> scales = stored->quantization->scales;
    REQUIRE(scales.size() == 2);
    if (kind.second) {  // scales that suit the new values
      CHECK(scales[0] == Approx(0.1f));
      CHECK(scales[1] == Approx(0.25f));
      CHECK(std::vector<int>(q, q + 6) == std::vector<int>{10, -127, 3, 16, 127, 0});
    } else {  // the old scales, on which the bias and the output depend
      CHECK(scales[0] == 0.5f);
      CHECK(scales[1] == 0.25f);
      CHECK(std::vector<int>(q, q + 6) == std::vector<int>{2, -25, 1, 16, 127, 0});
    }
  }
}

}  // namespace write_constants_test
}  // namespace topwork
