// SPLIT_V: golden cases, malformed sizes.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("split_v: golden cases", "[ops]") { RunOpCases("split_v"); }

TEST_CASE("split_v: refuses malformed sizes", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Unknown(DType::kFloat32, {5})
                    .In<int32_t>({2}, {2, 2})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "sum up to 4, the dimension is 5") == "");
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Unknown(DType::kFloat32, {5})
                    .In<int32_t>({2}, {6, -1})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "sum up to 6") == "");
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Unknown(DType::kFloat32, {5})
                    .In<int32_t>({2}, {-1, -1})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "more than one") == "");
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Unknown(DType::kFloat32, {5})
                    .In<int32_t>({2}, {7, -2})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "is -2, outside") == "");
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Unknown(DType::kFloat32, {5})
                    .In<int64_t>({2}, {INT64_MAX, INT64_MAX})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "outside") == "");
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Unknown(DType::kFloat32, {5})
                    .In<int32_t>({1}, {5})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "size_splits has 1 values and there are 2") == "");
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Unknown(DType::kFloat32, {5})
                    .In<int32_t>({2}, {2, 3})
                    .In<int32_t>({}, {1})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "axis 1 is outside") == "");
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Unknown(DType::kFloat32, {5})
                    .In<int32_t>({1, 2}, {2, 3})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "rank 1 expected") == "");
  // An input that the file leaves out (index -1).
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Unknown(DType::kFloat32, {5})
                    .Missing()
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "lacks its input 1") == "");
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Unknown(DType::kFloat32, {5})
                    .In<int32_t>({2}, {2, 3})
                    .Missing()
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "lacks its input 2") == "");
  CHECK(Refusal(OneOp(OpCode::kSplitV)
                    .Missing()
                    .In<int32_t>({2}, {2, 3})
                    .In<int32_t>({}, {0})
                    .Out(DType::kFloat32)
                    .Out(DType::kFloat32)
                    .Set([](OpParams& p) { p.num_splits = 2; }),
                StatusCode::kInvalidModel, "lacks its input 0") == "");
}

TEST_CASE("split_v: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kSplitV);
  op.Unknown(DType::kFloat32, {5})
      .Unknown(DType::kInt32, {2})
      .In<int32_t>({}, {0})
      .Out(DType::kFloat32)
      .Out(DType::kFloat32)
      .Set([](OpParams& p) { p.num_splits = 2; });
  CHECK(op.Prepare().code() == StatusCode::kFailedPrecondition);
  CHECK(op.unknown_value_input() == 1);
}

TEST_CASE("split_v: more parts than any other list has values", "[ops]") {
  OneOp op(OpCode::kSplitV);
  op.params.num_splits = 50;
  std::vector<int32_t> values(50);
  for (int32_t k = 0; k < 50; ++k) values[static_cast<size_t>(k)] = k;
  op.In<int32_t>({50}, values).In<int32_t>({50}, std::vector<int32_t>(50, 1)).In<int32_t>({}, {0});
  for (int k = 0; k < 50; ++k) op.Out(DType::kInt32);
  REQUIRE(op.Run().ToString() == "OK");
  for (int k = 0; k < 50; ++k) CHECK(op.Values<int32_t>(k) == std::vector<int32_t>{k});
}

}  // namespace test
}  // namespace topwork
