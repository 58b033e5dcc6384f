// BATCH_TO_SPACE_ND, SPACE_TO_BATCH_ND, DEPTH_TO_SPACE, SPACE_TO_DEPTH: golden cases, malformed
// blocks.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

// SPACE_TO_BATCH_ND or BATCH_TO_SPACE_ND with blocks of 2 x 2.
OneOp Blocks(OpCode code, int32_t batch) {
  return Accepted(OneOp(code)
                      .Unknown(DType::kFloat32, {batch, 4, 4, 4})
                      .In<int32_t>({2}, {2, 2})
                      .In<int32_t>({2, 2}, {0, 0, 0, 0})
                      .Out(DType::kFloat32));
}

// What both refuse.
void CheckBlocks(const OneOp& op) {
  CheckRefusals({
      {op.With(1).In<int32_t>({2}, {0, 2}), kInvalidModel, "block size 0"},
      {op.With(1).In<int32_t>({2}, {2, -2}), kInvalidModel, "block size -2"},
      {op.With(2).In<int32_t>({2, 2}, {0, -1, 0, 0}), kInvalidModel, "is -1, outside"},
      {op.With(1).In<int32_t>({1}, {2}), kInvalidModel, "[2] and [2, 2] expected"},
      {op.With(2).In<int32_t>({4}, {0, 0, 0, 0}), kInvalidModel, "[2] and [2, 2] expected"},
      {op.With(0)
           .Unknown(DType::kFloat32, {4, 4})
           .At(1)
           .In<int32_t>({0}, {})
           .At(2)
           .In<int32_t>({0, 2}, {}),
       kInvalidModel, "rank 3 to 4 expected"},
      {op.With(1).In<int64_t>({2}, {2, 2}), kUnsupported, "int64; supported"},
      {op.First(2), kInvalidModel, "lacks its input 2"},
      {op.With(0).Unknown(DType::kString, {1, 2, 2, 1}).Out(0, DType::kString), kUnsupported,
       "string"},
  });
}

// DEPTH_TO_SPACE or SPACE_TO_DEPTH with blocks of 2 x 2.
OneOp SquareBlocks(OpCode code) {
  return Accepted(OneOp(code)
                      .Unknown(DType::kFloat32, {1, 4, 4, 4})
                      .Out(DType::kFloat32)
                      .Set(&OpParams::block_size, 2));
}

// What both refuse.
void CheckSquareBlocks(const OneOp& op) {
  CheckRefusals({
      {op.With(&OpParams::block_size, 0), kInvalidModel, "block_size 0"},
      {op.With(&OpParams::block_size, -2), kInvalidModel, "block_size -2"},
      {op.With(&OpParams::block_size, 3), kInvalidModel, "does not divide"},
      {op.With(&OpParams::block_size, INT32_MAX), kInvalidModel, "does not divide"},
      {op.With(0).Unknown(DType::kFloat32, {4, 4, 4}), kInvalidModel, "rank 4 expected"},
      {op.With(0).Unknown(DType::kString, {1, 2, 2, 4}).Out(0, DType::kString), kUnsupported,
       "string"},
      {op.First(0), kInvalidModel, "lacks its input 0"},
  });
}

}  // namespace

TEST_CASE("batch_to_space_nd: golden cases", "[ops][sets]") { RunOpCases("batch_to_space_nd"); }

TEST_CASE("batch_to_space_nd: refuses malformed blocks", "[ops]") {
  const OneOp op = Blocks(OpCode::kBatchToSpaceNd, 4);
  CheckBlocks(op);
  CheckRefusals({
      {op.With(1).In<int32_t>({2}, {3, 2}), kInvalidModel, "a batch of 4 does not divide"},
      {op.With(2).In<int32_t>({2, 2}, {8, 1, 0, 0}), kInvalidModel, "height is -1"},
      {op.With(1).In<int32_t>({2}, {1, 1}).At(2).In<int32_t>({2, 2}, {INT32_MAX, INT32_MAX, 0, 0}),
       kInvalidModel, "height is -4294967290"},
      {op.With(0).Unknown(DType::kFloat32, {4, INT32_MAX, 1, 1}), kInvalidModel,
       "height is 4294967294"},
  });
}

TEST_CASE("batch_to_space_nd: a value that only a run knows defers it", "[ops]") {
  const OneOp op = Blocks(OpCode::kBatchToSpaceNd, 4);
  CHECK(DeferredFor(op.With(1).Unknown(DType::kInt32, {2})) == 1);
}

TEST_CASE("space_to_batch_nd: golden cases", "[ops][sets]") { RunOpCases("space_to_batch_nd"); }

TEST_CASE("space_to_batch_nd: refuses malformed blocks", "[ops]") {
  const OneOp op = Blocks(OpCode::kSpaceToBatchNd, 1);
  CheckBlocks(op);
  CheckRefusals({
      {op.With(1).In<int32_t>({2}, {3, 2}), kInvalidModel, "do not divide"},
      {op.With(1)
           .In<int32_t>({2}, {INT32_MAX, INT32_MAX})
           .At(2)
           .In<int32_t>({2, 2}, {INT32_MAX, 0, INT32_MAX, 0}),
       kInvalidModel, "do not divide"},
      {op.With(1).In<int32_t>({2}, {65536, 65536}).At(2).In<int32_t>({2, 2}, {65532, 0, 65532, 0}),
       kInvalidModel, "batch is 4294967296"},
  });
}

TEST_CASE("space_to_batch_nd: a value that only a run knows defers it", "[ops]") {
  const OneOp op = Blocks(OpCode::kSpaceToBatchNd, 1);
  CHECK(DeferredFor(op.With(2).Unknown(DType::kInt32, {2, 2})) == 2);
}

TEST_CASE("space_to_batch_nd: quantized values are padded with the zero point", "[ops]") {
  OneOp op(OpCode::kSpaceToBatchNd);
  op.In<uint8_t>({1, 1, 1}, {9}).Quantized({0.5f}, {130}).In<int32_t>({1}, {2});
  op.In<int32_t>({1, 2}, {1, 0}).Out(DType::kUInt8).Quantized({0.5f}, {130});
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({2, 1, 1}));
  CHECK(op.Values<uint8_t>(0) == std::vector<uint8_t>{130, 9});
}

TEST_CASE("depth_to_space: golden cases", "[ops][sets]") { RunOpCases("depth_to_space"); }

TEST_CASE("depth_to_space: refuses malformed blocks", "[ops]") {
  const OneOp op = SquareBlocks(OpCode::kDepthToSpace);
  CheckSquareBlocks(op);
  CheckRefusals({
      {op.With(0).Unknown(DType::kFloat32, {1, INT32_MAX, 1, 4}), kInvalidModel,
       "height is 4294967294"},
  });
}

TEST_CASE("space_to_depth: golden cases", "[ops][sets]") { RunOpCases("space_to_depth"); }

TEST_CASE("space_to_depth: refuses malformed blocks", "[ops]") {
  const OneOp op = SquareBlocks(OpCode::kSpaceToDepth);
  CheckSquareBlocks(op);
  CheckRefusals({
      {op.With(0)
           .Unknown(DType::kFloat32, {1, 0, 0, INT32_MAX})
           .Set(&OpParams::block_size, INT32_MAX),
       kInvalidModel, "depth is -1"},
  });
}

}  // namespace test
}  // namespace topwork
