// FindTail: where the cut lies, what is trained, and what is refused.
#include "runtime/train/head/tail.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/classifiers.h"
#include "tests/support/embedded.h"
#include "tests/support/model_builder.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace tail_test {

using test::ModelSpec;
using test::OptionsSpec;
using test::ToBytes;

std::shared_ptr<const Model> OpenZoo(const char* name) {
  const test::EmbeddedFile* file = test::FindEmbedded(name);
  REQUIRE(file != nullptr);
  auto model = Model::OpenMemory(file->data, file->size, false);
  REQUIRE(model.ok());
  return model.value();
}

Result<Tail> Find(const Model& model, int n_layers, Trained trained = Trained::kAll) {
  auto head = FindHead(model.main(), 0);
  REQUIRE(head.status().ToString() == "OK");
  return FindTail(model.main(), *head, n_layers, trained);
}

// "ADD MAX_POOL_2D | conv/filter conv/bias" : operators and constants.
std::string Describe(const Model& model, const Tail& tail) {
  std::string text;
  for (const TailOp& op : tail.ops) {
    text += std::string(model.main().ops[static_cast<size_t>(op.op)].name()) + " ";
  }
  text += "|";
  for (const TailConstant& constant : tail.constants) text += " " + constant.shape.ToString();
  return text;
}

TEST_CASE("tail: the layers of a model with a residual block", "[train]") {
  const struct {
    int n_layers;
    int64_t dim;
    const char* text;
    const char* biases;
  } cases[] = {
      {1, 64, "|", "|"},
      {2, 256, "CONV_2D MEAN | [64, 3, 3, 16] [64]", "CONV_2D MEAN | [64]"},
      // Inside the block: the cut is where its branches part.
      {3, 1024,
       "DEPTHWISE_CONV_2D CONV_2D ADD MAX_POOL_2D CONV_2D MEAN | [16, 1, 1, 16] [16] [64, 3, 3, "
       "16] [64]",
       "DEPTHWISE_CONV_2D CONV_2D ADD MAX_POOL_2D CONV_2D MEAN | [16] [64]"},
      {4, 1024,
       "DEPTHWISE_CONV_2D CONV_2D ADD MAX_POOL_2D CONV_2D MEAN | [1, 3, 3, 16] [16] [16, 1, 1, "
       "16] [16] [64, 3, 3, 16] [64]",
       "DEPTHWISE_CONV_2D CONV_2D ADD MAX_POOL_2D CONV_2D MEAN | [16] [16] [64]"},
      {5, 64,
       "CONV_2D DEPTHWISE_CONV_2D CONV_2D ADD MAX_POOL_2D CONV_2D MEAN | [16, 3, 3, 1] [16] [1, "
       "3, 3, 16] [16] [16, 1, 1, 16] [16] [64, 3, 3, 16] [64]",
       "CONV_2D DEPTHWISE_CONV_2D CONV_2D ADD MAX_POOL_2D CONV_2D MEAN | [16] [16] [16] [64]"},
  };
  for (const char* name :
       {"models/zoo/digits_cnn_f32.tflite", "models/zoo/digits_cnn_fp16.tflite"}) {
    const auto model = OpenZoo(name);
    for (const auto& c : cases) {
      INFO(name << " " << c.n_layers);
      auto tail = Find(*model, c.n_layers);
      REQUIRE(tail.status().ToString() == "OK");
      CHECK(tail->dim == c.dim);
      CHECK(tail->batch == 1);
      CHECK(Describe(*model, *tail) == c.text);
      auto biases = Find(*model, c.n_layers, Trained::kBiasAndScale);
      REQUIRE(biases.status().ToString() == "OK");
      CHECK(Describe(*model, *biases) == c.biases);
      CHECK(biases->cut == tail->cut);
      for (const TailConstant& constant : tail->constants) {
        const Value& stored = model->main().values[static_cast<size_t>(constant.stored)];
        CHECK(stored.data != nullptr);
        CHECK((constant.stored == constant.value) == (stored.dtype == DType::kFloat32));
        CHECK(constant.decays == (constant.shape.rank() > 1));
      }
    }
    const Status status = Find(*model, 6).status();
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message().find("has 5 layers") != std::string::npos);
  }
}

// x [1, 6] → FULLY_CONNECTED 'w1' → `middle` → FULLY_CONNECTED 'w2' (the head).
struct DenseModel {
  ModelSpec spec;
  int x = -1, w1 = -1, b1 = -1, hidden = -1;

  DenseModel() {
    x = spec.AddInput("x", DType::kFloat32, {1, 6});
    w1 = Constant("w1", {4, 6});
    b1 = Constant("b1", {4});
    hidden = spec.AddTensor("hidden", DType::kFloat32, {1, 4});
    spec.AddOp(OpCode::kFullyConnected, {x, w1, b1}, {hidden},
               OptionsSpec(test::kFullyConnectedOptions));
  }
  int Constant(const char* name, std::vector<int32_t> shape) {
    size_t n = 1;
    for (int32_t dim : shape) n *= static_cast<size_t>(dim);
    return spec.AddConstant(name, DType::kFloat32, shape, ToBytes(test::RandomFloats(n, 3)));
  }
  int Add(OpCode code, std::vector<int32_t> inputs, const OptionsSpec& options = OptionsSpec()) {
    const int out =
        spec.AddTensor("out of " + std::to_string(spec.main().ops.size()), DType::kFloat32, {1, 4});
    spec.AddOp(code, std::move(inputs), {out}, options);
    return out;
  }
  std::shared_ptr<const Model> Finish(int embedding) {
    const int w2 = Constant("w2", {3, 4});
    const int logits = spec.AddTensor("logits", DType::kFloat32, {1, 3});
    spec.AddOp(OpCode::kFullyConnected, {embedding, w2, -1}, {logits},
               OptionsSpec(test::kFullyConnectedOptions));
    spec.main().outputs = {logits};
    return test::OpenBytes(BuildModel(spec));
  }
};

TEST_CASE("tail: per-channel constants above the layer are trained with it", "[train]") {
  DenseModel m;
  const int scale = m.Constant("scale", {4}), shift = m.Constant("shift", {1, 4});
  const int scalar = m.Constant("scalar", {1});
  int v = m.Add(OpCode::kMul, {m.hidden, scale}, OptionsSpec(test::kMulOptions));
  v = m.Add(OpCode::kAdd, {shift, v}, OptionsSpec(test::kAddOptions));
  v = m.Add(OpCode::kMul, {v, scalar}, OptionsSpec(test::kMulOptions));
  const auto model = m.Finish(v);
  auto tail = Find(*model, 2);
  REQUIRE(tail.status().ToString() == "OK");
  CHECK(Describe(*model, *tail) == "FULLY_CONNECTED MUL ADD MUL | [4, 6] [4] [4] [1, 4]");
  CHECK(tail->constants[2].decays);
  CHECK_FALSE(tail->constants[3].decays);
  CHECK(tail->cut == m.x);
  tail = Find(*model, 2, Trained::kBiasAndScale);
  REQUIRE(tail.ok());
  CHECK(Describe(*model, *tail) == "FULLY_CONNECTED MUL ADD MUL | [4] [4] [1, 4]");
  tail = Find(*model, 1);
  REQUIRE(tail.ok());
  CHECK(Describe(*model, *tail) == "|");
}

std::string Refusal(const std::shared_ptr<const Model>& model, int n_layers = 2) {
  const Status status = Find(*model, n_layers).status();
  CHECK(status.code() == StatusCode::kUnsupported);
  return status.message();
}

TEST_CASE("tail: refusals say what is in the way", "[train]") {
  SECTION("an operator without a gradient") {
    DenseModel m;
    const std::string message = Refusal(m.Finish(m.Add(OpCode::kFloor, {m.hidden})));
    CHECK(message.find("FLOOR (operator #1)") != std::string::npos);
    CHECK(message.find("gradients exist for ADD, AVERAGE_POOL_2D, ") != std::string::npos);
  }
  SECTION("a constant that another part of the model reads") {
    DenseModel m;
    const int z = m.spec.AddInput("z", DType::kFloat32, {1, 6});
    const int other =
        m.Add(OpCode::kFullyConnected, {z, m.w1, m.b1}, OptionsSpec(test::kFullyConnectedOptions));
    const int tanh = m.Add(OpCode::kTanh, {m.hidden});
    m.spec.main().outputs = {other};
    const int w2 = m.Constant("w2", {3, 4});
    const int logits = m.spec.AddTensor("logits", DType::kFloat32, {1, 3});
    m.spec.AddOp(OpCode::kFullyConnected, {tanh, w2, -1}, {logits},
                 OptionsSpec(test::kFullyConnectedOptions));
    m.spec.main().outputs = {logits, other};
    const std::string message = Refusal(test::OpenBytes(BuildModel(m.spec)));
    CHECK(message.find("'w1' cannot be trained: FULLY_CONNECTED (operator #1)") !=
          std::string::npos);
  }
  SECTION("several inputs and no single value") {
    DenseModel m;
    const int z = m.spec.AddInput("z", DType::kFloat32, {1, 4});
    const std::string message =
        Refusal(m.Finish(m.Add(OpCode::kAdd, {m.hidden, z}, OptionsSpec(test::kAddOptions))));
    CHECK(message.find("depend on 2 inputs") != std::string::npos);
  }
  SECTION("weights in integers without scales") {
    DenseModel m;
    const int weights = m.spec.AddConstant("w8", DType::kInt8, {4, 4}, test::Bytes(16, 1));
    const std::string message =
        Refusal(m.Finish(m.Add(OpCode::kFullyConnected, {m.hidden, weights, -1},
                               OptionsSpec(test::kFullyConnectedOptions))));
    CHECK(message.find("'w8'") != std::string::npos);
    CHECK(message.find("int8") != std::string::npos);
  }
  SECTION("fewer than one layer") {
    DenseModel m;
    const auto model = m.Finish(m.hidden);
    CHECK(Find(*model, 0).status().code() == StatusCode::kInvalidArgument);
  }
}

TEST_CASE("tail: models whose last layers compute in integers are refused", "[train]") {
  ModelSpec spec;
  const auto quantized = [&](int tensor, size_t n) {
    test::TensorSpec& t = spec.main().tensors[static_cast<size_t>(tensor)];
    t.scales.assign(n, 0.5f);
    t.zero_points.assign(n, 0);
    return tensor;
  };
  int v = quantized(spec.AddInput("x", DType::kInt8, {1, 4}), 1);
  for (const char* name : {"w1", "w2"}) {
    const int w = quantized(spec.AddConstant(name, DType::kInt8, {4, 4}, test::Bytes(16, 1)), 1);
    const int out = quantized(spec.AddTensor(std::string("y") + name, DType::kInt8, {1, 4}), 1);
    spec.AddOp(OpCode::kFullyConnected, {v, w, -1}, {out},
               OptionsSpec(test::kFullyConnectedOptions));
    v = out;
  }
  spec.main().outputs = {v};
  const std::string message = Refusal(test::OpenBytes(BuildModel(spec)));
  CHECK(message.find("'x' of type int8") != std::string::npos);
}

}  // namespace tail_test
}  // namespace topwork
