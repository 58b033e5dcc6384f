// SPARSE_TO_DENSE: golden cases, malformed operators, places out of range.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("sparse_to_dense: golden cases", "[ops]") { RunOpCases("sparse_to_dense"); }

TEST_CASE("sparse_to_dense: refuses malformed operators", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kSparseToDense)
                    .In<int32_t>({2}, {0, 1})
                    .In<int32_t>({1}, {4})
                    .In<float>({3}, {1, 2, 3})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "do not fit") == "");
  CHECK(Refusal(OneOp(OpCode::kSparseToDense)
                    .In<int32_t>({2}, {0, 1})
                    .In<int32_t>({2}, {4, 4})
                    .In<float>({2}, {1, 2})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "do not fit") == "");
  CHECK(Refusal(OneOp(OpCode::kSparseToDense)
                    .In<int32_t>({1, 2}, {0, 1})
                    .In<int32_t>({1}, {4})
                    .In<float>({1}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "do not fit") == "");
  CHECK(Refusal(OneOp(OpCode::kSparseToDense)
                    .In<int32_t>({2}, {0, 1})
                    .In<int32_t>({1}, {4})
                    .In<float>({2}, {1, 2})
                    .In<float>({2}, {0, 0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "do not fit") == "");
  CHECK(Refusal(OneOp(OpCode::kSparseToDense)
                    .In<int32_t>({2}, {0, 1})
                    .In<int32_t>({1}, {-4})
                    .In<float>({2}, {1, 2})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "is -4, outside") == "");
  CHECK(Refusal(OneOp(OpCode::kSparseToDense)
                    .In<int32_t>({1, 1, 1}, {0})
                    .In<int32_t>({1}, {4})
                    .In<float>({1}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 0 to 2 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kSparseToDense)
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({1}, {4})
                    .In<float>({1, 1}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "rank 0 to 1 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kSparseToDense)
                    .In<int32_t>({1, 3}, {0, 0, 0})
                    .In<int32_t>({3}, {INT32_MAX, INT32_MAX, INT32_MAX})
                    .In<float>({1}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "too large") == "");
  CHECK(Refusal(OneOp(OpCode::kSparseToDense)
                    .In<float>({1}, {0})
                    .In<int32_t>({1}, {4})
                    .In<float>({1}, {1})
                    .In<float>({}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kSparseToDense)
                    .In<int32_t>({1}, {0})
                    .In<int32_t>({1}, {4})
                    .In<float>({1}, {1})
                    .Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 3") == "");
}

TEST_CASE("sparse_to_dense: checks places at run time", "[ops]") {
  CHECK(RunRefusal(OneOp(OpCode::kSparseToDense)
                       .In<int32_t>({2}, {0, 4})
                       .In<int32_t>({1}, {4})
                       .In<float>({2}, {1, 2})
                       .In<float>({}, {0})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index 4 at position 1") == "");
  CHECK(RunRefusal(OneOp(OpCode::kSparseToDense)
                       .In<int32_t>({}, {-1})
                       .In<int32_t>({1}, {4})
                       .In<float>({}, {1})
                       .In<float>({}, {0})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index -1 at position 0") == "");
  CHECK(RunRefusal(OneOp(OpCode::kSparseToDense)
                       .In<int32_t>({1, 2}, {0, 7})
                       .In<int32_t>({2}, {4, 4})
                       .In<float>({1}, {1})
                       .In<float>({}, {0})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index 7 at position 1") == "");
}

TEST_CASE("sparse_to_dense: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kSparseToDense);
  op.In<int32_t>({1}, {0})
      .Unknown(DType::kInt32, {1})
      .In<float>({}, {1})
      .In<float>({}, {0})
      .Out(DType::kFloat32);
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

}  // namespace test
}  // namespace topwork
