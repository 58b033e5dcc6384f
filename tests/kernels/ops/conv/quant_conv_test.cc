// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED on quantized tensors against LiteRT's reference
// kernels.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace quant_conv_test {

TEST_CASE("conv_2d: quantized golden cases", "[ops][quant][sets]") { RunOpCases("quant_conv_2d"); }

TEST_CASE("depthwise_conv_2d: quantized golden cases", "[ops][quant][sets]") {
  RunOpCases("quant_depthwise_conv_2d");
}

TEST_CASE("fully_connected: quantized golden cases", "[ops][quant][sets]") {
  RunOpCases("quant_fully_connected");
}

TEST_CASE("transpose_conv: quantized golden cases", "[ops][quant][sets]") {
  RunOpCases("quant_transpose_conv");
}

std::vector<int8_t> RandomBytes(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> any(-127, 127);
  std::vector<int8_t> values(n);
  for (int8_t& value : values) value = static_cast<int8_t>(any(random));
  return values;
}

struct Sizes {
  int batch, h, w, in, out, filter, stride;
};

// The farthest that a convolution is from plain loops; checks that threads make no difference.
int WorstOf(const Sizes& s) {
  constexpr int kZero = -7, kOutZero = 4;
  constexpr float kInScale = 0.02f, kScale = 0.01f, kOutScale = 0.05f;
  const int taps = s.filter * s.filter;
  const std::vector<int8_t> image = RandomBytes(static_cast<size_t>(s.batch * s.h * s.w * s.in), 1);
  const std::vector<int8_t> weights = RandomBytes(static_cast<size_t>(taps * s.in * s.out), 2);
  OneOp op(OpCode::kConv2d);
  op.params.stride_h = op.params.stride_w = s.stride;
  op.In<int8_t>({s.batch, s.h, s.w, s.in}, image).Quantized({kInScale}, {kZero});
  op.In<int8_t>({s.out, s.filter, s.filter, s.in}, weights).Quantized({kScale}, {0});
  op.Missing().Out(DType::kInt8).Quantized({kOutScale}, {kOutZero});
  REQUIRE(op.Run(1).ToString() == "OK");
  const std::vector<int8_t> one = op.Values<int8_t>(0);
  REQUIRE(op.Run(3).ToString() == "OK");
  const bool same_bytes = op.Values<int8_t>(0) == one;
  CHECK(same_bytes);
  const int out_h = (s.h - 1) / s.stride + 1, out_w = (s.w - 1) / s.stride + 1;
  const int top = std::max(0, (out_h - 1) * s.stride + s.filter - s.h) / 2;
  const int left = std::max(0, (out_w - 1) * s.stride + s.filter - s.w) / 2;
  int worst = 0;
  for (int i = 0; i < s.batch * out_h * out_w * s.out; ++i) {
    const int o = i % s.out, x = i / s.out % out_w, y = i / s.out / out_w % out_h;
    const int first = i / s.out / out_w / out_h * s.h * s.w;
    int sum = 0;
    for (int t = 0; t < taps; ++t) {
      const int iy = y * s.stride + t / s.filter - top, ix = x * s.stride + t % s.filter - left;
      if (iy < 0 || ix < 0 || iy >= s.h || ix >= s.w) continue;
      for (int c = 0; c < s.in; ++c) {
        sum += (image[static_cast<size_t>((first + iy * s.w + ix) * s.in + c)] - kZero) *
               weights[static_cast<size_t>((o * taps + t) * s.in + c)];
      }
    }
    const double real = static_cast<double>(kInScale * kScale / kOutScale) * sum;
    const double want = std::fmin(127, std::fmax(-128, std::round(real) + kOutZero));
    worst = std::max(worst, std::abs(one[static_cast<size_t>(i)] - static_cast<int>(want)));
  }
  return worst;
}

TEST_CASE("conv_2d: int8, many tasks, on any number of threads", "[ops][quant]") {
  CHECK(WorstOf({1, 21, 23, 20, 90, 1, 1}) <= 1);
  CHECK(WorstOf({1, 21, 23, 20, 90, 3, 1}) <= 1);
}

// Few outputs: each task has all of them, and copies the rows of the images that it reads.
TEST_CASE("conv_2d: int8, tasks that begin and end anywhere in images", "[ops][quant][sets]") {
  CHECK(WorstOf({1, 32, 32, 16, 16, 3, 1}) <= 1);
  CHECK(WorstOf({3, 31, 17, 16, 16, 3, 1}) <= 1);
  CHECK(WorstOf({2, 61, 33, 8, 32, 5, 2}) <= 1);
  CHECK(WorstOf({5, 9, 11, 7, 64, 3, 1}) <= 1);
}

// Input, weights and output of int8 with the given quantization of the weights.
OneOp Int8Dense(const std::vector<float>& scales, const std::vector<int64_t>& zeros) {
  OneOp op(OpCode::kFullyConnected);
  op.Unknown(DType::kInt8, {2, 4}).Quantized({0.5f}, {3});
  op.Unknown(DType::kInt8, {3, 4}).Quantized(scales, zeros);
  return op;
}

TEST_CASE("quantized operators refuse what has no meaning", "[ops][quant]") {
  const StatusCode invalid = StatusCode::kInvalidModel, unsupported = StatusCode::kUnsupported;
  OneOp no_scale = Int8Dense({1.0f}, {0});
  CHECK(Refusal(no_scale.Out(DType::kInt8), invalid, "output 0 is int8 but has no scale") == "");
  OneOp types = Int8Dense({1.0f}, {0});
  types.Out(DType::kUInt8).Quantized({1.0f}, {0});
  CHECK(Refusal(types, unsupported, "its input is int8 and its output uint8") == "");
  OneOp number = Int8Dense({1.0f, 2.0f}, {0, 0});
  number.Out(DType::kInt8).Quantized({1.0f}, {0});
  CHECK(Refusal(number, invalid, "has 2 scales along dimension 0") == "");
  OneOp zeros = Int8Dense({1.0f, 2.0f, 3.0f}, {0, 1, 0});
  zeros.Out(DType::kInt8).Quantized({1.0f}, {0});
  CHECK(Refusal(zeros, unsupported, "zero points that differ by channel") == "");
  OneOp scale = Int8Dense({-1.0f}, {0});
  scale.Out(DType::kInt8).Quantized({1.0f}, {0});
  CHECK(Refusal(scale, invalid, "has a scale of -1") == "");
  OneOp zero = Int8Dense({1.0f, 0.0f, 1.0f}, {0, 0, 0});  // only a constant's channel may be zeros
  zero.Out(DType::kInt8).Quantized({1.0f}, {0});
  CHECK(Refusal(zero, invalid, "has a scale of 0") == "");
  OneOp bias = Int8Dense({1.0f}, {0});
  bias.Unknown(DType::kInt32, {3}).Quantized({7.0f}, {0}).Out(DType::kInt8).Quantized({1.0f}, {0});
  CHECK(Refusal(bias, invalid, "the bias input 2") == "");
  OneOp tanh = Int8Dense({1.0f}, {0});
  tanh.params.activation = Activation::kTanh;
  tanh.Out(DType::kInt8).Quantized({1.0f}, {0});
  CHECK(Refusal(tanh, unsupported, "fused TANH") == "");
  OneOp int16(OpCode::kFullyConnected);
  int16.Unknown(DType::kInt16, {2, 4}).Quantized({0.5f}, {3});
  int16.Unknown(DType::kInt8, {3, 4}).Quantized({0.5f}, {0});
  int16.Out(DType::kInt16).Quantized({1.0f}, {0});
  CHECK(Refusal(int16, unsupported, "int16 with zero point 3") == "");
}

}  // namespace quant_conv_test
}  // namespace test
}  // namespace topwork
