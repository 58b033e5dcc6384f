// RANK: golden cases.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("rank: golden cases", "[ops]") { RunOpCases("rank"); }

TEST_CASE("rank: refuses malformed operators", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kRank).Out(DType::kInt32), StatusCode::kInvalidModel,
                "lacks its input 0") == "");
  CHECK(Refusal(OneOp(OpCode::kRank).Unknown(DType::kFloat32, {2, 3}).Out(DType::kFloat32),
                StatusCode::kInvalidModel, "declared float32") == "");
}

TEST_CASE("rank: the input's values are not needed", "[ops]") {
  OneOp op(OpCode::kRank);
  op.Unknown(DType::kString, {2, 0, 3}).Out(DType::kInt32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int32_t>(0) == std::vector<int32_t>{3});
}

}  // namespace test
}  // namespace topwork
