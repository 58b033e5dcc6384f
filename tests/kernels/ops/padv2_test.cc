// PADV2: golden cases, malformed paddings.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("padv2: golden cases", "[ops]") { RunOpCases("padv2"); }

TEST_CASE("padv2: refuses malformed paddings", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 2}, {0, 0, 0, -1})
                    .In<float>({}, {7})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "a padding is -1") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 2}, {0, 0, INT32_MAX, 0})
                    .In<float>({}, {7})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "a padded dimension is 2147483650") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({3}, {1, 1, 1})
                    .In<float>({}, {7})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 2 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({3, 2}, {1, 1, 1, 1, 1, 1})
                    .In<float>({}, {7})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2, 2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 1}, {1, 1})
                    .In<float>({}, {7})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2, 2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<float>({2, 2}, {0, 0, 0, 0})
                    .In<float>({}, {7})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2).Unknown(DType::kFloat32, {2, 3}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kString, {1})
                    .In<int32_t>({1, 2}, {0, 0})
                    .Out(DType::kString),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kInt8, {1})
                    .Quantized({0.5f}, {0})
                    .In<int32_t>({1, 2}, {0, 0})
                    .Out(DType::kInt8)
                    .Quantized({0.5f}, {3}),
                StatusCode::kUnsupported, "different scales") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kFloat32, {1, 1, 1})
                    .In<int32_t>({3, 2}, {2000000000, 0, 2000000000, 0, 2000000000, 0})
                    .In<float>({}, {7})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .In<float>({2}, {1, 2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "one value expected") == "");
  CHECK(Refusal(OneOp(OpCode::kPadv2)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .In<int32_t>({}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "they must agree") == "");
}

TEST_CASE("padv2: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kPadv2);
  op.Unknown(DType::kFloat32, {6})
      .Unknown(DType::kInt32, {1, 2})
      .In<float>({}, {7})
      .Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

}  // namespace test
}  // namespace topwork
