// BROADCAST_ARGS, BROADCAST_TO: golden cases, shapes that do not fit.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("broadcast_args: the shape both broadcast to", "[ops]") {
  OneOp op(OpCode::kBroadcastArgs);
  op.In<int32_t>({3}, {2, 1, 3}).In<int32_t>({2}, {5, 3}).Out(DType::kInt32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int32_t>(0) == std::vector<int32_t>{2, 5, 3});
  OneOp scalar(OpCode::kBroadcastArgs);
  scalar.In<int64_t>({0}, {}).In<int64_t>({2}, {1, 0}).Out(DType::kInt64);
  REQUIRE(scalar.Run().ToString() == "OK");
  CHECK(scalar.Values<int64_t>(0) == std::vector<int64_t>{1, 0});
  OneOp both_scalars(OpCode::kBroadcastArgs);
  both_scalars.In<int64_t>({0}, {}).In<int64_t>({0}, {}).Out(DType::kInt64);
  REQUIRE(both_scalars.Run().ToString() == "OK");
  CHECK(both_scalars.shape(0) == Shape({0}));
}

TEST_CASE("broadcast_args: refuses malformed shapes", "[ops]") {
  const OneOp op = Accepted(
      OneOp(OpCode::kBroadcastArgs).In<int32_t>({1}, {2}).In<int32_t>({1}, {2}).Out(DType::kInt32));
  CheckRefusals({
      {op.With(1).In<int64_t>({1}, {2}), kInvalidModel, "they must agree"},
      {op.With(0).In<int32_t>({}, {2}), kInvalidModel, "rank 1 expected"},
      {op.With(0).In<float>({1}, {2}).At(1).In<float>({1}, {2}).Out(0, DType::kFloat32),
       kUnsupported, "float32; supported"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
  });
  CheckRunRefusals({
      {op.With(0).In<int32_t>({2}, {2, 3}).At(1).In<int32_t>({2}, {2, 4}),
       StatusCode::kInvalidArgument, "3 and 4 at position 0"},
  });
}

TEST_CASE("broadcast_to: golden cases", "[ops][sets]") { RunOpCases("broadcast_to"); }

TEST_CASE("broadcast_to: refuses malformed shapes", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kBroadcastTo)
                                .Unknown(DType::kFloat32, {2, 3})
                                .In<int32_t>({2}, {2, 3})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<int32_t>({2}, {2, 4}), kInvalidModel, "cannot be broadcast"},
      {op.With(1).In<int32_t>({1}, {3}), kInvalidModel, "cannot be broadcast"},
      {op.With(1).In<int32_t>({3}, {-1, 2, 3}), kInvalidModel, "is -1, outside"},
      {op.With(1).In<int32_t>({4}, {INT32_MAX, INT32_MAX, 2, 3}), kInvalidModel, "too large"},
      {op.With(1).In<int32_t>({1, 2}, {2, 3}), kInvalidModel, "rank 1 expected"},
      {op.With(1).In<int32_t>({9}, std::vector<int32_t>(9, 1)), kUnsupported, "rank 9"},
      {op.With(0).Unknown(DType::kString, {1}).At(1).In<int32_t>({1}, {1}).Out(0, DType::kString),
       kUnsupported, "string"},
  });
}

TEST_CASE("broadcast_to: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kBroadcastTo);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt64, {2}).Out(DType::kFloat32);
  CHECK(DeferredFor(op) == 1);
}

}  // namespace test
}  // namespace topwork
