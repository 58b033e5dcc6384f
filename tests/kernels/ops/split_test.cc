// SPLIT: golden cases, malformed splits, zero-copy offers.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("split: golden cases", "[ops]") { RunOpCases("split"); }

TEST_CASE("split, split_v: the axis may be int64", "[ops]") {
  OneOp op(OpCode::kSplit);
  op.params.num_splits = 2;
  op.In<int64_t>({}, {-1})
      .In<float>({2, 2}, {1, 2, 3, 4})
      .Out(DType::kFloat32)
      .Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<float>(1) == std::vector<float>{2, 4});
  OneOp sizes(OpCode::kSplitV);
  sizes.params.num_splits = 1;
  sizes.In<float>({2, 2}, {1, 2, 3, 4}).In<int32_t>({1}, {2}).In<int64_t>({}, {1});
  sizes.Out(DType::kFloat32);
  REQUIRE(sizes.Run().ToString() == "OK");
  CHECK(sizes.Values<float>(0) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("split: refuses malformed splits", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kSplit)
                    .In<int32_t>({}, {0})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 3; }),
                StatusCode::kInvalidModel, "num_splits is 3 but there are 2") == "");
  CHECK(Refusal(OneOp(OpCode::kSplit)
                    .In<int32_t>({}, {0})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Set([](OpParams& p) { p.num_splits = 0; }),
                StatusCode::kInvalidModel, "num_splits is 0 but there are 0") == "");
  CHECK(Refusal(OneOp(OpCode::kSplit)
                    .In<int32_t>({}, {1})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "does not divide") == "");
  CHECK(Refusal(OneOp(OpCode::kSplit)
                    .In<int32_t>({}, {2})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "axis 2 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kSplit)
                    .In<int32_t>({}, {-3})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "axis -3 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kSplit)
                    .In<int32_t>({0}, {})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 1; }),
                StatusCode::kInvalidModel, "one value expected") == "");
  CHECK(Refusal(OneOp(OpCode::kSplit)
                    .In<int32_t>({}, {0})
                    .Missing()
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 1; }),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
  CHECK(Refusal(OneOp(OpCode::kSplit)
                    .In<int16_t>({}, {0})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 1; }),
                StatusCode::kUnsupported, "int16; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kSplit)
                    .In<int32_t>({}, {0})
                    .Unknown(DType::kString, {1})
                    .Out(DType::kString)
                    .Set([](OpParams& p) { p.num_splits = 1; }),
                StatusCode::kUnsupported, "string") == "");
}

TEST_CASE("split: offers views of contiguous parts", "[ops]") {
  OneOp op(OpCode::kSplit);
  op.params.num_splits = 2;
  op.In<int32_t>({}, {1}).Unknown(DType::kFloat32, {1, 4, 5});
  op.Out(DType::kFloat32).Out(DType::kFloat32);
  REQUIRE(op.Prepare().ToString() == "OK");
  REQUIRE(op.context().views().size() == 2);
  CHECK_FALSE(op.context().inside_output());
  CHECK(op.context().views()[1].input == 1);
  CHECK(op.context().views()[1].output == 1);
  CHECK(op.context().views()[1].input_offset == 40);
}

TEST_CASE("split: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kSplit);
  op.Unknown(DType::kInt32, {})
      .Unknown(DType::kFloat32, {4})
      .Out(DType::kFloat32)
      .Out(DType::kFloat32)
      .Set([](OpParams& p) { p.num_splits = 2; });
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 0);
}

}  // namespace test
}  // namespace topwork
