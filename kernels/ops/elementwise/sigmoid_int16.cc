// LOGISTIC and TANH of int16 (see sigmoid_int16.h).
#include "kernels/ops/elementwise/sigmoid_int16.h"

#include <cmath>

namespace topwork {
namespace {

// 65536 times the logistic function at i / 24. As in TFLite's table, each entry is raised by half
// of the error that a straight line to the next entry has in the middle.
void FillTable(uint16_t* table) {
  const auto f = [](double i) { return 65536.0 / (1.0 + std::exp(-i / 24.0)); };
  for (int i = 0; i < 255; ++i) {
    const double lack = f(i + 0.5) - (f(i) + f(i + 1)) / 2.0;
    table[i] = static_cast<uint16_t>(std::round(f(i) + lack / 2.0));
  }
  table[255] = 65535;
}

}  // namespace

int32_t SigmoidMap::operator()(int32_t q) const {
  const int32_t round = shift > 0 ? 1 << (shift - 1) : 0;
  const int32_t x = (q * multiplier + round) >> shift;
  const uint32_t magnitude = static_cast<uint32_t>(x < 0 ? -x : x);
  const int bits = tanh ? 8 : 9;  // of the place between two table entries
  const uint32_t index = magnitude >> bits;
  int32_t result = (tanh ? 0xffff : 0x7fff << 1) << bits;
  if (index < 255) {
    const uint32_t left = table[index], right = table[index + 1];
    const uint32_t part = magnitude & ((1u << bits) - 1u);
    result = static_cast<int32_t>((left << bits) + part * (right - left));
  }
  if (tanh) {
    constexpr int32_t kOne = 1 << 23, kHalf = 1 << 7;
    return (x >= 0 ? result - kOne + kHalf : -result + kOne + kHalf - 1) >> 8;
  }
  constexpr int32_t kOne = 1 << 25, kHalf = 1 << 9;
  return (x >= 0 ? result + kHalf : kOne - result + kHalf - 1) >> 10;
}

Status PrepareSigmoidInt16(PrepareContext& context, bool tanh) {
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(PrepareUnaryQuant(context, {DType::kInt16}, &quant));
  int exponent = 0;
  if (!IsPowerOfTwo(quant.out.scale, &exponent) || exponent != -15) {
    return context.Unsupported("its int16 output has scale {}, 1/32768 expected", quant.out.scale);
  }
  SigmoidMap map;
  map.tanh = tanh;
  FillTable(map.table);
  const int left = IsPowerOfTwo(quant.in.scale, &exponent) ? 12 + exponent : -1;
  if (left == 0 || (tanh && left == 1)) {
    map.multiplier = 3 << left;
  } else {
    double multiplier = static_cast<double>(quant.in.scale) * 4096.0 * 3.0;
    while (multiplier <= 32767.0 / 2.0 && map.shift <= 30) {
      ++map.shift;
      multiplier *= 2.0;
    }
    if (multiplier > 65535.0) {
      return context.Unsupported("its int16 input has scale {}, at most 5.3 expected",
                                 quant.in.scale);
    }
    map.multiplier = static_cast<int32_t>(multiplier);
  }
  SetMap(context, quant.dtype, map);
  return Status::Ok();
}

}  // namespace topwork
