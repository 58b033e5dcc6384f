// STRIDED_SLICE: golden cases, malformed bounds, all masks.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("strided_slice: golden cases", "[ops]") { RunOpCases("strided_slice"); }

TEST_CASE("strided_slice: refuses malformed bounds", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {4})
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({1}, {4})
                    .In<int32_t>({1}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "stride 0 is 0") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {4})
                    .In<int32_t>({2}, {0, 0})
                    .In<int32_t>({2}, {4, 4})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "2 indices") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {4})
                    .In<int32_t>({2}, {0, 0})
                    .In<int32_t>({1}, {4})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "2, 1 and 1 values") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {4})
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({1}, {4})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "1, 1 and 2 values") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {4})
                    .In<int32_t>({1}, {4})
                    .In<int32_t>({1}, {5})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.shrink_axis_mask = 1; }),
                StatusCode::kInvalidModel, "index 4 with stride 1") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {4})
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({1}, {1})
                    .In<int32_t>({1}, {-1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.shrink_axis_mask = 1; }),
                StatusCode::kInvalidModel, "stride -1") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {0})
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({1}, {1})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.shrink_axis_mask = 1; }),
                StatusCode::kInvalidModel, "does not select") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({3}, {0, 0, 0})
                    .In<int32_t>({3}, {1, 1, 1})
                    .In<int32_t>({3}, {1, 1, 1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.ellipsis_mask = 3; }),
                StatusCode::kInvalidModel, "2 ellipses") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {4})
                    .In<int32_t>({40}, std::vector<int32_t>(40, 0))
                    .In<int32_t>({40}, std::vector<int32_t>(40, 1))
                    .In<int32_t>({40}, std::vector<int32_t>(40, 1))
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.new_axis_mask = -1; }),
                StatusCode::kInvalidModel, "40 values") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1})
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({1}, {1})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.new_axis_mask = 1; }),
                StatusCode::kUnsupported, "rank 9") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {4})
                    .In<int32_t>({}, {0})
                    .In<int32_t>({1}, {1})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 1 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {4})
                    .In<int64_t>({1}, {0})
                    .In<int32_t>({1}, {1})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "int64; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kFloat32, {4})
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 3") == "");
  CHECK(Refusal(OneOp(OpCode::kStridedSlice)
                    .Unknown(DType::kVariant, {4})
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({1}, {1})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kVariant),
                StatusCode::kUnsupported, "variant") == "");
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
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

}  // namespace test
}  // namespace topwork
