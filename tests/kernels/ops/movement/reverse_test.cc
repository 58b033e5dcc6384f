// REVERSE_V2, REVERSE_SEQUENCE: golden cases, malformed dimensions, lengths out of range.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("reverse_v2: golden cases", "[ops][sets]") { RunOpCases("reverse_v2"); }

TEST_CASE("reverse_v2: refuses malformed axes", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kReverseV2)
                                .Unknown(DType::kFloat32, {2, 3})
                                .In<int32_t>({1}, {1})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<int32_t>({1}, {2}), kInvalidModel, "axis 2 is outside"},
      {op.With(1).In<int32_t>({1}, {-3}), kInvalidModel, "axis -3 is outside"},
      {op.With(1).In<int32_t>({2}, {0, -2}), kInvalidModel, "axis 0 is listed twice"},
      {op.With(1).In<int32_t>({}, {0}), kInvalidModel, "rank 1 expected"},
      {op.With(1).In<int32_t>({33}, std::vector<int32_t>(33, 0)), kInvalidModel, "33 values"},
      {op.With(1).In<int64_t>({1}, {0}), kUnsupported, "int64; supported"},
      {op.With(0).Unknown(DType::kString, {2}).At(1).In<int32_t>({1}, {0}).Out(0, DType::kString),
       kUnsupported, "string"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
  });
}

TEST_CASE("reverse_v2: axes need not lie next to each other", "[ops]") {
  OneOp op(OpCode::kReverseV2);
  op.In<int8_t>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}).In<int32_t>({2}, {2, 0}).Out(DType::kInt8);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int8_t>(0) == std::vector<int8_t>{5, 4, 7, 6, 1, 0, 3, 2});
}

TEST_CASE("reverse_sequence: golden cases", "[ops][sets]") { RunOpCases("reverse_sequence"); }

TEST_CASE("reverse_sequence: refuses malformed dimensions", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kReverseSequence)
                                .In<float>({2, 2}, {1, 2, 3, 4})
                                .In<int32_t>({2}, {1, 1})
                                .Out(DType::kFloat32)
                                .Set(&OpParams::seq_dim, 1));
  CheckRefusals({
      {op.With(&OpParams::seq_dim, 2), kInvalidModel, "two different dimensions"},
      {op.With(&OpParams::seq_dim, -1), kInvalidModel, "two different dimensions"},
      {op.With(&OpParams::batch_dims, 2), kInvalidModel, "two different dimensions"},
      {op.With(&OpParams::batch_dims, -1), kInvalidModel, "two different dimensions"},
      {op.With(&OpParams::seq_dim, 0), kInvalidModel, "two different dimensions"},
      {op.With(0).In<float>({4, 1}, {1, 2, 3, 4}), kInvalidModel, "2 lengths for a batch of 4"},
      {op.With(1).In<int32_t>({1, 2}, {1, 1}), kInvalidModel, "rank 1 expected"},
      {op.With(1).In<float>({2}, {1, 1}), kUnsupported, "float32; supported"},
      {op.With(0).Unknown(DType::kString, {2, 2}).Out(0, DType::kString), kUnsupported, "string"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
  });
}

TEST_CASE("reverse_sequence: checks lengths at run time", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kReverseSequence)
                                .In<float>({2, 2}, {1, 2, 3, 4})
                                .In<int32_t>({2}, {2, 3})
                                .Out(DType::kFloat32)
                                .Set(&OpParams::seq_dim, 1));
  CheckRunRefusals({
      {op, StatusCode::kInvalidArgument, "length 3 of batch entry 1"},
      {op.With(1).In<int32_t>({2}, {-1, 2}), StatusCode::kInvalidArgument,
       "length -1 of batch entry 0"},
  });
}

}  // namespace test
}  // namespace topwork
