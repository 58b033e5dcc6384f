// GATHER: golden cases, malformed operators, indices out of range.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("gather: golden cases", "[ops]") { RunOpCases("gather"); }

TEST_CASE("gather: refuses malformed operators", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kGather)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({1}, {0})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.axis = 2; }),
                StatusCode::kInvalidModel, "axis 2 is outside") == "");
  CHECK(
      Refusal(OneOp(OpCode::kGather).In<float>({}, {1}).In<int32_t>({1}, {0}).Out(DType::kFloat32),
              StatusCode::kInvalidModel, "axis 0 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kGather)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({1}, {0})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.batch_dims = 1; }),
                StatusCode::kInvalidModel, "batch_dims 1 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kGather)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({1}, {0})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.batch_dims = -2; }),
                StatusCode::kInvalidModel, "batch_dims -2 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kGather)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({3, 1}, {0, 0, 0})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) {
                      p.axis = 1;
                      p.batch_dims = 1;
                    }),
                StatusCode::kInvalidModel, "batch dimension 0 is 2") == "");
  CHECK(Refusal(OneOp(OpCode::kGather)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({1}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kGather)
                    .Unknown(DType::kVariant, {2})
                    .In<int32_t>({1}, {0})
                    .Out(DType::kVariant),
                StatusCode::kUnsupported, "variant") == "");
  CHECK(Refusal(OneOp(OpCode::kGather)
                    .Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1})
                    .In<int32_t>({1, 1}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "rank 9") == "");
  CHECK(Refusal(OneOp(OpCode::kGather).In<float>({2, 2}, {1, 2, 3, 4}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
}

TEST_CASE("gather: checks indices at run time", "[ops]") {
  CHECK(RunRefusal(OneOp(OpCode::kGather)
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .In<int32_t>({2}, {0, 2})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index 2 at position 1") == "");
  CHECK(RunRefusal(OneOp(OpCode::kGather)
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .In<int32_t>({1}, {-1})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index -1 at position 0") == "");
  CHECK(RunRefusal(OneOp(OpCode::kGather)
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .In<int64_t>({1}, {INT64_MIN})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "outside [0, 2)") == "");
  CHECK(RunRefusal(OneOp(OpCode::kGather)
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .In<int16_t>({1}, {INT16_MAX})
                       .Out(DType::kFloat32),
                   StatusCode::kInvalidArgument, "index 32767") == "");
  // Nothing to read from, and nothing to write to.
  CHECK(RunRefusal(
            OneOp(OpCode::kGather).In<float>({0, 3}, {}).In<int32_t>({1}, {0}).Out(DType::kFloat32),
            StatusCode::kInvalidArgument, "outside [0, 0)") == "");
  CHECK(RunRefusal(
            OneOp(OpCode::kGather).In<float>({2, 0}, {}).In<int32_t>({1}, {5}).Out(DType::kFloat32),
            StatusCode::kInvalidArgument, "outside [0, 2)") == "");
}

}  // namespace test
}  // namespace topwork
