// What rows of operators promise: float16 arithmetic is float32's rounded, the work of functions,
// int8 forms, gradients that a clamp has, where the rows' functions lie.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/contract/kernel.h"
#include "runtime/plan/op_work.h"
#include "runtime/tensor/tensor.h"
#include "tests/support/open_session.h"

namespace topwork {
namespace rows_test {

using test::ModelSpec;
using test::OpenSession;

struct HalfCase {
  OpCode code;
  int n_inputs = 1;
  bool has_axis = false;  // input 1 is the axis, the last dimension
};

// Operators that have no arithmetic on float16 of their own.
const HalfCase kHalfCases[] = {
    {OpCode::kRelu0To1},
    {OpCode::kReluN1To1},
    {OpCode::kLogSoftmax},
    {OpCode::kL2Normalization},
    {OpCode::kSign},
    {OpCode::kFloorDiv, 2},
    {OpCode::kFloorMod, 2},
    {OpCode::kAddN, 2},
    {OpCode::kAtan2, 2},
    {OpCode::kReduceProd, 1, true},
    {OpCode::kReduceMax, 1, true},
};

ModelSpec OneOpModel(const HalfCase& c, DType dtype) {
  ModelSpec spec;
  std::vector<int32_t> inputs;
  for (int i = 0; i < c.n_inputs; ++i) {
    inputs.push_back(spec.AddInput("x" + std::to_string(i), dtype, {3, 5}));
  }
  if (c.has_axis) {
    inputs.push_back(spec.AddConstant("axis", DType::kInt32, {1}, test::ToBytes<int32_t>({1})));
  }
  const std::vector<int32_t> shape =
      c.has_axis ? std::vector<int32_t>{3} : std::vector<int32_t>{3, 5};
  const int y = spec.AddTensor("y", dtype, shape);
  spec.AddOp(c.code, inputs, {y});
  spec.main().outputs = {y};
  return spec;
}

TEST_CASE("rows: float16 results are float32 results rounded", "[ops]") {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(0.25f, 3.0f);
  for (const HalfCase& c : kHalfCases) {
    INFO(OpCodeName(c.code));
    REQUIRE(FindOp(c.code)->widens_half);
    auto narrow = OpenSession(OneOpModel(c, DType::kFloat16));
    auto wide = OpenSession(OneOpModel(c, DType::kFloat32));
    for (int i = 0; i < c.n_inputs; ++i) {
      std::vector<uint16_t> halves;
      std::vector<float> floats;
      for (int k = 0; k < 15; ++k) {
        halves.push_back(FloatToHalf(k % 2 == 0 ? uniform(random) : -uniform(random)));
        floats.push_back(HalfToFloat(halves.back()));
      }
      test::SetInput(narrow.get(), i, halves);
      test::SetInput(wide.get(), i, floats);
    }
    REQUIRE(narrow->Run().ToString() == "OK");
    REQUIRE(wide->Run().ToString() == "OK");
    std::vector<uint16_t> expected;
    for (float y : test::GetOutput<float>(*wide, 0)) expected.push_back(FloatToHalf(y));
    CHECK(test::GetOutput<uint16_t>(*narrow, 0) == expected);
  }
}

double Flops(OpCode code) {
  Graph graph;
  graph.values.resize(2);
  for (Value& value : graph.values) value.shape = Shape({4, 8});
  Op op;
  op.code = code;
  op.def = FindOp(code);
  op.inputs = {0};
  op.outputs = {1};
  graph.ops.push_back(op);
  return FlopsOf(graph);
}

TEST_CASE("rows: functions of the C library cost more than arithmetic", "[plan]") {
  for (OpCode code : {OpCode::kExp, OpCode::kLog, OpCode::kSqrt, OpCode::kRsqrt, OpCode::kElu,
                      OpCode::kAtan2, OpCode::kTanh, OpCode::kLogSoftmax}) {
    INFO(OpCodeName(code));
    CHECK(Flops(code) == 16.0 * 32.0);
  }
  for (OpCode code : {OpCode::kAbs, OpCode::kRelu0To1, OpCode::kFloor}) {
    INFO(OpCodeName(code));
    CHECK(Flops(code) == 32.0);
  }
}

TEST_CASE("rows: clamps have one int8 form, gradient and fused form each", "[plan]") {
  for (OpCode code : {OpCode::kRelu, OpCode::kRelu6, OpCode::kReluN1To1, OpCode::kRelu0To1}) {
    const OpDef& op = *FindOp(code);
    INFO(op.name());
    CHECK(op.integer == IntegerForm::kOwn);
    CHECK(op.gradient != nullptr);
    CHECK(op.as_activation != Activation::kNone);
    CHECK(op.takes(DType::kInt8));
  }
}

TEST_CASE("rows: RELU_0_TO_1 becomes part of the ADD before it", "[plan]") {
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {4});
  const int z = spec.AddTensor("z", DType::kFloat32, {4});
  const int y = spec.AddTensor("y", DType::kFloat32, {4});
  spec.AddOp(OpCode::kAdd, {x, x}, {z});
  spec.AddOp(OpCode::kRelu0To1, {z}, {y});
  spec.main().outputs = {y};
  auto session = OpenSession(spec);
  CHECK(session->plan().steps.size() == 1);
  test::SetInput<float>(session.get(), 0, {-1.0f, 0.25f, 0.5f, 3.0f});
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(test::GetOutput<float>(*session, 0) == std::vector<float>{0.0f, 0.5f, 1.0f, 1.0f});
}

#if defined(__GNUC__) && !defined(__clang__) && defined(NDEBUG)
// They are all called at the first use of an operator: each page of them is memory.
TEST_CASE("rows: the functions that give them lie side by side", "[ops]") {
#define TW_OPS(name) reinterpret_cast<uintptr_t>(&name##Ops),
  const std::vector<uintptr_t> places = {
#include "kernels/contract/op_table.inc"
  };
#undef TW_OPS
  const auto [least, most] = std::minmax_element(places.begin(), places.end());
  CHECK(places.size() > 80);
  CHECK(*most - *least < 64 << 10);
}
#endif

}  // namespace rows_test
}  // namespace topwork
