// SPLIT, SPLIT_V: golden cases, malformed numbers of parts and sizes.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("split: golden cases", "[ops][sets]") { RunOpCases("split"); }

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
  const OneOp op = Accepted(OneOp(OpCode::kSplit)
                                .In<int32_t>({}, {0})
                                .Unknown(DType::kFloat32, {2, 3})
                                .Out(DType::kFloat32)
                                .Out(DType::kFloat32)
                                .Set(&OpParams::num_splits, 2));
  CheckRefusals({
      {op.With(&OpParams::num_splits, 3), kInvalidModel, "num_splits is 3 but there are 2"},
      {OneOp(OpCode::kSplit)
           .In<int32_t>({}, {0})
           .Unknown(DType::kFloat32, {2, 3})
           .Set(&OpParams::num_splits, 0),
       kInvalidModel, "num_splits is 0 but there are 0"},
      {op.With(0).In<int32_t>({}, {1}), kInvalidModel, "does not divide"},
      {op.With(0).In<int32_t>({}, {2}), kInvalidModel, "axis 2 is outside"},
      {op.With(0).In<int32_t>({}, {-3}), kInvalidModel, "axis -3 is outside"},
      {OneOp(OpCode::kSplit)
           .In<int32_t>({0}, {})
           .Unknown(DType::kFloat32, {2, 3})
           .Out(DType::kFloat32)
           .Set(&OpParams::num_splits, 1),
       kInvalidModel, "one value expected"},
      {OneOp(OpCode::kSplit)
           .In<int32_t>({}, {0})
           .Missing()
           .Out(DType::kFloat32)
           .Set(&OpParams::num_splits, 1),
       kInvalidModel, "lacks its input 1"},
      {OneOp(OpCode::kSplit)
           .In<int16_t>({}, {0})
           .Unknown(DType::kFloat32, {2, 3})
           .Out(DType::kFloat32)
           .Set(&OpParams::num_splits, 1),
       kUnsupported, "int16; supported"},
      {OneOp(OpCode::kSplit)
           .In<int32_t>({}, {0})
           .Unknown(DType::kString, {1})
           .Out(DType::kString)
           .Set(&OpParams::num_splits, 1),
       kUnsupported, "string"},
  });
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
  CHECK(DeferredFor(op) == 0);
}

TEST_CASE("split_v: golden cases", "[ops][sets]") { RunOpCases("split_v"); }

TEST_CASE("split_v: refuses malformed sizes", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kSplitV)
                                .Unknown(DType::kFloat32, {5})
                                .In<int32_t>({2}, {2, 3})
                                .In<int32_t>({}, {0})
                                .Out(DType::kFloat32)
                                .Out(DType::kFloat32)
                                .Set(&OpParams::num_splits, 2));
  CheckRefusals({
      {op.With(1).In<int32_t>({2}, {2, 2}), kInvalidModel, "sum up to 4, the dimension is 5"},
      {op.With(1).In<int32_t>({2}, {6, -1}), kInvalidModel, "sum up to 6"},
      {op.With(1).In<int32_t>({2}, {-1, -1}), kInvalidModel, "more than one"},
      {op.With(1).In<int32_t>({2}, {7, -2}), kInvalidModel, "is -2, outside"},
      {op.With(1).In<int64_t>({2}, {INT64_MAX, INT64_MAX}), kInvalidModel, "outside"},
      {op.With(1).In<int32_t>({1}, {5}), kInvalidModel, "size_splits has 1 values and there are 2"},
      {op.With(2).In<int32_t>({}, {1}), kInvalidModel, "axis 1 is outside"},
      {op.With(1).In<int32_t>({1, 2}, {2, 3}), kInvalidModel, "rank 1 expected"},
      // An input that the file leaves out (index -1).
      {op.With(1).Missing(), kInvalidModel, "lacks its input 1"},
      {op.With(2).Missing(), kInvalidModel, "lacks its input 2"},
      {op.With(0).Missing(), kInvalidModel, "lacks its input 0"},
  });
}

TEST_CASE("split_v: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kSplitV);
  op.Unknown(DType::kFloat32, {5})
      .Unknown(DType::kInt32, {2})
      .In<int32_t>({}, {0})
      .Out(DType::kFloat32)
      .Out(DType::kFloat32)
      .Set([](OpParams& p) { p.num_splits = 2; });
  CHECK(DeferredFor(op) == 1);
}

TEST_CASE("split_v: more parts than any other list has values", "[ops]") {
  OneOp op(OpCode::kSplitV);
  op.params.num_splits = 50;
  std::vector<int32_t> values(50);
  for (int32_t k = 0; k < 50; ++k) values[static_cast<size_t>(k)] = k;
  op.In<int32_t>({50}, values).In<int32_t>({50}, std::vector<int32_t>(50, 1)).In<int32_t>({}, {0});
  for (int k = 0; k < 50; ++k) op.Out(DType::kInt32);
  REQUIRE(op.Run().ToString() == "OK");
  for (int k = 0; k < 50; ++k) CHECK(op.Values<int32_t>(k) == std::vector<int32_t>{k});
}

}  // namespace test
}  // namespace topwork
