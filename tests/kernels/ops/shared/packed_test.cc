// Tensors of int2, int4 and uint4: golden cases, rows that end inside a byte (which LiteRT cuts
// wrongly), several threads, and what is refused.
#include "runtime/tensor/packed.h"

#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace packed_ops_test {

using test::OneOp;
using test::Refusal;

constexpr DType kPacked[] = {DType::kInt2, DType::kInt4, DType::kUInt4};

std::vector<uint8_t> Pack(DType dtype, const std::vector<int8_t>& values) {
  std::vector<uint8_t> bytes(ByteSize(dtype, {static_cast<int32_t>(values.size())}));
  PackBytes(dtype, values.data(), static_cast<int64_t>(values.size()), 0,
            static_cast<int64_t>(bytes.size()), bytes.data());
  return bytes;
}

// Output 0 of a packed type.
std::vector<int> Unpacked(const OneOp& op, DType dtype) {
  const std::vector<uint8_t> bytes = op.Values<uint8_t>(0);
  REQUIRE(bytes.size() == ByteSize(dtype, op.shape(0)));
  std::vector<int> values;
  for (int64_t i = 0; i < op.shape(0).NumElements(); ++i) {
    values.push_back(PackedAt(dtype, bytes.data(), i));
  }
  return values;
}

// 0, 1, 0, 1, 1, 0, ... without a period that a wrong cut could repeat.
std::vector<int8_t> Bits(int n) {
  std::vector<int8_t> values;
  for (int i = 0; i < n; ++i) values.push_back(static_cast<int8_t>((i * i / 3 + i) % 2));
  return values;
}

TEST_CASE("packed: golden cases", "[ops][sets]") { test::RunOpCases("packed"); }

TEST_CASE("packed: looked-up rows may end inside a byte", "[ops]") {
  const std::vector<int8_t> values = Bits(5 * 3);
  for (const DType dtype : kPacked) {
    INFO(DTypeName(dtype));
    const auto want = [&](int row, int i) { return values[static_cast<size_t>(row * 3 + i)]; };
    OneOp op(OpCode::kEmbeddingLookup);
    op.In<int32_t>({2}, {3, 1}).InPacked(dtype, {5, 3}, Pack(dtype, values)).Out(dtype);
    REQUIRE(op.Run().ToString() == "OK");
    CHECK(Unpacked(op, dtype) ==
          std::vector<int>{want(3, 0), want(3, 1), want(3, 2), want(1, 0), want(1, 1), want(1, 2)});
    if (dtype == DType::kUInt4) continue;
    OneOp real(OpCode::kEmbeddingLookup);
    real.In<int32_t>({1}, {3}).InPacked(dtype, {5, 3}, Pack(dtype, values)).Quantized({0.5f}, {0});
    real.Out(DType::kFloat32);
    REQUIRE(real.Run().ToString() == "OK");
    CHECK(real.Values<float>(0) ==
          std::vector<float>{0.5f * want(3, 0), 0.5f * want(3, 1), 0.5f * want(3, 2)});
  }
}

TEST_CASE("packed: gathered slices may end inside a byte", "[ops]") {
  const std::vector<int8_t> values = {1, -2, 3, -4, 5, -6, 7, -8, 0, -1, 2, -3, 4, -5, 6};
  OneOp rows(OpCode::kGather);
  rows.InPacked(DType::kInt4, {5, 3}, Pack(DType::kInt4, values)).In<int32_t>({3}, {4, 0, 1});
  rows.Out(DType::kInt4);
  REQUIRE(rows.Run().ToString() == "OK");
  CHECK(Unpacked(rows, DType::kInt4) == std::vector<int>{4, -5, 6, 1, -2, 3, -4, 5, -6});
  OneOp columns(OpCode::kGather);
  columns.params.axis = 1;
  columns.InPacked(DType::kInt4, {5, 3}, Pack(DType::kInt4, values)).In<int64_t>({1}, {1});
  columns.Out(DType::kInt4);
  REQUIRE(columns.Run().ToString() == "OK");
  CHECK(Unpacked(columns, DType::kInt4) == std::vector<int>{-2, 5, -8, 2, -5});
}

TEST_CASE("packed: many elements on several threads", "[ops]") {
  constexpr int kRows = 301, kColumns = 401;
  std::vector<float> x;
  for (int i = 0; i < kRows * kColumns; ++i) x.push_back(static_cast<float>(i * 7 % 23) - 9.5f);
  for (const DType dtype : kPacked) {
    INFO(DTypeName(dtype));
    OneOp op(OpCode::kCast);
    op.In<float>({kRows, kColumns}, x).Out(dtype);
    REQUIRE(op.Run(3).ToString() == "OK");
    const std::vector<int> packed = Unpacked(op, dtype);
    const int lo = dtype == DType::kInt2 ? -2 : dtype == DType::kInt4 ? -8 : 0;
    const int hi = dtype == DType::kInt2 ? 1 : dtype == DType::kInt4 ? 7 : 15;
    size_t wrong = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const int cut = static_cast<int>(x[i]);
      if (packed[i] != (cut < lo ? lo : cut > hi ? hi : cut)) ++wrong;
    }
    CHECK(wrong == 0);
    if (dtype == DType::kInt2) continue;
    OneOp turned(OpCode::kTranspose);
    turned.InPacked(dtype, {kRows, kColumns}, op.Values<uint8_t>(0)).In<int32_t>({2}, {1, 0});
    turned.Out(dtype);
    REQUIRE(turned.Run(3).ToString() == "OK");
    const std::vector<int> got = Unpacked(turned, dtype);
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kColumns; ++c) {
        if (got[static_cast<size_t>(c * kRows + r)] !=
            packed[static_cast<size_t>(r * kColumns + c)])
          ++wrong;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("packed: operators that LiteRT lacks the type in refuse it by name", "[ops]") {
  const auto one = [](OpCode code, DType dtype) {
    OneOp op(code);
    op.Unknown(dtype, {2, 4});
    return op;
  };
  for (const DType dtype : kPacked) {
    const char* name = DTypeName(dtype);
    INFO(name);
    for (const OpCode code : {OpCode::kGatherNd, OpCode::kTile, OpCode::kReverseV2}) {
      INFO(OpCodeName(code));
      CHECK(Refusal(one(code, dtype).In<int32_t>({1}, {0}).Out(dtype), StatusCode::kUnsupported,
                    name) == "");
    }
    CHECK(Refusal(one(OpCode::kPad, dtype).In<int32_t>({2, 2}, {0, 1, 0, 0}).Out(dtype),
                  StatusCode::kUnsupported, name) == "");
    CHECK(Refusal(one(OpCode::kAdd, dtype).Unknown(dtype, {2, 4}).Out(dtype),
                  StatusCode::kUnsupported, name) == "");
    CHECK(Refusal(one(OpCode::kCast, dtype).Out(DType::kInt8), StatusCode::kUnsupported,
                  "to int8") == "");
    CHECK(Refusal(one(OpCode::kCast, DType::kInt32).Out(dtype), StatusCode::kUnsupported, name) ==
          "");
    CHECK(Refusal(one(OpCode::kQuantize, dtype).Quantized({1}, {0}).Out(DType::kInt8),
                  StatusCode::kUnsupported, name) == "");
    if (dtype == DType::kInt4) continue;
    for (const OpCode code : {OpCode::kGather, OpCode::kConcatenation}) {
      INFO(OpCodeName(code));
      CHECK(Refusal(one(code, dtype).In<int32_t>({1}, {0}).Out(dtype), StatusCode::kUnsupported,
                    name) == "");
    }
    for (const OpCode code : {OpCode::kConv2d, OpCode::kDepthwiseConv2d}) {
      INFO(OpCodeName(code));
      CHECK(Refusal(OneOp(code)
                        .Unknown(DType::kInt8, {1, 4, 4, 2})
                        .Quantized({1}, {0})
                        .Unknown(dtype, {2, 1, 1, 2})
                        .Quantized({1}, {0})
                        .Out(DType::kInt8)
                        .Quantized({1}, {0}),
                    StatusCode::kUnsupported, name) == "");
    }
  }
  CHECK(Refusal(one(OpCode::kQuantize, DType::kFloat32).Out(DType::kInt2).Quantized({1}, {0}),
                StatusCode::kUnsupported, "to int2") == "");
  CHECK(Refusal(one(OpCode::kQuantize, DType::kFloat32).Out(DType::kInt4).Quantized({1, 2}, {0, 0}),
                StatusCode::kUnsupported, "one scale is supported") == "");
  CHECK(Refusal(one(OpCode::kTranspose, DType::kInt2).In<int32_t>({2}, {1, 0}).Out(DType::kInt2),
                StatusCode::kUnsupported, "int2") == "");
  CHECK(Refusal(one(OpCode::kFullyConnected, DType::kFloat32)
                    .Unknown(DType::kUInt4, {3, 4})
                    .Quantized({1}, {0})
                    .Out(DType::kFloat32),
                StatusCode::kUnsupported, "uint4") == "");
}

}  // namespace packed_ops_test
}  // namespace topwork
