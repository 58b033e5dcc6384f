// The integer depthwise convolution of every instruction set this processor has, beside plain
// loops: all widths of filters, strides, dilations and channels, several rows at once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/integer.h"
#include "kernels/ops/shared/quant.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/single_factors.h"

namespace topwork {
namespace integer_depthwise_test {

struct Case {
  DepthwiseShape shape;
  IntegerDepthwiseRows rows;
  std::vector<uint8_t> image;
  std::vector<int16_t> filter;
  std::vector<int32_t> bias, mantissas, rights;
  std::vector<uint8_t> words;  // of DepthwiseWords, or empty
  bool is_unsigned = false;

  int64_t channels() const { return shape.in_c; }
  int ValueAt(int64_t y, int64_t x, int64_t channel) const {
    const bool inside = y >= 0 && y < shape.in_h && x >= 0 && x < shape.in_w;
    const size_t at = static_cast<size_t>((y * shape.in_w + x) * shape.in_c + channel);
    const uint8_t byte = inside ? image[at] : rows.padding;
    return is_unsigned ? int{byte} : int{static_cast<int8_t>(byte)};
  }
};

using Random = std::mt19937;

int64_t UpTo(Random* random, unsigned n) { return 1 + static_cast<int64_t>((*random)() % n); }

void SetAnyShape(Random* random, DepthwiseShape* shape) {
  const auto up_to = [&](unsigned n) { return UpTo(random, n); };
  DepthwiseShape& s = *shape;
  s.in_c = up_to(70);
  s.multiplier = 1;
  s.filter_h = up_to(5);
  s.filter_w = up_to(10);
  s.stride_h = up_to(2);
  s.stride_w = up_to(3);
  s.dilation_h = up_to(2);
  s.dilation_w = up_to(4) == 1 ? 2 : 1;
  s.out_w = up_to(11);
}

// A shape that products of bytes take.
void SetBytesShape(Random* random, DepthwiseShape* s) {
  s->in_c = kColumnPad - 1 + UpTo(random, UpTo(random, 4) == 1 ? 160 : 80);
  s->multiplier = 1;
  s->filter_h = s->filter_w = 1 + 2 * UpTo(random, 2);
  s->stride_h = s->stride_w = UpTo(random, 2);
  s->out_w = kLeastDepthwiseWidth - 1 + UpTo(random, UpTo(random, 4) == 1 ? 50 : 9);
  s->pad_top = UpTo(random, 3) - 1;
  s->pad_left = UpTo(random, 3) - 1;
}

// The words of the filter, whose weights lie within a byte.
std::vector<uint8_t> WordsOf(const Case& c) {
  const DepthwiseWords form(c.shape.filter_h, c.shape.stride_h);
  std::vector<uint8_t> words;
  for (int64_t word = 0; word < form.n(); ++word) {
    const int64_t x = word % form.size, g = word / form.size % form.groups;
    const int64_t out = word / form.size / form.groups;
    for (int64_t i = 0; i < 4 * c.channels(); ++i) {
      const int64_t y = 4 * g + i % 4 - out * form.stride;
      const bool inside = y >= 0 && y < form.size;
      const size_t tap = static_cast<size_t>((y * form.size + x) * c.channels() + i / 4);
      words.push_back(inside ? static_cast<uint8_t>(c.filter[tap]) : 0);
    }
  }
  return words;
}

// With `bytes` for depthwise_bytes, else for depthwise_rows.
Case MakeCase(Random* random, bool bytes) {
  const auto up_to = [&](unsigned n) { return UpTo(random, n); };
  Case c;
  DepthwiseShape& s = c.shape;
  (bytes ? SetBytesShape : SetAnyShape)(random, &s);
  const int64_t out_h = up_to(5);
  s.in_h = (out_h - 1) * s.stride_h + (s.filter_h - 1) * s.dilation_h + 1;
  s.in_w = (s.out_w - 1) * s.stride_w + (s.filter_w - 1) * s.dilation_w + 1;
  if (bytes) {  // some of that lies below and to the right
    s.in_h = std::max<int64_t>(1, s.in_h - s.pad_top - up_to(3) + 1);
    s.in_w = std::max<int64_t>(1, s.in_w - s.pad_left - up_to(3) + 1);
    c.rows.padding = static_cast<uint8_t>((*random)());
  }
  c.is_unsigned = up_to(2) == 1;
  c.image.resize(static_cast<size_t>(s.in_h * s.in_w * s.in_c));
  for (uint8_t& value : c.image) value = static_cast<uint8_t>((*random)());
  c.filter.resize(static_cast<size_t>(s.filter_h * s.filter_w * s.in_c));
  for (int16_t& value : c.filter) {
    value = static_cast<int16_t>(bytes ? (*random)() % 256 - 128 : (*random)() % 511 - 255);
  }
  if (bytes) c.words = WordsOf(c);
  const bool small = up_to(2) == 1;
  for (int64_t i = 0; i < s.in_c; ++i) {
    c.bias.push_back(static_cast<int32_t>((*random)() % 60000) - 30000);
    c.mantissas.push_back((1 << 30) + static_cast<int32_t>((*random)() % (1u << 30)));
    c.rights.push_back(static_cast<int32_t>((*random)() % 12) + (small ? 1 : 0));
  }
  IntegerDepthwiseRows& r = c.rows;
  r.out_y = out_h > 1 ? static_cast<int64_t>((*random)() % static_cast<unsigned>(out_h)) : 0;
  r.rows = out_h - r.out_y;
  r.element = c.is_unsigned ? 1 : 0;
  r.factors.small = small;
  r.zero_point = static_cast<int32_t>((*random)() % 256) - (c.is_unsigned ? 0 : 128);
  r.least = (c.is_unsigned ? 0 : -128) - r.zero_point;
  r.most = (c.is_unsigned ? 255 : 127) - r.zero_point;
  if (up_to(3) == 1) r.least = 0;
  return c;
}

// Sum of element (y, x, channel) of the rows asked for.
int32_t SumAt(const Case& c, int64_t y, int64_t x, int64_t channel) {
  const DepthwiseShape& s = c.shape;
  int32_t sum = c.bias[static_cast<size_t>(channel)];
  for (int64_t i = 0; i < s.filter_h; ++i) {
    for (int64_t j = 0; j < s.filter_w; ++j) {
      const int64_t in_y = (c.rows.out_y + y) * s.stride_h + i * s.dilation_h - s.pad_top;
      const int64_t in_x = x * s.stride_w + j * s.dilation_w - s.pad_left;
      const size_t tap = static_cast<size_t>((i * s.filter_w + j) * s.in_c + channel);
      sum += c.ValueAt(in_y, in_x, channel) * c.filter[tap];
    }
  }
  return sum;
}

template <typename T>
std::vector<T> Run(const CpuKernels& cpu, const Case& c, bool single) {
  IntegerDepthwiseRows rows = c.rows;
  rows.image = c.image.data();
  rows.filter = c.filter.data();
  std::vector<int32_t> bias = c.bias;
  if (!c.words.empty()) {
    // As the processor takes them, values are more, or less.
    const int32_t more = c.is_unsigned ? -cpu.integer->flip_uint8 : cpu.integer->flip_int8;
    for (size_t i = 0; i < c.filter.size(); ++i) bias[i % bias.size()] -= more * c.filter[i];
    rows.words = reinterpret_cast<const int32_t*>(c.words.data());
  }
  rows.bias = bias.data();
  rows.factors.mantissa = c.mantissas.data();
  rows.factors.right = c.rights.data();
  test::SingleColumns singles;
  if (single) {
    SingleSearch search;
    search.factors = rows.factors;
    search.bias = rows.bias;
    search.reach = c.shape.filter_h * c.shape.filter_w << 16;
    search.least = rows.least;
    search.most = rows.most;
    singles.Find(*cpu.integer, search, bias.size());
    rows.factors.single = singles.factors();
  }
  std::vector<T> out(static_cast<size_t>(rows.rows * c.shape.out_w * c.channels()) + 8, T{77});
  rows.out = out.data();
  if (c.words.empty()) {
    cpu.integer->depthwise_rows(c.shape, rows);
    return out;
  }
  // The channels at once, or in two parts.
  const int64_t parts = c.channels() >= 128 ? 2 : 1;
  for (int64_t part = 0; part < parts; ++part) {
    rows.channel_begin = part * 64;
    rows.channel_end = part + 1 == parts ? c.channels() : 64;
    cpu.integer->depthwise_bytes(c.shape, rows);
  }
  return out;
}

void CheckBytes(const CpuKernels& cpu, const Case& c, bool single) {
  const std::vector<uint8_t> out = Run<uint8_t>(cpu, c, single);
  const int64_t row = c.shape.out_w * c.channels();
  int n_wrong = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    uint8_t expected = 77;
    if (i < c.rows.rows * row) {
      const size_t channel = static_cast<size_t>(i % c.channels());
      const int32_t sum = SumAt(c, i / row, i % row / c.channels(), i % c.channels());
      const int32_t scaled = MultiplyByFactor(sum, {c.mantissas[channel], -c.rights[channel]});
      expected = static_cast<uint8_t>(std::min(std::max(scaled, c.rows.least), c.rows.most) +
                                      c.rows.zero_point);
    }
    n_wrong += out[static_cast<size_t>(i)] != expected;
  }
  CHECK(n_wrong == 0);
}

void CheckFloats(const CpuKernels& cpu, Case c) {
  const std::vector<float> scales(static_cast<size_t>(c.channels()), 0.5f);
  c.rows.epilogue = IntegerEpilogue::kFloat;
  c.rows.scale = scales.data();
  c.rows.in_scale = 0.25f;
  c.rows.lo = -1000.0f;
  c.rows.hi = 1000.0f;
  const std::vector<float> out = Run<float>(cpu, c, false);
  const int64_t row = c.shape.out_w * c.channels();
  int n_wrong = 0;
  for (int64_t i = 0; i < c.rows.rows * row; ++i) {
    const int32_t sum = SumAt(c, i / row, i % row / c.channels(), i % c.channels());
    const float value = static_cast<float>(sum) * 0.125f;
    n_wrong += out[static_cast<size_t>(i)] != std::min(std::max(value, -1000.0f), 1000.0f);
  }
  CHECK(n_wrong == 0);
}

void CheckRandomCases(bool bytes) {
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    if (bytes && cpu->integer->depthwise_bytes == nullptr) continue;
    Random random(3);
    for (int i = 0; i < 400; ++i) {
      const Case c = MakeCase(&random, bytes);
      const DepthwiseShape& s = c.shape;
      INFO(cpu->isa << ": " << s.filter_h << " x " << s.filter_w << ", stride " << s.stride_w
                    << ", dilation " << s.dilation_w << ", " << s.in_c << " channels, "
                    << c.rows.rows << " rows of " << s.out_w << (c.is_unsigned ? ", unsigned" : "")
                    << (c.rows.factors.small ? ", small" : ""));
      CheckBytes(*cpu, c, false);
      if (c.rows.factors.small) CheckBytes(*cpu, c, true);
      CheckFloats(*cpu, c);
    }
  }
}

TEST_CASE("integer depthwise: every shape of filter, any number of channels", "[ops][sets]") {
  CheckRandomCases(false);
  CheckRandomCases(true);
}

}  // namespace integer_depthwise_test
}  // namespace topwork
