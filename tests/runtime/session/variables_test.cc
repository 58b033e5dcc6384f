// Variable tensors: state belongs to the session, survives runs, and begins anew where it should.
#include <catch2/catch.hpp>
#include <cstring>

#include "kernels/contract/custom_ops.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/open_session.h"

namespace topwork {
namespace variables_test {

using test::Bytes;
using test::ModelSpec;
using test::ToBytes;

// state += x; y = state. Either of float32 or int8, elementwise.
class Accumulate final : public CustomOp {
 public:
  Status Prepare(PrepareContext& context) const override {
    auto* state = context.NewState<CustomOpState>();
    state->op = this;
    if (context.input(1)->data != nullptr) return InternalError("a variable has a value already");
    return context.SetOutput(0, context.input(0)->dtype, context.input(0)->shape);
  }
  Status Run(const RunContext& context) const override {
    const int64_t n = context.in(0).shape.NumElements();
    for (int64_t i = 0; i < n; ++i) {
      if (context.in(0).dtype == DType::kFloat32) {
        context.in(1).as<float>()[i] += context.in(0).as<float>()[i];
        context.out(0).as<float>()[i] = context.in(1).as<float>()[i];
      } else {
        int8_t* const sum = context.in(1).as<int8_t>();
        sum[i] = static_cast<int8_t>(sum[i] + context.in(0).as<int8_t>()[i]);
        context.out(0).as<int8_t>()[i] = sum[i];
      }
    }
    return Status::Ok();
  }
  bool SameAs(const CustomOp&) const override { return true; }
};

// x -> (state += x) -> NEG. With `observed`, the graph's second output is the variable itself.
ModelSpec AccumulateSpec(DType type, bool observed) {
  REQUIRE(RegisterCustomOp("TestAccumulate", std::make_unique<Accumulate>()).ok());
  ModelSpec spec;
  const int x = spec.AddInput("x", type, {1, 2});
  const int state = spec.AddTensor("state", type, {1, 2});
  spec.main().tensors.back().is_variable = true;
  const int sum = spec.AddTensor("sum", type, {1, 2});
  const int y = spec.AddTensor("y", type, {1, 2});
  test::OpSpec accumulate;
  accumulate.opcode = spec.AddCode(OpCode::kCustom, "TestAccumulate");
  accumulate.inputs = {x, state};
  accumulate.outputs = {sum};
  spec.main().ops.push_back(accumulate);
  spec.AddOp(OpCode::kAbs, {sum}, {y});
  spec.main().outputs = {y};
  if (observed) spec.main().outputs.push_back(state);
  if (type == DType::kInt8) {
    for (auto& tensor : spec.main().tensors) {
      tensor.scales = {1.0f};
      tensor.zero_points = {0};
    }
    spec.main().tensors[static_cast<size_t>(state)].zero_points = {7};
  }
  return spec;
}

std::unique_ptr<Session> Open(const ModelSpec& spec,
                              std::shared_ptr<SessionState> state = nullptr) {
  SessionOptions options;
  options.state = std::move(state);
  return test::OpenSession(spec, options);
}

float RunWith(Session* session, float x) {
  for (int i = 0; i < 2; ++i) session->input(0).as<float>()[i] = x;
  REQUIRE(session->Run().ToString() == "OK");
  return session->output(0).as<float>()[1];
}

TEST_CASE("a variable survives runs and is the session's own", "[session]") {
  const ModelSpec spec = AccumulateSpec(DType::kFloat32, true);
  const auto session = Open(spec);
  CHECK(session->plan().keeps_state);
  CHECK(session->plan().state_bytes == 8);
  CHECK(session->memory_bytes() >= 8);
  CHECK(RunWith(session.get(), 2.0f) == 2.0f);
  CHECK(RunWith(session.get(), 3.0f) == 5.0f);
  CHECK(session->output(1).as<float>()[0] == 5.0f);

  const auto clone = session->Clone();
  REQUIRE(clone.ok());
  CHECK(RunWith(clone.value().get(), 1.0f) == 1.0f);
  CHECK(RunWith(session.get(), 1.0f) == 6.0f);
  CHECK(RunWith(clone.value().get(), 1.0f) == 2.0f);

  session->ResetState();
  CHECK(RunWith(session.get(), 4.0f) == 4.0f);
  CHECK(RunWith(clone.value().get(), 1.0f) == 3.0f);
}

// A loop of three rounds whose body is x -> (state += x), the variable being the body's.
ModelSpec LoopSpec() {
  ModelSpec spec = AccumulateSpec(DType::kFloat32, false);
  spec.subgraphs.push_back(spec.main());  // 1: the body, of x and i
  spec.subgraphs.emplace_back();          // 2: the condition
  spec.main() = test::SubgraphSpec();
  const int i = spec.AddInput("i", DType::kInt32, {1}, 1);
  const int one = spec.AddConstant("one", DType::kInt32, {1}, ToBytes<int32_t>({1}), 1);
  const int next = spec.AddTensor("next", DType::kInt32, {1}, 1);
  spec.AddOp(OpCode::kAdd, {i, one}, {next}, test::OptionsSpec(test::kAddOptions), 1);
  spec.subgraphs[1].outputs.push_back(next);
  spec.AddInput("x", DType::kFloat32, {1, 2}, 2);
  const int count = spec.AddInput("i", DType::kInt32, {1}, 2);
  const int end = spec.AddConstant("end", DType::kInt32, {1}, ToBytes<int32_t>({3}), 2);
  const int less = spec.AddTensor("less", DType::kBool, {1}, 2);
  spec.AddOp(OpCode::kLess, {count, end}, {less}, test::OptionsSpec(), 2);
  spec.subgraphs[2].outputs = {less};
  const int x = spec.AddInput("x", DType::kFloat32, {1, 2});
  const int zero = spec.AddConstant("zero", DType::kInt32, {1}, ToBytes<int32_t>({0}));
  const int y = spec.AddTensor("y", DType::kFloat32, {1, 2});
  const int last = spec.AddTensor("last", DType::kInt32, {1});
  spec.AddOp(OpCode::kWhile, {x, zero}, {y, last},
             test::OptionsSpec(test::kWhileOptions).Int(0, 2).Int(1, 1));
  spec.main().outputs = {y};
  return spec;
}

TEST_CASE("a variable inside a loop's body survives rounds and runs", "[session]") {
  const auto session = Open(LoopSpec());
  CHECK(session->plan().keeps_state);
  CHECK(session->plan().state_bytes == 8);
  CHECK(session->has_custom_ops());
  CHECK(RunWith(session.get(), 1.0f) == 4.0f);   // 1, 2, 4
  CHECK(RunWith(session.get(), 1.0f) == 20.0f);  // 5, 10, 20
  const auto clone = session->Clone();
  REQUIRE(clone.ok());
  CHECK(RunWith(clone.value().get(), 1.0f) == 4.0f);
  session->ResetState();
  CHECK(RunWith(session.get(), 1.0f) == 4.0f);
}

TEST_CASE("sessions may share variables", "[session]") {
  const ModelSpec spec = AccumulateSpec(DType::kFloat32, false);
  const auto first = Open(spec);
  const auto second = Open(spec, first->state());
  CHECK(RunWith(first.get(), 2.0f) == 2.0f);
  CHECK(RunWith(second.get(), 3.0f) == 5.0f);
  second->ResetState();
  CHECK(RunWith(first.get(), 1.0f) == 1.0f);
}

TEST_CASE("an int8 variable begins at its zero point", "[session]") {
  const auto session = Open(AccumulateSpec(DType::kInt8, true));
  std::memset(session->input(0).data, 1, 2);
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(session->output(1).as<int8_t>()[0] == 8);
  session->ResetState();
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(session->output(1).as<int8_t>()[1] == 8);
}

// x -> FULLY_CONNECTED-free graph whose only use of the variable feeds no output.
TEST_CASE("what changes a variable runs even if no output needs it", "[session]") {
  ModelSpec spec = AccumulateSpec(DType::kFloat32, true);
  spec.main().outputs.erase(spec.main().outputs.begin());
  const auto session = Open(spec);
  std::vector<float> x = {1.0f, 2.0f};
  std::memcpy(session->input(0).data, x.data(), 8);
  REQUIRE(session->Run().ok());
  REQUIRE(session->Run().ok());
  CHECK(session->output(0).as<float>()[1] == 4.0f);
}

// A resize plans anew; the variable keeps its own shape, and its value.
TEST_CASE("a variable survives another input's new shape", "[session]") {
  ModelSpec spec = AccumulateSpec(DType::kFloat32, false);
  const int other = spec.AddInput("other", DType::kFloat32, {1, 3});
  const int z = spec.AddTensor("z", DType::kFloat32, {1, 3});
  spec.AddOp(OpCode::kAbs, {other}, {z});
  spec.main().outputs.push_back(z);
  const auto session = Open(spec);
  CHECK(RunWith(session.get(), 2.0f) == 2.0f);
  REQUIRE(session->ResizeInput(1, Shape({5, 3})).ok());
  REQUIRE(session->Prepare().ok());
  CHECK(RunWith(session.get(), 2.0f) == 4.0f);
  CHECK(session->output(1).shape == Shape({5, 3}));
}

// A view of a variable would change with it: RESHAPE copies.
TEST_CASE("nothing shares memory with a variable", "[session]") {
  ModelSpec spec = AccumulateSpec(DType::kFloat32, false);
  const int before = spec.AddTensor("before", DType::kFloat32, {2, 1});
  spec.AddOp(OpCode::kReshape, {1}, {before},
             test::OptionsSpec(test::kReshapeOptions).Ints(0, {2, 1}));
  std::swap(spec.main().ops.front(), spec.main().ops.back());  // the reshape comes first
  std::swap(spec.main().ops.back(), spec.main().ops[1]);
  const int after = spec.AddTensor("after", DType::kFloat32, {2, 1});
  spec.AddOp(OpCode::kAbs, {before}, {after});
  spec.main().outputs.push_back(after);
  const auto session = Open(spec);
  RunWith(session.get(), 3.0f);
  CHECK(RunWith(session.get(), 4.0f) == 7.0f);
  CHECK(session->output(1).as<float>()[0] == 3.0f);
}

TEST_CASE("the memory limit counts variables", "[session]") {
  const Bytes bytes = BuildModel(AccumulateSpec(DType::kFloat32, false));
  auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.ok());
  SessionOptions options;
  options.memory_limit_bytes = Session::Create(model.value(), options).value()->plan().arena_bytes;
  const auto session = Session::Create(model.value(), options);
  CHECK(session.status().code() == StatusCode::kOutOfMemory);
  CHECK(session.status().message().find("variables 8") != std::string::npos);
}

TEST_CASE("a run that starts over on the CPU starts from the state before it", "[session]") {
  const Bytes bytes = BuildModel(AccumulateSpec(DType::kFloat32, false));
  auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.ok());
  SessionOptions options;
  options.n_threads = 1;
  options.devices.push_back(std::make_shared<test::FakeGpu>());
  auto session = Session::Create(model.value(), options);
  REQUIRE(session.status().ToString() == "OK");
  REQUIRE(session.value()->plan().steps.size() == 2);
  CHECK(session.value()->plan().steps[0].reason == "keeps state from run to run");
  CHECK(RunWith(session.value().get(), 2.0f) == 2.0f);
  CHECK(!session.value()->device_failure().empty());
  CHECK(RunWith(session.value().get(), 2.0f) == 4.0f);
}

}  // namespace variables_test
}  // namespace topwork
