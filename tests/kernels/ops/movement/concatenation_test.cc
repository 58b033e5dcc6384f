// CONCATENATION: golden cases, malformed parts, zero-copy offers.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("concatenation: golden cases", "[ops][sets]") { RunOpCases("concatenation"); }

TEST_CASE("concatenation: refuses malformed parts", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kConcatenation)
                                .Unknown(DType::kFloat32, {2, 3})
                                .Unknown(DType::kFloat32, {2, 3})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.First(0), kInvalidModel, "has no inputs"},
      {op.With(1).Missing(), kInvalidModel, "lacks its input 1"},
      {op.With(&OpParams::axis, 2), kInvalidModel, "axis 2 is outside [-2, 2)"},
      {op.With(1).Unknown(DType::kFloat32, {2, 4}), kInvalidModel, "only dimension 0 may differ"},
      {op.With(1).Unknown(DType::kFloat32, {2, 3, 1}), kInvalidModel,
       "only dimension 0 may differ"},
      {op.With(1).Unknown(DType::kInt32, {2, 3}), kInvalidModel, "they must agree"},
      // The sum of the joined dimensions does not fit 32 bits.
      {op.With(0)
           .Unknown(DType::kInt8, {2000000000})
           .At(1)
           .Unknown(DType::kInt8, {2000000000})
           .Out(0, DType::kInt8),
       kInvalidModel, "the joined dimension is 4000000000"},
      {op.With(&OpParams::activation, Activation::kRelu), kUnsupported, "a fused activation"},
      {op.First(1)
           .At(0)
           .Unknown(DType::kInt8, {1})
           .Quantized({0.5f}, {0})
           .Out(0, DType::kInt8)
           .Quantized({0.25f}, {0}),
       kUnsupported, "different scales"},
      {op.First(1).At(0).Unknown(DType::kString, {1}).Out(0, DType::kString), kUnsupported,
       "string"},
      {op.With().Out(0, DType::kInt32), kInvalidModel, "declared int32"},
  });
}

TEST_CASE("concatenation: offers to let its parts live in the output", "[ops]") {
  OneOp op(OpCode::kConcatenation);
  op.params.axis = -2;
  op.Unknown(DType::kInt16, {1, 2, 3}).Unknown(DType::kInt16, {1, 4, 3}).Out(DType::kInt16);
  REQUIRE(op.Prepare().ToString() == "OK");
  CHECK(op.context().inside_output());
  REQUIRE(op.context().views().size() == 2);
  CHECK(op.context().views()[1].output_offset == 12);
}

TEST_CASE("concatenation: long rows are joined in pieces", "[ops]") {
  std::vector<float> a(2 * 40000), b(2 * 30001), joined;
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  for (size_t i = 0; i < b.size(); ++i) b[i] = -static_cast<float>(i);
  for (int row = 0; row < 2; ++row) {
    joined.insert(joined.end(), a.begin() + row * 40000, a.begin() + (row + 1) * 40000);
    joined.insert(joined.end(), b.begin() + row * 30001, b.begin() + (row + 1) * 30001);
  }
  OneOp op(OpCode::kConcatenation);
  op.params.axis = 1;
  op.In<float>({2, 40000}, a).In<float>({2, 30001}, b).Out(DType::kFloat32);
  REQUIRE(op.Run(3).ToString() == "OK");
  CHECK(op.Values<float>(0) == joined);
}

}  // namespace test
}  // namespace topwork
