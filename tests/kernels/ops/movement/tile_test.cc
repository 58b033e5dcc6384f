// TILE: golden cases, malformed multiples.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("tile: golden cases", "[ops][sets]") { RunOpCases("tile"); }

TEST_CASE("tile: refuses malformed multiples", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kTile)
                                .Unknown(DType::kFloat32, {2, 3})
                                .In<int32_t>({2}, {2, 2})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<int32_t>({1}, {2}), kInvalidModel, "1 multiples"},
      {op.With(1).In<int32_t>({2}, {2, -1}), kInvalidModel, "a multiple is -1"},
      {op.With(1).In<int32_t>({2}, {2, INT32_MAX}), kInvalidModel,
       "a dimension of the output is 6442450941"},
      {op.With(0)
           .Unknown(DType::kFloat32, {3, 3, 3})
           .At(1)
           .In<int32_t>({3}, {500000000, 500000000, 500000000}),
       kInvalidModel, "too large"},
      {op.With(1).In<int64_t>({2}, {INT64_MAX, INT64_MAX}), kInvalidModel, "a multiple is"},
      {op.With(0).Unknown(DType::kVariant, {1}).At(1).In<int32_t>({1}, {1}).Out(0, DType::kVariant),
       kUnsupported, "variant"},
      {op.With(1).In<int8_t>({2}, {1, 1}), kUnsupported, "int8; supported"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
  });
}

TEST_CASE("tile: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kTile);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt32, {1}).Out(DType::kFloat32);
  CHECK(DeferredFor(op) == 1);
}

TEST_CASE("tile: no repetition at all", "[ops]") {
  // The most elements that a tensor could have, if it had any.
  const int32_t most = sizeof(size_t) == 4 ? 60000000 : 2147483647;
  OneOp op(OpCode::kTile);
  op.Unknown(DType::kFloat32, {most, 1}).In<int32_t>({2}, {0, most}).Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({0, most}));
}

}  // namespace test
}  // namespace topwork
