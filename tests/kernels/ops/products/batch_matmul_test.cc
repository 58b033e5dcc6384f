// BATCH_MATMUL: golden cases, ranks beyond LiteRT's five, empty dimensions, refusals.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/random_floats.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

std::string MatMulRefusal(const Shape& a, const Shape& b, void (*set)(OpParams&),
                          const char* text) {
  OneOp op(OpCode::kBatchMatmul);
  op.Unknown(DType::kFloat32, a).Unknown(DType::kFloat32, b).Out(DType::kFloat32);
  if (set != nullptr) set(op.params);
  return Refusal(op, StatusCode::kInvalidModel, text);
}

// a [3, 1, 4, 5] (or its adjoint) by b [2, 5, 6] (or its adjoint) in double precision.
std::vector<float> MatMulReference(const std::vector<float>& a, const std::vector<float>& b,
                                   bool adj_x, bool adj_y) {
  std::vector<float> c;
  for (size_t x = 0; x < 3; ++x) {
    for (size_t y = 0; y < 2; ++y) {
      for (size_t i = 0; i < 4; ++i) {
        for (size_t j = 0; j < 6; ++j) {
          double sum = 0;
          for (size_t k = 0; k < 5; ++k) {
            sum += static_cast<double>(a[x * 20 + (adj_x ? k * 4 + i : i * 5 + k)]) *
                   static_cast<double>(b[y * 30 + (adj_y ? j * 5 + k : k * 6 + j)]);
          }
          c.push_back(static_cast<float>(sum));
        }
      }
    }
  }
  return c;
}

}  // namespace

TEST_CASE("batch_matmul: golden cases", "[ops][sets]") { RunOpCases("batch_matmul"); }

TEST_CASE("batch_matmul: broadcast batches in all four orientations, rank 8", "[ops]") {
  const std::vector<float> a = RandomFloats(60, 1), b = RandomFloats(60, 2);
  for (const bool adj_x : {false, true}) {
    for (const bool adj_y : {false, true}) {
      OneOp op(OpCode::kBatchMatmul);
      op.In<float>({1, 1, 1, 1, 3, 1, adj_x ? 5 : 4, adj_x ? 4 : 5}, a);
      op.In<float>({2, adj_y ? 6 : 5, adj_y ? 5 : 6}, b).Out(DType::kFloat32);
      op.params.adj_x = adj_x;
      op.params.adj_y = adj_y;
      REQUIRE(op.Run(2).ToString() == "OK");
      CHECK(op.shape(0) == Shape({1, 1, 1, 1, 3, 2, 4, 6}));
      CHECK(LargestDifference(op.Values<float>(0), MatMulReference(a, b, adj_x, adj_y)) < 1e-6);
    }
  }
}

TEST_CASE("batch_matmul: empty dimensions", "[ops]") {
  OneOp batch(OpCode::kBatchMatmul);
  batch.In<float>({0, 2, 3}, {}).In<float>({3, 4}, RandomFloats(12, 1)).Out(DType::kFloat32);
  REQUIRE(batch.Run().ToString() == "OK");
  CHECK(batch.shape(0) == Shape({0, 2, 4}));
  OneOp depth(OpCode::kBatchMatmul);
  depth.In<float>({2, 0}, {}).In<float>({0, 3}, {}).Out(DType::kFloat32);
  REQUIRE(depth.Run().ToString() == "OK");
  CHECK(depth.Values<float>(0) == std::vector<float>(6, 0.0f));
}

// [2, 3] by [3, 2] of int8, a scale for each column; LiteRT has no answer (it takes 0 for the
// scale).
template <typename T>
void CheckColumnScales(DType dtype, const std::vector<T>& left, const std::vector<T>& expected) {
  for (const bool adjoint : {false, true}) {
    OneOp op(OpCode::kBatchMatmul);
    op.params.adj_y = adjoint;
    op.In<T>({2, 3}, left).Quantized({0.5f}, {0});
    const std::vector<int8_t> right = {1, -2, 3, 4, -5, 6}, turned = {1, 3, -5, -2, 4, 6};
    op.In<int8_t>(adjoint ? Shape{2, 3} : Shape{3, 2}, adjoint ? turned : right);
    op.Quantized({0.25f, 2.0f}, {0, 0}).ScaleAxis(adjoint ? 0 : 1);
    op.Out(dtype).Quantized({0.125f}, {0});
    REQUIRE(op.Run().ToString() == "OK");
    CHECK(op.Values<T>(0) == expected);
  }
}

TEST_CASE("batch_matmul: a scale for each column of int8", "[ops]") {
  // Products {3, 10; 1, -2} (or 100 times them) times 0.5 * {0.25, 2} / 0.125 = {1, 8}.
  CheckColumnScales<int8_t>(DType::kInt8, {2, 2, 1, 1, 0, 0}, {3, 80, 1, -16});
  CheckColumnScales<int16_t>(DType::kInt16, {200, 200, 100, 100, 0, 0}, {300, 8000, 100, -1600});
  OneOp wrong(OpCode::kBatchMatmul);
  wrong.In<int16_t>({1, 2}, {1, 2}).Quantized({1}, {0});
  wrong.In<int8_t>({2, 2}, {1, 2, 3, 4}).Quantized({1, 2}, {0, 0}).Out(DType::kInt16);
  wrong.Quantized({1}, {0});
  CHECK(Refusal(wrong, StatusCode::kUnsupported, "2 scales along axis 0; supported here: one") ==
        "");
}

TEST_CASE("batch_matmul: the same bytes on any number of threads", "[ops]") {
  OneOp op(OpCode::kBatchMatmul);
  op.In<float>({3, 64, 200}, RandomFloats(size_t{3} * 64 * 200, 1));
  op.In<float>({3, 64, 300}, RandomFloats(size_t{3} * 64 * 300, 2)).Out(DType::kFloat32);
  op.params.adj_x = true;
  REQUIRE(op.Run(1).ToString() == "OK");
  const std::vector<float> one = op.Values<float>(0);
  REQUIRE(op.Run(3).ToString() == "OK");
  const bool same_bytes = op.Values<float>(0) == one;
  CHECK(same_bytes);
}

TEST_CASE("batch_matmul: refuses what does not fit together", "[ops]") {
  CHECK(MatMulRefusal({4}, {4, 5}, nullptr, "rank 2 to 8 expected") == "");
  CHECK(MatMulRefusal({3, 4}, {5, 4}, nullptr, "do not agree") == "");
  CHECK(MatMulRefusal(
            {4, 3}, {4, 5}, [](OpParams& p) { p.adj_y = true; }, "[4, 5] (adjoint)") == "");
  CHECK(MatMulRefusal({2, 3, 4}, {3, 4, 5}, nullptr, "cannot be broadcast together") == "");
  CHECK(MatMulRefusal({INT32_MAX, 1}, {1, INT32_MAX}, nullptr, "too large") == "");
  OneOp hybrid(OpCode::kBatchMatmul);
  hybrid.Unknown(DType::kFloat32, {2, 4}).Unknown(DType::kInt8, {4, 3}).Out(DType::kFloat32);
  CHECK(Refusal(hybrid, StatusCode::kInvalidModel, "is int8 but has no scale") == "");
}

}  // namespace test
}  // namespace topwork
