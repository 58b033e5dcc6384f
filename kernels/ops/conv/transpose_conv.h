// What the float and the quantized TRANSPOSE_CONV share: the classes of taps (transpose_conv.cc).
#ifndef TOPWORK_KERNELS_OPS_CONV_TRANSPOSE_CONV_H_
#define TOPWORK_KERNELS_OPS_CONV_TRANSPOSE_CONV_H_

#include <algorithm>
#include <cstring>

#include "kernels/contract/kernel.h"
#include "kernels/ops/shared/window.h"

namespace topwork {

constexpr int64_t kColumnsAtOnce = 64;  // pixels gathered before they are multiplied

struct TransposeConvShape {
  int64_t batch = 0, in_h = 0, in_w = 0, in_c = 0, out_c = 0;
  WindowAxis h, w;  // of the forward convolution whose image is our output
};

// Taps first, first + stride, ... of an axis.
inline int64_t TapsOfClass(const WindowAxis& axis, int64_t first) {
  return first < axis.filter ? (axis.filter - first - 1) / axis.stride + 1 : 0;
}

// Taps of all classes before `first`.
inline int64_t TapsBefore(const WindowAxis& axis, int64_t first) {
  const int64_t each = axis.filter / axis.stride, rest = axis.filter % axis.stride;
  return std::min(first * each + std::min(first, rest), axis.filter);
}

inline int64_t ClassesOf(const WindowAxis& axis) { return std::min(axis.stride, axis.filter); }

// The taps of n pixels of one class: pixel j reads input columns [x + j, x + j + taps_x) and rows
// y, y - 1, ... of `image`, zeros outside.
template <typename T>
void GatherTaps(const TransposeConvShape& s, const T* image, int64_t y, int64_t taps_y, int64_t x,
                int64_t taps_x, int64_t n, T* to) {
  const int64_t run = taps_x * s.in_c;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t x0 = x + j;
    const int64_t begin = std::min(std::max<int64_t>(0, -x0), taps_x);
    const int64_t end = std::max(begin, std::min(taps_x, s.in_w - x0));
    for (int64_t i = 0; i < taps_y; ++i, to += run) {
      const int64_t iy = y - i;
      if (iy < 0 || iy >= s.in_h || begin == end) {
        std::fill(to, to + run, T());
        continue;
      }
      std::fill(to, to + begin * s.in_c, T());
      std::memcpy(to + begin * s.in_c, image + (iy * s.in_w + x0 + begin) * s.in_c,
                  static_cast<size_t>((end - begin) * s.in_c) * sizeof(T));
      std::fill(to + end * s.in_c, to + run, T());
    }
  }
}

// Filters of int8 and uint8 (transpose_conv_quantized.cc); shapes were checked and the output is set.
Status PrepareTransposeConvQuantized(PrepareContext* context, const TransposeConvShape& shape);
Status RunTransposeConvQuantized(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_TRANSPOSE_CONV_H_
