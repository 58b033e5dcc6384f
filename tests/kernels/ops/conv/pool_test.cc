// What AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D share: golden cases, threads, refusals.
#include <catch2/catch.hpp>
#include <limits>

#include "tests/support/one_op.h"
#include "tests/support/random_floats.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

constexpr OpCode kPools[] = {OpCode::kAveragePool2d, OpCode::kMaxPool2d, OpCode::kL2Pool2d};

std::string PoolRefusal(OpCode code, const Shape& in, void (*set)(OpParams&), StatusCode status,
                        const char* text) {
  OneOp op(code);
  op.Unknown(DType::kFloat32, in).Out(DType::kFloat32);
  set(op.params);
  return Refusal(op, status, text);
}

}  // namespace

TEST_CASE("average_pool_2d: golden cases", "[ops][sets]") { RunOpCases("average_pool_2d"); }
TEST_CASE("max_pool_2d: golden cases", "[ops][sets]") { RunOpCases("max_pool_2d"); }
TEST_CASE("l2_pool_2d: golden cases", "[ops][sets]") { RunOpCases("l2_pool_2d"); }

TEST_CASE("integers without a scale: golden cases", "[ops][sets]") { RunOpCases("unscaled"); }

TEST_CASE("pools: the same bytes on any number of threads", "[ops]") {
  for (const OpCode code : kPools) {
    OneOp op(code);
    op.In<float>({1, 60, 61, 20}, RandomFloats(size_t{60} * 61 * 20, 1)).Out(DType::kFloat32);
    op.params.filter_h = op.params.filter_w = 3;
    REQUIRE(op.Run(1).ToString() == "OK");
    const std::vector<float> one = op.Values<float>(0);
    REQUIRE(op.Run(4).ToString() == "OK");
    const bool same_bytes = op.Values<float>(0) == one;
    CHECK(same_bytes);
  }
}

TEST_CASE("max_pool_2d: fused padding counts as minus infinity", "[ops]") {
  OneOp op(OpCode::kMaxPool2d);
  op.In<float>({1, 1, 2, 1}, {-3, -2}).Out(DType::kFloat32);
  op.params.has_explicit_padding = true;
  op.params.pad_left = 2;
  op.params.filter_w = 2;
  REQUIRE(op.Run().ToString() == "OK");
  const float lowest = -std::numeric_limits<float>::infinity();
  CHECK(op.Values<float>(0) == std::vector<float>{lowest, -3, -2});
}

TEST_CASE("pools: refuse impossible windows, ranks, dtypes and activations", "[ops]") {
  const StatusCode invalid = StatusCode::kInvalidModel;
  for (const OpCode code : kPools) {
    INFO(OpCodeName(code));
    CHECK(PoolRefusal(
              code, {4, 4, 3}, [](OpParams&) {}, invalid, "rank 4 expected") == "");
    CHECK(PoolRefusal(
              code, {1, 4, 4, 3}, [](OpParams& p) { p.stride_h = 0; }, invalid,
              "stride height is 0") == "");
    CHECK(PoolRefusal(
              code, {1, 4, 4, 3}, [](OpParams& p) { p.filter_w = 0; }, invalid,
              "filter width is 0") == "");
    CHECK(PoolRefusal(
              code, {1, 4, 4, 3},
              [](OpParams& p) {
                p.padding = Padding::kValid;
                p.filter_h = INT32_MAX;
              },
              invalid, "window of height 2147483647 is larger than the image's 4") == "");
    CHECK(PoolRefusal(
              code, {1, 4, 4, 3}, [](OpParams& p) { p.activation = Activation::kTanh; },
              StatusCode::kUnsupported, "TANH") == "");
    OneOp int8(code);  // without a scale: there is nothing to clamp to
    int8.params.activation = Activation::kRelu;
    int8.Unknown(DType::kInt8, {1, 4, 4, 3}).Out(DType::kInt8);
    const bool averages_squares = code == OpCode::kL2Pool2d;
    CHECK(Refusal(int8, averages_squares ? StatusCode::kUnsupported : invalid,
                  averages_squares ? "is int8; supported here: float32"
                                   : "is int8 but has no scale") == "");
  }
}

}  // namespace test
}  // namespace topwork
