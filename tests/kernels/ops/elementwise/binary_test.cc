// ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, SQUARED_DIFFERENCE, POW, FLOOR_DIV, FLOOR_MOD, ATAN2,
// PRELU: golden cases, broadcasts too large for those, integer edges, malformed operators.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

constexpr int32_t kLeastInt32 = std::numeric_limits<int32_t>::min();
constexpr int32_t kMostInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kLeastInt64 = std::numeric_limits<int64_t>::min();

std::vector<float> BinaryInput(const Shape& shape, float start, float step) {
  std::vector<float> values(static_cast<size_t>(shape.NumElements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = start + step * static_cast<float>(i % 97);
  return values;
}

// Element of a tensor that broadcasts to `out`, at the output's flat position k.
float BroadcastAt(const Shape& shape, const std::vector<float>& values, const Shape& out,
                  int64_t k) {
  int64_t offset = 0, stride = 1;
  for (int d = out.rank() - 1; d >= 0; --d) {
    const int64_t index = k % out[d];
    k /= out[d];
    const int32_t dim = shape.BroadcastDim(d, out.rank());
    if (dim > 1) offset += index * stride;
    stride *= dim;
  }
  return values[static_cast<size_t>(offset)];
}

// SUB of two ramps against one subtraction an element; the same bytes on one thread and three.
void CheckSub(const Shape& a, const Shape& b, const Shape& out) {
  INFO(a.ToString() << " and " << b.ToString());
  const std::vector<float> x = BinaryInput(a, 1.0f, 0.5f), y = BinaryInput(b, -7.0f, 0.25f);
  OneOp op(OpCode::kSub);
  op.In<float>(a, x).In<float>(b, y).Out(DType::kFloat32);
  REQUIRE(op.Run(3).ToString() == "OK");
  REQUIRE(op.shape(0) == out);
  const std::vector<float> result = op.Values<float>(0);
  size_t n_wrong = 0;
  for (int64_t k = 0; k < out.NumElements(); ++k) {
    n_wrong +=
        result[static_cast<size_t>(k)] != BroadcastAt(a, x, out, k) - BroadcastAt(b, y, out, k) ? 1
                                                                                                : 0;
  }
  CHECK(n_wrong == 0);
  REQUIRE(op.Run(1).ok());
  CHECK(op.Values<float>(0) == result);
}

template <typename T>
std::vector<T> IntBinary(OpCode code, const std::vector<T>& a, const std::vector<T>& b) {
  OneOp op(code);
  const Shape shape = {static_cast<int32_t>(a.size())};
  op.In<T>(shape, a);
  op.In<T>({static_cast<int32_t>(b.size())}, b);
  op.Out(DTypeOf<T>::kValue);
  const Status status = op.Run();
  INFO(status.ToString());
  REQUIRE(status.ok());
  return op.Values<T>(0);
}

OneOp IntPair(OpCode code, int32_t a, int32_t b) {
  OneOp op(code);
  op.In<int32_t>({2}, {7, a}).In<int32_t>({2}, {1, b}).Out(DType::kInt32);
  return op;
}

}  // namespace

TEST_CASE("add: golden cases", "[ops][sets]") { RunOpCases("add"); }
TEST_CASE("sub: golden cases", "[ops][sets]") { RunOpCases("sub"); }
TEST_CASE("mul: golden cases", "[ops][sets]") { RunOpCases("mul"); }
TEST_CASE("div: golden cases", "[ops][sets]") { RunOpCases("div"); }
TEST_CASE("maximum: golden cases", "[ops][sets]") { RunOpCases("maximum"); }
TEST_CASE("minimum: golden cases", "[ops][sets]") { RunOpCases("minimum"); }
TEST_CASE("squared_difference: golden cases", "[ops][sets]") { RunOpCases("squared_difference"); }
TEST_CASE("pow: golden cases", "[ops][sets]") { RunOpCases("pow"); }
TEST_CASE("floor_div: golden cases", "[ops][sets]") { RunOpCases("floor_div"); }
TEST_CASE("floor_mod: golden cases", "[ops][sets]") { RunOpCases("floor_mod"); }
TEST_CASE("atan2: golden cases", "[ops][sets]") { RunOpCases("atan2"); }
TEST_CASE("prelu: golden cases", "[ops][sets]") { RunOpCases("prelu"); }

TEST_CASE("binary: large broadcasts of every form", "[ops]") {
  CheckSub({40000}, {40000}, {40000});
  CheckSub({3, 33333}, {33333}, {3, 33333});
  CheckSub({3, 33333}, {3, 1}, {3, 33333});
  CheckSub({50000}, {}, {50000});
  CheckSub({}, {50000}, {50000});
  CheckSub({1, 120, 130, 3}, {3}, {1, 120, 130, 3});
  CheckSub({3}, {1, 120, 130, 3}, {1, 120, 130, 3});
  CheckSub({1, 120, 130, 3}, {1, 120, 130, 1}, {1, 120, 130, 3});
  CheckSub({60, 1, 70}, {1, 50, 1}, {60, 50, 70});
  CheckSub({9, 300, 5}, {9, 1, 5}, {9, 300, 5});
  CheckSub({100, 37}, {37}, {100, 37});
}

TEST_CASE("binary: eight dimensions", "[ops]") {
  CheckSub({2, 1, 2, 1, 2, 1, 2, 3}, {1, 3, 1, 2, 1, 2, 1, 3}, {2, 3, 2, 2, 2, 2, 2, 3});
  CheckSub({2, 1, 2, 1, 2, 1, 2, 1}, {3}, {2, 1, 2, 1, 2, 1, 2, 3});
}

TEST_CASE("binary: integers wrap around", "[ops]") {
  CHECK(IntBinary<int32_t>(OpCode::kAdd, {kMostInt32, 1}, {1, 2}) ==
        std::vector<int32_t>{kLeastInt32, 3});
  CHECK(IntBinary<int32_t>(OpCode::kSub, {kLeastInt32}, {1}) == std::vector<int32_t>{kMostInt32});
  CHECK(IntBinary<int32_t>(OpCode::kMul, {1 << 30}, {4}) == std::vector<int32_t>{0});
  CHECK(IntBinary<int64_t>(OpCode::kMul, {kLeastInt64}, {-1}) == std::vector<int64_t>{kLeastInt64});
  CHECK(IntBinary<int32_t>(OpCode::kSquaredDifference, {kLeastInt32}, {1}) ==
        std::vector<int32_t>{1});
  CHECK(IntBinary<int32_t>(OpCode::kPow, {2, 3, -3, 0, 2}, {31, 4, 3, 0, 40}) ==
        std::vector<int32_t>{kLeastInt32, 81, -27, 1, 0});
  CHECK(IntBinary<int64_t>(OpCode::kPow, {-2}, {63}) == std::vector<int64_t>{kLeastInt64});
}

TEST_CASE("binary: integer division rounds as its operator says", "[ops]") {
  const std::vector<int32_t> a = {7, -7, 7, -7, 6, kLeastInt32}, b = {2, 2, -2, -2, -3, 2};
  CHECK(IntBinary<int32_t>(OpCode::kDiv, a, b) ==
        std::vector<int32_t>{3, -3, -3, 3, -2, kLeastInt32 / 2});
  CHECK(IntBinary<int32_t>(OpCode::kFloorDiv, a, b) ==
        std::vector<int32_t>{3, -4, -4, 3, -2, kLeastInt32 / 2});
  CHECK(IntBinary<int32_t>(OpCode::kFloorMod, a, b) == std::vector<int32_t>{1, 1, -1, -1, 0, 0});
  CHECK(IntBinary<int64_t>(OpCode::kFloorMod, {kLeastInt64, -7}, {-1, 3}) ==
        std::vector<int64_t>{0, 2});
}

TEST_CASE("binary: integers that cannot be divided are an error of the run", "[ops]") {
  for (OpCode code : {OpCode::kDiv, OpCode::kFloorDiv, OpCode::kFloorMod}) {
    OneOp zero = IntPair(code, 5, 0);
    CHECK(RunRefusal(zero, StatusCode::kInvalidArgument, "cannot be divided by 0") == "");
    CHECK(RunRefusal(zero, StatusCode::kInvalidArgument, OpCodeName(code)) == "");
  }
  for (OpCode code : {OpCode::kDiv, OpCode::kFloorDiv}) {
    OneOp overflow = IntPair(code, kLeastInt32, -1);
    CHECK(RunRefusal(overflow, StatusCode::kInvalidArgument, "divided by -1") == "");
  }
  OneOp mod = IntPair(OpCode::kFloorMod, kLeastInt32, -1);
  CHECK(mod.Run().ok());
  OneOp power = IntPair(OpCode::kPow, 2, -1);
  CHECK(RunRefusal(power, StatusCode::kInvalidArgument, "negative exponent") == "");
}

TEST_CASE("binary: fused activations of integers and the hyperbolic tangent", "[ops]") {
  OneOp ints(OpCode::kAdd);
  ints.params.activation = Activation::kReluN1To1;
  ints.In<int64_t>({3}, {-5, 0, 5}).In<int64_t>({1}, {0}).Out(DType::kInt64);
  REQUIRE(ints.Run().ok());
  CHECK(ints.Values<int64_t>(0) == std::vector<int64_t>{-1, 0, 1});
  OneOp tanh(OpCode::kMul);
  tanh.params.activation = Activation::kTanh;
  tanh.In<float>({2}, {0.5f, -2.0f}).In<float>({1}, {2.0f}).Out(DType::kFloat32);
  REQUIRE(tanh.Run().ok());
  CHECK(tanh.Values<float>(0)[0] == Approx(std::tanh(1.0)).epsilon(1e-6));
  CHECK(tanh.Values<float>(0)[1] == Approx(std::tanh(-4.0)).epsilon(1e-6));
  OneOp refused(OpCode::kMul);
  refused.params.activation = Activation::kTanh;
  refused.In<int32_t>({1}, {1}).In<int32_t>({1}, {2}).Out(DType::kInt32);
  CHECK(Refusal(refused, StatusCode::kUnsupported, "TANH needs float32") == "");
}

TEST_CASE("binary: a NaN is not clamped away", "[ops]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OneOp op(OpCode::kAdd);
  op.params.activation = Activation::kRelu6;
  op.In<float>({3}, {nan, 9.0f, 1.0f}).In<float>({}, {1.0f}).Out(DType::kFloat32);
  REQUIRE(op.Run().ok());
  const std::vector<float> y = op.Values<float>(0);
  CHECK(std::isnan(y[0]));
  CHECK(y[1] == 6.0f);
  CHECK(y[2] == 2.0f);
}

TEST_CASE("binary: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kAdd)
                                .Unknown(DType::kFloat32, {2})
                                .Unknown(DType::kFloat32, {2})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.First(1), kInvalidModel, "lacks its input 1"},
      {op.With(2).Unknown(DType::kFloat32, {2}), kInvalidModel, "3 inputs"},
      {op.With(0).Unknown(DType::kFloat32, {2, 3}), kInvalidModel, "of shape [2, 3] and input 1"},
      {OneOp(OpCode::kMul)
           .Unknown(DType::kFloat32, {2})
           .Unknown(DType::kInt32, {2})
           .Out(DType::kFloat32),
       kInvalidModel, "int32"},
      {OneOp(OpCode::kSub).Unknown(DType::kInt8, {2}).Unknown(DType::kInt8, {2}).Out(DType::kInt8),
       kInvalidModel, "is int8 but has no scale"},
      {OneOp(OpCode::kAtan2)
           .Unknown(DType::kInt32, {2})
           .Unknown(DType::kInt32, {2})
           .Out(DType::kInt32),
       kUnsupported, "supported here: float32"},
      {OneOp(OpCode::kDiv)
           .Unknown(DType::kFloat32, {2})
           .Unknown(DType::kFloat32, {2})
           .Out(DType::kInt32),
       kInvalidModel, "declared int32"},
      {OneOp(OpCode::kPrelu)
           .Unknown(DType::kFloat32, {3, 1})
           .Unknown(DType::kFloat32, {3, 4})
           .Out(DType::kFloat32),
       kInvalidModel, "does not broadcast to"},
  });
}

}  // namespace test
}  // namespace topwork
