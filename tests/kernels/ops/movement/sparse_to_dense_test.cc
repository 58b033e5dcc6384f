// SPARSE_TO_DENSE: golden cases, malformed operators, places out of range.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

OneOp TwoValues() {
  return Accepted(OneOp(OpCode::kSparseToDense)
                      .In<int32_t>({2}, {0, 3})
                      .In<int32_t>({1}, {4})
                      .In<float>({2}, {1, 2})
                      .In<float>({}, {0})
                      .Out(DType::kFloat32));
}

}  // namespace

TEST_CASE("sparse_to_dense: golden cases", "[ops][sets]") { RunOpCases("sparse_to_dense"); }

TEST_CASE("sparse_to_dense: refuses malformed operators", "[ops]") {
  const OneOp op = TwoValues();
  CheckRefusals({
      {op.With(0).In<int32_t>({2}, {0, 1}).At(2).In<float>({3}, {1, 2, 3}), kInvalidModel,
       "do not fit"},
      {op.With(0).In<int32_t>({2}, {0, 1}).At(1).In<int32_t>({2}, {4, 4}), kInvalidModel,
       "do not fit"},
      {op.With(0).In<int32_t>({1, 2}, {0, 1}).At(2).In<float>({1}, {1}), kInvalidModel,
       "do not fit"},
      {op.With(0).In<int32_t>({2}, {0, 1}).At(3).In<float>({2}, {0, 0}), kInvalidModel,
       "do not fit"},
      {op.With(0).In<int32_t>({2}, {0, 1}).At(1).In<int32_t>({1}, {-4}), kInvalidModel,
       "is -4, outside"},
      {op.With(0).In<int32_t>({1, 1, 1}, {0}).At(2).In<float>({1}, {1}), kInvalidModel,
       "rank 0 to 2 expected"},
      {op.With(0).In<int32_t>({1}, {0}).At(2).In<float>({1, 1}, {1}), kInvalidModel,
       "rank 0 to 1 expected"},
      {op.With(0)
           .In<int32_t>({1, 3}, {0, 0, 0})
           .At(1)
           .In<int32_t>({3}, {INT32_MAX, INT32_MAX, INT32_MAX})
           .At(2)
           .In<float>({1}, {1}),
       kInvalidModel, "too large"},
      {op.With(0).In<float>({1}, {0}).At(2).In<float>({1}, {1}), kUnsupported,
       "float32; supported"},
      {op.First(3).At(0).In<int32_t>({1}, {0}).At(2).In<float>({1}, {1}), kInvalidModel,
       "lacks its input 3"},
  });
}

TEST_CASE("sparse_to_dense: checks places at run time", "[ops]") {
  const OneOp op = TwoValues();
  CheckRunRefusals({
      {op.With(0).In<int32_t>({2}, {0, 4}), StatusCode::kInvalidArgument, "index 4 at position 1"},
      {op.With(0).In<int32_t>({}, {-1}).At(2).In<float>({}, {1}), StatusCode::kInvalidArgument,
       "index -1 at position 0"},
      {op.With(0)
           .In<int32_t>({1, 2}, {0, 7})
           .At(1)
           .In<int32_t>({2}, {4, 4})
           .At(2)
           .In<float>({1}, {1}),
       StatusCode::kInvalidArgument, "index 7 at position 1"},
  });
}

TEST_CASE("sparse_to_dense: a value that only a run knows defers it", "[ops]") {
  CHECK(DeferredFor(TwoValues().With(1).Unknown(DType::kInt32, {1})) == 1);
}

}  // namespace test
}  // namespace topwork
