// SLICE, STRIDED_SLICE, DYNAMIC_UPDATE_SLICE: golden cases, malformed bounds, all masks.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("slice: golden cases", "[ops][sets]") { RunOpCases("slice"); }

TEST_CASE("slice: refuses malformed boxes", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kSlice)
                                .Unknown(DType::kFloat32, {2, 3})
                                .In<int32_t>({2}, {0, 0})
                                .In<int32_t>({2}, {1, 1})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<int32_t>({2}, {0, 1}).At(2).In<int32_t>({2}, {2, 3}), kInvalidModel,
       "leave dimension 1"},
      {op.With(1).In<int32_t>({2}, {-1, 0}).At(2).In<int32_t>({2}, {1, 3}), kInvalidModel,
       "leave dimension 0"},
      {op.With(1).In<int32_t>({2}, {3, 0}).At(2).In<int32_t>({2}, {-1, 3}), kInvalidModel,
       "leave dimension 0"},
      {op.With(2).In<int32_t>({2}, {-2, 3}), kInvalidModel, "leave dimension 0"},
      {op.With(1).In<int32_t>({2}, {INT32_MAX, 0}).At(2).In<int32_t>({2}, {INT32_MAX, 3}),
       kInvalidModel, "leave dimension 0"},
      {op.With(1).In<int64_t>({2}, {INT64_MAX, 0}).At(2).In<int64_t>({2}, {INT64_MAX, 3}),
       kInvalidModel, "leave dimension 0"},
      {op.With(1).In<int32_t>({1}, {0}), kInvalidModel, "has 1 values for a tensor of rank 2"},
      {op.With(2).In<int32_t>({3}, {1, 1, 1}), kInvalidModel, "has 3 values"},
      {op.With(1).In<int32_t>({1, 2}, {0, 0}), kInvalidModel, "rank 1 expected"},
      {op.With(1).In<float>({2}, {0, 0}), kUnsupported, "float32; supported"},
      {op.First(2), kInvalidModel, "lacks its input 2"},
      {OneOp(OpCode::kSlice)
           .Unknown(DType::kVariant, {1})
           .In<int32_t>({1}, {0})
           .In<int32_t>({1}, {1})
           .Out(DType::kVariant),
       kUnsupported, "variant"},
  });
}

TEST_CASE("slice: offers a view of a contiguous box", "[ops]") {
  OneOp op(OpCode::kSlice);
  op.Unknown(DType::kFloat32, {4, 5}).In<int32_t>({2}, {1, 0}).In<int32_t>({2}, {2, -1});
  op.Out(DType::kFloat32);
  REQUIRE(op.Prepare().ToString() == "OK");
  REQUIRE(op.context().views().size() == 1);
  CHECK(op.context().views()[0].input_offset == 20);
  OneOp column(OpCode::kSlice);
  column.Unknown(DType::kFloat32, {4, 5}).In<int32_t>({2}, {0, 1}).In<int32_t>({2}, {4, 1});
  column.Out(DType::kFloat32);
  REQUIRE(column.Prepare().ToString() == "OK");
  CHECK(column.context().views().empty());
}

TEST_CASE("slice: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kSlice);
  op.Unknown(DType::kFloat32, {6})
      .In<int32_t>({1}, {0})
      .Unknown(DType::kInt32, {1})
      .Out(DType::kFloat32);
  CHECK(DeferredFor(op) == 2);
}

TEST_CASE("strided_slice: golden cases", "[ops][sets]") { RunOpCases("strided_slice"); }

TEST_CASE("strided_slice: refuses malformed bounds", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kStridedSlice)
                                .Unknown(DType::kFloat32, {4})
                                .In<int32_t>({1}, {0})
                                .In<int32_t>({1}, {1})
                                .In<int32_t>({1}, {1})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(2).In<int32_t>({1}, {4}).At(3).In<int32_t>({1}, {0}), kInvalidModel,
       "stride 0 is 0"},
      {op.With(1)
           .In<int32_t>({2}, {0, 0})
           .At(2)
           .In<int32_t>({2}, {4, 4})
           .At(3)
           .In<int32_t>({2}, {1, 1}),
       kInvalidModel, "2 indices"},
      {op.With(1).In<int32_t>({2}, {0, 0}).At(2).In<int32_t>({1}, {4}), kInvalidModel,
       "2, 1 and 1 values"},
      {op.With(2).In<int32_t>({1}, {4}).At(3).In<int32_t>({2}, {1, 1}), kInvalidModel,
       "1, 1 and 2 values"},
      {op.With(1).In<int32_t>({1}, {4}).At(2).In<int32_t>({1}, {5}).Set(&OpParams::shrink_axis_mask,
                                                                        1),
       kInvalidModel, "index 4 with stride 1"},
      {op.With(3).In<int32_t>({1}, {-1}).Set(&OpParams::shrink_axis_mask, 1), kInvalidModel,
       "stride -1"},
      {op.With(0).Unknown(DType::kFloat32, {0}).Set(&OpParams::shrink_axis_mask, 1), kInvalidModel,
       "does not select"},
      {op.With(0)
           .Unknown(DType::kFloat32, {2, 3})
           .At(1)
           .In<int32_t>({3}, {0, 0, 0})
           .At(2)
           .In<int32_t>({3}, {1, 1, 1})
           .At(3)
           .In<int32_t>({3}, {1, 1, 1})
           .Set(&OpParams::ellipsis_mask, 3),
       kInvalidModel, "2 ellipses"},
      {op.With(1)
           .In<int32_t>({40}, std::vector<int32_t>(40, 0))
           .At(2)
           .In<int32_t>({40}, std::vector<int32_t>(40, 1))
           .At(3)
           .In<int32_t>({40}, std::vector<int32_t>(40, 1))
           .Set(&OpParams::new_axis_mask, -1),
       kInvalidModel, "40 values"},
      {op.With(0)
           .Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1})
           .Set(&OpParams::new_axis_mask, 1),
       kUnsupported, "rank 9"},
      {op.With(1).In<int32_t>({}, {0}), kInvalidModel, "rank 1 expected"},
      {op.With(1).In<int16_t>({1}, {0}), kUnsupported, "int16; supported"},
      {op.First(3), kInvalidModel, "lacks its input 3"},
      {op.With(0).Unknown(DType::kVariant, {4}).Out(0, DType::kVariant), kUnsupported, "variant"},
  });
}

TEST_CASE("strided_slice: every mask and extreme number ends", "[ops]") {
  // Any combination of masks gives a shape or a Status, quickly.
  for (int mask = 0; mask < 1024; ++mask) {
    for (const int32_t stride : {1, -1, 3, INT32_MAX, INT32_MIN}) {
      OneOp op(OpCode::kStridedSlice);
      op.params.begin_mask = mask & 3;
      op.params.end_mask = mask >> 2 & 3;
      op.params.ellipsis_mask = mask >> 4 & 3;
      op.params.new_axis_mask = mask >> 6 & 3;
      op.params.shrink_axis_mask = mask >> 8 & 3;
      op.In<int16_t>({2, 3}, {0, 1, 2, 3, 4, 5}).In<int32_t>({2}, {INT32_MIN, INT32_MAX});
      op.In<int32_t>({2}, {INT32_MAX, INT32_MIN}).In<int32_t>({2}, {stride, stride});
      op.Out(DType::kInt16);
      const Status status = op.Run();
      if (status.ok()) {
        for (const int16_t value : op.Values<int16_t>(0)) CHECK((value >= 0 && value < 6));
      } else {
        CHECK(status.code() == StatusCode::kInvalidModel);
      }
    }
  }
}

TEST_CASE("strided_slice: offers a view of a contiguous box", "[ops]") {
  OneOp op(OpCode::kStridedSlice);
  op.params.shrink_axis_mask = 1;
  op.Unknown(DType::kFloat32, {4, 5}).In<int32_t>({1}, {2}).In<int32_t>({1}, {3});
  op.In<int32_t>({1}, {1}).Out(DType::kFloat32);
  REQUIRE(op.Prepare().ToString() == "OK");
  CHECK(op.shape(0) == Shape({5}));
  REQUIRE(op.context().views().size() == 1);
  CHECK(op.context().views()[0].input_offset == 40);
}

TEST_CASE("strided_slice: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kStridedSlice);
  op.Unknown(DType::kFloat32, {6})
      .Unknown(DType::kInt32, {1})
      .In<int32_t>({1}, {3})
      .In<int32_t>({1}, {1})
      .Out(DType::kFloat32);
  CHECK(DeferredFor(op) == 1);
}

TEST_CASE("dynamic_update_slice: golden cases", "[ops][sets]") {
  RunOpCases("dynamic_update_slice");
}

TEST_CASE("dynamic_update_slice: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kDynamicUpdateSlice)
                                .In<float>({2, 2}, {1, 2, 3, 4})
                                .In<float>({1, 1}, {1})
                                .In<int32_t>({2}, {0, 0})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<float>({1, 3}, {1, 2, 3}), kInvalidModel, "does not fit"},
      {op.With(1).In<float>({1}, {1}), kInvalidModel, "does not fit"},
      {op.With(2).In<int32_t>({1}, {0}), kInvalidModel, "[2] expected"},
      {op.With(2).In<int32_t>({1, 2}, {0, 0}), kInvalidModel, "[2] expected"},
      {op.With(1).In<int32_t>({1, 1}, {1}), kInvalidModel, "they must agree"},
      {op.With(2).In<float>({2}, {0, 0}), kUnsupported, "float32; supported"},
      {op.First(2), kInvalidModel, "lacks its input 2"},
  });
}

TEST_CASE("dynamic_update_slice: the start is clamped", "[ops]") {
  for (const int64_t start : {INT64_MIN, int64_t{-1}, int64_t{1}, int64_t{2}, INT64_MAX}) {
    OneOp op(OpCode::kDynamicUpdateSlice);
    op.In<float>({2, 2}, {1, 2, 3, 4}).In<float>({1, 2}, {8, 9}).In<int64_t>({2}, {start, start});
    op.Out(DType::kFloat32);
    REQUIRE(op.Run().ToString() == "OK");
    const std::vector<float> first{8, 9, 3, 4}, second{1, 2, 8, 9};
    CHECK(op.Values<float>(0) == (start <= 0 ? first : second));
  }
}

TEST_CASE("dynamic_update_slice: an empty update changes nothing", "[ops]") {
  OneOp op(OpCode::kDynamicUpdateSlice);
  op.In<float>({2}, {1, 2}).In<float>({0}, {}).In<int32_t>({1}, {5}).Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<float>(0) == std::vector<float>{1, 2});
}

}  // namespace test
}  // namespace topwork
