// Backbones that keep state or loop: an example's features do not depend on those before it.
#include <catch2/catch.hpp>
#include <cstring>

#include "models/format/write.h"
#include "runtime/train/features/backbone.h"
#include "runtime/train/head/head.h"
#include "tests/support/model_builder.h"
#include "tests/support/npz.h"
#include "tests/support/skip.h"

namespace topwork {
namespace backbone_state_test {

using test::ModelSpec;
using test::OptionsSpec;
using test::ToBytes;

// h = 2 * h + x for four rounds from the variable's value, which becomes h; FULLY_CONNECTED.
std::shared_ptr<const Model> LoopingModel() {
  ModelSpec spec;
  spec.subgraphs.resize(3);
  const int x = spec.AddInput("x", DType::kFloat32, {1, 2});
  const int handle = spec.AddTensor("handle", DType::kResource, {1});
  const OptionsSpec name = OptionsSpec(test::kVarHandleOptions).Text(1, "h");
  spec.AddOp(OpCode::kVarHandle, {}, {handle}, name);
  const int start = spec.AddConstant("start", DType::kFloat32, {1, 2}, ToBytes<float>({1, 2}));
  (void)start;
  for (int s : {1, 2}) {
    spec.AddInput("i", DType::kInt32, {1}, s);
    spec.AddInput("h", DType::kFloat32, {1, 2}, s);
    spec.AddInput("x", DType::kFloat32, {1, 2}, s);
  }
  const int four = spec.AddConstant("four", DType::kInt32, {1}, ToBytes<int32_t>({4}), 1);
  const int less = spec.AddTensor("less", DType::kBool, {1}, 1);
  spec.AddOp(OpCode::kLess, {0, four}, {less}, OptionsSpec(), 1);
  spec.subgraphs[1].outputs = {less};
  const int one = spec.AddConstant("one", DType::kInt32, {1}, ToBytes<int32_t>({1}), 2);
  const OptionsSpec add = OptionsSpec(test::kAddOptions);
  const int next = spec.AddTensor("next", DType::kInt32, {1}, 2);
  const int twice = spec.AddTensor("twice", DType::kFloat32, {1, 2}, 2);
  const int sum = spec.AddTensor("sum", DType::kFloat32, {1, 2}, 2);
  spec.AddOp(OpCode::kAdd, {0, one}, {next}, add, 2);
  spec.AddOp(OpCode::kAdd, {1, 1}, {twice}, add, 2);
  spec.AddOp(OpCode::kAdd, {twice, 2}, {sum}, add, 2);
  spec.subgraphs[2].outputs = {next, sum, 2};
  const int init = static_cast<int>(spec.subgraphs.size());
  spec.subgraphs.emplace_back();
  const int zero = spec.AddConstant("zero", DType::kFloat32, {1, 2}, ToBytes<float>({0, 1}), init);
  const int init_handle = spec.AddTensor("handle", DType::kResource, {1}, init);
  spec.AddOp(OpCode::kVarHandle, {}, {init_handle}, name, init);
  spec.AddOp(OpCode::kAssignVariable, {init_handle, zero}, {}, OptionsSpec(), init);
  spec.AddOp(OpCode::kCallOnce, {}, {}, OptionsSpec(test::kCallOnceOptions).Int(0, init));
  const int old = spec.AddTensor("old", DType::kFloat32, {1, 2});
  spec.AddOp(OpCode::kReadVariable, {handle}, {old});
  const int i = spec.AddConstant("i", DType::kInt32, {1}, ToBytes<int32_t>({0}));
  const int last = spec.AddTensor("last", DType::kInt32, {1});
  const int h = spec.AddTensor("h", DType::kFloat32, {1, 2});
  const int same = spec.AddTensor("same", DType::kFloat32, {1, 2});
  spec.AddOp(OpCode::kWhile, {i, old, x}, {last, h, same},
             OptionsSpec(test::kWhileOptions).Int(0, 1).Int(1, 2));
  spec.AddOp(OpCode::kAssignVariable, {handle, h}, {});
  const int w = spec.AddConstant("w", DType::kFloat32, {3, 2}, ToBytes<float>({1, 2, 3, 4, 5, 6}));
  const int y = spec.AddTensor("y", DType::kFloat32, {1, 3});
  spec.AddOp(OpCode::kFullyConnected, {h, w, -1}, {y}, OptionsSpec(test::kFullyConnectedOptions));
  spec.main().outputs = {y};
  const test::Bytes bytes = BuildModel(spec);
  auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

std::unique_ptr<Backbone> NewBackbone(const std::shared_ptr<const Model>& model) {
  const auto head = FindHead(model->main(), 0);
  REQUIRE(head.status().ToString() == "OK");
  Cut cut;
  cut.value = head->feature;
  cut.dim = head->dim;
  cut.n_positions = head->n_positions;
  SessionOptions options;
  options.n_threads = 1;
  auto backbone = Backbone::Create(model, cut, options, 1);
  REQUIRE(backbone.status().ToString() == "OK");
  return std::move(backbone.value());
}

TEST_CASE("features of a stateful backbone do not depend on the order of examples", "[train]") {
  const auto backbone = NewBackbone(LoopingModel());
  const auto features = [&](float x) {
    const float example[2] = {x, x};
    std::memcpy(backbone->example(0, 0), example, sizeof(example));
    std::vector<float> row(2);
    REQUIRE(backbone->Run(1, row.data()).ToString() == "OK");
    return row;
  };
  CHECK(features(1) == std::vector<float>{15, 31});  // h0 * 16 + 15 x
  CHECK(features(2) == std::vector<float>{30, 46});
  CHECK(features(1) == std::vector<float>{15, 31});
}

TEST_CASE("a new head leaves subgraphs as they were", "[train]") {
  const auto model = LoopingModel();
  const auto head = FindHead(model->main(), 0);
  REQUIRE(head.ok());
  const std::vector<float> weights = {1, 0, 0, 1}, bias = {0, 0.5f};
  HeadReplacement replacement;
  replacement.op = head->op;
  replacement.n_classes = 2;
  replacement.dim = 2;
  replacement.weights = weights;
  replacement.bias = bias;
  replacement.activation = FinalActivation::kNone;
  const auto bytes = ExportWithHead(*model, replacement);
  REQUIRE(bytes.status().ToString() == "OK");
  auto exported = Model::OpenMemory(bytes->data(), bytes->size(), true);
  REQUIRE(exported.status().ToString() == "OK");
  REQUIRE(exported.value()->subgraphs().size() == model->subgraphs().size());
  for (size_t s = 1; s < model->subgraphs().size(); ++s) {
    const Graph& before = model->subgraphs()[s];
    const Graph& after = exported.value()->subgraphs()[s];
    CHECK(before.inputs == after.inputs);
    CHECK(before.outputs == after.outputs);
    REQUIRE(before.ops.size() == after.ops.size());
    for (size_t i = 0; i < before.ops.size(); ++i) {
      CHECK(before.ops[i].code == after.ops[i].code);
      CHECK(before.ops[i].inputs == after.ops[i].inputs);
      CHECK(before.ops[i].outputs == after.ops[i].outputs);
    }
  }
  auto session = Session::Create(exported.value(), SessionOptions());
  REQUIRE(session.status().ToString() == "OK");
  for (int i = 0; i < 2; ++i) session.value()->input(0).as<float>()[i] = 1.0f;
  REQUIRE(session.value()->Run().ToString() == "OK");
  CHECK(session.value()->output(0).as<float>()[0] == 15.0f);
  CHECK(session.value()->output(0).as<float>()[1] == 31.5f);
}

TEST_CASE("real models with loops have heads that train", "[train][shared]") {
  if (test::SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  for (const char* name :
       {"/float/gen_digits_gru_while_f32", "/dynamic/gen_digits_gru_while_dynamic"}) {
    INFO(name);
    const auto model = Model::OpenFile(test::SharedModelsFolder() + name + ".tflite");
    REQUIRE(model.status().ToString() == "OK");
    const auto backbone = NewBackbone(model.value());
    std::vector<float> first(static_cast<size_t>(backbone->cut().dim)), again(first.size());
    std::memset(backbone->example(0, 0), 0, backbone->input(0).bytes());
    REQUIRE(backbone->Run(1, first.data()).ToString() == "OK");
    REQUIRE(backbone->Run(1, again.data()).ToString() == "OK");
    CHECK(first == again);
  }
}

}  // namespace backbone_state_test
}  // namespace topwork
