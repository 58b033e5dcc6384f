// PACK, UNPACK: golden cases, malformed operators.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("pack: golden cases", "[ops][sets]") { RunOpCases("pack"); }

TEST_CASE("pack: refuses malformed parts", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kPack)
                                .Unknown(DType::kFloat32, {2, 3})
                                .Unknown(DType::kFloat32, {2, 3})
                                .Out(DType::kFloat32)
                                .Set(&OpParams::count, 2));
  CheckRefusals({
      {op.With(&OpParams::count, 3), kInvalidModel, "values_count is 3 but there are 2"},
      {op.First(0).Set(&OpParams::count, 0), kInvalidModel, "values_count is 0 but there are 0"},
      {op.With(1).Unknown(DType::kFloat32, {3, 2}), kInvalidModel, "they must agree"},
      {op.With(1).Unknown(DType::kInt32, {2, 3}), kInvalidModel, "they must agree"},
      {op.With(1).Missing(), kInvalidModel, "lacks its input 1"},
      {op.With(&OpParams::axis, 3), kInvalidModel, "axis 3 is outside [-3, 3)"},
      {op.With(&OpParams::axis, INT32_MIN), kInvalidModel, "is outside [-3, 3)"},
      {op.First(1)
           .At(0)
           .Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1})
           .Set(&OpParams::count, 1),
       kUnsupported, "rank 9"},
      {OneOp(OpCode::kPack)
           .Unknown(DType::kString, {1})
           .Out(DType::kString)
           .Set(&OpParams::count, 1),
       kUnsupported, "string"},
      {OneOp(OpCode::kPack)
           .Unknown(DType::kInt8, {1})
           .Quantized({0.5f}, {0})
           .Out(DType::kInt8)
           .Quantized({0.5f}, {1})
           .Set(&OpParams::count, 1),
       kUnsupported, "different scales"},
  });
}

TEST_CASE("pack: offers to let its parts live in the output", "[ops]") {
  OneOp op(OpCode::kPack);
  op.params.count = 2;
  op.Unknown(DType::kFloat32, {3}).Unknown(DType::kFloat32, {3}).Out(DType::kFloat32);
  REQUIRE(op.Prepare().ToString() == "OK");
  CHECK(op.context().inside_output());
  CHECK(op.context().views().size() == 2);
  CHECK(op.context().views()[1].output_offset == 12);
  OneOp inner(OpCode::kPack);
  inner.params.count = 2;
  inner.params.axis = 1;
  inner.Unknown(DType::kFloat32, {3}).Unknown(DType::kFloat32, {3}).Out(DType::kFloat32);
  REQUIRE(inner.Prepare().ToString() == "OK");
  CHECK(inner.context().views().empty());
}

TEST_CASE("unpack: golden cases", "[ops][sets]") { RunOpCases("unpack"); }

TEST_CASE("unpack: refuses malformed counts", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kUnpack)
                                .Unknown(DType::kFloat32, {2, 3})
                                .Out(DType::kFloat32)
                                .Out(DType::kFloat32)
                                .Set(&OpParams::count, 2));
  CheckRefusals({
      {op.With().Out(2, DType::kFloat32).Set(&OpParams::count, 3), kInvalidModel,
       "they must agree"},
      {OneOp(OpCode::kUnpack)
           .Unknown(DType::kFloat32, {2, 3})
           .Out(DType::kFloat32)
           .Set(&OpParams::count, 2),
       kInvalidModel, "they must agree"},
      {op.With(&OpParams::count, 1000000), kInvalidModel, "they must agree"},
      {OneOp(OpCode::kUnpack).Unknown(DType::kFloat32, {0, 3}).Set(&OpParams::count, 0),
       kInvalidModel, "they must agree"},
      {OneOp(OpCode::kUnpack)
           .Unknown(DType::kFloat32, {})
           .Out(DType::kFloat32)
           .Set(&OpParams::count, 1),
       kInvalidModel, "axis 0 is outside"},
      {op.With(&OpParams::axis, -3), kInvalidModel, "axis -3 is outside"},
      {op.With().Out(1, DType::kInt32), kInvalidModel, "output 1 is declared int32"},
      {OneOp(OpCode::kUnpack).Missing().Out(DType::kFloat32).Set(&OpParams::count, 1),
       kInvalidModel, "lacks its input 0"},
      {OneOp(OpCode::kUnpack)
           .Unknown(DType::kString, {1})
           .Out(DType::kString)
           .Set(&OpParams::count, 1),
       kUnsupported, "string"},
  });
}

}  // namespace test
}  // namespace topwork
