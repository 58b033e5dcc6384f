// TILE: golden cases, malformed multiples.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("tile: golden cases", "[ops]") { RunOpCases("tile"); }

TEST_CASE("tile: refuses malformed multiples", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kTile)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({1}, {2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "1 multiples") == "");
  CHECK(Refusal(OneOp(OpCode::kTile)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {2, -1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "a multiple is -1") == "");
  CHECK(Refusal(OneOp(OpCode::kTile)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {2, INT32_MAX})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "a dimension of the output is 6442450941") == "");
  CHECK(Refusal(OneOp(OpCode::kTile)
                    .Unknown(DType::kFloat32, {3, 3, 3})
                    .In<int32_t>({3}, {500000000, 500000000, 500000000})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
  CHECK(Refusal(OneOp(OpCode::kTile)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int64_t>({2}, {INT64_MAX, INT64_MAX})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "a multiple is") == "");
  CHECK(Refusal(OneOp(OpCode::kTile)
                    .Unknown(DType::kVariant, {1})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kVariant),
                StatusCode::kUnsupported, "variant") == "");
  CHECK(Refusal(OneOp(OpCode::kTile)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int8_t>({2}, {1, 1})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "int8; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kTile).Unknown(DType::kFloat32, {2, 3}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
}

TEST_CASE("tile: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kTile);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt32, {1}).Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

TEST_CASE("tile: no repetition at all", "[ops]") {
  OneOp op(OpCode::kTile);
  op.Unknown(DType::kFloat32, {2147483647, 1})
      .In<int32_t>({2}, {0, 2147483647})
      .Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({0, 2147483647}));
}

}  // namespace test
}  // namespace topwork
