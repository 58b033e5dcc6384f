// FULLY_CONNECTED: golden cases, fused residual, threads, refusals.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/random_floats.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

std::string FullyConnectedRefusal(const Shape& in, const Shape& weights, void (*set)(OpParams&),
                                  StatusCode code, const char* text) {
  OneOp op(OpCode::kFullyConnected);
  op.Unknown(DType::kFloat32, in).Unknown(DType::kFloat32, weights).Out(DType::kFloat32);
  if (set != nullptr) set(op.params);
  return Refusal(op, code, text);
}

// uint8 data and shuffled weights with the given zero point.
std::string ShuffledRefusal(const Shape& weights, int64_t zero_point, int n_outputs,
                            StatusCode code, const char* text) {
  OneOp op(OpCode::kFullyConnected);
  op.params.weights_format = 1;
  op.Unknown(DType::kUInt8, {1, weights[1]}).Quantized({0.1f}, {128});
  op.Unknown(DType::kUInt8, weights).Quantized({0.1f}, {zero_point});
  op.Out(DType::kInt16).Quantized({0.1f}, {0});
  if (n_outputs > 1) op.Out(DType::kUInt8);
  return Refusal(op, code, text);
}

}  // namespace

TEST_CASE("fully_connected: golden cases", "[ops][sets]") { RunOpCases("fully_connected"); }

TEST_CASE("fully_connected: a fused residual is added before the activation", "[ops]") {
  OneOp op(OpCode::kFullyConnected);
  op.In<float>({2, 2}, {1, 2, 3, 4}).In<float>({3, 2}, {1, 0, 0, 1, 1, 1});
  op.In<float>({3}, {10, 20, 30}).In<float>({2, 3}, {-100, 0, 1, 2, 3, -100});
  op.Out(DType::kFloat32);
  op.params.fused_residual = true;
  op.params.activation = Activation::kRelu;
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<float>(0) == std::vector<float>{0, 22, 34, 15, 27, 0});
}

TEST_CASE("fully_connected: the same bytes on any number of threads", "[ops]") {
  for (const int batch : {1, 70}) {
    OneOp op(OpCode::kFullyConnected);
    op.In<float>({batch, 512}, RandomFloats(static_cast<size_t>(batch) * 512, 1));
    op.In<float>({1000, 512}, RandomFloats(512000, 2)).Out(DType::kFloat32);
    REQUIRE(op.Run(1).ToString() == "OK");
    const std::vector<float> one = op.Values<float>(0);
    for (const int threads : {2, 4}) {
      REQUIRE(op.Run(threads).ToString() == "OK");
      const bool same_bytes = op.Values<float>(0) == one;
      CHECK(same_bytes);
    }
  }
}

TEST_CASE("fully_connected: refuses what does not fit together", "[ops]") {
  const StatusCode invalid = StatusCode::kInvalidModel;
  CHECK(FullyConnectedRefusal({2, 5}, {3, 4}, nullptr, invalid, "rows of 4") == "");
  CHECK(FullyConnectedRefusal({2, 4}, {3, 4, 1}, nullptr, invalid, "rank 2 expected") == "");
  CHECK(FullyConnectedRefusal({2, 4}, {3, 0}, nullptr, invalid, "no dimension may be 0") == "");
  CHECK(FullyConnectedRefusal({2, 4}, {0, 4}, nullptr, invalid, "no dimension may be 0") == "");
  CHECK(FullyConnectedRefusal(
            {2, 2, 2}, {3, 4}, [](OpParams& p) { p.keep_dims = true; }, invalid,
            "last dimension must be the 4 columns") == "");
  CHECK(FullyConnectedRefusal(
            {2, 4}, {3, 4}, [](OpParams& p) { p.weights_format = 1; }, StatusCode::kUnsupported,
            "SHUFFLED4x16INT8 is for uint8 data") == "");
  OneOp bias(OpCode::kFullyConnected);
  bias.Unknown(DType::kFloat32, {2, 4}).Unknown(DType::kFloat32, {3, 4});
  CHECK(Refusal(bias.Unknown(DType::kFloat32, {4}).Out(DType::kFloat32), invalid,
                "one value for each of 3 channels") == "");
  OneOp wide(OpCode::kFullyConnected);
  wide.Unknown(DType::kFloat32, {2, 4}).Unknown(DType::kInt64, {3, 4}).Out(DType::kFloat32);
  CHECK(Refusal(wide, StatusCode::kUnsupported, "is int64; supported here: float32") == "");
}

TEST_CASE("fully_connected: refuses shuffled and wide weights that it cannot read", "[ops]") {
  const StatusCode invalid = StatusCode::kInvalidModel, unsupported = StatusCode::kUnsupported;
  CHECK(ShuffledRefusal({4, 16}, 128, 1, invalid, "a second output of uint8") == "");
  CHECK(ShuffledRefusal({6, 16}, 128, 2, invalid, "blocks of 4 rows of 16") == "");
  CHECK(ShuffledRefusal({4, 20}, 128, 2, invalid, "blocks of 4 rows of 16") == "");
  CHECK(ShuffledRefusal({4, 16}, 127, 2, unsupported, "it must be 128") == "");
  OneOp wide(OpCode::kFullyConnected);
  wide.Unknown(DType::kInt16, {1, 2}).Quantized({0.1f}, {0});
  wide.Unknown(DType::kInt16, {2, 2}).Quantized({0.1f, 0.2f}, {0, 0}).ScaleAxis(1);
  wide.Out(DType::kInt16).Quantized({0.1f}, {0});
  CHECK(Refusal(wide, unsupported, "2 scales along dimension 1") == "");
}

}  // namespace test
}  // namespace topwork
