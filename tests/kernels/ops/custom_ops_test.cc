// The custom operators that come with the library, and the reader of their options.
#include "kernels/contract/custom_ops.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "kernels/contract/flex_map.h"
#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace custom_ops_test {

// {"ksize": [1, 2, 3, 1], "padding": "SAME", "strides": [1, 2, 2, 1], "deep": -2.5, "on": true} as
// the FlexBuffers library writes it.
const std::vector<uint8_t> kOptions = {
    107, 115, 105, 122, 101, 0,  4,  1,   2,  3,   1,  4,  4,   4,   4,   112, 97,
    100, 100, 105, 110, 103, 0,  4,  83,  65, 77,  69, 0,  115, 116, 114, 105, 100,
    101, 115, 0,   4,   1,   2,  2,  1,   4,  4,   4,  4,  100, 101, 101, 112, 0,
    111, 110, 0,   5,   9,   56, 6,  43,  30, 5,   0,  0,  0,   1,   0,   0,   0,
    5,   0,   0,   0,   0,   0,  32, 192, 69, 0,   0,  0,  1,   0,   0,   0,   60,
    0,   0,   0,   50,  0,   0,  0,  14,  40, 106, 20, 40, 25,  38,  1};

Span<const uint8_t> Bytes(const std::vector<uint8_t>& bytes) {
  return {bytes.data(), bytes.size()};
}

TEST_CASE("detection_post_process: golden cases", "[ops][sets]") {
  RunOpCases("detection_post_process");
}

TEST_CASE("audio_spectrogram, mfcc: golden cases", "[ops][sets]") {
  RunOpCases("audio_spectrogram");
  RunOpCases("mfcc");
}
TEST_CASE("hadamard_rotation: golden cases", "[ops][sets]") { RunOpCases("hadamard_rotation"); }
TEST_CASE("numeric_verify: golden cases", "[ops][sets]") { RunOpCases("numeric_verify"); }

TEST_CASE("flex_map: numbers, text and vectors by key", "[ops]") {
  const FlexMap map(Bytes(kOptions));
  REQUIRE(map.valid());
  int32_t four[4] = {};
  CHECK(map.Ints("ksize", 4, four));
  CHECK(four[2] == 3);
  CHECK(map.Ints("strides", 4, four));
  CHECK(four[1] == 2);
  CHECK_FALSE(map.Ints("strides", 5, four));
  CHECK(map.Length("strides") == 4);
  CHECK(map.Length("padding") == -1);
  CHECK(map.Length("off") == -1);
  CHECK_FALSE(map.Ints("padding", 1, four));
  CHECK(map.IsString("padding", "SAME"));
  CHECK_FALSE(map.IsString("padding", "SAM"));
  CHECK(map.Float("deep", 0.0f) == -2.5f);
  CHECK(map.Int("deep", 0) == -2);
  CHECK(map.Bool("on", false));
  CHECK_FALSE(map.Has("off"));
  CHECK(map.Int("off", 7) == 7);
  CHECK(map.Int("padding", 7) == 7);
}

TEST_CASE("flex_map: damaged bytes are never read beyond their end", "[ops]") {
  std::vector<uint8_t> bytes = kOptions;
  uint32_t state = 1;
  int n_valid = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> damaged(
        bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(round % (bytes.size() + 1)));
    if (round % 3 != 0) damaged = bytes;
    for (int k = 0; k < 1 + round % 3 && !damaged.empty(); ++k) {
      state = state * 1664525u + 1013904223u;
      damaged[(state >> 8) % damaged.size()] = static_cast<uint8_t>(state >> 24);
    }
    const FlexMap map(Bytes(damaged));
    int32_t four[4];
    CHECK(map.Length("ksize") <= static_cast<int64_t>(damaged.size()));
    n_valid += map.valid() && (map.Has("ksize") || map.Ints("strides", 4, four) ||
                               map.IsString("padding", "SAME") || map.Int("on", 7) == 1 ||
                               map.Float("deep", 0.0f) < 0.0f);
  }
  CHECK(n_valid > 0);
  CHECK_FALSE(FlexMap({}).valid());
  CHECK(FlexMap({}).Int("a", 7) == 7);
}

std::vector<uint8_t> RawOptions(const std::vector<int32_t>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

OneOp Custom(const char* name, const std::vector<uint8_t>& options) {
  OneOp op(OpCode::kCustom);
  op.params.custom_name = name;
  op.params.custom_options = Bytes(options);
  return op;
}

TEST_CASE("max_pooling_with_argmax, max_unpooling: there and back", "[ops]") {
  const std::vector<uint8_t> options = RawOptions({2, 2, 2, 2, 2});  // VALID, 2 x 2, stride 2
  OneOp pool = Custom("MaxPoolingWithArgmax2D", options);
  pool.In<float>({1, 2, 4, 1}, {1, 5, 2, 3, 4, 0, 9, 8}).Out(DType::kFloat32).Out(DType::kInt32);
  REQUIRE(pool.Run().ToString() == "OK");
  CHECK(pool.Values<float>(0) == std::vector<float>{5, 9});
  CHECK(pool.Values<int32_t>(1) == std::vector<int32_t>{1, 6});
  OneOp back = Custom("MaxUnpooling2D", options);
  back.In<float>({1, 1, 2, 1}, {5, 9}).In<int32_t>({1, 1, 2, 1}, {1, 6}).Out(DType::kFloat32);
  REQUIRE(back.Run().ToString() == "OK");
  CHECK(back.Values<float>(0) == std::vector<float>{0, 5, 0, 0, 0, 0, 9, 0});
  OneOp floats = Custom("MaxPoolingWithArgmax2D", options);  // places within the window
  floats.In<float>({1, 2, 4, 1}, {1, 5, 2, 3, 4, 0, 9, 8}).Out(DType::kFloat32);
  floats.Out(DType::kFloat32);
  REQUIRE(floats.Run().ToString() == "OK");
  CHECK(floats.Values<float>(0) == std::vector<float>{5, 9});
  CHECK(floats.Values<float>(1) == std::vector<float>{1.1f, 2.1f});
  OneOp floats_back = Custom("MaxUnpooling2D", options);
  floats_back.In<float>({1, 1, 2, 1}, {5, 9}).In<float>({1, 1, 2, 1}, {1.1f, 2.1f});
  REQUIRE(floats_back.Out(DType::kFloat32).Run().ToString() == "OK");
  CHECK(floats_back.Values<float>(0) == std::vector<float>{0, 5, 0, 0, 0, 0, 9, 0});
  const std::vector<uint8_t> clamped = RawOptions({2, 2, 2, 2, 2, 3, 0, 0});  // RELU6
  OneOp relu6 = Custom("MaxPoolingWithArgmax2D", clamped);
  relu6.In<float>({1, 2, 4, 1}, {1, 5, 2, 3, 4, 0, 9, 8}).Out(DType::kFloat32);
  REQUIRE(relu6.Out(DType::kInt32).Run().ToString() == "OK");
  CHECK(relu6.Values<float>(0) == std::vector<float>{5, 6});
  CHECK(relu6.Values<int32_t>(1) == std::vector<int32_t>{1, 6});
  for (const float tap : {-1.0f, 4.0f, std::numeric_limits<float>::quiet_NaN()}) {
    OneOp far = Custom("MaxUnpooling2D", options);
    far.In<float>({1, 1, 1, 1}, {5}).In<float>({1, 1, 1, 1}, {tap}).Out(DType::kFloat32);
    CHECK(far.Run().code() == StatusCode::kInvalidArgument);
  }
  OneOp outside = Custom("MaxUnpooling2D", options);
  outside.In<float>({1, 1, 2, 1}, {5, 9}).In<int32_t>({1, 1, 2, 1}, {1, 8}).Out(DType::kFloat32);
  CHECK(outside.Run().code() == StatusCode::kInvalidArgument);
  OneOp bad = Custom("MaxUnpooling2D", kOptions);
  bad.In<float>({1, 1, 2, 1}, {5, 9}).In<int32_t>({1, 1, 1, 1}, {1}).Out(DType::kFloat32);
  CHECK(bad.Run().code() == StatusCode::kInvalidModel);
}

TEST_CASE("max_pooling_with_argmax, max_unpooling: overlapping windows, SAME, float places",
          "[ops]") {
  const std::vector<uint8_t> options = RawOptions({1, 2, 2, 3, 3});  // SAME, stride 2, 3 x 3
  std::vector<float> image(2 * 6 * 8 * 3);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i * 29 % 97) + 1.0f;
  OneOp pool = Custom("MaxPoolingWithArgmax2D", options);
  pool.In<float>({2, 6, 8, 3}, image).Out(DType::kFloat32).Out(DType::kFloat32);
  REQUIRE(pool.Run(3).ToString() == "OK");
  OneOp places = Custom("MaxPoolingWithArgmax2D", options);
  places.In<float>({2, 6, 8, 3}, image).Out(DType::kFloat32).Out(DType::kInt32);
  REQUIRE(places.Run().ToString() == "OK");
  OneOp back = Custom("MaxUnpooling2D", options), other = Custom("MaxUnpooling2D", options);
  back.In<float>({2, 3, 4, 3}, pool.Values<float>(0))
      .In<float>({2, 3, 4, 3}, pool.Values<float>(1));
  other.In<float>({2, 3, 4, 3}, pool.Values<float>(0));
  other.In<int32_t>({2, 3, 4, 3}, places.Values<int32_t>(1)).Out(DType::kFloat32);
  REQUIRE(back.Out(DType::kFloat32).Run().ToString() == "OK");
  REQUIRE(other.Run().ToString() == "OK");
  CHECK(back.Values<float>(0) == other.Values<float>(0));
}

TEST_CASE("hadamard_rotation: refuses what is no power of two or does not divide", "[ops]") {
  for (const uint8_t size : {3, 8, 4}) {
    std::vector<uint8_t> options = {104, 97, 100, 97, 109, 97, 114, 100,  95, 115, 105, 122,
                                    101, 0,  1,   15, 1,   1,  1,   size, 4,  2,   36,  1};
    OneOp op = Custom("aeq.hadamard_rotation", options);
    op.In<float>({1, 4}, {1, 2, 3, 4}).Out(DType::kFloat32);
    const Status status = op.Run();
    CHECK(status.code() == (size == 4 ? StatusCode::kOk : StatusCode::kInvalidModel));
    if (size == 4) CHECK(op.Values<float>(0) == std::vector<float>{5, -1, -2, 0});
  }
}

TEST_CASE("convolution_2d_transpose_bias: agrees with TRANSPOSE_CONV", "[ops]") {
  std::vector<float> data(2 * 3 * 4 * 3), filter(2 * 3 * 2 * 3);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i * 7 % 13) - 6.0f;
  for (const int32_t channels : {1, 2, 3, 5}) {  // up to 2: all taps of a row at once
    const Shape filter_shape = {channels, 3, 2, 3};
    filter.resize(static_cast<size_t>(filter_shape.NumElements()));
    for (size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<float>(i * 5 % 11) - 5.0f;
    const std::vector<float> bias(static_cast<size_t>(channels), 0.5f);
    for (int32_t mode = 0; mode < 6; ++mode) {
      const int32_t padding = mode % 3, stride = 1 + mode / 3;  // 0, which is none, pads nothing
      const std::vector<uint8_t> options = RawOptions({padding, stride, stride});
      OneOp op = Custom("Convolution2DTransposeBias", options);
      op.In<float>({2, 3, 4, 3}, data).In<float>(filter_shape, filter).In<float>({channels}, bias);
      op.Out(DType::kFloat32);
      REQUIRE(op.Run(3).ToString() == "OK");
      const Shape& shape = op.shape(0);
      OneOp plain(OpCode::kTransposeConv);
      plain.params.padding = padding == 1 ? Padding::kSame : Padding::kValid;
      plain.params.stride_h = plain.params.stride_w = stride;
      plain.In<int32_t>({4}, {shape[0], shape[1], shape[2], shape[3]});
      plain.In<float>(filter_shape, filter).In<float>({2, 3, 4, 3}, data);
      plain.In<float>({channels}, bias).Out(DType::kFloat32);
      REQUIRE(plain.Run().ToString() == "OK");
      CHECK(op.Values<float>(0) == plain.Values<float>(0));
    }
  }
  const std::vector<float> bias = {0.5f, -1.0f};
  filter.resize(2 * 3 * 2 * 3);
  OneOp empty = Custom("Convolution2DTransposeBias", {});
  empty.In<float>({2, 3, 4, 3}, data).In<float>({2, 3, 2, 3}, filter).In<float>({2}, bias);
  empty.Out(DType::kFloat32);
  CHECK(empty.Run().code() == StatusCode::kInvalidModel);
}

}  // namespace custom_ops_test
}  // namespace test
}  // namespace topwork
