// Rows of RESIZE_BILINEAR of every instruction set: each element is what resize.h says, to the bit,
// for every number of channels around a vector's; nothing behind the row is written.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/resize.h"

namespace topwork {
namespace test {
namespace resize_kernels_test {

constexpr int64_t kInWidth = 3, kOutWidth = 7;

// Without fused multiply-adds, wherever this file is compiled.
float Times(float a, float b) {
  volatile float product = a * b;
  return product;
}

struct Taps {
  float upper_first, upper_second, lower_first, lower_second;
};

float MixReal(const Taps& t, const ResizeMix& line, const ResizeMix& column) {
  const float* y = line.real_weights;
  const float* x = column.real_weights;
  float sum = Times(t.upper_first, Times(y[0], x[0]));
  sum += Times(t.lower_first, Times(y[1], x[0]));
  sum += Times(t.upper_second, Times(y[0], x[1]));
  return sum + Times(t.lower_second, Times(y[1], x[1]));
}

float MixByte(const Taps& t, const ResizeMix& line, const ResizeMix& column) {
  const float* y = line.real_weights;
  const float* x = column.real_weights;
  float sum = Times(Times(t.upper_first, y[0]), x[0]);
  sum += Times(Times(t.lower_first, y[1]), x[0]);
  sum += Times(Times(t.upper_second, y[0]), x[1]);
  sum += Times(Times(t.lower_second, y[1]), x[1]);
  return static_cast<float>(static_cast<int>(sum + 0.5f));
}

float MixFixed(const Taps& t, const ResizeMix& line, const ResizeMix& column) {
  const auto term = [&](float value, int y, int x) {
    return static_cast<int64_t>(value) * line.weights[y] * column.weights[x];
  };
  const int64_t sum = term(t.upper_first, 0, 0) + term(t.upper_second, 0, 1) +
                      term(t.lower_first, 1, 0) + term(t.lower_second, 1, 1);
  const int64_t half = int64_t{1} << 19;
  return static_cast<float>(sum < 0 ? -((half - sum) >> 20) : (sum + half) >> 20);
}

ResizeMix RandomMix(std::mt19937* random, int64_t pixels) {
  std::uniform_int_distribution<int32_t> weight(0, 1024),
      pixel(0, static_cast<int32_t>(pixels) - 1);
  ResizeMix mix;
  mix.first = pixel(*random);
  mix.second = pixel(*random);
  mix.weights[1] = weight(*random);
  mix.weights[0] = 1024 - mix.weights[1];
  mix.real_weights[1] = static_cast<float>(weight(*random)) / 1023.7f;
  mix.real_weights[0] = 1.0f - mix.real_weights[1];
  return mix;
}

// The same with weights that are multiples of 1/16, some beyond 0 and 1 of a single pixel.
ResizeMix SixteenthsMix(std::mt19937* random, int64_t pixels) {
  ResizeMix mix = RandomMix(random, pixels);
  int32_t second = static_cast<int32_t>((*random)() % 17);
  if ((*random)() % 4 == 0) {
    mix.second = mix.first;
    second = static_cast<int32_t>((*random)() % 24) - 4;
  }
  mix.sixteenths[0] = static_cast<int16_t>(16 - second);
  mix.sixteenths[1] = static_cast<int16_t>(second);
  for (int i = 0; i < 2; ++i) {
    mix.weights[i] = 64 * mix.sixteenths[i];
    mix.real_weights[i] = static_cast<float>(mix.sixteenths[i]) / 16.0f;
  }
  return mix;
}

// Values that differ from what `mix` makes of the taps.
template <typename T, typename Mix>
int WrongValues(void (*kernel)(const ResizeRow&), int64_t channels, float least, float most,
                Mix mix, bool in_sixteenths = false) {
  const auto random_mix = in_sixteenths ? SixteenthsMix : RandomMix;
  std::mt19937 random(static_cast<unsigned>(channels));
  std::uniform_real_distribution<float> any(least, most + 0.99f);
  std::vector<T> upper(static_cast<size_t>(kInWidth * channels)), lower(upper.size());
  for (T& value : upper) value = static_cast<T>(any(random));
  for (T& value : lower) value = static_cast<T>(any(random));
  upper[0] = lower[0] = static_cast<T>(least);
  upper.back() = lower.back() = static_cast<T>(most);
  std::vector<ResizeMix> columns;
  for (int64_t x = 0; x < kOutWidth; ++x) columns.push_back(random_mix(&random, kInWidth));
  std::vector<T> out(static_cast<size_t>(kOutWidth * channels) + 64, T{77});
  std::vector<float> space(2 * (upper.size() + kResizePad) + 1, 55.0f);
  ResizeRow row;
  row.upper = upper.data();
  row.lower = lower.data();
  row.in_width = kInWidth;
  row.out_width = kOutWidth;
  row.channels = channels;
  row.line = random_mix(&random, 2);
  row.in_sixteenths = in_sixteenths;
  if (in_sixteenths && row.line.first == row.line.second) lower = upper;
  row.columns = columns.data();
  row.out = out.data();
  row.space = space.data();
  kernel(row);
  int n_wrong = space.back() != 55.0f;
  for (int64_t i = 0; i < kOutWidth * channels; ++i) {
    const ResizeMix& column = columns[static_cast<size_t>(i / channels)];
    const size_t first = static_cast<size_t>(column.first * channels + i % channels);
    const size_t second = static_cast<size_t>(column.second * channels + i % channels);
    const Taps taps = {static_cast<float>(upper[first]), static_cast<float>(upper[second]),
                       static_cast<float>(lower[first]), static_cast<float>(lower[second])};
    n_wrong += static_cast<float>(out[static_cast<size_t>(i)]) != mix(taps, row.line, column);
  }
  for (size_t i = out.size() - 64; i < out.size(); ++i) n_wrong += out[i] != T{77};
  return n_wrong;
}

TEST_CASE("resize rows: every instruction set, every number of channels", "[ops][quant][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  for (int i = 0; i < n; ++i) {
    INFO(tables[i]->isa);
    const ResizeKernels& kernels = *tables[i]->resize;
    for (int64_t channels = 1; channels <= 140; channels += channels < 70 ? 1 : 7) {
      INFO(channels << " channels");
      CHECK(WrongValues<float>(kernels.f32, channels, -3.0f, 5.0f, MixReal) == 0);
      CHECK(WrongValues<uint8_t>(kernels.u8, channels, 0.0f, 255.0f, MixByte) == 0);
      CHECK(WrongValues<int8_t>(kernels.i8, channels, -128.0f, 127.0f, MixFixed) == 0);
      CHECK(WrongValues<uint8_t>(kernels.u8, channels, 0.0f, 255.0f, MixByte, true) == 0);
      CHECK(WrongValues<int8_t>(kernels.i8, channels, -128.0f, 127.0f, MixFixed, true) == 0);
      CHECK(WrongValues<int16_t>(kernels.i16, channels, -32768.0f, 32767.0f, MixFixed) == 0);
    }
  }
}

}  // namespace resize_kernels_test
}  // namespace test
}  // namespace topwork
