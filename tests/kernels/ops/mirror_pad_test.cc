// MIRROR_PAD: golden cases, malformed paddings.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("mirror_pad: golden cases", "[ops]") { RunOpCases("mirror_pad"); }

TEST_CASE("mirror_pad: refuses malformed paddings", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 2}, {0, 0, 0, -1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "a padding is -1") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 2}, {0, 0, INT32_MAX, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "a padded dimension is") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({3}, {1, 1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 2 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({3, 2}, {1, 1, 1, 1, 1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2, 2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 1}, {1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2, 2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<float>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad).Unknown(DType::kFloat32, {2, 3}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kString, {1})
                    .In<int32_t>({1, 2}, {0, 0})
                    .Out(DType::kString),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kInt8, {1})
                    .Quantized({0.5f}, {0})
                    .In<int32_t>({1, 2}, {0, 0})
                    .Out(DType::kInt8)
                    .Quantized({0.5f}, {3}),
                StatusCode::kUnsupported, "different scales") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 2}, {2, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "exceed the 1 elements") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2, 2}, {3, 0, 0, 0})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.mode = 1; }),
                StatusCode::kInvalidModel, "exceed the 2 elements") == "");
  CHECK(Refusal(OneOp(OpCode::kMirrorPad)
                    .Unknown(DType::kFloat32, {0})
                    .In<int32_t>({1, 2}, {1, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "exceed the 0 elements") == "");
}

TEST_CASE("mirror_pad: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kMirrorPad);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt32, {1, 2}).Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

TEST_CASE("mirror_pad: the mode must exist", "[ops]") {
  const OpDef& def = *FindOp(OpCode::kMirrorPad);
  OpParams params;
  CHECK(def.parse(OptionsView(), &params).ok());
  // A table whose only field, a byte, is 2: vtable {6, 5, 4}, then the table.
  alignas(4) const uint8_t table[] = {6, 0, 5, 0, 4, 0, 0, 0, 8, 0, 0, 0, 2};
  CHECK(def.parse(OptionsView(table + 8), &params).code() == StatusCode::kInvalidModel);
}

}  // namespace test
}  // namespace topwork
