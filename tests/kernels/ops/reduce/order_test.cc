// ARG_MAX, ARG_MIN, TOPK_V2, CUMSUM, ADD_N: golden cases, ties and NaN, large tensors, malformed
// operators.
#include <catch2/catch.hpp>
#include <limits>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace {

const float kOrderNan = std::numeric_limits<float>::quiet_NaN();

using Positions = std::vector<int32_t>;

}  // namespace

TEST_CASE("arg_max: golden cases", "[ops][sets]") { RunOpCases("arg_max"); }
TEST_CASE("arg_min: golden cases", "[ops][sets]") { RunOpCases("arg_min"); }
TEST_CASE("topk_v2: golden cases", "[ops][sets]") { RunOpCases("topk_v2"); }
TEST_CASE("cumsum: golden cases", "[ops][sets]") { RunOpCases("cumsum"); }
TEST_CASE("add_n: golden cases", "[ops][sets]") { RunOpCases("add_n"); }

TEST_CASE("arg_max: integers, ties and NaN", "[ops]") {
  OneOp bytes(OpCode::kArgMax);
  bytes.In<uint8_t>({2, 3}, {1, 255, 255, 9, 0, 3}).In<int32_t>({}, {1}).Out(DType::kInt32);
  REQUIRE(bytes.Run().ToString() == "OK");
  CHECK(bytes.Values<int32_t>(0) == Positions{1, 0});
  OneOp least(OpCode::kArgMin);
  least.In<int8_t>({2, 2}, {5, -3, -7, -3}).In<int64_t>({1}, {-2}).Out(DType::kInt64);
  REQUIRE(least.Run().ToString() == "OK");
  CHECK(least.Values<int64_t>(0) == std::vector<int64_t>{1, 0});
  OneOp rows(OpCode::kArgMax);  // more than are found at once
  std::vector<int8_t> values(size_t{150} * 21, -5);
  Positions expected;
  for (int32_t r = 0; r < 150; ++r) {
    values[static_cast<size_t>(r * 21 + r % 21)] = -4;
    expected.push_back(r % 21);
  }
  rows.In<int8_t>({150, 21}, values).In<int32_t>({}, {1}).Out(DType::kInt32);
  REQUIRE(rows.Run(3).ToString() == "OK");
  CHECK(rows.Values<int32_t>(0) == expected);
  OneOp nan(OpCode::kArgMax);
  nan.In<float>({2, 3}, {1, kOrderNan, 2, kOrderNan, 1, 2}).In<int32_t>({}, {1}).Out(DType::kInt32);
  REQUIRE(nan.Run().ToString() == "OK");
  CHECK(nan.Values<int32_t>(0) == Positions{2, 0});
}

TEST_CASE("arg_max: refuses malformed operators", "[ops]") {
  const OneOp arg_max = Accepted(OneOp(OpCode::kArgMax)
                                     .Unknown(DType::kFloat32, {2, 3})
                                     .In<int32_t>({}, {1})
                                     .Out(DType::kInt32));
  const OneOp arg_min = Accepted(OneOp(OpCode::kArgMin)
                                     .Unknown(DType::kFloat32, {2, 2})
                                     .In<int32_t>({}, {1})
                                     .Out(DType::kInt32));
  CheckRefusals({
      {arg_max.With(1).In<int32_t>({}, {2}), kInvalidModel, "axis 2 is outside"},
      {arg_max.With(1).In<int32_t>({2}, {0, 1}), kInvalidModel, "one value expected"},
      {arg_min.With(0).Unknown(DType::kFloat32, {2, 0}), kInvalidModel, "no elements along axis 1"},
      {arg_min.With().Out(0, DType::kFloat32), kInvalidModel, "makes int32"},
  });
}

TEST_CASE("topk_v2: ties keep their order and NaN comes last", "[ops]") {
  OneOp op(OpCode::kTopkV2);
  op.In<float>({1, 6}, {2, kOrderNan, 5, 2, kOrderNan, 5}).In<int32_t>({}, {6});
  op.Out(DType::kFloat32).Out(DType::kInt32);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.Values<int32_t>(1) == Positions{2, 5, 0, 3, 1, 4});
  CHECK(op.Values<float>(0)[2] == 2.0f);
}

TEST_CASE("topk_v2: many rows on several threads", "[ops]") {
  std::vector<int64_t> x(300 * 50);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int64_t>(i * 31 % 50);
  OneOp op(OpCode::kTopkV2);
  op.In<int64_t>({300, 50}, x).In<int32_t>({1}, {3}).Out(DType::kInt64).Out(DType::kInt32);
  REQUIRE(op.Run(4).ToString() == "OK");
  const std::vector<int64_t> values = op.Values<int64_t>(0);
  const Positions positions = op.Values<int32_t>(1);
  size_t n_wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 49 - static_cast<int64_t>(i % 3)) ++n_wrong;
    if (x[i / 3 * 50 + static_cast<size_t>(positions[i])] != values[i]) ++n_wrong;
  }
  CHECK(n_wrong == 0);
}

TEST_CASE("topk_v2: refuses malformed operators", "[ops]") {
  for (int32_t k : {-1, 4}) {
    CHECK(Refusal(OneOp(OpCode::kTopkV2)
                      .Unknown(DType::kFloat32, {2, 3})
                      .In<int32_t>({}, {k})
                      .Out(DType::kFloat32)
                      .Out(DType::kInt32),
                  StatusCode::kInvalidModel, "have 3 elements") == "");
  }
  const OneOp op = Accepted(OneOp(OpCode::kTopkV2)
                                .Unknown(DType::kFloat32, {2, 3})
                                .In<int32_t>({}, {1})
                                .Out(DType::kFloat32)
                                .Out(DType::kInt32));
  CheckRefusals({
      {op.With(0).Unknown(DType::kFloat32, {}), kInvalidModel, "of rank 0"},
      {OneOp(OpCode::kTopkV2)
           .Unknown(DType::kFloat32, {3})
           .In<int32_t>({}, {1})
           .Out(DType::kFloat32),
       kInvalidModel, "1 outputs"},
  });
}

TEST_CASE("cumsum: integers wrap around, large tensors on several threads", "[ops]") {
  OneOp wrap(OpCode::kCumsum);
  wrap.In<int32_t>({2}, {std::numeric_limits<int32_t>::max(), 1}).In<int32_t>({}, {0});
  wrap.Out(DType::kInt32);
  REQUIRE(wrap.Run().ToString() == "OK");
  CHECK(wrap.Values<int32_t>(0)[1] == std::numeric_limits<int32_t>::min());
  OneOp large(OpCode::kCumsum);
  large.params.reverse = true;
  large.In<int64_t>({400, 3, 100}, std::vector<int64_t>(120000, 2)).In<int32_t>({}, {1});
  large.Out(DType::kInt64);
  REQUIRE(large.Run(3).ToString() == "OK");
  const std::vector<int64_t> y = large.Values<int64_t>(0);
  size_t n_wrong = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    n_wrong += y[i] != 2 * (3 - static_cast<int64_t>(i / 100 % 3)) ? 1 : 0;
  }
  CHECK(n_wrong == 0);
}

TEST_CASE("cumsum: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kCumsum)
                                .Unknown(DType::kFloat32, {2, 3})
                                .In<int32_t>({}, {0})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.With(1).In<int32_t>({}, {-3}), kInvalidModel, "axis -3 is outside"},
      {op.With(0).Unknown(DType::kInt8, {2, 3}).Out(0, DType::kInt8), kUnsupported, "is int8"},
  });
}

TEST_CASE("add_n: one input, large inputs", "[ops]") {
  OneOp one(OpCode::kAddN);
  one.In<float>({3}, {1, 2, 3}).Out(DType::kFloat32);
  REQUIRE(one.Run().ToString() == "OK");
  CHECK(one.Values<float>(0) == std::vector<float>{1, 2, 3});
  OneOp large(OpCode::kAddN);
  for (int32_t k = 1; k <= 3; ++k) large.In<int32_t>({50001}, std::vector<int32_t>(50001, k));
  large.Out(DType::kInt32);
  REQUIRE(large.Run(3).ToString() == "OK");
  CHECK(large.Values<int32_t>(0) == std::vector<int32_t>(50001, 6));
}

TEST_CASE("add_n: refuses malformed operators", "[ops]") {
  const OneOp op = Accepted(OneOp(OpCode::kAddN)
                                .Unknown(DType::kFloat32, {2})
                                .Unknown(DType::kFloat32, {2})
                                .Out(DType::kFloat32));
  CheckRefusals({
      {op.First(0), kInvalidModel, "lacks its input 0"},
      {op.With(1).Unknown(DType::kFloat32, {1}), kInvalidModel, "all must be equal"},
      {op.With(1).Unknown(DType::kInt32, {2}), kInvalidModel, "int32"},
  });
}

}  // namespace test
}  // namespace topwork
