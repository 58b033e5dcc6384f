// EMBEDDING_LOOKUP: golden cases, malformed operators, ids out of range.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("embedding_lookup: golden cases", "[ops]") { RunOpCases("embedding_lookup"); }

TEST_CASE("embedding_lookup: refuses malformed operators", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kEmbeddingLookup)
                    .In<int32_t>({1}, {0})
                    .In<float>({2}, {1, 2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 2 to 8 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kEmbeddingLookup)
                    .In<int32_t>({1, 1}, {0})
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 1 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kEmbeddingLookup)
                    .In<int64_t>({1}, {0})
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "int64; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kEmbeddingLookup)
                    .In<int32_t>({1}, {0})
                    .Unknown(DType::kUInt4, {2, 2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "the operator makes uint4") == "");
  CHECK(Refusal(OneOp(OpCode::kEmbeddingLookup)
                    .In<int32_t>({1}, {0})
                    .In<int8_t>({2, 2}, {1, 2, 3, 4})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "needs one scale") == "");
  CHECK(Refusal(OneOp(OpCode::kEmbeddingLookup)
                    .In<int32_t>({1}, {0})
                    .In<int8_t>({2, 2}, {1, 2, 3, 4})
                    .Quantized({1, 2, 3}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "needs one scale") == "");
  CHECK(Refusal(OneOp(OpCode::kEmbeddingLookup)
                    .In<int32_t>({1}, {0})
                    .In<int8_t>({2, 2}, {1, 2, 3, 4})
                    .Quantized({1}, {4})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "zero point 0") == "");
  CHECK(Refusal(OneOp(OpCode::kEmbeddingLookup)
                    .In<int32_t>({1}, {0})
                    .In<uint8_t>({2, 2}, {1, 2, 3, 4})
                    .Quantized({1}, {0})
                    .Out(DType::kInt32),
                StatusCode::kInvalidModel, "declared int32") == "");
  CHECK(Refusal(OneOp(OpCode::kEmbeddingLookup).In<int32_t>({1}, {0}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
}

TEST_CASE("embedding_lookup: checks ids at run time", "[ops]") {
  CHECK(RunRefusal(OneOp(OpCode::kEmbeddingLookup)
                       .In<int32_t>({2}, {0, 2})
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index 2 at position 1") == "");
  CHECK(RunRefusal(OneOp(OpCode::kEmbeddingLookup)
                       .In<int32_t>({1}, {-1})
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index -1 at position 0") == "");
  CHECK(RunRefusal(OneOp(OpCode::kEmbeddingLookup)
                       .In<int32_t>({1}, {0})
                       .In<float>({0, 2}, {})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "outside [0, 0)") == "");
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
