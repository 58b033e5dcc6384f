// RANGE: golden cases, malformed ranges, ends of the number range.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("range: golden cases", "[ops][sets]") { RunOpCases("range"); }

TEST_CASE("range: refuses malformed ranges", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kRange)
                                .In<int32_t>({}, {0})
                                .In<int32_t>({}, {5})
                                .In<int32_t>({}, {1})
                                .Out(DType::kInt32));
  CheckRefusals({
      {op.With(2).In<int32_t>({}, {0}), kInvalidModel, "delta is zero"},
      {op.With(2).In<int32_t>({}, {-1}), kInvalidModel, "leads away"},
      {OneOp(OpCode::kRange)
           .In<float>({}, {0})
           .In<float>({}, {5})
           .In<float>({}, {-1})
           .Out(DType::kFloat32),
       kInvalidModel, "leads away"},
      {OneOp(OpCode::kRange)
           .In<float>({}, {0})
           .In<float>({}, {5})
           .In<float>({}, {NAN})
           .Out(DType::kFloat32),
       kInvalidModel, "leads away"},
      {OneOp(OpCode::kRange)
           .In<float>({}, {NAN})
           .In<float>({}, {5})
           .In<float>({}, {1})
           .Out(DType::kFloat32),
       kInvalidModel, "leads away"},
      {OneOp(OpCode::kRange)
           .In<float>({}, {0})
           .In<float>({}, {INFINITY})
           .In<float>({}, {1})
           .Out(DType::kFloat32),
       kInvalidModel, "length is -1"},
      {OneOp(OpCode::kRange)
           .In<float>({}, {0})
           .In<float>({}, {1})
           .In<float>({}, {1e-30f})
           .Out(DType::kFloat32),
       kInvalidModel, "length is -1"},
      {OneOp(OpCode::kRange)
           .In<int64_t>({}, {INT64_MIN})
           .In<int64_t>({}, {INT64_MAX})
           .In<int64_t>({}, {1})
           .Out(DType::kInt64),
       kInvalidModel, "length is -1"},
      {op.With(2).In<int64_t>({}, {1}), kInvalidModel, "they must agree"},
      {op.With(0).In<int32_t>({1}, {0}), kInvalidModel, "rank 0 expected"},
      {OneOp(OpCode::kRange)
           .In<int8_t>({}, {0})
           .In<int8_t>({}, {5})
           .In<int8_t>({}, {1})
           .Out(DType::kInt8),
       kUnsupported, "int8; supported"},
      {op.First(2), kInvalidModel, "lacks its input 2"},
  });
}

TEST_CASE("range: ends of the number range", "[ops]") {
  OneOp op(OpCode::kRange);
  op.In<int64_t>({}, {INT64_MIN}).In<int64_t>({}, {INT64_MAX}).In<int64_t>({}, {INT64_MAX});
  op.Out(DType::kInt64);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int64_t>(0) == std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1});
  OneOp down(OpCode::kRange);
  down.In<int32_t>({}, {INT32_MAX}).In<int32_t>({}, {INT32_MIN}).In<int32_t>({}, {INT32_MIN});
  down.Out(DType::kInt32);
  REQUIRE(down.Run().ToString() == "OK");
  CHECK(down.Values<int32_t>(0) == std::vector<int32_t>{INT32_MAX, -1});
}

TEST_CASE("range: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kRange);
  op.In<int32_t>({}, {0}).Unknown(DType::kInt32, {}).In<int32_t>({}, {1}).Out(DType::kInt32);
  CHECK(DeferredFor(op) == 1);
}

}  // namespace test
}  // namespace topwork
