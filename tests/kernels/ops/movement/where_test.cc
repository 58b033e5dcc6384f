// WHERE: values, malformed operators.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/one_op.h"

namespace topwork {
namespace test {

TEST_CASE("where: coordinates of what is true, in order", "[ops]") {
  OneOp op(OpCode::kWhere);
  op.InBool({2, 3}, {0, 1, 0, 1, 0, 1}).Out(DType::kInt64);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({3, 2}));
  CHECK(op.Values<int64_t>(0) == std::vector<int64_t>{0, 1, 1, 0, 1, 2});
  OneOp floats(OpCode::kWhere);
  floats.In<float>({4}, {0, -0.0f, NAN, 1e-40f}).Out(DType::kInt64);
  REQUIRE(floats.Run().ToString() == "OK");
  CHECK(floats.Values<int64_t>(0) == std::vector<int64_t>{2, 3});
  OneOp bytes(OpCode::kWhere);
  bytes.In<uint8_t>({1, 1, 3}, {128, 0, 1}).Out(DType::kInt64);
  REQUIRE(bytes.Run().ToString() == "OK");
  CHECK(bytes.Values<int64_t>(0) == std::vector<int64_t>{0, 0, 0, 0, 0, 2});
  OneOp words(OpCode::kWhere);
  words.In<uint32_t>({2}, {0, 0x80000000u}).Out(DType::kInt64);
  REQUIRE(words.Run().ToString() == "OK");
  CHECK(words.Values<int64_t>(0) == std::vector<int64_t>{1});
}

TEST_CASE("where: nothing is true", "[ops]") {
  OneOp op(OpCode::kWhere);
  op.In<int64_t>({2, 2}, {0, 0, 0, 0}).Out(DType::kInt64);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({0, 2}));
  OneOp empty(OpCode::kWhere);
  empty.Unknown(DType::kInt32, {0, 5}).Out(DType::kInt64);
  REQUIRE(empty.Run().ToString() == "OK");
  CHECK(empty.shape(0) == Shape({0, 2}));
}

TEST_CASE("where: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kWhere).InBool({2}, {1, 0}).Out(DType::kInt64));
  CheckRefusals({
      {op.With(0).InBool({}, {1}), kInvalidModel, "rank 1 to 8 expected"},
      {op.With(0).InBool({1}, {1}).Out(0, DType::kInt32), kInvalidModel, "declared int32"},
      {op.With(0).Unknown(DType::kString, {1}), kUnsupported, "string"},
      {op.First(0), kInvalidModel, "lacks its input 0"},
  });
}

TEST_CASE("where: a value that only a run knows defers it", "[ops]") {
  OneOp op(OpCode::kWhere);
  op.Unknown(DType::kBool, {6}).Out(DType::kInt64);
  CHECK(DeferredFor(op) == 0);
}

}  // namespace test
}  // namespace topwork
