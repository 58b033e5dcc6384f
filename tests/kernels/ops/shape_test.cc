// SHAPE: golden cases, out_type.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("shape: golden cases", "[ops]") { RunOpCases("shape"); }

TEST_CASE("shape: refuses another type than the file declares", "[ops]") {
  CHECK(Refusal(OneOp(OpCode::kShape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kInt64)
                    .Set([](OpParams& p) { p.out_dtype = DType::kInt32; }),
                StatusCode::kInvalidModel, "declared int64") == "");
  CHECK(Refusal(OneOp(OpCode::kShape).Out(DType::kInt32), StatusCode::kInvalidModel,
                "lacks its input 0") == "");
  CHECK(Refusal(OneOp(OpCode::kShape)
                    .Unknown(DType::kFloat32, {2, 3})
                    .Unknown(DType::kFloat32, {2, 3})
                    .Out(DType::kInt32),
                StatusCode::kInvalidModel, "2 inputs, at most 1") == "");
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

}  // namespace test
}  // namespace topwork
