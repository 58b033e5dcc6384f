// TRANSPOSE_CONV: golden cases, strides beyond the filter, a run-time filter, refusals.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/random_floats.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

std::string TransposeConvRefusal(const std::vector<int32_t>& out, const Shape& filter,
                                 const Shape& in, const char* text) {
  OneOp op(OpCode::kTransposeConv);
  op.In<int32_t>({static_cast<int32_t>(out.size())}, out);
  op.Unknown(DType::kFloat32, filter).Unknown(DType::kFloat32, in).Out(DType::kFloat32);
  return Refusal(op, StatusCode::kInvalidModel, text);
}

}  // namespace

TEST_CASE("transpose_conv: golden cases", "[ops][sets]") { RunOpCases("transpose_conv"); }
TEST_CASE("transpose_conv: golden cases of place holders for the shape", "[ops][sets]") {
  RunOpCases("micro_transpose_conv");
}

TEST_CASE("transpose_conv: every pixel is scattered through the filter", "[ops]") {
  OneOp op(OpCode::kTransposeConv);
  op.In<int32_t>({4}, {1, 2, 5, 1}).In<float>({1, 1, 2, 1}, {1, 10});
  op.In<float>({1, 1, 2, 1}, {3, 4}).In<float>({1}, {100}).Out(DType::kFloat32);
  op.params.padding = Padding::kValid;
  op.params.stride_h = 1;
  op.params.stride_w = 3;  // a gap that only the bias reaches
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<float>(0) ==
        std::vector<float>{103, 130, 100, 104, 140, 100, 100, 100, 100, 100});
}

TEST_CASE("transpose_conv: wide rows and a run-time filter, on any number of threads", "[ops]") {
  OneOp op(OpCode::kTransposeConv);
  const Shape in({2, 5, 90, 3});
  op.In<int32_t>({4}, {2, 10, 180, 4}).In<float>({4, 3, 3, 3}, RandomFloats(108, 1));
  op.In<float>(in, RandomFloats(2700, 2)).Out(DType::kFloat32);
  op.params.stride_h = op.params.stride_w = 2;
  REQUIRE(op.Run(1).ToString() == "OK");
  const std::vector<float> one = op.Values<float>(0);
  REQUIRE(op.Run(4).ToString() == "OK");
  const bool same_bytes = op.Values<float>(0) == one;
  CHECK(same_bytes);
}

TEST_CASE("transpose_conv: a size for one image serves any batch", "[ops]") {
  const std::vector<float> filter = RandomFloats(2 * 9 * 3, 1), images = RandomFloats(2 * 60, 2);
  const auto run = [&](int32_t batch, const std::vector<float>& in) {
    OneOp op(OpCode::kTransposeConv);
    op.In<int32_t>({4}, {1, 8, 10, 2}).In<float>({2, 3, 3, 3}, filter);
    op.In<float>({batch, 4, 5, 3}, in).Out(DType::kFloat32);
    op.params.stride_h = op.params.stride_w = 2;
    REQUIRE(op.Run().ToString() == "OK");
    return op.Values<float>(0);
  };
  std::vector<float> each = run(1, {images.begin(), images.begin() + 60});
  const std::vector<float> second = run(1, {images.begin() + 60, images.end()});
  each.insert(each.end(), second.begin(), second.end());
  CHECK(run(2, images) == each);
}

TEST_CASE("transpose_conv: an output shape that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kTransposeConv);
  op.Unknown(DType::kInt32, {4}).Unknown(DType::kFloat32, {2, 3, 3, 1});
  op.Unknown(DType::kFloat32, {1, 4, 4, 1}).Out(DType::kFloat32);
  CHECK(DeferredFor(op) == 0);
}

TEST_CASE("transpose_conv: refuses what does not fit together", "[ops]") {
  const Shape filter({2, 3, 3, 3}), in({1, 4, 4, 3});
  CHECK(TransposeConvRefusal({4, 4, 2}, filter, in, "[4] (an NHWC shape) expected") == "");
  CHECK(TransposeConvRefusal({1, 4, 4, 2}, {2, 3, 3, 4}, in, "does not fit the 3 channels") == "");
  CHECK(TransposeConvRefusal({1, 4, 4, 2}, {2, 0, 3, 3}, in, "does not fit the 3 channels") == "");
  CHECK(TransposeConvRefusal({2, 4, 4, 2}, filter, in, "must have the batch 1") == "");
  CHECK(TransposeConvRefusal({1, 4, 4, 5}, filter, in, "the 2 output channels") == "");
  CHECK(TransposeConvRefusal({1, -4, 4, 2}, filter, in, "negative or too large") == "");
  OneOp stride(OpCode::kTransposeConv);
  stride.In<int32_t>({4}, {1, 4, 4, 2}).Unknown(DType::kFloat32, filter);
  stride.Unknown(DType::kFloat32, in).Out(DType::kFloat32);
  stride.params.stride_h = 0;
  CHECK(Refusal(stride, StatusCode::kInvalidModel, "its strides are 0 and 1") == "");
  OneOp bias(OpCode::kTransposeConv);
  bias.In<int32_t>({4}, {1, 4, 4, 2}).Unknown(DType::kFloat32, filter);
  bias.Unknown(DType::kFloat32, in).Unknown(DType::kFloat32, {3}).Out(DType::kFloat32);
  CHECK(Refusal(bias, StatusCode::kInvalidModel, "one value for each of 2 channels") == "");
  OneOp int8(OpCode::kTransposeConv);
  int8.In<int32_t>({4}, {1, 4, 4, 2}).Unknown(DType::kInt8, filter);
  int8.Unknown(DType::kInt8, in).Out(DType::kInt8);
  CHECK(Refusal(int8, StatusCode::kInvalidModel, "is int8 but has no scale") == "");
  OneOp computed(OpCode::kTransposeConv);
  computed.In<int32_t>({4}, {1, 4, 4, 2}).Unknown(DType::kInt8, filter).Quantized({0.5f}, {0});
  computed.Unknown(DType::kInt8, in).Quantized({0.5f}, {3});
  computed.Out(DType::kInt8).Quantized({0.5f}, {0});
  CHECK(Refusal(computed, StatusCode::kUnsupported, "must be a constant") == "");
}

}  // namespace test
}  // namespace topwork
