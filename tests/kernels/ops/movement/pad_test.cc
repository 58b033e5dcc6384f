// PAD, PADV2, MIRROR_PAD: golden cases, malformed paddings.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

namespace {

// Nothing added to [2, 3].
OneOp PadOp(OpCode code) {
  OneOp op(code);
  op.Unknown(DType::kFloat32, {2, 3}).In<int32_t>({2, 2}, {0, 0, 0, 0}).Out(DType::kFloat32);
  return code == OpCode::kPadv2 ? op.With(2).In<float>({}, {7}) : op;
}

constexpr OpCode kPadOps[] = {OpCode::kPad, OpCode::kPadv2, OpCode::kMirrorPad};

}  // namespace

TEST_CASE("pad: golden cases", "[ops][sets]") { RunOpCases("pad"); }
TEST_CASE("padv2: golden cases", "[ops][sets]") { RunOpCases("padv2"); }
TEST_CASE("mirror_pad: golden cases", "[ops][sets]") { RunOpCases("mirror_pad"); }

TEST_CASE("pad, padv2, mirror_pad: refuse malformed paddings", "[ops]") {
  for (const OpCode code : kPadOps) {
    INFO(OpCodeName(code));
    const OneOp op = Accepted(PadOp(code));
    CheckRefusals({
        {op.With(1).In<int32_t>({2, 2}, {0, 0, 0, -1}), kInvalidModel, "a padding is -1"},
        {op.With(1).In<int32_t>({2, 2}, {0, 0, INT32_MAX, 0}), kInvalidModel,
         "a padded dimension is 2147483650"},
        {op.With(1).In<int32_t>({3}, {1, 1, 1}), kInvalidModel, "rank 2 expected"},
        {op.With(1).In<int32_t>({3, 2}, {1, 1, 1, 1, 1, 1}), kInvalidModel, "[2, 2] expected"},
        {op.With(1).In<int32_t>({2, 1}, {1, 1}), kInvalidModel, "[2, 2] expected"},
        {op.With(1).In<float>({2, 2}, {0, 0, 0, 0}), kUnsupported, "float32; supported"},
        {op.First(1), kInvalidModel, "lacks its input 1"},
        {OneOp(code).Unknown(DType::kString, {1}).In<int32_t>({1, 2}, {0, 0}).Out(DType::kString),
         kUnsupported, "string"},
        {OneOp(code)
             .Unknown(DType::kInt8, {1})
             .Quantized({0.5f}, {0})
             .In<int32_t>({1, 2}, {0, 0})
             .Out(DType::kInt8)
             .Quantized({0.5f}, {3}),
         kUnsupported, "different scales"},
    });
  }
}

TEST_CASE("pad, padv2: refuse more than memory can hold", "[ops]") {
  for (const OpCode code : {OpCode::kPad, OpCode::kPadv2}) {
    const OneOp op = PadOp(code);
    CheckRefusals({{op.With(0)
                        .Unknown(DType::kFloat32, {1, 1, 1})
                        .At(1)
                        .In<int32_t>({3, 2}, {2000000000, 0, 2000000000, 0, 2000000000, 0}),
                    kInvalidModel, "too large"}});
  }
}

TEST_CASE("padv2: refuses another value than one of the input's type", "[ops]") {
  const OneOp op = PadOp(OpCode::kPadv2);
  CheckRefusals({
      {op.With(2).In<float>({2}, {1, 2}), kInvalidModel, "one value expected"},
      {op.With(2).In<int32_t>({}, {1}), kInvalidModel, "they must agree"},
  });
}

TEST_CASE("mirror_pad: refuses more than there is to mirror", "[ops]") {
  const OneOp op = PadOp(OpCode::kMirrorPad);
  CheckRefusals({
      {op.With(1).In<int32_t>({2, 2}, {2, 0, 0, 0}), kInvalidModel, "exceed the 1 elements"},
      {op.With(1).In<int32_t>({2, 2}, {3, 0, 0, 0}).Set(&OpParams::mode, 1), kInvalidModel,
       "exceed the 2 elements"},
      {op.With(0).Unknown(DType::kFloat32, {0}).At(1).In<int32_t>({1, 2}, {1, 0}), kInvalidModel,
       "exceed the 0 elements"},
  });
}

TEST_CASE("pad, padv2, mirror_pad: paddings that only a run knows defer them", "[ops]") {
  for (const OpCode code : kPadOps) {
    INFO(OpCodeName(code));
    OneOp op = PadOp(code).With(1).Unknown(DType::kInt32, {2, 2});
    CHECK(DeferredFor(op) == 1);
  }
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
