// GATHER, GATHER_ND: golden cases, malformed operators, indices outside.
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("gather: golden cases", "[ops][sets]") { RunOpCases("gather"); }

TEST_CASE("gather: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kGather)
                                .In<float>({2, 2}, {1, 2, 3, 4})
                                .In<int32_t>({1}, {0})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(&OpParams::axis, 2), kInvalidModel, "axis 2 is outside"},
      {op.With(0).In<float>({}, {1}), kInvalidModel, "axis 0 is outside"},
      {op.With(&OpParams::batch_dims, 1), kInvalidModel, "batch_dims 1 is outside"},
      {op.With(&OpParams::batch_dims, -2), kInvalidModel, "batch_dims -2 is outside"},
      {op.With(1)
           .In<int32_t>({3, 1}, {0, 0, 0})
           .Set(&OpParams::axis, 1)
           .Set(&OpParams::batch_dims, 1),
       kInvalidModel, "batch dimension 0 is 2"},
      {op.With(1).In<float>({1}, {0}), kUnsupported, "float32; supported"},
      {op.With(0).Unknown(DType::kVariant, {2}).Out(0, DType::kVariant), kUnsupported, "variant"},
      {op.With(0).Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1}).At(1).In<int32_t>({1, 1}, {0}),
       kUnsupported, "rank 9"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
  });
}

TEST_CASE("gather: checks indices at run time", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kGather)
                                .In<float>({2, 2}, {1, 2, 3, 4})
                                .In<int32_t>({2}, {0, 2})
                                .Out(DType::kFloat32));
  CheckRunRefusals({
      {op, StatusCode::kInvalidArgument, "index 2 at position 1"},
      {op.With(1).In<int32_t>({1}, {-1}), StatusCode::kInvalidArgument, "index -1 at position 0"},
      {op.With(1).In<int64_t>({1}, {INT64_MIN}), StatusCode::kInvalidArgument, "outside [0, 2)"},
      {op.With(1).In<int16_t>({1}, {INT16_MAX}), StatusCode::kInvalidArgument, "index 32767"},
      // Nothing to read from, and nothing to write to.
      {op.With(0).In<float>({0, 3}, {}).At(1).In<int32_t>({1}, {0}), StatusCode::kInvalidArgument,
       "outside [0, 0)"},
      {op.With(0).In<float>({2, 0}, {}).At(1).In<int32_t>({1}, {5}), StatusCode::kInvalidArgument,
       "outside [0, 2)"},
  });
}

// Neighbours that are listed one after the other are moved at once.
template <typename Index>
void CheckNeighbours() {
  constexpr int kOuter = 2, kAxis = 7, kInner = 3;
  const std::vector<Index> listed = {2, 3, 4, 6, 5, 4, 0, 1, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6};
  const int n = static_cast<int>(listed.size()) / 2;
  std::vector<float> in(2 * kOuter * kAxis * kInner), wanted;
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  for (int batch = 0; batch < 2; ++batch) {
    for (int block = batch * kOuter; block < (batch + 1) * kOuter; ++block) {
      for (int k = 0; k < n; ++k) {
        const int from = block * kAxis + static_cast<int>(listed[size_t(batch * n + k)]);
        for (int i = 0; i < kInner; ++i) wanted.push_back(in[size_t(from * kInner + i)]);
      }
    }
  }
  OneOp op(OpCode::kGather);
  op.In<float>({2, kOuter, kAxis, kInner}, in).In<Index>({2, n}, listed).Out(DType::kFloat32);
  op.Set(&OpParams::axis, 2).Set(&OpParams::batch_dims, 1);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<float>(0) == wanted);
}

TEST_CASE("gather: neighbours that are listed in a row", "[ops]") {
  CheckNeighbours<int32_t>();
  CheckNeighbours<int64_t>();
}

TEST_CASE("gather_nd: golden cases", "[ops][sets]") { RunOpCases("gather_nd"); }

TEST_CASE("gather_nd: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kGatherNd)
                                .In<float>({2, 2}, {1, 2, 3, 4})
                                .In<int32_t>({1}, {0})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<int32_t>({1, 3}, {0, 0, 0}), kInvalidModel, "3 coordinates per entry"},
      {op.With(1).In<int32_t>({}, {0}), kInvalidModel, "rank 1 to 8 expected"},
      {op.With(0).In<float>({}, {1}), kInvalidModel, "rank 1 to 8 expected"},
      {op.With(1).In<float>({1}, {0}), kUnsupported, "float32; supported"},
      {op.With(0).Unknown(DType::kVariant, {2}).Out(0, DType::kVariant), kUnsupported, "variant"},
      {op.With(0)
           .Unknown(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1})
           .At(1)
           .In<int32_t>({1, 1, 1, 1}, {0}),
       kUnsupported, "rank 9"},
      {op.First(1), kInvalidModel, "lacks its input 1"},
  });
}

TEST_CASE("gather_nd: checks indices at run time", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kGatherNd)
                                .In<float>({2, 2}, {1, 2, 3, 4})
                                .In<int32_t>({1, 2}, {0, 2})
                                .Out(DType::kFloat32));
  CheckRunRefusals({
      {op, StatusCode::kInvalidArgument, "index 2 at position 1"},
      {op.With(1).In<int32_t>({1, 2}, {-1, 0}), StatusCode::kInvalidArgument,
       "index -1 at position 0"},
      // Inside the tensor as a flat offset (-1 * 2 + 3), outside as coordinates.
      {op.With(1).In<int32_t>({1, 2}, {-1, 3}), StatusCode::kInvalidArgument, "index -1"},
      {op.With(1).In<int64_t>({1, 1}, {int64_t{1} << 62}), StatusCode::kInvalidArgument,
       "outside [0, 2)"},
      // Empty params.
      {op.With(0).In<float>({0, 2}, {}).At(1).In<int32_t>({1, 2}, {0, 0}),
       StatusCode::kInvalidArgument, "outside [0, 0)"},
      {op.With(0).In<float>({2, 0}, {}).At(1).In<int32_t>({1, 1}, {7}),
       StatusCode::kInvalidArgument, "outside [0, 2)"},
  });
}

TEST_CASE("gather_nd: no coordinates give the whole tensor", "[ops]") {
  OneOp op(OpCode::kGatherNd);
  op.In<float>({2}, {1, 2}).In<int32_t>({3, 0}, {}).Out(DType::kFloat32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({3, 2}));
  CHECK(op.Values<float>(0) == std::vector<float>{1, 2, 1, 2, 1, 2});
}

}  // namespace test
}  // namespace topwork
