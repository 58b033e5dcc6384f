// EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT,
// SELECT, SELECT_V2: golden cases, types that those lack, malformed operators.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

namespace {

using BoolBytes = std::vector<uint8_t>;

}  // namespace

TEST_CASE("equal: golden cases", "[ops][sets]") { RunOpCases("equal"); }
TEST_CASE("not_equal: golden cases", "[ops][sets]") { RunOpCases("not_equal"); }
TEST_CASE("less: golden cases", "[ops][sets]") { RunOpCases("less"); }
TEST_CASE("less_equal: golden cases", "[ops][sets]") { RunOpCases("less_equal"); }
TEST_CASE("greater: golden cases", "[ops][sets]") { RunOpCases("greater"); }
TEST_CASE("greater_equal: golden cases", "[ops][sets]") { RunOpCases("greater_equal"); }
TEST_CASE("logical_and: golden cases", "[ops][sets]") { RunOpCases("logical_and"); }
TEST_CASE("logical_or: golden cases", "[ops][sets]") { RunOpCases("logical_or"); }
TEST_CASE("logical_not: golden cases", "[ops][sets]") { RunOpCases("logical_not"); }
TEST_CASE("select: golden cases", "[ops][sets]") { RunOpCases("select"); }
TEST_CASE("select_v2: golden cases", "[ops][sets]") { RunOpCases("select_v2"); }

TEST_CASE("compare: narrow integers without quantization", "[ops]") {
  OneOp less(OpCode::kLess);
  less.In<int8_t>({3}, {-128, 5, 127}).In<int8_t>({1}, {5}).Out(DType::kBool);
  REQUIRE(less.Run().ToString() == "OK");
  CHECK(less.Values<uint8_t>(0) == BoolBytes{1, 0, 0});
  OneOp equal(OpCode::kEqual);
  equal.In<uint8_t>({3}, {255, 5, 0}).In<uint8_t>({3}, {255, 4, 0}).Out(DType::kBool);
  REQUIRE(equal.Run().ToString() == "OK");
  CHECK(equal.Values<uint8_t>(0) == BoolBytes{1, 0, 1});
  OneOp greater(OpCode::kGreater);
  greater.In<int16_t>({2}, {-300, 300}).In<int16_t>({}, {0}).Out(DType::kBool);
  REQUIRE(greater.Run().ToString() == "OK");
  CHECK(greater.Values<uint8_t>(0) == BoolBytes{0, 1});
}

TEST_CASE("compare: refuses malformed operators", "[ops]") {
  const OneOp less = Accepted(OneOp(OpCode::kLess)
                                  .Unknown(DType::kInt8, {2})
                                  .Quantized({0.5f}, {0})
                                  .Unknown(DType::kInt8, {2})
                                  .Quantized({0.5f}, {0})
                                  .Out(DType::kBool));
  const OneOp equal = Accepted(OneOp(OpCode::kEqual)
                                   .Unknown(DType::kFloat32, {2})
                                   .Unknown(DType::kFloat32, {2})
                                   .Out(DType::kBool));
  CheckRefusals({
      {less.With(1).Unknown(DType::kInt8, {2}), kInvalidModel, "is int8 but has no scale"},
      {less.With(0).Unknown(DType::kBool, {2}).At(1).Unknown(DType::kBool, {2}), kUnsupported,
       "is bool"},
      {equal.With(1).Unknown(DType::kInt32, {2}), kInvalidModel, "int32"},
      {equal.With(1).Unknown(DType::kFloat32, {3}), kInvalidModel, "do not fit together"},
      {equal.With().Out(0, DType::kFloat32), kInvalidModel, "makes bool"},
  });
}

TEST_CASE("logical: any byte but 0 is true", "[ops]") {
  OneOp both(OpCode::kLogicalAnd);
  both.InBool({4}, {2, 0, 255, 1}).InBool({4}, {4, 1, 0, 1}).Out(DType::kBool);
  REQUIRE(both.Run().ToString() == "OK");
  CHECK(both.Values<uint8_t>(0) == BoolBytes{1, 0, 0, 1});
  OneOp inverse(OpCode::kLogicalNot);
  inverse.InBool({3}, {2, 0, 1}).Out(DType::kBool);
  REQUIRE(inverse.Run().ToString() == "OK");
  CHECK(inverse.Values<uint8_t>(0) == BoolBytes{0, 1, 0});
}

TEST_CASE("logical: refuses numbers", "[ops]") {
  CheckRefusals({
      {OneOp(OpCode::kLogicalOr)
           .Unknown(DType::kBool, {2})
           .Unknown(DType::kInt32, {2})
           .Out(DType::kBool),
       kUnsupported, "is int32; supported here: bool"},
      {OneOp(OpCode::kLogicalNot).Unknown(DType::kFloat32, {2}).Out(DType::kBool), kUnsupported,
       "is float32; supported here: bool"},
  });
}

TEST_CASE("select: values of 1, 2 and 8 bytes", "[ops]") {
  OneOp bytes(OpCode::kSelectV2);
  bytes.InBool({2, 1}, {1, 0}).In<int8_t>({3}, {1, 2, 3}).In<int8_t>({}, {-9}).Out(DType::kInt8);
  REQUIRE(bytes.Run().ToString() == "OK");
  CHECK(bytes.shape(0) == Shape({2, 3}));
  CHECK(bytes.Values<int8_t>(0) == std::vector<int8_t>{1, 2, 3, -9, -9, -9});
  OneOp words(OpCode::kSelect);
  words.InBool({2}, {0, 1})
      .In<int16_t>({2, 2}, {1, 2, 3, 4})
      .In<int16_t>({2, 2}, {5, 6, 7, 8})
      .Out(DType::kInt16);
  REQUIRE(words.Run().ToString() == "OK");
  CHECK(words.Values<int16_t>(0) == std::vector<int16_t>{5, 6, 3, 4});
  OneOp wide(OpCode::kSelectV2);
  wide.InBool({3}, {0, 7, 0}).In<int64_t>({}, {1}).In<int64_t>({3}, {4, 5, 6}).Out(DType::kInt64);
  REQUIRE(wide.Run().ToString() == "OK");
  CHECK(wide.Values<int64_t>(0) == std::vector<int64_t>{4, 1, 6});
}

TEST_CASE("select: refuses malformed operators", "[ops]") {
  const OneOp select = Accepted(OneOp(OpCode::kSelect)
                                    .Unknown(DType::kBool, {2})
                                    .Unknown(DType::kFloat32, {2, 3})
                                    .Unknown(DType::kFloat32, {2, 3})
                                    .Out(DType::kFloat32));
  const OneOp select_v2 = Accepted(OneOp(OpCode::kSelectV2)
                                       .Unknown(DType::kBool, {2})
                                       .Unknown(DType::kFloat32, {2})
                                       .Unknown(DType::kFloat32, {2})
                                       .Out(DType::kFloat32));
  CheckRefusals({
      {select.With(0).Unknown(DType::kBool, {3}), kInvalidModel, "the condition input 0"},
      {select.With(0).Unknown(DType::kBool, {}).At(2).Unknown(DType::kFloat32, {3}), kInvalidModel,
       "must be equal"},
      {select_v2.With(0).Unknown(DType::kInt32, {2}), kUnsupported, "supported here: bool"},
      {select_v2.With(2).Unknown(DType::kInt32, {2}), kInvalidModel, "int32"},
      {select_v2.With(1)
           .Unknown(DType::kInt8, {2})
           .Quantized({0.5f}, {0})
           .At(2)
           .Unknown(DType::kInt8, {2})
           .Quantized({0.25f}, {0})
           .Out(0, DType::kInt8)
           .Quantized({0.5f}, {0}),
       kUnsupported, "different scales"},
      {select_v2.With(1)
           .Unknown(DType::kComplex128, {2})
           .At(2)
           .Unknown(DType::kComplex128, {2})
           .Out(0, DType::kComplex128),
       kUnsupported, "more than 8 bytes"},
  });
}

}  // namespace test
}  // namespace topwork
