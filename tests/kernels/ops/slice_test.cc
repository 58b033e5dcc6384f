// SLICE: golden cases, malformed boxes, zero-copy offers.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("slice: golden cases", "[ops]") { RunOpCases("slice"); }

TEST_CASE("slice: refuses malformed boxes", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {0, 1})
                    .In<int32_t>({2}, {2, 3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "leave dimension 1") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {-1, 0})
                    .In<int32_t>({2}, {1, 3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "leave dimension 0") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {3, 0})
                    .In<int32_t>({2}, {-1, 3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "leave dimension 0") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {0, 0})
                    .In<int32_t>({2}, {-2, 3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "leave dimension 0") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {INT32_MAX, 0})
                    .In<int32_t>({2}, {INT32_MAX, 3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "leave dimension 0") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int64_t>({2}, {INT64_MAX, 0})
                    .In<int64_t>({2}, {INT64_MAX, 3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "leave dimension 0") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "has 1 values for a tensor of rank 2") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {0, 0})
                    .In<int32_t>({3}, {1, 1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "has 3 values") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({1, 2}, {0, 0})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 1 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<float>({2}, {0, 0})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 2") == "");
  CHECK(Refusal(OneOp(OpCode::kSlice)
                    .Unknown(DType::kVariant, {1})
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kVariant),
                StatusCode::kUnsupported, "variant") == "");
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
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 2);
}

}  // namespace test
}  // namespace topwork
