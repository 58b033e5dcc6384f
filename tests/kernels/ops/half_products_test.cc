// Operators with products of 16-bit numbers: on such numbers they give what float32 gives, in every
// way that they compute; on others they stay within the rounding of both factors.
#include <catch2/catch.hpp>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/gemm.h"
#include "tests/support/one_op.h"
#include "tests/support/random_floats.h"
#include "tests/support/skip.h"

namespace topwork {
namespace test {
namespace {

const GemmKernels* HalfProducts() { return HalfProductsOf(BestCpuKernels()); }

size_t Count(const Shape& shape) { return static_cast<size_t>(shape.NumElements()); }

// Against float32, on 1 and on 3 threads. `has_half`: the operator has such products.
void CheckAgainstFloat(const OneOp& op, bool has_half, double most) {
  OneOp plain = op, half = op;
  half.half_products = HalfProducts();
  REQUIRE(plain.Run().ToString() == "OK");
  REQUIRE(half.Run(1).ToString() == "OK");
  INFO(half.context().variant() << " " << plain.shape(0).ToString());
  CHECK(std::string(plain.context().products()) == "");
  CHECK(std::string(half.context().products()) == (has_half ? HalfProducts()->half : ""));
  const std::vector<float> one = half.Values<float>(0);
  CHECK(LargestDifference(one, plain.Values<float>(0)) <= most);
  REQUIRE(half.Run(3).ToString() == "OK");
  CHECK(half.Values<float>(0) == one);
}

// An image and filters of multiples of 1/8, a bias and a residual.
OneOp HalfConv(const Shape& image, const Shape& filter, int32_t stride, int32_t pad) {
  OneOp op(OpCode::kConv2d);
  op.In<float>(image, RandomEighths(Count(image), 1));
  op.In<float>(filter, RandomEighths(Count(filter), 2));
  op.In<float>({filter[0]}, RandomFloats(static_cast<size_t>(filter[0]), 3)).Out(DType::kFloat32);
  op.params.has_explicit_padding = true;
  op.params.pad_left = op.params.pad_top = op.params.pad_bottom = pad;
  op.params.stride_h = op.params.stride_w = stride;
  op.params.activation = Activation::kRelu6;
  OneOp shape_only = op;
  REQUIRE(shape_only.Prepare().ToString() == "OK");
  const Shape out = shape_only.shape(0);
  op.In<float>(out, RandomFloats(Count(out), 4));
  op.params.fused_residual = true;
  return op;
}

}  // namespace

TEST_CASE("16-bit products: convolutions in every way", "[ops][half]") {
  if (HalfProducts() == nullptr) TW_SKIP("this processor has no 16-bit products");
  for (const int32_t stride : {1, 2}) {
    for (const int32_t channels : {4, 6, 18}) {
      const int32_t c = channels;
      const bool in_place = c % HalfProducts()->depths == 0;
      const bool gathered = !in_place && c == 18;  // short filters are float32 then
      CheckAgainstFloat(HalfConv({2, 5, 7, c}, {20, 1, 1, c}, stride, 0), true, 1e-5);
      CheckAgainstFloat(HalfConv({1, 9, 33, c}, {24, 3, 3, c}, stride, 1), in_place || gathered,
                        1e-5);
      CheckAgainstFloat(HalfConv({1, 40, 29, c}, {8, 5, 2, c}, stride, 2), in_place || gathered,
                        1e-5);
      CheckAgainstFloat(HalfConv({2, 9, 8, c}, {24, 3, 3, c}, stride, 1), true, 1e-5);
      CheckAgainstFloat(HalfConv({1, 6, 8, c}, {6, 3, 3, c / 2}, stride, 1), true, 1e-5);
      CheckAgainstFloat(HalfConv({1, 6, 8, c}, {6, 1, 1, c / 2}, stride, 0), true, 1e-5);
    }
    CheckAgainstFloat(HalfConv({2, 5, 7, 3}, {20, 1, 1, 3}, stride, 0), true, 1e-5);
    CheckAgainstFloat(HalfConv({1, 9, 8, 3}, {24, 3, 3, 3}, stride, 1), true, 1e-5);
    CheckAgainstFloat(HalfConv({1, 9, 33, 3}, {24, 7, 7, 3}, stride, 3), true, 1e-5);  // gathered
  }
}

TEST_CASE("16-bit products: pairs never reach into the next row of the image", "[ops][half]") {
  if (HalfProducts() == nullptr) TW_SKIP("this processor has no 16-bit products");
  CheckAgainstFloat(HalfConv({1, 9, 33, 3}, {24, 3, 3, 3}, 1, 1), false, 0.0);
}

TEST_CASE("16-bit products: large layers on several threads", "[ops][half]") {
  if (HalfProducts() == nullptr) TW_SKIP("this processor has no 16-bit products");
  CheckAgainstFloat(HalfConv({1, 40, 41, 32}, {100, 1, 1, 32}, 1, 0), true, 1e-5);
  CheckAgainstFloat(HalfConv({1, 40, 41, 32}, {100, 3, 3, 32}, 1, 1), true, 1e-5);
  CheckAgainstFloat(HalfConv({1, 60, 61, 16}, {32, 3, 3, 16}, 1, 1), true, 1e-5);
}

TEST_CASE("16-bit products: dense layers, constant weights and others", "[ops][half]") {
  if (HalfProducts() == nullptr) TW_SKIP("this processor has no 16-bit products");
  for (const int32_t batch : {0, 1, 9, 70}) {
    for (const int32_t depth : {1, 31, 512}) {
      OneOp op(OpCode::kFullyConnected);
      const Shape rows{batch, depth}, weights{300, depth};
      op.In<float>(rows, RandomEighths(Count(rows), 1));
      op.In<float>(weights, RandomEighths(Count(weights), 2)).Out(DType::kFloat32);
      CheckAgainstFloat(op, true, 1e-5);
    }
  }
}

TEST_CASE("16-bit products: batches of matrices in all four orientations", "[ops][half]") {
  if (HalfProducts() == nullptr) TW_SKIP("this processor has no 16-bit products");
  for (const bool adj_x : {false, true}) {
    for (const bool adj_y : {false, true}) {
      for (const int32_t batches : {1, 3}) {
        OneOp op(OpCode::kBatchMatmul);
        const Shape a = adj_x ? Shape{3, 35, 14} : Shape{3, 14, 35};
        const Shape b = adj_y ? Shape{batches, 50, 35} : Shape{batches, 35, 50};
        op.In<float>(a, RandomEighths(Count(a), 1));
        op.In<float>(b, RandomEighths(Count(b), 2)).Out(DType::kFloat32);
        op.params.adj_x = adj_x;
        op.params.adj_y = adj_y;
        CheckAgainstFloat(op, true, 1e-5);
      }
    }
  }
}

// A factor of 8 bits is off by 2^-9 of itself at most, a product by little more than 2^-8. Factors of
// 11 bits are closer; the rounding of their sums stays below that.
TEST_CASE("16-bit products: results stay within the rounding of the factors", "[ops][half]") {
  if (HalfProducts() == nullptr) TW_SKIP("this processor has no 16-bit products");
  const size_t depth = 999, units = 48;
  const std::vector<float> a = RandomFloats(depth, 1), w = RandomFloats(depth * units, 2);
  OneOp op(OpCode::kFullyConnected);
  op.half_products = HalfProducts();
  op.In<float>({1, static_cast<int32_t>(depth)}, a);
  op.In<float>({static_cast<int32_t>(units), static_cast<int32_t>(depth)}, w);
  REQUIRE(op.Out(DType::kFloat32).Run().ToString() == "OK");
  const std::vector<float> got = op.Values<float>(0);
  double largest = 0;
  for (size_t n = 0; n < units; ++n) {
    double sum = 0, size = 0;
    for (size_t k = 0; k < depth; ++k) {
      const double product = static_cast<double>(a[k]) * static_cast<double>(w[n * depth + k]);
      sum += product;
      size += std::fabs(product);
    }
    const double difference = std::fabs(static_cast<double>(got[n]) - sum);
    CHECK(difference <= size * (1.01 / 256));
    largest = std::max(largest, difference);
  }
  CHECK(largest > 1e-4);  // it did round
}

}  // namespace test
}  // namespace topwork
