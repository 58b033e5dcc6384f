// CAST, QUANTIZE, DEQUANTIZE: golden cases, values at the edges of the types, malformed
// quantization.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

const float kCastNan = std::numeric_limits<float>::quiet_NaN();
const float kCastInfinity = std::numeric_limits<float>::infinity();

template <typename From, typename To>
std::vector<To> RunCast(const std::vector<From>& x) {
  OneOp op(OpCode::kCast);
  op.In<From>({static_cast<int32_t>(x.size())}, x).Out(DTypeOf<To>::kValue);
  REQUIRE(op.Run().ToString() == "OK");
  return op.Values<To>(0);
}

}  // namespace

TEST_CASE("dequantize, cast: golden cases of int4", "[ops][sets]") { RunOpCases("int4"); }

TEST_CASE("bfloat16: golden cases", "[ops][sets]") { RunOpCases("bfloat16"); }

TEST_CASE("cast: golden cases", "[ops][sets]") { RunOpCases("cast"); }
TEST_CASE("quantize: golden cases", "[ops][sets]") { RunOpCases("quantize"); }
TEST_CASE("dequantize: golden cases", "[ops][sets]") { RunOpCases("dequantize"); }

TEST_CASE("cast: real numbers saturate in integers", "[ops]") {
  CHECK(RunCast<float, int8_t>({-1000, -128.9f, 127.9f, 1000, kCastNan, -0.9f}) ==
        std::vector<int8_t>{-128, -128, 127, 127, 0, 0});
  CHECK(RunCast<float, uint8_t>({-1, 255.5f, 256, kCastInfinity}) ==
        std::vector<uint8_t>{0, 255, 255, 255});
  CHECK(RunCast<float, int32_t>({2147483648.0f, -2147483648.0f, -kCastInfinity, 16777217.0f}) ==
        std::vector<int32_t>{2147483647, -2147483647 - 1, -2147483647 - 1, 16777216});
  CHECK(RunCast<float, int64_t>({1e19f, -1e19f}) ==
        std::vector<int64_t>{std::numeric_limits<int64_t>::max(),
                             std::numeric_limits<int64_t>::min()});
  CHECK(RunCast<double, int64_t>({-1.5, 1e15}) == std::vector<int64_t>{-1, 1000000000000000});
  CHECK(RunCast<double, uint32_t>({4294967295.0, -3.0}) == std::vector<uint32_t>{4294967295u, 0});
}

TEST_CASE("cast: integers wrap around in narrower ones and round in real ones", "[ops]") {
  CHECK(RunCast<int32_t, int8_t>({128, -129, 255}) == std::vector<int8_t>{-128, 127, -1});
  CHECK(RunCast<int64_t, int32_t>({(int64_t{1} << 32) + 5}) == std::vector<int32_t>{5});
  CHECK(RunCast<int64_t, float>({(int64_t{1} << 24) + 1}) == std::vector<float>{16777216.0f});
  CHECK(RunCast<uint16_t, int16_t>({65535}) == std::vector<int16_t>{-1});
}

TEST_CASE("cast: to and from bool", "[ops]") {
  OneOp to(OpCode::kCast);
  to.In<float>({4}, {0.0f, -0.0f, 0.25f, kCastNan}).Out(DType::kBool);
  REQUIRE(to.Run().ToString() == "OK");
  CHECK(to.Values<uint8_t>(0) == std::vector<uint8_t>{0, 0, 1, 1});
  OneOp from(OpCode::kCast);
  from.InBool({3}, {0, 1, 2}).Out(DType::kInt32);
  REQUIRE(from.Run().ToString() == "OK");
  CHECK(from.Values<int32_t>(0) == std::vector<int32_t>{0, 1, 1});
}

TEST_CASE("cast: refuses types that it does not know", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kCast).Unknown(DType::kFloat32, {2}).Out(DType::kInt32));
  CheckRefusals({
      {op.With(0).Unknown(DType::kString, {2}), kUnsupported,
       "cannot be cast from string to int32"},
      {op.With().Out(0, DType::kComplex128), kUnsupported, "from float32 to complex128"},
  });
}

TEST_CASE("quantize: ties away from zero, saturation, NaN", "[ops]") {
  OneOp op(OpCode::kQuantize);
  op.In<float>({8}, {0.5f, -0.5f, 1.5f, 0.49999997f, 1e20f, -kCastInfinity, kCastNan, 8388609.0f})
      .Out(DType::kInt16)
      .Quantized({1.0f}, {10});
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int16_t>(0) == std::vector<int16_t>{11, 9, 12, 10, 32767, -32768, -32768, 32767});
}

TEST_CASE("quantize: refuses malformed quantization", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kQuantize)
                                .Unknown(DType::kFloat32, {2, 3})
                                .Out(DType::kInt8)
                                .Quantized({1}, {0}));
  const OneOp plain = op.With().Out(0, DType::kInt8);
  CheckRefusals({
      {plain, kInvalidModel, "output 0 is int8 but has no scale"},
      {plain.With().Quantized({1, 2, 3}, {0, 0, 0}), kInvalidModel,
       "has 3 scales along dimension 0"},
      {plain.With().Quantized({1, 2}, {0, 0, 0}), kInvalidModel, "2 scales but 3 zero points"},
      {plain.With().Quantized({0}, {0}), kInvalidModel, "a scale of 0"},
      {plain.With().Quantized({kCastNan}, {0}), kInvalidModel, "a scale of"},
      {plain.With().Quantized({1}, {128}), kInvalidModel, "a zero point of 128"},
      {op.With(0)
           .Unknown(DType::kInt8, {2, 3})
           .Quantized({1}, {0})
           .Out(0, DType::kInt32)
           .Quantized({1}, {0}),
       kUnsupported, "int8 to int32 is not supported"},
      {op.With().Out(0, DType::kInt32), kUnsupported, "float32 to int32 is not supported"},
  });
}

TEST_CASE("dequantize: one zero point for all channels, and none", "[ops]") {
  OneOp one(OpCode::kDequantize);
  one.In<int8_t>({2, 2}, {1, 2, 3, 4}).Quantized({0.5f, 2.0f}, {1}).Out(DType::kFloat32);
  REQUIRE(one.Run().ToString() == "OK");
  CHECK(one.Values<float>(0) == std::vector<float>{0.0f, 0.5f, 4.0f, 6.0f});
  OneOp none(OpCode::kDequantize);
  none.In<int16_t>({2}, {-32768, 32767}).Quantized({0.25f}, {}).Out(DType::kFloat32);
  REQUIRE(none.Run().ToString() == "OK");
  CHECK(none.Values<float>(0) == std::vector<float>{-8192.0f, 8191.75f});
}

TEST_CASE("dequantize: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kDequantize)
                                .Unknown(DType::kInt8, {2})
                                .Quantized({1}, {0})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(0).Unknown(DType::kInt8, {2}), kInvalidModel, "is int8 but has no scale"},
      {op.With(0).Unknown(DType::kUInt8, {2}).Quantized({1}, {-1}), kInvalidModel,
       "a zero point of -1"},
      {op.With(0).Unknown(DType::kFloat32, {2}), kUnsupported,
       "is float32; supported here: float16"},
      {op.With(0).Unknown(DType::kFloat16, {2}).Out(0, DType::kFloat16), kInvalidModel,
       "declared float16"},
  });
}

}  // namespace test
}  // namespace topwork
