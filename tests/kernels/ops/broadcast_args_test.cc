// BROADCAST_ARGS: values, malformed shapes.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"

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
  CHECK(Refusal(OneOp(OpCode::kBroadcastArgs)
                    .In<int32_t>({1}, {2})
                    .In<int64_t>({1}, {2})
                    .Out(DType::kInt32),
                StatusCode::kInvalidModel, "they must agree") == "");
  CHECK(Refusal(OneOp(OpCode::kBroadcastArgs)
                    .In<int32_t>({}, {2})
                    .In<int32_t>({1}, {2})
                    .Out(DType::kInt32),
                StatusCode::kInvalidModel, "rank 1 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kBroadcastArgs)
                    .In<float>({1}, {2})
                    .In<float>({1}, {2})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kBroadcastArgs).In<int32_t>({1}, {2}).Out(DType::kInt32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
  CHECK(RunRefusal(OneOp(OpCode::kBroadcastArgs)
                       .In<int32_t>({2}, {2, 3})
                       .In<int32_t>({2}, {2, 4})
                       .Out(DType::kInt32),
                   StatusCode::kInvalidArgument, "3 and 4 at position 0") == "");
}

}  // namespace test
}  // namespace topwork
