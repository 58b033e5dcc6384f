// DEPTHWISE_CONV_2D: golden cases, fused residual, threads, refusals.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/random_floats.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

std::string DepthwiseRefusal(const Shape& in, const Shape& filter, void (*set)(OpParams&),
                             const char* text) {
  OneOp op(OpCode::kDepthwiseConv2d);
  op.Unknown(DType::kFloat32, in).Unknown(DType::kFloat32, filter).Out(DType::kFloat32);
  if (set != nullptr) set(op.params);
  return Refusal(op, StatusCode::kInvalidModel, text);
}

OneOp SmallDepthwise() {
  OneOp op(OpCode::kDepthwiseConv2d);
  op.In<float>({2, 7, 8, 20}, RandomFloats(size_t{2} * 7 * 8 * 20, 1));
  op.In<float>({1, 3, 3, 20}, RandomFloats(180, 2));
  op.In<float>({20}, RandomFloats(20, 3));
  return op;
}

}  // namespace

TEST_CASE("depthwise_conv_2d: golden cases", "[ops][sets]") { RunOpCases("depthwise_conv_2d"); }

TEST_CASE("depthwise_conv_2d: a fused residual is added before the activation", "[ops]") {
  OneOp plain = SmallDepthwise();
  REQUIRE(plain.Out(DType::kFloat32).Run().ToString() == "OK");
  std::vector<float> expected = plain.Values<float>(0);
  const std::vector<float> residual = RandomFloats(expected.size(), 4);
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] = std::max(0.0f, expected[i] + residual[i]);
  }
  OneOp fused = SmallDepthwise();
  fused.In<float>({2, 7, 8, 20}, residual).Out(DType::kFloat32);
  fused.params.fused_residual = true;
  fused.params.activation = Activation::kRelu;
  REQUIRE(fused.Run().ToString() == "OK");
  CHECK(LargestDifference(fused.Values<float>(0), expected) < 1e-6);
}

TEST_CASE("depthwise_conv_2d: explicit padding may be lopsided", "[ops]") {
  OneOp op(OpCode::kDepthwiseConv2d);
  op.In<float>({1, 2, 2, 1}, {1, 2, 3, 4}).In<float>({1, 2, 2, 1}, {1, 10, 100, 1000});
  op.Out(DType::kFloat32);
  op.params.has_explicit_padding = true;
  op.params.pad_bottom = 1;
  op.params.pad_left = 1;
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({1, 2, 2, 1}));
  CHECK(op.Values<float>(0) == std::vector<float>{3010, 4321, 30, 43});
}

TEST_CASE("depthwise_conv_2d: the same bytes on any number of threads", "[ops]") {
  OneOp op(OpCode::kDepthwiseConv2d);
  op.In<float>({1, 56, 57, 48}, RandomFloats(size_t{56} * 57 * 48, 1));
  op.In<float>({1, 5, 5, 48}, RandomFloats(size_t{25} * 48, 2)).Out(DType::kFloat32);
  REQUIRE(op.Run(1).ToString() == "OK");
  const std::vector<float> one = op.Values<float>(0);
  REQUIRE(op.Run(4).ToString() == "OK");
  const bool same_bytes = op.Values<float>(0) == one;
  CHECK(same_bytes);
}

TEST_CASE("depthwise_conv_2d: refuses what does not fit together", "[ops]") {
  CHECK(DepthwiseRefusal({1, 4, 3}, {1, 3, 3, 3}, nullptr, "rank 4 expected") == "");
  CHECK(DepthwiseRefusal({1, 4, 4, 3}, {2, 3, 3, 3}, nullptr, "[1, height, width, chan") == "");
  CHECK(DepthwiseRefusal({1, 4, 4, 3}, {1, 3, 3, 0}, nullptr, "[1, height, width, chan") == "");
  CHECK(DepthwiseRefusal({1, 4, 4, 3}, {1, 3, 3, 4}, nullptr, "no multiple of the 3") == "");
  CHECK(DepthwiseRefusal({1, 4, 4, 0}, {1, 3, 3, 4}, nullptr, "no multiple of the 0") == "");
  CHECK(DepthwiseRefusal({1, 4, 4, 3}, {1, 0, 3, 3}, nullptr, "filter height is 0") == "");
  CHECK(DepthwiseRefusal(
            {1, 4, 4, 3}, {1, 3, 3, 3}, [](OpParams& p) { p.stride_w = 0; }, "stride width is 0") ==
        "");
  OneOp bias(OpCode::kDepthwiseConv2d);
  bias.Unknown(DType::kFloat32, {1, 4, 4, 3}).Unknown(DType::kFloat32, {1, 3, 3, 6});
  CHECK(Refusal(bias.Unknown(DType::kFloat32, {3}).Out(DType::kFloat32), StatusCode::kInvalidModel,
                "one value for each of 6 channels") == "");
  OneOp bools(OpCode::kDepthwiseConv2d);
  bools.Unknown(DType::kBool, {1, 4, 4, 3}).Unknown(DType::kInt8, {1, 3, 3, 3}).Out(DType::kInt8);
  CHECK(Refusal(bools, StatusCode::kUnsupported, "is bool; supported here: float32") == "");
}

}  // namespace test
}  // namespace topwork
