// SOFTMAX and the other operators on rows, LOG_SOFTMAX and L2_NORMALIZATION; and
// LOCAL_RESPONSE_NORMALIZATION.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support/one_op.h"
#include "tests/support/random_floats.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

constexpr OpCode kRowwise[] = {OpCode::kSoftmax, OpCode::kLogSoftmax, OpCode::kL2Normalization};

}  // namespace

TEST_CASE("softmax: golden cases", "[ops][sets]") { RunOpCases("softmax"); }
TEST_CASE("log_softmax: golden cases", "[ops][sets]") { RunOpCases("log_softmax"); }
TEST_CASE("l2_normalization: golden cases", "[ops][sets]") { RunOpCases("l2_normalization"); }
TEST_CASE("local_response_normalization: golden cases", "[ops][sets]") {
  RunOpCases("local_response_normalization");
}

TEST_CASE("softmax: rows sum to one, long and many", "[ops]") {
  for (const Shape& shape : {Shape({3, 20001}), Shape({5000, 3})}) {
    OneOp op(OpCode::kSoftmax);
    const size_t n = static_cast<size_t>(shape.NumElements());
    const size_t row = static_cast<size_t>(shape[1]);
    op.In<float>(shape, RandomFloats(n, 1)).Out(DType::kFloat32);
    op.params.beta = 3.0f;
    REQUIRE(op.Run(1).ToString() == "OK");
    const std::vector<float> one = op.Values<float>(0);
    double worst = 0;
    for (size_t i = 0; i < n; i += row) {
      double sum = 0;
      for (size_t j = i; j < i + row; ++j) sum += static_cast<double>(one[j]);
      worst = std::max(worst, std::fabs(sum - 1.0));
    }
    CHECK(worst < 1e-5);
    REQUIRE(op.Run(4).ToString() == "OK");
    const bool same_bytes = op.Values<float>(0) == one;
    CHECK(same_bytes);
  }
}

TEST_CASE("operators on rows: empty inputs, and refusals", "[ops]") {
  for (const OpCode code : kRowwise) {
    INFO(OpCodeName(code));
    OneOp empty(code);
    REQUIRE(empty.In<float>({2, 0}, {}).Out(DType::kFloat32).Run().ToString() == "OK");
    CHECK(empty.shape(0) == Shape({2, 0}));
    OneOp scalar(code);
    scalar.Unknown(DType::kFloat32, Shape()).Out(DType::kFloat32);
    CHECK(Refusal(scalar, StatusCode::kInvalidModel, "rank 1 to 8 expected") == "");
    OneOp int8(code);
    int8.Unknown(DType::kInt8, {2, 3}).Out(DType::kInt8);
    CHECK(Refusal(int8, StatusCode::kInvalidModel, "is int8 but has no scale") == "");
    OneOp plain(code);
    plain.Unknown(DType::kInt32, {2, 3}).Out(DType::kInt32);
    CHECK(Refusal(plain, StatusCode::kUnsupported, "is int32; supported here: float32") == "");
    OneOp two(code);
    two.Unknown(DType::kFloat32, {3}).Unknown(DType::kFloat32, {3}).Out(DType::kFloat32);
    CHECK(Refusal(two, StatusCode::kInvalidModel, "2 inputs, at most 1") == "");
  }
  for (const float beta : {-1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    OneOp odd(OpCode::kSoftmax);
    odd.Unknown(DType::kInt16, {2, 3}).Quantized({0.5f}, {0});
    odd.Out(DType::kInt16).Quantized({1.0f / 32768}, {0});
    odd.params.beta = beta;
    CHECK(Refusal(odd, StatusCode::kInvalidModel, "at least 0 expected") == "");
  }
  OneOp fused(OpCode::kL2Normalization);
  fused.Unknown(DType::kFloat32, {2, 3}).Out(DType::kFloat32);
  fused.params.activation = Activation::kRelu;
  CHECK(Refusal(fused, StatusCode::kUnsupported, "fused activation") == "");
}

TEST_CASE("local_response_normalization: refusals and the largest radius", "[ops]") {
  OneOp rank(OpCode::kLocalResponseNormalization);
  rank.Unknown(DType::kFloat32, {2, 3}).Out(DType::kFloat32);
  CHECK(Refusal(rank, StatusCode::kInvalidModel, "rank 4 expected") == "");
  OneOp radius(OpCode::kLocalResponseNormalization);
  radius.Unknown(DType::kFloat32, {1, 1, 1, 3}).Out(DType::kFloat32);
  radius.params.radius = -1;
  CHECK(Refusal(radius, StatusCode::kInvalidModel, "radius is -1") == "");
  OneOp all(OpCode::kLocalResponseNormalization);
  all.In<float>({1, 1, 1, 2}, {3, 4}).Out(DType::kFloat32);
  all.params.radius = INT32_MAX;
  all.params.alpha = 1;
  all.params.beta = 0.5f;
  REQUIRE(all.Run().ToString() == "OK");
  CHECK(all.Values<float>(0)[0] == Approx(0.6f));
  CHECK(all.Values<float>(0)[1] == Approx(0.8f));
}

}  // namespace test
}  // namespace topwork
