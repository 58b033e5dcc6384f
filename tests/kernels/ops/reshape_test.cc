// RESHAPE: golden cases, malformed shapes, legacy forms.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("reshape: golden cases", "[ops]") { RunOpCases("reshape"); }

TEST_CASE("reshape: refuses malformed shapes", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {4, 2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "the numbers of elements differ") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {-1, -1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "more than one dimension is -1") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {-2, -3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "below -1") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {4, -1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "the numbers of elements differ") == "");
  // 2^31 × 2^31 × 2^31 × 6: the product of the dimensions overflows.
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({4}, {INT32_MAX, INT32_MAX, INT32_MAX, 6})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int64_t>({2}, {int64_t{1} << 40, 6})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({9}, {1, 1, 1, 1, 1, 1, 1, 2, 3})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "rank 9") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({40}, std::vector<int32_t>(40, 1))
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "40 values") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {0, 3})
                    .In<int32_t>({2}, {0, -1})
                    .Out(DType::kInt32),
                StatusCode::kInvalidModel, "declared int32") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape).Missing().In<int32_t>({1}, {6}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 0") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape).Out(DType::kFloat32), StatusCode::kInvalidModel,
                "lacks its input 0") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({1}, {6})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "2 outputs, 1 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kVariant, {6})
                    .In<int32_t>({1}, {6})
                    .Out(DType::kVariant),
                StatusCode::kUnsupported, "variant") == "");
  CHECK(Refusal(OneOp(OpCode::kReshape)
                    .Unknown(DType::kFloat32, {6})
                    .In<float>({1}, {6})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  // No shape at all means a scalar, which six elements are not.
  CHECK(Refusal(OneOp(OpCode::kReshape).Unknown(DType::kFloat32, {2, 3}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "to []: the numbers of elements differ") == "");
}

TEST_CASE("reshape: quantized values keep their scale", "[ops]") {
  OneOp op(OpCode::kReshape);
  op.Unknown(DType::kInt8, {6}).Quantized({0.5f}, {1}).In<int32_t>({2}, {2, 3});
  op.Out(DType::kInt8).Quantized({0.25f}, {1});
  CHECK(Refusal(op, StatusCode::kUnsupported, "different scales or zero points") == "");
  OneOp same(OpCode::kReshape);
  same.Unknown(DType::kInt8, {6}).Quantized({0.5f}, {1}).In<int32_t>({2}, {2, 3});
  same.Out(DType::kInt8).Quantized({0.5f}, {1});
  CHECK(same.Prepare().ToString() == "OK");
}

TEST_CASE("reshape: the old way to write a scalar", "[ops]") {
  OneOp op(OpCode::kReshape);
  op.params.n_dims = 1;
  op.In<float>({1, 1}, {7}).Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0).rank() == 0);
  CHECK(op.Values<float>(0) == std::vector<float>{7});
}

TEST_CASE("reshape: packed int4 passes through", "[ops]") {
  OneOp op(OpCode::kReshape);
  op.Unknown(DType::kInt4, {3, 3}).In<int32_t>({1}, {9}).Out(DType::kInt4);
  REQUIRE(op.Prepare().ToString() == "OK");
  CHECK(op.context().outputs()[0].bytes() == 5);
  CHECK(op.context().views().size() == 1);
}

TEST_CASE("reshape: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kReshape);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt32, {2}).Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

}  // namespace test
}  // namespace topwork
