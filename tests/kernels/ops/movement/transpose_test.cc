// TRANSPOSE: golden cases, malformed permutations, tiles.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("transpose: golden cases", "[ops][sets]") { RunOpCases("transpose"); }

TEST_CASE("transpose: refuses malformed permutations", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kTranspose)
                                .Unknown(DType::kFloat32, {2, 3})
                                .In<int32_t>({2}, {1, 0})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<int32_t>({1}, {0}), kInvalidModel, "perm has 1 values"},
      {op.With(1).In<int32_t>({2}, {0, 2}), kInvalidModel, "perm 2 is outside"},
      {op.With(1).In<int32_t>({2}, {-3, 0}), kInvalidModel, "perm -3 is outside"},
      {op.With(1).In<int32_t>({2}, {1, 1}), kInvalidModel, "names dimension 1 twice"},
      {op.With(1).In<int32_t>({2}, {1, -1}), kInvalidModel, "names dimension 1 twice"},
      {op.With(1).In<int32_t>({1, 2}, {1, 0}), kInvalidModel, "rank 1 expected"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
      {op.With(0).Unknown(DType::kString, {1}).At(1).In<int32_t>({1}, {0}).Out(0, DType::kString),
       kUnsupported, "string"},
      {op.With(0).Unknown(DType::kInt2, {1}).At(1).In<int32_t>({1}, {0}).Out(0, DType::kInt2),
       kUnsupported, "int2"},
  });
}

TEST_CASE("transpose: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kTranspose);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt32, {1}).Out(DType::kFloat32);
  CHECK(DeferredFor(op) == 1);
}

TEST_CASE("transpose: a large matrix on several threads", "[ops]") {
  const int rows = 301, columns = 517;
  std::vector<int32_t> values(static_cast<size_t>(rows * columns)), expected(values.size());
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      values[static_cast<size_t>(r * columns + c)] = r * 1000 + c;
      expected[static_cast<size_t>(c * rows + r)] = r * 1000 + c;
    }
  }
  OneOp op(OpCode::kTranspose);
  op.In<int32_t>({rows, columns}, values).In<int32_t>({2}, {1, 0}).Out(DType::kInt32);
  REQUIRE(op.Run(3).ToString() == "OK");
  CHECK(op.Values<int32_t>(0) == expected);
  CHECK(std::string(op.context().variant()) == "tiles");
}

}  // namespace test
}  // namespace topwork
