// BROADCAST_TO: golden cases, malformed shapes.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("broadcast_to: golden cases", "[ops]") { RunOpCases("broadcast_to"); }

TEST_CASE("broadcast_to: refuses malformed shapes", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kBroadcastTo)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {2, 4})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "cannot be broadcast") == "");
  CHECK(Refusal(OneOp(OpCode::kBroadcastTo)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({1}, {3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "cannot be broadcast") == "");
  CHECK(Refusal(OneOp(OpCode::kBroadcastTo)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({3}, {-1, 2, 3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "is -1, outside") == "");
  CHECK(Refusal(OneOp(OpCode::kBroadcastTo)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({4}, {INT32_MAX, INT32_MAX, 2, 3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
  CHECK(Refusal(OneOp(OpCode::kBroadcastTo)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({1, 2}, {2, 3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 1 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kBroadcastTo)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({9}, std::vector<int32_t>(9, 1))
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "rank 9") == "");
  CHECK(Refusal(OneOp(OpCode::kBroadcastTo)
                    .Unknown(DType::kString, {1})
                    .In<int32_t>({1}, {1})
                    .Out(DType::kString),
                StatusCode::kUnsupported, "string") == "");
}

TEST_CASE("broadcast_to: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kBroadcastTo);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt64, {2}).Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

}  // namespace test
}  // namespace topwork
