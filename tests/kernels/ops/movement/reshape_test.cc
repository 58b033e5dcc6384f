// RESHAPE, SQUEEZE, EXPAND_DIMS: golden cases, shapes that do not fit.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("reshape: golden cases", "[ops][sets]") { RunOpCases("reshape"); }

TEST_CASE("reshape: refuses malformed shapes", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kReshape)
                                .Unknown(DType::kFloat32, {2, 3})
                                .In<int32_t>({1}, {6})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<int32_t>({2}, {4, 2}), kInvalidModel, "the numbers of elements differ"},
      {op.With(1).In<int32_t>({2}, {-1, -1}), kInvalidModel, "more than one dimension is -1"},
      {op.With(1).In<int32_t>({2}, {-2, -3}), kInvalidModel, "below -1"},
      {op.With(1).In<int32_t>({2}, {4, -1}), kInvalidModel, "the numbers of elements differ"},
      // 2^31 × 2^31 × 2^31 × 6: the product of the dimensions overflows.
      {op.With(1).In<int32_t>({4}, {INT32_MAX, INT32_MAX, INT32_MAX, 6}), kInvalidModel,
       "too large"},
      {op.With(1).In<int64_t>({2}, {int64_t{1} << 40, 6}), kInvalidModel, "too large"},
      {op.With(1).In<int32_t>({9}, {1, 1, 1, 1, 1, 1, 1, 2, 3}), kUnsupported, "rank 9"},
      {op.With(1).In<int32_t>({40}, std::vector<int32_t>(40, 1)), kInvalidModel, "40 values"},
      {op.With(0)
           .Unknown(DType::kFloat32, {0, 3})
           .At(1)
           .In<int32_t>({2}, {0, -1})
           .Out(0, DType::kInt32),
       kInvalidModel, "declared int32"},
      {op.With(0).Missing(), kInvalidModel, "lacks its input 0"},
      {op.First(0), kInvalidModel, "lacks its input 0"},
      {op.With().Out(1, DType::kFloat32), kInvalidModel, "2 outputs, 1 expected"},
      {op.With(0).Unknown(DType::kVariant, {6}).Out(0, DType::kVariant), kUnsupported, "variant"},
      {op.With(0).Unknown(DType::kFloat32, {6}).At(1).In<float>({1}, {6}), kUnsupported,
       "float32; supported"},
      // No shape at all means a scalar, which six elements are not.
      {op.First(1), kInvalidModel, "to []: the numbers of elements differ"},
  });
}

TEST_CASE("reshape: quantized values keep their scale", "[ops]") {
  OneOp op(OpCode::kReshape);
  op.Unknown(DType::kInt8, {6}).Quantized({0.5f}, {1}).In<int32_t>({2}, {2, 3});
  op.Out(DType::kInt8).Quantized({0.25f}, {1});
  CHECK(Refusal(op, StatusCode::kUnsupported, "different scales or zero points") == "");
  OneOp same(OpCode::kReshape);
  same.Unknown(DType::kInt8, {6}).Quantized({0.5f}, {1}).In<int32_t>({2}, {2, 3});
  same.Out(DType::kInt8).Quantized({0.5f}, {1});
  CHECK(same.Prepare().ToString() == "OK");
}

TEST_CASE("reshape: the old way to write a scalar", "[ops]") {
  OneOp op(OpCode::kReshape);
  op.params.n_dims = 1;
  op.In<float>({1, 1}, {7}).Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0).rank() == 0);
  CHECK(op.Values<float>(0) == std::vector<float>{7});
}

TEST_CASE("reshape: packed int4 passes through", "[ops]") {
  OneOp op(OpCode::kReshape);
  op.Unknown(DType::kInt4, {3, 3}).In<int32_t>({1}, {9}).Out(DType::kInt4);
  REQUIRE(op.Prepare().ToString() == "OK");
  CHECK(op.context().outputs()[0].bytes() == 5);
  CHECK(op.context().views().size() == 1);
}

TEST_CASE("reshape: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kReshape);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt32, {2}).Out(DType::kFloat32);
  CHECK(DeferredFor(op) == 1);
}

TEST_CASE("squeeze: golden cases", "[ops][sets]") { RunOpCases("squeeze"); }

TEST_CASE("squeeze: refuses malformed dimensions", "[ops]") {
  const OneOp op =
      Accepted(OneOp(OpCode::kSqueeze).Unknown(DType::kFloat32, {2, 1}).Out(DType::kFloat32));
  CheckRefusals({
      {OneOp(OpCode::kSqueeze)
           .Unknown(DType::kFloat32, {1, 3})
           .Out(DType::kFloat32)
           .Set([](OpParams& p) {
             p.n_dims = 1;
             p.dims[0] = 1;
           }),
       kInvalidModel, "which is not 1"},
      {OneOp(OpCode::kSqueeze)
           .Unknown(DType::kFloat32, {1, 3})
           .Out(DType::kFloat32)
           .Set([](OpParams& p) {
             p.n_dims = 1;
             p.dims[0] = 2;
           }),
       kInvalidModel, "outside [-2, 2)"},
      {OneOp(OpCode::kSqueeze)
           .Unknown(DType::kFloat32, {1, 3})
           .Out(DType::kFloat32)
           .Set([](OpParams& p) {
             p.n_dims = 1;
             p.dims[0] = -100000;
           }),
       kInvalidModel, "outside [-2, 2)"},
      {op.With(0).Missing(), kInvalidModel, "lacks its input 0"},
      {op.With(0).Unknown(DType::kVariant, {1}).Out(0, DType::kVariant), kUnsupported, "variant"},
  });
}

TEST_CASE("squeeze: a dimension listed twice counts once", "[ops]") {
  OneOp op(OpCode::kSqueeze);
  op.params.n_dims = 2;
  op.params.dims[0] = 0;
  op.params.dims[1] = -3;
  op.In<float>({1, 1, 2}, {4, 5}).Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({1, 2}));
  CHECK(op.Values<float>(0) == std::vector<float>{4, 5});
}

TEST_CASE("expand_dims: golden cases", "[ops][sets]") { RunOpCases("expand_dims"); }

TEST_CASE("expand_dims: refuses malformed axes", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kExpandDims)
                                .Unknown(DType::kFloat32, {2, 3})
                                .In<int32_t>({}, {1})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<int32_t>({}, {3}), kInvalidModel, "axis 3 is outside [-3, 3)"},
      {op.With(1).In<int32_t>({}, {-100000}), kInvalidModel, "axis -100000 is outside"},
      {op.With(1).In<int64_t>({}, {INT64_MIN}), kInvalidModel, "outside [-3, 3)"},
      {op.With(1).In<int32_t>({2}, {0, 1}), kInvalidModel, "one value expected"},
      {op.With(1).In<int32_t>({0}, {}), kInvalidModel, "one value expected"},
      {op.With(1).Missing(), kInvalidModel, "lacks its input 1"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
      {op.With(1).In<float>({}, {0}), kUnsupported, "float32; supported"},
      {op.With(0).Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 2}).At(1).In<int32_t>({}, {0}),
       kUnsupported, "rank 9"},
  });
}

TEST_CASE("expand_dims: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kExpandDims);
  op.Unknown(DType::kFloat32, {6}).Unknown(DType::kInt32, {}).Out(DType::kFloat32);
  CHECK(DeferredFor(op) == 1);
}

}  // namespace test
}  // namespace topwork
