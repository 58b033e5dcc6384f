// Operators of few models: golden cases, and what golden cases cannot show.
#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "kernels/ops/signal/farm_hash.h"
#include "kernels/ops/signal/philox.h"
#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace rare_test {

TEST_CASE("segment_sum, unsorted_segment: golden cases", "[ops][sets]") {
  for (const char* name : {"segment_sum", "unsorted_segment_sum", "unsorted_segment_prod",
                           "unsorted_segment_max", "unsorted_segment_min"}) {
    RunOpCases(name);
  }
}
TEST_CASE("unique: golden cases", "[ops][sets]") { RunOpCases("unique"); }
TEST_CASE("non_max_suppression: golden cases", "[ops][sets]") {
  RunOpCases("non_max_suppression_v4");
  RunOpCases("non_max_suppression_v5");
}
TEST_CASE("fake_quant, bucketize: golden cases", "[ops][sets]") {
  RunOpCases("fake_quant");
  RunOpCases("bucketize");
}
TEST_CASE("bitwise_xor, right_shift: golden cases", "[ops][sets]") {
  RunOpCases("bitwise_xor");
  RunOpCases("right_shift");
}
TEST_CASE("dilate: golden cases", "[ops][sets]") { RunOpCases("dilate"); }
TEST_CASE("rfft2d and parts of complex numbers: golden cases", "[ops][sets]") {
  for (const char* name : {"rfft2d", "real", "imag", "complex_abs"}) RunOpCases(name);
}
TEST_CASE("random numbers: golden cases", "[ops][sets]") {
  for (const char* name : {"random_uniform", "random_standard_normal", "multinomial"}) {
    RunOpCases(name);
  }
}
TEST_CASE("conv_3d: golden cases", "[ops][sets]") {
  RunOpCases("conv_3d");
  RunOpCases("conv_3d_transpose");
}
TEST_CASE("look-ups by hash and sparse tensor: golden cases", "[ops][sets]") {
  for (const char* name : {"embedding_lookup_sparse", "hashtable_lookup", "lsh_projection"}) {
    RunOpCases(name);
  }
}

TEST_CASE("rare types of common operators: golden cases", "[ops][sets]") {
  for (const char* name : {"types_binary", "types_unary", "types_choices"}) RunOpCases(name);
}
TEST_CASE("reduce_window: golden cases", "[ops][sets]") { RunOpCases("reduce_window"); }

TEST_CASE("random: a plan goes on where its last run ended", "[ops]") {
  OneOp op(OpCode::kRandomUniform);
  op.params.seed = 42;
  op.In<int32_t>({1}, {5}).Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  const std::vector<float> first = op.Values<float>(0);
  RandomState state;
  state.Seed(op.params);
  CHECK(first[0] == UniformFloat(state.Block(0).word[0]));
  CHECK(first[4] == UniformFloat(state.Block(1).word[0]));
  OpParams unseeded;
  RandomState a, b;
  a.Seed(unseeded);
  b.Seed(unseeded);
  CHECK((a.key != b.key || a.high != b.high));
}

TEST_CASE("unique: all NaN are one value", "[ops]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OneOp op(OpCode::kUnique);
  op.params.out_dtype = DType::kInt32;
  op.In<float>({6}, {nan, 1, 0.0f, nan, -0.0f, 1}).Out(DType::kFloat32).Out(DType::kInt32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({3}));
  CHECK(op.Values<int32_t>(1) == std::vector<int32_t>{0, 1, 2, 0, 2, 1});
}

TEST_CASE("rfft2d: refuses what is no power of two", "[ops]") {
  for (const std::vector<int32_t>& size :
       {std::vector<int32_t>{6, 4}, {0, 4}, {4, -8}, {4, 4, 4}}) {
    OneOp op(OpCode::kRfft2d);
    op.Unknown(DType::kFloat32, {4, 4}).In<int32_t>({static_cast<int32_t>(size.size())}, size);
    op.Out(DType::kComplex64);
    CHECK(Refusal(op, StatusCode::kUnsupported, "two powers of two") == "");
  }
}

TEST_CASE("embedding_lookup_sparse: refuses elements outside", "[ops]") {
  const auto lookup = [](int32_t id, int32_t row) {
    OneOp op(OpCode::kEmbeddingLookupSparse);
    op.In<int32_t>({1}, {id}).In<int32_t>({1, 2}, {row, 0}).In<int32_t>({2}, {2, 5});
    op.In<float>({1}, {1}).In<float>({3, 1}, {1, 2, 3}).Out(DType::kFloat32);
    return op;
  };
  OneOp id = lookup(3, 0), row = lookup(0, 2), negative = lookup(0, -1);
  CHECK(RunRefusal(id, StatusCode::kInvalidArgument, "index 3") == "");
  CHECK(RunRefusal(row, StatusCode::kInvalidArgument, "outside the dense shape") == "");
  CHECK(RunRefusal(negative, StatusCode::kInvalidArgument, "outside the dense shape") == "");
}

TEST_CASE("conv_3d: refuses what does not fit", "[ops]") {
  OneOp channels(OpCode::kConv3d);
  channels.Unknown(DType::kFloat32, {1, 3, 3, 3, 2}).Unknown(DType::kFloat32, {1, 1, 1, 3, 4});
  CHECK(Refusal(channels.Out(DType::kFloat32), StatusCode::kInvalidModel, "its filter is for 3") ==
        "");
  OneOp stride(OpCode::kConv3d);
  stride.params.stride_d = 0;
  stride.Unknown(DType::kFloat32, {1, 3, 3, 3, 2}).Unknown(DType::kFloat32, {1, 1, 1, 2, 4});
  CHECK(Refusal(stride.Out(DType::kFloat32), StatusCode::kInvalidModel, "must be positive") == "");
}

TEST_CASE("fake_quant: refuses an interval without 0", "[ops]") {
  OneOp op(OpCode::kFakeQuant);
  op.params.min = 1.0f;
  op.params.max = 2.0f;
  op.params.count = 8;
  op.Unknown(DType::kFloat32, {2}).Out(DType::kFloat32);
  CHECK(Refusal(op, StatusCode::kInvalidModel, "min <= 0 <= max") == "");
}

TEST_CASE("farm_hash: lengths of every branch", "[ops]") {
  CHECK(FarmFingerprint64(nullptr, 0) == 0x9AE16A3B2F90404Fu);
  std::string text(200, 'x');
  std::vector<uint64_t> seen;
  for (const size_t n : {1, 3, 4, 8, 16, 17, 32, 33, 64, 65, 128, 129, 200}) {
    seen.push_back(FarmFingerprint64(reinterpret_cast<const uint8_t*>(text.data()), n));
  }
  for (size_t i = 1; i < seen.size(); ++i) CHECK(seen[i] != seen[i - 1]);
}

}  // namespace rare_test
}  // namespace test
}  // namespace topwork
