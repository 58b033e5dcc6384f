// MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY, REDUCE_ALL: golden cases, every set
// of axes of larger tensors, empty tensors, malformed operators.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

float ReduceInput(size_t i) {
  return static_cast<float>(static_cast<int>(i * 37 % 101) - 50) * 0.125f;
}

// Reduces the dimensions of `mask` in double precision.
std::vector<double> ExpectedReduction(OpCode code, const Shape& shape, unsigned mask) {
  size_t n_out = 1, n_in = 1;
  for (int d = 0; d < shape.rank(); ++d) {
    n_in *= static_cast<size_t>(shape[d]);
    if ((mask >> d & 1) == 0) n_out *= static_cast<size_t>(shape[d]);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const bool sum = code == OpCode::kSum || code == OpCode::kMean;
  std::vector<double> out(n_out, sum ? 0 : code == OpCode::kReduceMax ? -infinity : infinity);
  for (size_t i = 0; i < n_in; ++i) {
    size_t at = 0, stride = 1, rest = i;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      const size_t dim = static_cast<size_t>(shape[d]), index = rest % dim;
      rest /= dim;
      if ((mask >> d & 1) != 0) continue;
      at += index * stride;
      stride *= dim;
    }
    const double x = static_cast<double>(ReduceInput(i));
    out[at] = sum                          ? out[at] + x
              : code == OpCode::kReduceMax ? std::max(out[at], x)
                                           : std::min(out[at], x);
  }
  if (code == OpCode::kMean) {
    for (double& value : out) value *= static_cast<double>(n_out) / static_cast<double>(n_in);
  }
  return out;
}

void CheckReduce(OpCode code, const Shape& shape, unsigned mask) {
  std::vector<float> x(static_cast<size_t>(shape.NumElements()));
  for (size_t i = 0; i < x.size(); ++i) x[i] = ReduceInput(i);
  std::vector<int32_t> axes;
  for (int d = 0; d < shape.rank(); ++d) {
    if ((mask >> d & 1) != 0) axes.push_back(d);
  }
  OneOp op(code);
  op.In<float>(shape, x).In<int32_t>({static_cast<int32_t>(axes.size())}, axes);
  op.Out(DType::kFloat32);
  INFO(OpCodeName(code) << " of " << shape.ToString() << ", axes mask " << mask);
  REQUIRE(op.Run(3).ToString() == "OK");
  const std::vector<float> y = op.Values<float>(0);
  const std::vector<double> want = ExpectedReduction(code, shape, mask);
  REQUIRE(y.size() == want.size());
  double worst = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    worst = std::max(worst, std::fabs(want[i] - y[i]) / std::max(1.0, std::fabs(want[i])));
  }
  CHECK(worst < 1e-6);
  REQUIRE(op.Run(1).ok());
  CHECK(op.Values<float>(0) == y);
}

template <typename T>
OneOp Reduction(OpCode code, const Shape& shape, const std::vector<T>& x, int32_t axis) {
  OneOp op(code);
  op.In<T>(shape, x).template In<int32_t>({}, {axis}).Out(DTypeOf<T>::kValue);
  return op;
}

// The means of one image, whose rows are summed in parts, are those of the same image twice.
template <typename T>
void CheckPartsOfIntegers() {
  const int32_t n = 19, c = 93;
  const T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  std::vector<T> image;
  for (int32_t i = 0; i < n * n * c; ++i) {
    image.push_back(i % c == 0 ? most : i % c == 1 ? least : static_cast<T>(i * 37 % 101));
  }
  std::vector<T> two = image;
  two.insert(two.end(), image.begin(), image.end());
  std::vector<T> means[2];
  for (int32_t images : {1, 2}) {
    OneOp op(OpCode::kMean);
    op.In<T>({images, n, n, c}, images == 1 ? image : two).Quantized({0.5f}, {0});
    op.In<int32_t>({2}, {1, 2}).Out(DTypeOf<T>::kValue).Quantized({0.4f}, {0});
    REQUIRE(op.Run(3).ToString() == "OK");
    means[images - 1] = op.Values<T>(0);
  }
  means[1].resize(static_cast<size_t>(c));
  CHECK(means[0] == means[1]);
  CHECK(means[0][0] == most);
}

}  // namespace

TEST_CASE("mean: golden cases", "[ops][sets]") { RunOpCases("mean"); }
TEST_CASE("sum: golden cases", "[ops][sets]") { RunOpCases("sum"); }
TEST_CASE("reduce_prod: golden cases", "[ops][sets]") { RunOpCases("reduce_prod"); }
TEST_CASE("reduce_max: golden cases", "[ops][sets]") { RunOpCases("reduce_max"); }
TEST_CASE("reduce_min: golden cases", "[ops][sets]") { RunOpCases("reduce_min"); }
TEST_CASE("reduce_any: golden cases", "[ops][sets]") { RunOpCases("reduce_any"); }
TEST_CASE("reduce_all: golden cases", "[ops][sets]") { RunOpCases("reduce_all"); }

TEST_CASE("reduce: every set of axes", "[ops]") {
  for (OpCode code : {OpCode::kSum, OpCode::kMean, OpCode::kReduceMax, OpCode::kReduceMin}) {
    for (unsigned mask = 0; mask < 16; ++mask) CheckReduce(code, {3, 7, 70, 5}, mask);
  }
  for (unsigned mask = 0; mask < 256; mask += 5)
    CheckReduce(OpCode::kSum, {2, 3, 1, 2, 3, 2, 1, 4}, mask);
}

TEST_CASE("reduce: long rows, many rows, wide columns", "[ops]") {
  CheckReduce(OpCode::kSum, {100003}, 1);
  CheckReduce(OpCode::kMean, {5, 10007}, 2);
  CheckReduce(OpCode::kReduceMax, {30011, 3}, 2);
  CheckReduce(OpCode::kMean, {2, 49, 1283}, 2);
  CheckReduce(OpCode::kMean, {1, 300, 300, 3}, 6);
  CheckReduce(OpCode::kSum, {70000, 2}, 1);
  CheckReduce(OpCode::kReduceMin, {9, 5, 4001}, 5);
}

TEST_CASE("reduce: the rows of one position in parts", "[ops][sets]") {
  for (OpCode code : {OpCode::kSum, OpCode::kMean, OpCode::kReduceMax, OpCode::kReduceMin}) {
    CheckReduce(code, {1, 14, 14, 672}, 6);
    CheckReduce(code, {17, 501}, 1);
    CheckReduce(code, {16, 3, 200}, 1);
  }
  CheckPartsOfIntegers<int8_t>();
  CheckPartsOfIntegers<uint8_t>();
  CheckPartsOfIntegers<int16_t>();
}

TEST_CASE("reduce: a long sum keeps its precision", "[ops]") {
  const int32_t n = 1 << 20;
  OneOp op =
      Reduction<float>(OpCode::kSum, {n}, std::vector<float>(static_cast<size_t>(n), 0.1f), 0);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<float>(0)[0] == Approx(static_cast<double>(0.1f) * n).epsilon(1e-5));
}

TEST_CASE("reduce: nothing to reduce gives the neutral value", "[ops]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<OpCode, float>> neutral = {{OpCode::kSum, 0.0f},
                                                         {OpCode::kMean, 0.0f},
                                                         {OpCode::kReduceProd, 1.0f},
                                                         {OpCode::kReduceMax, -infinity},
                                                         {OpCode::kReduceMin, infinity}};
  for (const auto& entry : neutral) {
    for (int32_t axis : {0, 1}) {
      OneOp op = Reduction<float>(entry.first, axis == 0 ? Shape({0, 2}) : Shape({2, 0}), {}, axis);
      REQUIRE(op.Run().ToString() == "OK");
      CHECK(op.Values<float>(0) == std::vector<float>{entry.second, entry.second});
    }
  }
  OneOp none = Reduction<float>(OpCode::kSum, {0, 2}, {}, 1);
  REQUIRE(none.Run().ToString() == "OK");
  CHECK(none.Values<float>(0).empty());
}

TEST_CASE("reduce: integers wrap around, means are cut off toward zero", "[ops]") {
  const int32_t most = std::numeric_limits<int32_t>::max();
  OneOp sum = Reduction<int32_t>(OpCode::kSum, {2}, {most, 1}, 0);
  REQUIRE(sum.Run().ToString() == "OK");
  CHECK(sum.Values<int32_t>(0)[0] == std::numeric_limits<int32_t>::min());
  OneOp mean = Reduction<int32_t>(OpCode::kMean, {2, 2}, {-3, -4, most, most}, 1);
  REQUIRE(mean.Run().ToString() == "OK");
  CHECK(mean.Values<int32_t>(0) == std::vector<int32_t>{-3, most});
  OneOp least = Reduction<int64_t>(OpCode::kReduceMin, {3, 2}, {5, 1, -7, 8, 2, 0}, 0);
  REQUIRE(least.Run().ToString() == "OK");
  CHECK(least.Values<int64_t>(0) == std::vector<int64_t>{-7, 0});
}

TEST_CASE("reduce: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kMean)
                                .Unknown(DType::kFloat32, {2, 3})
                                .In<int32_t>({1}, {1})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<int32_t>({1}, {-3}), kInvalidModel, "axis -3 is outside [-2, 2)"},
      {OneOp(OpCode::kSum)
           .Unknown(DType::kFloat32, {2, 3})
           .In<float>({1}, {1})
           .Out(DType::kFloat32),
       kUnsupported, "input 1"},
      {OneOp(OpCode::kReduceProd)
           .Unknown(DType::kUInt8, {3})
           .Quantized({0.5f}, {0})
           .In<int32_t>({1}, {0})
           .Out(DType::kUInt8)
           .Quantized({0.5f}, {0}),
       kUnsupported, "uint8 with a scale"},
      {OneOp(OpCode::kReduceAny)
           .Unknown(DType::kFloat32, {2, 3})
           .In<int32_t>({1}, {1})
           .Out(DType::kFloat32),
       kUnsupported, "supported here: bool"},
      {op.With(0).Unknown(DType::kBool, {2, 3}).Out(0, DType::kBool), kUnsupported, "is bool"},
  });
  OneOp later(OpCode::kMean);
  later.Unknown(DType::kFloat32, {2, 3}).Unknown(DType::kInt32, {1}).Out(DType::kFloat32);
  CHECK(Refusal(later, StatusCode::kFailedPrecondition, "only known at run time") == "");
  CHECK(later.unknown_value_input() == 1);
}

TEST_CASE("reduce: means and sums of integers without a scale are those of the numbers", "[ops]") {
  const std::vector<int8_t> x = {10, 20, 41, -5, -6, -9, 127, 127, 127};
  OneOp mean(OpCode::kMean);
  mean.In<int8_t>({3, 3}, x).In<int32_t>({1}, {1}).Out(DType::kInt8);
  REQUIRE(mean.Run().ToString() == "OK");
  CHECK(mean.Values<int8_t>(0) == std::vector<int8_t>{24, -7, 127});
  OneOp columns(OpCode::kMean);
  columns.In<int16_t>({2, 2}, {30000, 3, 30002, 4}).In<int32_t>({1}, {0}).Out(DType::kInt16);
  REQUIRE(columns.Run().ToString() == "OK");
  CHECK(columns.Values<int16_t>(0)[0] == 30001);
  OneOp sum(OpCode::kSum);
  sum.In<int8_t>({3, 3}, x).In<int32_t>({1}, {1}).Out(DType::kInt8);
  REQUIRE(sum.Run().ToString() == "OK");
  CHECK(sum.Values<int8_t>(0) == std::vector<int8_t>{71, -20, 127});
  OneOp half(OpCode::kMean);
  half.Unknown(DType::kInt8, {3, 3}).Quantized({0.5f}, {0}).In<int32_t>({1}, {1});
  half.Out(DType::kInt8);
  CHECK(Refusal(half, StatusCode::kInvalidModel, "output 0 is int8 but has no scale") == "");
}

}  // namespace test
}  // namespace topwork
