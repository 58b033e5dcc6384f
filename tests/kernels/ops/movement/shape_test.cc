// SHAPE, RANK: golden cases, malformed operators.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("shape: golden cases", "[ops][sets]") { RunOpCases("shape"); }

TEST_CASE("shape: refuses another type than the file declares", "[ops]") {
  const OneOp op =
      Accepted(OneOp(OpCode::kShape).Unknown(DType::kFloat32, {2, 3}).Out(DType::kInt32));
  CheckRefusals({
      {op.With().Out(0, DType::kInt64), kInvalidModel, "declared int64"},
      {op.First(0), kInvalidModel, "lacks its input 0"},
      {op.With(1).Unknown(DType::kFloat32, {2, 3}), kInvalidModel, "2 inputs, at most 1"},
  });
}

TEST_CASE("shape: out_type is int32 or int64", "[ops]") {
  const OpDef& def = *FindOp(OpCode::kShape);
  OpParams params;
  CHECK(def.parse(OptionsView(), &params).ok());
  CHECK(params.out_dtype == DType::kInt32);
  // A table whose only field, a byte, is 0 (float32): vtable {6, 5, 4}, then the table.
  alignas(4) const uint8_t table[] = {6, 0, 5, 0, 4, 0, 0, 0, 8, 0, 0, 0, 0};
  const Status status = def.parse(OptionsView(table + 8), &params);
  CHECK(status.code() == StatusCode::kInvalidModel);
  CHECK(status.message().find("out_type 0") != std::string::npos);
}

TEST_CASE("shape: the input's values are not needed", "[ops]") {
  OneOp op(OpCode::kShape);
  op.Unknown(DType::kString, {2, 0, 3}).Out(DType::kInt32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int32_t>(0) == std::vector<int32_t>{2, 0, 3});
}

TEST_CASE("rank: golden cases", "[ops][sets]") { RunOpCases("rank"); }

TEST_CASE("rank: refuses malformed operators", "[ops]") {
  const OneOp op =
      Accepted(OneOp(OpCode::kRank).Unknown(DType::kFloat32, {2, 3}).Out(DType::kInt32));
  CheckRefusals({
      {op.First(0), kInvalidModel, "lacks its input 0"},
      {op.With().Out(0, DType::kFloat32), kInvalidModel, "declared float32"},
  });
}

TEST_CASE("rank: the input's values are not needed", "[ops]") {
  OneOp op(OpCode::kRank);
  op.Unknown(DType::kString, {2, 0, 3}).Out(DType::kInt32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int32_t>(0) == std::vector<int32_t>{3});
}

}  // namespace test
}  // namespace topwork
