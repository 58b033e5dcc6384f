// SPACE_TO_BATCH_ND: golden cases, malformed blocks.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("space_to_batch_nd: golden cases", "[ops]") { RunOpCases("space_to_batch_nd"); }

TEST_CASE("space_to_batch_nd: refuses malformed blocks", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .In<int32_t>({2}, {0, 2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "block size 0") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .In<int32_t>({2}, {2, -2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "block size -2") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .In<int32_t>({2}, {2, 2})
                    .In<int32_t>({2, 2}, {0, -1, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "is -1, outside") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .In<int32_t>({1}, {2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2] and [2, 2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .In<int32_t>({2}, {2, 2})
                    .In<int32_t>({4}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "[2] and [2, 2] expected") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {4, 4})
                    .In<int32_t>({0}, {})
                    .In<int32_t>({0, 2}, {})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 3 to 4 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .In<int64_t>({2}, {2, 2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "int64; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .In<int32_t>({2}, {2, 2})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 2") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kString, {1, 2, 2, 1})
                    .In<int32_t>({2}, {2, 2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kString),
                StatusCode::kUnsupported, "string") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .In<int32_t>({2}, {3, 2})
                    .In<int32_t>({2, 2}, {0, 0, 0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "do not divide") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .In<int32_t>({2}, {INT32_MAX, INT32_MAX})
                    .In<int32_t>({2, 2}, {INT32_MAX, 0, INT32_MAX, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "do not divide") == "");
  CHECK(Refusal(OneOp(OpCode::kSpaceToBatchNd)
                    .Unknown(DType::kFloat32, {1, 4, 4, 4})
                    .In<int32_t>({2}, {65536, 65536})
                    .In<int32_t>({2, 2}, {65532, 0, 65532, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "batch is 4294967296") == "");
}

TEST_CASE("space_to_batch_nd: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kSpaceToBatchNd);
  op.Unknown(DType::kFloat32, {1, 4, 4, 1})
      .In<int32_t>({2}, {2, 2})
      .Unknown(DType::kInt32, {2, 2})
      .Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 2);
}

TEST_CASE("space_to_batch_nd: quantized values are padded with the zero point", "[ops]") {
  OneOp op(OpCode::kSpaceToBatchNd);
  op.In<uint8_t>({1, 1, 1}, {9}).Quantized({0.5f}, {130}).In<int32_t>({1}, {2});
  op.In<int32_t>({1, 2}, {1, 0}).Out(DType::kUInt8).Quantized({0.5f}, {130});
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({2, 1, 1}));
  CHECK(op.Values<uint8_t>(0) == std::vector<uint8_t>{130, 9});
}

}  // namespace test
}  // namespace topwork
