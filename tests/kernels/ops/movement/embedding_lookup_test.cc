// EMBEDDING_LOOKUP: golden cases, malformed operators, ids out of range.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("embedding_lookup: golden cases", "[ops][sets]") { RunOpCases("embedding_lookup"); }

TEST_CASE("embedding_lookup: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kEmbeddingLookup)
                                .In<int32_t>({1}, {0})
                                .In<float>({2, 2}, {1, 2, 3, 4})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<float>({2}, {1, 2}), kInvalidModel, "rank 2 to 8 expected"},
      {op.With(0).In<int32_t>({1, 1}, {0}), kInvalidModel, "rank 1 expected"},
      {op.With(0).In<int64_t>({1}, {0}), kUnsupported, "int64; supported"},
      {op.With(1).Unknown(DType::kUInt4, {2, 2}), kInvalidModel, "the operator makes uint4"},
      {op.With(1).In<int8_t>({2, 2}, {1, 2, 3, 4}), kInvalidModel, "needs one scale"},
      {op.With(1).In<int8_t>({2, 2}, {1, 2, 3, 4}).Quantized({1, 2, 3}, {0}), kInvalidModel,
       "needs one scale"},
      {op.With(1).In<int8_t>({2, 2}, {1, 2, 3, 4}).Quantized({1}, {4}), kInvalidModel,
       "zero point 0"},
      {op.With(1).In<uint8_t>({2, 2}, {1, 2, 3, 4}).Quantized({1}, {0}).Out(0, DType::kInt32),
       kInvalidModel, "declared int32"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
  });
}

TEST_CASE("embedding_lookup: checks ids at run time", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kEmbeddingLookup)
                                .In<int32_t>({2}, {0, 2})
                                .In<float>({2, 2}, {1, 2, 3, 4})
                                .Out(DType::kFloat32));
  CheckRunRefusals({
      {op, StatusCode::kInvalidArgument, "index 2 at position 1"},
      {op.With(0).In<int32_t>({1}, {-1}), StatusCode::kInvalidArgument, "index -1 at position 0"},
      {op.With(0).In<int32_t>({1}, {0}).At(1).In<float>({0, 2}, {}), StatusCode::kInvalidArgument,
       "outside [0, 0)"},
  });
}

TEST_CASE("embedding_lookup: an int8 table is scaled, row by row", "[ops]") {
  OneOp op(OpCode::kEmbeddingLookup);
  op.In<int32_t>({3}, {1, 0, 1}).In<int8_t>({2, 2}, {1, 2, -3, 4}).Quantized({0.5f, 2.0f}, {0, 0});
  op.Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<float>(0) == std::vector<float>{-6, 8, 0.5f, 1, -6, 8});
}

}  // namespace test
}  // namespace topwork
