// EXPAND_DIMS: golden cases, malformed axes.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("expand_dims: golden cases", "[ops]") { RunOpCases("expand_dims"); }

TEST_CASE("expand_dims: refuses malformed axes", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kExpandDims)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({}, {3})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "axis 3 is outside [-3, 3)") == "");
  CHECK(Refusal(OneOp(OpCode::kExpandDims)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({}, {-100000})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "axis -100000 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kExpandDims)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int64_t>({}, {INT64_MIN})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "outside [-3, 3)") == "");
  CHECK(Refusal(OneOp(OpCode::kExpandDims)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({2}, {0, 1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "one value expected") == "");
  CHECK(Refusal(OneOp(OpCode::kExpandDims)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<int32_t>({0}, {})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "one value expected") == "");
  CHECK(Refusal(OneOp(OpCode::kExpandDims)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Missing()
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
  CHECK(Refusal(OneOp(OpCode::kExpandDims).Unknown(DType::kFloat32, {2, 3}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
  CHECK(Refusal(OneOp(OpCode::kExpandDims)
                    .Unknown(DType::kFloat32, {2, 3})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kExpandDims)
                    .Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 2})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "rank 9") == "");
}

TEST_CASE("expand_dims: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kExpandDims);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt32, {}).Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

}  // namespace test
}  // namespace topwork
