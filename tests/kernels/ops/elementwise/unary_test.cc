// The operators of one tensor: golden cases, tensors of several parallel tasks, integer edges,
// malformed operators.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("relu: golden cases", "[ops][sets]") { RunOpCases("relu"); }
TEST_CASE("relu6: golden cases", "[ops][sets]") { RunOpCases("relu6"); }
TEST_CASE("relu_n1_to_1: golden cases", "[ops][sets]") { RunOpCases("relu_n1_to_1"); }
TEST_CASE("relu_0_to_1: golden cases", "[ops][sets]") { RunOpCases("relu_0_to_1"); }
TEST_CASE("leaky_relu: golden cases", "[ops][sets]") { RunOpCases("leaky_relu"); }
TEST_CASE("elu: golden cases", "[ops][sets]") { RunOpCases("elu"); }
TEST_CASE("gelu: golden cases", "[ops][sets]") { RunOpCases("gelu"); }
TEST_CASE("hard_swish: golden cases", "[ops][sets]") { RunOpCases("hard_swish"); }
TEST_CASE("logistic: golden cases", "[ops][sets]") { RunOpCases("logistic"); }
TEST_CASE("tanh: golden cases", "[ops][sets]") { RunOpCases("tanh"); }
TEST_CASE("exp: golden cases", "[ops][sets]") { RunOpCases("exp"); }
TEST_CASE("log: golden cases", "[ops][sets]") { RunOpCases("log"); }
TEST_CASE("sqrt: golden cases", "[ops][sets]") { RunOpCases("sqrt"); }
TEST_CASE("rsqrt: golden cases", "[ops][sets]") { RunOpCases("rsqrt"); }
TEST_CASE("square: golden cases", "[ops][sets]") { RunOpCases("square"); }
TEST_CASE("abs: golden cases", "[ops][sets]") { RunOpCases("abs"); }
TEST_CASE("neg: golden cases", "[ops][sets]") { RunOpCases("neg"); }
TEST_CASE("sin: golden cases", "[ops][sets]") { RunOpCases("sin"); }
TEST_CASE("cos: golden cases", "[ops][sets]") { RunOpCases("cos"); }
TEST_CASE("floor: golden cases", "[ops][sets]") { RunOpCases("floor"); }
TEST_CASE("ceil: golden cases", "[ops][sets]") { RunOpCases("ceil"); }
TEST_CASE("round: golden cases", "[ops][sets]") { RunOpCases("round"); }
TEST_CASE("sign: golden cases", "[ops][sets]") { RunOpCases("sign"); }
TEST_CASE("zeros_like: golden cases", "[ops][sets]") { RunOpCases("zeros_like"); }
TEST_CASE("stablehlo_cbrt: golden cases", "[ops][sets]") { RunOpCases("stablehlo_cbrt"); }

TEST_CASE("unary: a large tensor on any number of threads", "[ops]") {
  const int32_t n = 100003;
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.001f * static_cast<float>(i) - 50.0f;
  OneOp op(OpCode::kTanh);
  op.In<float>({n}, x).Out(DType::kFloat32);
  REQUIRE(op.Run(1).ToString() == "OK");
  const std::vector<float> y = op.Values<float>(0);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::fabs(std::tanh(static_cast<double>(x[i])) - y[i]));
  }
  CHECK(worst < 2e-7);
  REQUIRE(op.Run(4).ToString() == "OK");
  CHECK(op.Values<float>(0) == y);
}

TEST_CASE("unary: the least integer keeps its value", "[ops]") {
  const int32_t least = std::numeric_limits<int32_t>::min();
  OneOp abs(OpCode::kAbs);
  abs.In<int32_t>({3}, {least, -5, 5}).Out(DType::kInt32);
  REQUIRE(abs.Run().ToString() == "OK");
  CHECK(abs.Values<int32_t>(0) == std::vector<int32_t>{least, 5, 5});
  const int64_t least64 = std::numeric_limits<int64_t>::min();
  OneOp neg(OpCode::kNeg);
  neg.In<int64_t>({3}, {least64, -5, 5}).Out(DType::kInt64);
  REQUIRE(neg.Run().ToString() == "OK");
  CHECK(neg.Values<int64_t>(0) == std::vector<int64_t>{least64, 5, -5});
  OneOp sign(OpCode::kSign);
  sign.In<int32_t>({3}, {least, 0, 9}).Out(DType::kInt32);
  REQUIRE(sign.Run().ToString() == "OK");
  CHECK(sign.Values<int32_t>(0) == std::vector<int32_t>{-1, 0, 1});
}

TEST_CASE("unary: a NaN stays a NaN", "[ops]") {
  for (OpCode code : {OpCode::kRelu, OpCode::kRelu6, OpCode::kElu, OpCode::kHardSwish, OpCode::kExp,
                      OpCode::kLog, OpCode::kTanh, OpCode::kLogistic, OpCode::kGelu, OpCode::kRound,
                      OpCode::kFloor, OpCode::kCeil, OpCode::kSign, OpCode::kSqrt}) {
    INFO(OpCodeName(code));
    OneOp op(code);
    op.In<float>({2}, {std::numeric_limits<float>::quiet_NaN(), 1.0f}).Out(DType::kFloat32);
    REQUIRE(op.Run().ok());
    CHECK(std::isnan(op.Values<float>(0)[0]));
    CHECK_FALSE(std::isnan(op.Values<float>(0)[1]));
  }
}

TEST_CASE("unary: refuses malformed operators", "[ops]") {
  const OneOp op =
      Accepted(OneOp(OpCode::kRelu).Unknown(DType::kFloat32, {2}).Out(DType::kFloat32));
  CheckRefusals({
      {op.First(0), kInvalidModel, "lacks its input 0"},
      {OneOp(OpCode::kRelu).Unknown(DType::kFloat32, {2}), kInvalidModel, "0 outputs"},
      {op.With(1).Unknown(DType::kFloat32, {2}), kInvalidModel, "2 inputs"},
      {OneOp(OpCode::kLogistic).Unknown(DType::kInt8, {2}).Out(DType::kInt8), kInvalidModel,
       "is int8 but has no scale"},
      {OneOp(OpCode::kExp).Unknown(DType::kFloat32, {2}).Out(DType::kFloat16), kInvalidModel,
       "declared float16"},
      {OneOp(OpCode::kNeg).Unknown(DType::kUInt8, {2}).Out(DType::kUInt8), kUnsupported,
       "float32, int8, int16, int32, int64"},
      {OneOp(OpCode::kZerosLike).Unknown(DType::kInt8, {2}).Out(DType::kInt8), kUnsupported,
       "is int8"},
  });
}

}  // namespace test
}  // namespace topwork
