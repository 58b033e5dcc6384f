// REVERSE_SEQUENCE: golden cases, malformed dimensions, lengths out of range.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("reverse_sequence: golden cases", "[ops]") { RunOpCases("reverse_sequence"); }

TEST_CASE("reverse_sequence: refuses malformed dimensions", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kReverseSequence)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.seq_dim = 2; }),
                StatusCode::kInvalidModel, "two different dimensions") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseSequence)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.seq_dim = -1; }),
                StatusCode::kInvalidModel, "two different dimensions") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseSequence)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) {
                      p.seq_dim = 1;
                      p.batch_dims = 2;
                    }),
                StatusCode::kInvalidModel, "two different dimensions") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseSequence)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) {
                      p.seq_dim = 1;
                      p.batch_dims = -1;
                    }),
                StatusCode::kInvalidModel, "two different dimensions") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseSequence)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.seq_dim = 0; }),
                StatusCode::kInvalidModel, "two different dimensions") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseSequence)
                    .In<float>({4, 1}, {1, 2, 3, 4})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.seq_dim = 1; }),
                StatusCode::kInvalidModel, "2 lengths for a batch of 4") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseSequence)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<int32_t>({1, 2}, {1, 1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.seq_dim = 1; }),
                StatusCode::kInvalidModel, "rank 1 expected") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseSequence)
                    .In<float>({2, 2}, {1, 2, 3, 4})
                    .In<float>({2}, {1, 1})
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.seq_dim = 1; }),
                StatusCode::kUnsupported, "float32; supported") == "");
  CHECK(Refusal(OneOp(OpCode::kReverseSequence)
                    .Unknown(DType::kString, {2, 2})
                    .In<int32_t>({2}, {1, 1})
                    .Out(DType::kString)
                    .Set([](OpParams& p) { p.seq_dim = 1; }),
                StatusCode::kUnsupported, "string") == "");
  CHECK(
      Refusal(OneOp(OpCode::kReverseSequence).In<float>({2, 2}, {1, 2, 3, 4}).Out(DType::kFloat32),
              StatusCode::kInvalidModel, "lacks its input 1") == "");
}

TEST_CASE("reverse_sequence: checks lengths at run time", "[ops]") {
  CHECK(RunRefusal(OneOp(OpCode::kReverseSequence)
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .In<int32_t>({2}, {2, 3})
                       .Out(DType::kFloat32)
                       .Set([](OpParams& p) { p.seq_dim = 1; }),
                   StatusCode::kInvalidArgument, "length 3 of batch entry 1") == "");
  CHECK(RunRefusal(OneOp(OpCode::kReverseSequence)
                       .In<float>({2, 2}, {1, 2, 3, 4})
                       .In<int32_t>({2}, {-1, 2})
                       .Out(DType::kFloat32)
                       .Set([](OpParams& p) { p.seq_dim = 1; }),
                   StatusCode::kInvalidArgument, "length -1 of batch entry 0") == "");
}

}  // namespace test
}  // namespace topwork
