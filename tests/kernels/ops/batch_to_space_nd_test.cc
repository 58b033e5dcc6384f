// BATCH_TO_SPACE_ND: golden cases, malformed blocks.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("batch_to_space_nd: golden cases", "[ops]") { RunOpCases("batch_to_space_nd"); }

TEST_CASE("batch_to_space_nd: refuses malformed blocks", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4, 4, 4})
                    .In<int32_t>({2}, {0, 2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "block size 0") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4, 4, 4})
                    .In<int32_t>({2}, {2, -2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "block size -2") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4, 4, 4})
                    .In<int32_t>({2}, {2, 2})
                    .In<int32_t>({2, 2}, {0, -1, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "is -1, outside") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4, 4, 4})
                    .In<int32_t>({1}, {2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2] and [2, 2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4, 4, 4})
                    .In<int32_t>({2}, {2, 2})
                    .In<int32_t>({4}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2] and [2, 2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4})
                    .In<int32_t>({0}, {})
                    .In<int32_t>({0, 2}, {})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 3 to 4 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4, 4, 4})
                    .In<int64_t>({2}, {2, 2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "int64; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4, 4, 4})
                    .In<int32_t>({2}, {2, 2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 2") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kString, {1, 2, 2, 1})
                    .In<int32_t>({2}, {2, 2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kString),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4, 4, 4})
                    .In<int32_t>({2}, {3, 2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "a batch of 4 does not divide") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4, 4, 4})
                    .In<int32_t>({2}, {2, 2})
                    .In<int32_t>({2, 2}, {8, 1, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "height is -1") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, 4, 4, 4})
                    .In<int32_t>({2}, {1, 1})
                    .In<int32_t>({2, 2}, {INT32_MAX, INT32_MAX, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "height is -4294967290") == "");
  CHECK(Refusal(OneOp(OpCode::kBatchToSpaceNd)
                    .Unknown(DType::kFloat32, {4, INT32_MAX, 1, 1})
                    .In<int32_t>({2}, {2, 2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "height is 4294967294") == "");
}

TEST_CASE("batch_to_space_nd: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kBatchToSpaceNd);
  op.Unknown(DType::kFloat32, {4, 4, 4, 1})
      .Unknown(DType::kInt32, {2})
      .In<int32_t>({2, 2}, {0, 0, 0, 0})
      .Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

}  // namespace test
}  // namespace topwork
