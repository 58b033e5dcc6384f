// BITCAST: values, malformed operators.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"

namespace topwork {
namespace test {

TEST_CASE("bitcast: the same bytes as another type", "[ops]") {
  OneOp op(OpCode::kBitcast);
  op.In<float>({2}, {1.0f, -2.0f}).Out(DType::kInt32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.shape(0) == Shape({2}));
  CHECK(op.Values<int32_t>(0) ==
        std::vector<int32_t>{0x3f800000, static_cast<int32_t>(0xc0000000)});
  OneOp smaller(OpCode::kBitcast);
  smaller.In<int32_t>({1, 2}, {0x01020304, 5}).Out(DType::kInt16);
  REQUIRE(smaller.Run().ToString() == "OK");
  CHECK(smaller.shape(0) == Shape({1, 2, 2}));
  CHECK(smaller.Values<int16_t>(0) == std::vector<int16_t>{0x0304, 0x0102, 5, 0});
  OneOp larger(OpCode::kBitcast);
  larger.In<uint8_t>({2, 4}, {1, 0, 0, 0, 2, 1, 0, 0}).Out(DType::kUInt32);
  REQUIRE(larger.Run().ToString() == "OK");
  CHECK(larger.shape(0) == Shape({2}));
  CHECK(larger.Values<uint32_t>(0) == std::vector<uint32_t>{1, 258});
}

TEST_CASE("bitcast: refuses malformed operators", "[ops]") {
  const OneOp op =
      Accepted(OneOp(OpCode::kBitcast).Unknown(DType::kInt8, {2, 3}).Out(DType::kInt8));
  CheckRefusals({
      {op.With().Out(0, DType::kInt32), kInvalidModel, "needs a last dimension of 4"},
      {op.With(0).Unknown(DType::kInt8, {}).Out(0, DType::kInt32), kInvalidModel,
       "needs a last dimension of 4"},
      {op.With(0).Unknown(DType::kInt32, {1, 1, 1, 1, 1, 1, 1, 1}), kUnsupported, "rank 9"},
      {op.With(0).Unknown(DType::kInt32, {1}).Out(0, DType::kString), kUnsupported, "as string"},
      {op.With(0).Unknown(DType::kString, {1}), kUnsupported, "string"},
      {op.First(0), kInvalidModel, "lacks its input 0"},
  });
}

}  // namespace test
}  // namespace topwork
