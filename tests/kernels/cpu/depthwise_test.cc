// Depthwise rows of every instruction set this processor has, against double precision.
#include "kernels/cpu/depthwise.h"

#include <catch2/catch.hpp>

#include "kernels/contract/cpu_kernels.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace test {
namespace {

struct DepthwiseProblem {
  DepthwiseShape shape;
  int64_t out_h = 0;
  bool bias = true, residual = false;
};

DepthwiseProblem DepthwiseOf(int64_t size, int64_t channels, int64_t filter, int64_t stride,
                             int64_t dilation, int64_t pad, int64_t multiplier) {
  DepthwiseProblem p;
  DepthwiseShape& s = p.shape;
  s.in_h = size;
  s.in_w = size + 3;
  s.in_c = channels;
  s.filter_h = filter;
  s.filter_w = filter;
  s.stride_h = s.stride_w = stride;
  s.dilation_h = s.dilation_w = dilation;
  s.pad_top = s.pad_left = pad;
  s.multiplier = multiplier;
  s.lo = -1.5f;
  s.hi = 1.5f;
  // Up to the last position that touches the image, far beyond what padding normally gives.
  p.out_h = (s.in_h + pad - 1) / stride + 1;
  s.out_w = (s.in_w + pad - 1) / stride + 1;
  return p;
}

float DepthwiseAt(const DepthwiseShape& s, const std::vector<float>& image,
                  const std::vector<float>& filter, int64_t y, int64_t x, int64_t c) {
  double sum = 0.0;
  const int64_t out_c = s.in_c * s.multiplier;
  for (int64_t i = 0; i < s.filter_h; ++i) {
    for (int64_t j = 0; j < s.filter_w; ++j) {
      const int64_t iy = y * s.stride_h - s.pad_top + i * s.dilation_h;
      const int64_t ix = x * s.stride_w - s.pad_left + j * s.dilation_w;
      if (iy < 0 || iy >= s.in_h || ix < 0 || ix >= s.in_w) continue;
      const int64_t at = (iy * s.in_w + ix) * s.in_c + c / s.multiplier;
      sum += static_cast<double>(image[static_cast<size_t>(at)]) *
             static_cast<double>(filter[static_cast<size_t>((i * s.filter_w + j) * out_c + c)]);
    }
  }
  return static_cast<float>(sum);
}

void CheckDepthwise(const CpuKernels& cpu, const DepthwiseProblem& p) {
  const DepthwiseShape& s = p.shape;
  INFO(cpu.isa << ": " << s.in_h << " high, " << s.in_c << " channels, filter " << s.filter_h
               << ", stride " << s.stride_h << ", dilation " << s.dilation_h << ", pad "
               << s.pad_top << ", multiplier " << s.multiplier);
  const int64_t out_c = s.in_c * s.multiplier;
  const auto image = RandomFloats(static_cast<size_t>(s.in_h * s.in_w * s.in_c), 1);
  const auto filter = RandomFloats(static_cast<size_t>(s.filter_h * s.filter_w * out_c), 2);
  const auto bias = RandomFloats(static_cast<size_t>(out_c), 3);
  const size_t out_size = static_cast<size_t>(p.out_h * s.out_w * out_c);
  const auto residual = RandomFloats(out_size, 4);
  std::vector<float> out = p.residual ? residual : std::vector<float>(out_size, NAN);
  std::vector<float> expected(out_size);
  for (int64_t y = 0; y < p.out_h; ++y) {
    DepthwiseRow row;
    row.image = image.data();
    row.filter = filter.data();
    row.bias = p.bias ? bias.data() : nullptr;
    row.out = out.data() + y * s.out_w * out_c;
    row.residual = p.residual ? row.out : nullptr;  // in place, as plans let it
    row.out_y = y;
    cpu.depthwise->row(s, row);
    for (int64_t i = 0; i < s.out_w * out_c; ++i) {
      const size_t at = static_cast<size_t>(y * s.out_w * out_c + i);
      float sum = DepthwiseAt(s, image, filter, y, i / out_c, i % out_c);
      if (p.bias) sum += bias[static_cast<size_t>(i % out_c)];
      if (p.residual) sum += residual[at];
      expected[at] = std::min(std::max(sum, s.lo), s.hi);
    }
  }
  CHECK(LargestDifference(out, expected) < 1e-5);
}

}  // namespace

TEST_CASE("depthwise rows: sizes, strides, dilations, multipliers", "[ops][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int t = 0; t < n_tables; ++t) {
    const CpuKernels& cpu = *tables[t];
    const int lanes = cpu.depthwise->lanes;
    for (const int64_t channels : {1, 2, 3}) {  // several vectors of whole pixels
      CheckDepthwise(cpu, DepthwiseOf(80, channels, 5, 1, 1, 2, 1));
      CheckDepthwise(cpu, DepthwiseOf(41, channels, 4, 1, 2, 3, 1));
    }
    for (const int64_t channels : {1, 3, lanes - 1, lanes, lanes + 1, 2 * lanes, 2 * lanes + 3}) {
      for (const int64_t filter : {1, 2, 3, 5}) {
        for (const int64_t stride : {1, 2, 3}) {
          CheckDepthwise(cpu, DepthwiseOf(9, channels, filter, stride, 1, filter / 2, 1));
        }
      }
      CheckDepthwise(cpu, DepthwiseOf(11, channels, 3, 1, 2, 2, 1));
      CheckDepthwise(cpu, DepthwiseOf(11, channels, 3, 2, 3, 1, 1));
      for (const int64_t multiplier : {2, 3, 8, 37}) {
        CheckDepthwise(cpu, DepthwiseOf(5, channels, 3, 1, 1, 1, multiplier));
      }
      DepthwiseProblem problem = DepthwiseOf(8, channels, 3, 1, 1, 1, 1);
      problem.residual = true;
      CheckDepthwise(cpu, problem);
      problem.bias = false;
      CheckDepthwise(cpu, problem);
    }
  }
}

TEST_CASE("depthwise rows: images that keep their size, of every width", "[ops][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int t = 0; t < n_tables; ++t) {
    const int lanes = tables[t]->depthwise->lanes;
    for (int64_t width = 4; width <= 14; ++width) {
      for (const int64_t filter : {3, 5}) {
        for (const int64_t stride : {1, 2}) {
          DepthwiseProblem p = DepthwiseOf(width - 3, 3 * lanes + 2, filter, stride, 1, 0, 1);
          p.shape.pad_top = p.shape.pad_left = filter / 2;
          p.shape.out_w = (width - 1) / stride + 1;
          p.out_h = (p.shape.in_h - 1) / stride + 1;
          p.residual = width % 2 == 0;
          CheckDepthwise(*tables[t], p);
        }
      }
    }
  }
}

TEST_CASE("depthwise rows: windows that see padding alone give the bias", "[ops][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int t = 0; t < n_tables; ++t) {
    // Padding wider than the filter on all sides.
    for (const int64_t channels : {2, 32}) {
      CheckDepthwise(*tables[t], DepthwiseOf(4, channels, 3, 1, 1, 5, 1));
      CheckDepthwise(*tables[t], DepthwiseOf(1, channels, 5, 1, 1, 6, 1));
    }
  }
}

}  // namespace test
}  // namespace topwork
