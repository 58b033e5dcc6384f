// SCATTER_ND: golden cases, malformed operators, indices out of range.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("scatter_nd: golden cases", "[ops][sets]") { RunOpCases("scatter_nd"); }

TEST_CASE("scatter_nd: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kScatterNd)
                                .In<int32_t>({1, 1}, {0})
                                .In<float>({1}, {1})
                                .In<int32_t>({1}, {4})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(0).In<int32_t>({2, 1}, {0, 1}).At(1).In<float>({3}, {1, 2, 3}), kInvalidModel,
       "do not fit"},
      {op.With(0).In<int32_t>({2, 1}, {0, 1}).At(1).In<float>({2, 2}, {1, 2, 3, 4}), kInvalidModel,
       "do not fit"},
      {op.With(0).In<int32_t>({1, 2}, {0, 1}), kInvalidModel, "do not fit"},
      {op.With(2).In<int32_t>({1}, {-4}), kInvalidModel, "is -4, outside"},
      {op.With(2).In<int32_t>({3}, {INT32_MAX, INT32_MAX, INT32_MAX}), kInvalidModel, "do not fit"},
      {op.With(0)
           .In<int32_t>({1, 3}, {0, 0, 0})
           .At(2)
           .In<int32_t>({3}, {INT32_MAX, INT32_MAX, INT32_MAX}),
       kInvalidModel, "too large"},
      {op.With(0).In<int32_t>({}, {0}), kInvalidModel, "rank 1 to 8 expected"},
      {op.With(2).In<int64_t>({1}, {4}), kInvalidModel, "they must agree"},
      {op.With(1).Unknown(DType::kString, {1}).Out(0, DType::kString), kUnsupported, "string"},
      {op.First(2), kInvalidModel, "lacks its input 2"},
  });
}

TEST_CASE("scatter_nd: checks indices at run time", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kScatterNd)
                                .In<int32_t>({1, 1}, {4})
                                .In<float>({1}, {1})
                                .In<int32_t>({1}, {4})
                                .Out(DType::kFloat32));
  CheckRunRefusals({
      {op, StatusCode::kInvalidArgument, "index 4 at position 0"},
      {op.With(0).In<int32_t>({1, 1}, {-1}), StatusCode::kInvalidArgument,
       "index -1 at position 0"},
      {op.With(0).In<int32_t>({1, 2}, {0, 5}).At(2).In<int32_t>({2}, {4, 4}),
       StatusCode::kInvalidArgument, "index 5 at position 1"},
      {op.With(0).In<int32_t>({1, 2}, {-1, 6}).At(2).In<int32_t>({2}, {4, 4}),
       StatusCode::kInvalidArgument, "index -1"},
      {op.With(0)
           .In<int32_t>({1, 1}, {0})
           .At(1)
           .In<float>({1, 2}, {1, 2})
           .At(2)
           .In<int32_t>({2}, {0, 2}),
       StatusCode::kInvalidArgument, "outside [0, 0)"},
  });
}

TEST_CASE("scatter_nd: equal places add up, integers wrap, booleans are or-ed", "[ops]") {
  OneOp op(OpCode::kScatterNd);
  op.In<int32_t>({3, 1}, {1, 1, 0}).In<uint8_t>({3}, {200, 100, 7}).In<int32_t>({1}, {3});
  op.Out(DType::kUInt8);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<uint8_t>(0) == std::vector<uint8_t>{7, 44, 0});
  OneOp wide(OpCode::kScatterNd);
  wide.In<int64_t>({2, 1}, {1, 1}).In<int64_t>({2}, {INT64_MAX, 1}).In<int64_t>({1}, {2});
  wide.Out(DType::kInt64);
  REQUIRE(wide.Run().ToString() == "OK");
  CHECK(wide.Values<int64_t>(0) == std::vector<int64_t>{0, INT64_MIN});
  OneOp narrow(OpCode::kScatterNd);
  narrow.In<int32_t>({2, 1}, {0, 0}).In<int16_t>({2}, {INT16_MIN, -1}).In<int32_t>({1}, {1});
  narrow.Out(DType::kInt16);
  REQUIRE(narrow.Run().ToString() == "OK");
  CHECK(narrow.Values<int16_t>(0) == std::vector<int16_t>{INT16_MAX});
  OneOp flags(OpCode::kScatterNd);
  flags.In<int32_t>({2, 1}, {1, 1}).InBool({2}, {1, 1}).In<int32_t>({1}, {2}).Out(DType::kBool);
  REQUIRE(flags.Run().ToString() == "OK");
  CHECK(flags.Values<uint8_t>(0) == std::vector<uint8_t>{0, 1});
}

TEST_CASE("scatter_nd: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kScatterNd);
  op.In<int32_t>({1, 1}, {0}).In<float>({1}, {1}).Unknown(DType::kInt32, {1}).Out(DType::kFloat32);
  CHECK(DeferredFor(op) == 2);
}

}  // namespace test
}  // namespace topwork
