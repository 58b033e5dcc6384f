// PAD: golden cases, malformed paddings.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("pad: golden cases", "[ops]") { RunOpCases("pad"); }

TEST_CASE("pad: refuses malformed paddings", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 2}, {0, 0, 0, -1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "a padding is -1") == "");
  CHECK(Refusal(OneOp(OpCode::kPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 2}, {0, 0, INT32_MAX, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "a padded dimension is 2147483650") == "");
  CHECK(Refusal(OneOp(OpCode::kPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({3}, {1, 1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 2 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({3, 2}, {1, 1, 1, 1, 1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2, 2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 1}, {1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2, 2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<float>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kPad).Unknown(DType::kFloat32, {2, 3}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
  CHECK(Refusal(OneOp(OpCode::kPad)
                    .Unknown(DType::kString, {1})
                    .In<int32_t>({1, 2}, {0, 0})
                    .Out(DType::kString),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kPad)
                    .Unknown(DType::kInt8, {1})
                    .Quantized({0.5f}, {0})
                    .In<int32_t>({1, 2}, {0, 0})
                    .Out(DType::kInt8)
                    .Quantized({0.5f}, {3}),
                StatusCode::kUnsupported, "different scales") == "");
  CHECK(Refusal(OneOp(OpCode::kPad)
                    .Unknown(DType::kFloat32, {1, 1, 1})
                    .In<int32_t>({3, 2}, {2000000000, 0, 2000000000, 0, 2000000000, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
}

TEST_CASE("pad: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kPad);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt32, {1, 2}).Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

TEST_CASE("pad: quantized values are padded with the zero point", "[ops]") {
  OneOp op(OpCode::kPad);
  op.In<int8_t>({2}, {1, 2}).Quantized({0.5f}, {-3}).In<int32_t>({1, 2}, {1, 2});
  op.Out(DType::kInt8).Quantized({0.5f}, {-3});
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int8_t>(0) == std::vector<int8_t>{-3, 1, 2, -3, -3});
}

TEST_CASE("pad: an empty input gives nothing but padding", "[ops]") {
  OneOp op(OpCode::kPad);
  op.In<int64_t>({0, 2}, {}).In<int32_t>({2, 2}, {1, 0, 0, 1}).Out(DType::kInt64);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int64_t>(0) == std::vector<int64_t>(3, 0));
}

TEST_CASE("pad: no padding is a view", "[ops]") {
  OneOp op(OpCode::kPad);
  op.Unknown(DType::kFloat32, {2}).In<int32_t>({1, 2}, {0, 0}).Out(DType::kFloat32);
  REQUIRE(op.Prepare().ToString() == "OK");
  CHECK(op.context().views().size() == 1);
}

}  // namespace test
}  // namespace topwork
