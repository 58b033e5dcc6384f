// Operators on int8, uint8 and int16 tensors against LiteRT's reference kernels: every file
// tests/data/ops/quant_<operator>.twcases, on every instruction set. (Those of convolutions and
// FULLY_CONNECTED belong to quant_conv_test.cc.)
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("quantized operators: golden cases", "[ops][sets]") {
  RunOpCasesOf("quant_", 40, [](const std::string& file) {
    return file.find("conv") == file.npos && file.find("fully") == file.npos;
  });
}

// One operand's row of n values is repeated for every row of the other, or written out in full:
// the results must be equal.
template <typename T>
void CheckRepeatedRow(OpCode code, DType dtype, int32_t rows, int32_t n, bool first_repeats) {
  std::vector<T> one(static_cast<size_t>(n)), all(static_cast<size_t>(rows * n)), repeated;
  for (size_t i = 0; i < one.size(); ++i) one[i] = static_cast<T>(i * 37 + 11);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<T>(i * 101 + i / 7);
  for (int32_t r = 0; r < rows; ++r) repeated.insert(repeated.end(), one.begin(), one.end());
  std::vector<T> results[2];
  for (const bool full : {false, true}) {
    const Shape row = full ? Shape{rows, n} : Shape{n};
    const std::vector<T>& values = full ? repeated : one;
    OneOp op(code);
    if (!first_repeats) op.In<T>({rows, n}, all).Quantized({0.5f}, {0});
    op.In<T>(row, values).Quantized({0.75f}, {0});
    if (first_repeats) op.In<T>({rows, n}, all).Quantized({0.5f}, {0});
    op.Out(dtype).Quantized({dtype == DType::kInt16 ? 1.0f : 0.8f}, {0});
    REQUIRE(op.Run().ToString() == "OK");
    results[full] = op.Values<T>(0);
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("quantized operators: short rows that meet one repeated row", "[ops]") {
  for (const OpCode code : {OpCode::kAdd, OpCode::kSub, OpCode::kMul}) {
    for (const int32_t n : {2, 3, 5, 63, 64}) {
      for (const int32_t rows : {7, 8, 255, 256, 700}) {
        for (const bool first_repeats : {false, true}) {
          INFO(OpCodeName(code) << ", rows " << rows << " of " << n << ", " << first_repeats);
          CheckRepeatedRow<int8_t>(code, DType::kInt8, rows, n, first_repeats);
          CheckRepeatedRow<uint8_t>(code, DType::kUInt8, rows, n, first_repeats);
          CheckRepeatedRow<int16_t>(code, DType::kInt16, rows, n, first_repeats);
        }
      }
    }
  }
}

}  // namespace test
}  // namespace topwork
