// CONV_2D: golden cases, what fusion adds (residual, explicit padding), refusals.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/support/one_op.h"
#include "tests/support/random_floats.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

OneOp UnknownConv(const Shape& in, const Shape& filter) {
  OneOp op(OpCode::kConv2d);
  op.Unknown(DType::kFloat32, in).Unknown(DType::kFloat32, filter);
  return op;
}

// What happens instead of the refusal expected; empty when it is refused as it should be.
std::string ConvRefusal(const Shape& in, const Shape& filter, void (*set)(OpParams&),
                        const char* text) {
  OneOp op = UnknownConv(in, filter);
  if (set != nullptr) set(op.params);
  return Refusal(op.Out(DType::kFloat32), StatusCode::kInvalidModel, text);
}

// Image [1, 9, 10, 6] and filter [8, 3, 3, 6 / groups].
OneOp SmallConv(int groups, bool bias) {
  OneOp op(OpCode::kConv2d);
  op.In<float>({1, 9, 10, 6}, RandomFloats(540, 1));
  op.In<float>({8, 3, 3, 6 / groups}, RandomFloats(432 / static_cast<size_t>(groups), 2));
  if (bias) {
    op.In<float>({8}, RandomFloats(8, 3));
  } else {
    op.Missing();
  }
  return op;
}

struct ConvProblem {
  int batch, h, w, in_c, out_c, groups, filter_h, filter_w;
};

float ConvAt(const ConvProblem& p, const OpParams& params, const std::vector<float>& image,
             const std::vector<float>& filter, int b, int y, int x, int o) {
  const int group_in = p.in_c / p.groups, first = o / (p.out_c / p.groups) * group_in;
  double sum = 0;
  for (int i = 0; i < p.filter_h; ++i) {
    for (int j = 0; j < p.filter_w; ++j) {
      const int iy = y * params.stride_h - params.pad_top + i * params.dilation_h;
      const int ix = x * params.stride_w - params.pad_left + j * params.dilation_w;
      if (iy < 0 || iy >= p.h || ix < 0 || ix >= p.w) continue;
      for (int c = 0; c < group_in; ++c) {
        const int in = ((b * p.h + iy) * p.w + ix) * p.in_c + first + c;
        const int f = ((o * p.filter_h + i) * p.filter_w + j) * group_in + c;
        sum += static_cast<double>(image[static_cast<size_t>(in)]) *
               static_cast<double>(filter[static_cast<size_t>(f)]);
      }
    }
  }
  return static_cast<float>(sum);
}

// The operator against double precision; `params` has explicit padding. Returns the variant chosen.
std::string CheckConv(const ConvProblem& p, const OpParams& params) {
  const auto image = RandomFloats(static_cast<size_t>(p.batch * p.h * p.w * p.in_c), 1);
  const int per_output = p.filter_h * p.filter_w * p.in_c / p.groups;
  const auto filter = RandomFloats(static_cast<size_t>(p.out_c * per_output), 2);
  const auto bias = RandomFloats(static_cast<size_t>(p.out_c), 3);
  OneOp op(OpCode::kConv2d);
  op.In<float>({p.batch, p.h, p.w, p.in_c}, image);
  op.In<float>({p.out_c, p.filter_h, p.filter_w, p.in_c / p.groups}, filter);
  op.In<float>({p.out_c}, bias);
  op.params = params;
  REQUIRE(op.Out(DType::kFloat32).Prepare().ToString() == "OK");
  const Shape out = op.shape(0);
  const auto residual = RandomFloats(static_cast<size_t>(out.NumElements()), 4);
  op.In<float>(out, residual);
  op.params.fused_residual = true;
  REQUIRE(op.Run(3).ToString() == "OK");
  std::vector<float> expected;
  for (int64_t i = 0; i < out.NumElements(); ++i) {
    const int o = static_cast<int>(i % p.out_c), x = static_cast<int>(i / p.out_c % out[2]);
    const int y = static_cast<int>(i / p.out_c / out[2] % out[1]);
    const int b = static_cast<int>(i / p.out_c / out[2] / out[1]);
    expected.push_back(ConvAt(p, params, image, filter, b, y, x, o) + bias[static_cast<size_t>(o)] +
                       residual[static_cast<size_t>(i)]);
  }
  INFO("out " << out.ToString() << " filter " << p.filter_h << " x " << p.filter_w << ", stride "
              << params.stride_h << " x " << params.stride_w << ", dilation " << params.dilation_h
              << " x " << params.dilation_w << ", " << op.context().variant());
  CHECK(LargestDifference(op.Values<float>(0), expected) < 1e-5);
  return op.context().variant();
}

}  // namespace

TEST_CASE("conv_2d: golden cases", "[ops][sets]") { RunOpCases("conv_2d"); }

TEST_CASE("conv_2d: a bias may be missing", "[ops]") {
  OneOp with = SmallConv(1, true), without = SmallConv(1, false);
  REQUIRE(with.Out(DType::kFloat32).Run().ToString() == "OK");
  REQUIRE(without.Out(DType::kFloat32).Run().ToString() == "OK");
  std::vector<float> expected = without.Values<float>(0);
  const std::vector<float> bias = RandomFloats(8, 3);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += bias[i % 8];
  CHECK(LargestDifference(with.Values<float>(0), expected) < 1e-6);
}

TEST_CASE("conv_2d: a fused residual is added before the activation", "[ops]") {
  for (const int groups : {1, 2}) {
    OneOp plain = SmallConv(groups, true);
    REQUIRE(plain.Out(DType::kFloat32).Run().ToString() == "OK");
    std::vector<float> expected = plain.Values<float>(0);
    const std::vector<float> residual = RandomFloats(expected.size(), 4);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = std::max(0.0f, expected[i] + residual[i]);
    }
    OneOp fused = SmallConv(groups, true);
    fused.In<float>({1, 9, 10, 8}, residual).Out(DType::kFloat32);
    fused.params.fused_residual = true;
    fused.params.activation = Activation::kRelu;
    REQUIRE(fused.Run().ToString() == "OK");
    CHECK(LargestDifference(fused.Values<float>(0), expected) < 1e-6);
  }
}

TEST_CASE("conv_2d: explicit padding equals VALID on a padded image", "[ops]") {
  const std::vector<float> image = RandomFloats(4 * 5 * 3, 1), filter = RandomFloats(2 * 27, 2);
  std::vector<float> padded(size_t{7} * 6 * 3, 0.0f);  // 1 above, 2 below, 0 left, 1 right
  for (size_t y = 0; y < 4; ++y) {
    std::copy_n(image.begin() + static_cast<int>(y * 15), 15,
                padded.begin() + static_cast<int>((y + 1) * 18));
  }
  OneOp a(OpCode::kConv2d), b(OpCode::kConv2d);
  a.In<float>({1, 4, 5, 3}, image).In<float>({2, 3, 3, 3}, filter).Out(DType::kFloat32);
  a.params.has_explicit_padding = true;
  a.params.pad_top = 1;
  a.params.pad_bottom = 2;
  a.params.pad_right = 1;
  b.In<float>({1, 7, 6, 3}, padded).In<float>({2, 3, 3, 3}, filter).Out(DType::kFloat32);
  b.params.padding = Padding::kValid;
  REQUIRE(a.Run().ToString() == "OK");
  REQUIRE(b.Run().ToString() == "OK");
  CHECK(a.shape(0) == Shape({1, 5, 4, 2}));
  CHECK(a.Values<float>(0) == b.Values<float>(0));
}

TEST_CASE("conv_2d: every way agrees with double precision", "[ops]") {
  std::set<std::string> ways;
  for (const int width : {3, 14, 29}) {
    for (const int stride : {1, 2, 3}) {
      for (const int dilation : {1, 2}) {
        OpParams params;
        params.has_explicit_padding = true;
        params.stride_h = stride;
        params.stride_w = stride == 3 ? 1 : stride;
        params.dilation_h = dilation;
        params.dilation_w = width == 29 ? 1 : dilation;
        params.pad_top = params.pad_right = 2;
        params.pad_bottom = 7;  // rows that see padding alone
        params.pad_left = 3;
        ways.insert(CheckConv({2, 9, width, 3, 20, 1, 3, 3}, params));
        ways.insert(CheckConv({1, 8, width, 4, 100, 1, 2, 4}, params));
        ways.insert(CheckConv({1, 5, width, 6, 10, 2, 3, 2}, params));
        ways.insert(CheckConv({1, 6, width, 5, 17, 1, 1, 1}, params));
        params = OpParams();
        params.has_explicit_padding = true;
        params.stride_h = params.stride_w = stride;
        ways.insert(CheckConv({2, 6, width, 6, 17, 1, 1, 1}, params));
        ways.insert(CheckConv({2, 6, width, 6, 8, 2, 1, 1}, params));
      }
    }
  }
  const std::set<std::string> all = {"direct", "gemm 1x1", "gemm 1x1 grouped", "im2col",
                                     "im2col grouped"};
  CHECK(ways == all);
}

// Windows of so many taps side by side, by filters that are zero before tap `first` and from tap `end` on,
// and filter 50 at three more taps at each end. Taps that are added `together` are read together.
void CheckZeroTaps(int taps, int first, int end, int together) {
  const ConvProblem p{1, 1, taps * 9, 1, 100, 1, 1, taps};
  auto image = RandomFloats(static_cast<size_t>(taps) * 9, 1);
  auto filter = RandomFloats(static_cast<size_t>(taps) * 100, 2);
  for (size_t i = 0; i < filter.size(); ++i) {
    const int tap = static_cast<int>(i) % taps, more = static_cast<int>(i) / taps == 50 ? 3 : 0;
    if (tap < first + more || tap >= end - more) filter[i] = 0.0f;
  }
  auto unread = image;
  if (first < end) {
    for (size_t i = 0; i < image.size(); ++i) {
      const int block = static_cast<int>(i) % taps / together * together;
      if (block + together <= first || block >= end) unread[i] = NAN;
    }
  }
  OneOp op(OpCode::kConv2d);
  op.In<float>({1, 1, p.w, 1}, unread).In<float>({100, 1, taps, 1}, filter);
  op.Missing().Out(DType::kFloat32);
  op.params.stride_w = taps;
  op.params.padding = Padding::kValid;
  REQUIRE(op.Run(2).ToString() == "OK");
  REQUIRE(op.context().variant() == std::string("im2col"));
  std::vector<float> expected;
  for (int i = 0; i < 900; ++i) {
    expected.push_back(ConvAt(p, op.params, image, filter, 0, 0, i / 100, i % 100));
  }
  INFO("taps " << first << " to " << end);
  CHECK(LargestDifference(op.Values<float>(0), expected) < 1e-5);
}

TEST_CASE("conv_2d: taps at both ends that are zero in all filters are not read", "[ops]") {
  for (const int first : {0, 1, 5, 16}) {
    for (const int end : {0, 6, 15, 16}) CheckZeroTaps(16, first, end, 1);
  }
  for (const int first : {0, 1, 7, 12}) {
    for (const int end : {14, 40, 45, 46}) CheckZeroTaps(46, first, end, 4);
  }
}

TEST_CASE("conv_2d: many tasks give the same bytes on any number of threads", "[ops]") {
  for (const int filter : {1, 3, 5}) {
    OneOp op(OpCode::kConv2d);
    op.In<float>({2, 40, 41, 32}, RandomFloats(size_t{2} * 40 * 41 * 32, 1));
    op.In<float>({100, filter, filter, 32},
                 RandomFloats(size_t{100} * static_cast<size_t>(filter * filter) * 32, 2));
    op.In<float>({100}, RandomFloats(100, 3)).Out(DType::kFloat32);
    REQUIRE(op.Run(1).ToString() == "OK");
    const std::vector<float> one = op.Values<float>(0);
    for (const int threads : {2, 3, 4}) {
      REQUIRE(op.Run(threads).ToString() == "OK");
      const bool same_bytes = op.Values<float>(0) == one;
      CHECK(same_bytes);
    }
  }
}

TEST_CASE("conv_2d: empty batches and images", "[ops]") {
  for (const Shape& shape : {Shape({0, 4, 4, 2}), Shape({1, 0, 4, 2})}) {
    OneOp op(OpCode::kConv2d);
    op.In<float>(shape, {}).In<float>({3, 3, 3, 2}, RandomFloats(54, 1)).Out(DType::kFloat32);
    REQUIRE(op.Run().ToString() == "OK");
    CHECK(op.shape(0) == Shape({shape[0], shape[1], 4, 3}));
    CHECK(op.Values<float>(0).empty());
  }
}

TEST_CASE("conv_2d: refuses what does not fit together", "[ops]") {
  CHECK(ConvRefusal({4, 4, 3}, {2, 3, 3, 3}, nullptr, "rank 4 expected") == "");
  CHECK(ConvRefusal({1, 4, 4, 3}, {2, 9, 3}, nullptr, "rank 4 expected") == "");
  CHECK(ConvRefusal({1, 4, 4, 3}, {2, 3, 3, 2}, nullptr, "no multiple of the 2") == "");
  CHECK(ConvRefusal({1, 4, 4, 2}, {2, 3, 3, 4}, nullptr, "no multiple of the 4") == "");
  CHECK(ConvRefusal({1, 4, 4, 0}, {2, 3, 3, 4}, nullptr, "no multiple of the 4") == "");
  CHECK(ConvRefusal({1, 4, 4, 4}, {3, 3, 3, 2}, nullptr, "shared out over 2 groups") == "");
  CHECK(ConvRefusal({1, 4, 4, 3}, {2, 0, 3, 3}, nullptr, "no dimension may be 0") == "");
  OneOp bias = UnknownConv({1, 4, 4, 3}, {2, 3, 3, 3});
  CHECK(Refusal(bias.Unknown(DType::kFloat32, {3}).Out(DType::kFloat32), StatusCode::kInvalidModel,
                "one value for each of 2 channels expected") == "");
  OneOp four = UnknownConv({1, 4, 4, 3}, {2, 3, 3, 3});
  four.Missing().Unknown(DType::kFloat32, {1, 4, 4, 2}).Out(DType::kFloat32);
  CHECK(Refusal(four, StatusCode::kInvalidModel, "4 inputs, at most 3") == "");
  OneOp lacking(OpCode::kConv2d);
  lacking.Unknown(DType::kFloat32, {1, 4, 4, 3}).Out(DType::kFloat32);
  CHECK(Refusal(lacking, StatusCode::kInvalidModel, "lacks its input 1") == "");
}

TEST_CASE("conv_2d: refuses impossible windows", "[ops]") {
  const Shape image({1, 4, 4, 3}), filter({2, 3, 3, 3});
  CHECK(ConvRefusal(
            image, filter, [](OpParams& p) { p.stride_h = 0; }, "stride height is 0") == "");
  CHECK(ConvRefusal(
            image, filter, [](OpParams& p) { p.stride_w = -2; }, "stride width is -2") == "");
  CHECK(ConvRefusal(
            image, filter, [](OpParams& p) { p.dilation_h = 0; }, "dilation height is 0") == "");
  CHECK(ConvRefusal(
            image, {2, 5, 3, 3}, [](OpParams& p) { p.padding = Padding::kValid; },
            "window of height 5 is larger than the image's 4") == "");
  CHECK(ConvRefusal(
            image, filter,
            [](OpParams& p) {
              p.padding = Padding::kValid;
              p.dilation_w = INT32_MAX;
            },
            "window of width 4294967295 is larger") == "");
  CHECK(ConvRefusal(
            image, filter,
            [](OpParams& p) {
              p.has_explicit_padding = true;
              p.pad_left = -1;
            },
            "padding is negative along the width") == "");
}

TEST_CASE("conv_2d: refuses other dtypes by name", "[ops]") {
  OneOp input(OpCode::kConv2d);
  input.Unknown(DType::kInt32, {1, 4, 4, 3}).Unknown(DType::kInt8, {2, 3, 3, 3});
  CHECK(Refusal(input.Out(DType::kInt32), StatusCode::kUnsupported, "is int32; supported") == "");
  OneOp filter(OpCode::kConv2d);
  filter.Unknown(DType::kFloat32, {1, 4, 4, 3}).Unknown(DType::kFloat16, {2, 3, 3, 3});
  CHECK(Refusal(filter.Out(DType::kFloat32), StatusCode::kUnsupported, "is float16") == "");
  OneOp output = UnknownConv({1, 4, 4, 3}, {2, 3, 3, 3});
  CHECK(Refusal(output.Out(DType::kInt8), StatusCode::kInvalidModel, "is declared int8") == "");
}

// A column of pixels gives what the same pixels give as a row.
TEST_CASE("conv_2d: columns of one pixel's width are rows", "[ops]") {
  for (const OpCode code : {OpCode::kConv2d, OpCode::kDepthwiseConv2d}) {
    for (const int32_t stride : {1, 2, 3}) {
      for (const int32_t dilation : {1, 2}) {
        std::vector<float> results[2];
        for (const bool column : {false, true}) {
          const bool depthwise = code == OpCode::kDepthwiseConv2d;
          OneOp op(code);
          op.params.padding = Padding::kSame;
          op.params.stride_h = column ? stride : 1;
          op.params.stride_w = column ? 1 : stride;
          op.params.dilation_h = column ? dilation : 1;
          op.params.dilation_w = column ? 1 : dilation;
          op.params.depth_multiplier = 1;
          const std::vector<float> pixels = RandomFloats(3 * 41, 1);
          const std::vector<float> taps = RandomFloats(depthwise ? 15 : 60, 2);
          op.In<float>(column ? Shape{1, 41, 1, 3} : Shape{1, 1, 41, 3}, pixels);
          const int32_t n = depthwise ? 1 : 4;
          op.In<float>(column ? Shape{n, 5, 1, 3} : Shape{n, 1, 5, 3}, taps);
          op.Out(DType::kFloat32);
          REQUIRE(op.Run().ToString() == "OK");
          CHECK(op.shape(0)[column ? 1 : 2] == (41 + stride - 1) / stride);
          results[column] = op.Values<float>(0);
        }
        CHECK(results[0] == results[1]);
      }
    }
  }
}

}  // namespace test
}  // namespace topwork
