// Depthwise convolution, float32, NHWC: the inner loops over one output row.
//
// out[x][c * multiplier + m] = act(bias + sum over taps in[y][x'][c] * filter[tap][c * multiplier +
// m] + residual); taps outside the image are skipped. Taps are added in ascending (ky, kx) order
// whatever path computes an element.
#ifndef TOPWORK_KERNELS_CPU_DEPTHWISE_H_
#define TOPWORK_KERNELS_CPU_DEPTHWISE_H_

#include <cstdint>

namespace topwork {

// Sizes that all rows share.
struct DepthwiseShape {
  int64_t in_h = 0, in_w = 0, in_c = 0;
  int64_t out_w = 0;
  int64_t filter_h = 0, filter_w = 0;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0;
  int64_t multiplier = 1;      // out channels per in channel
  float lo = 0.0f, hi = 0.0f;  // the result is clamped to [lo, hi]; NaN passes through
};

struct DepthwiseRow {
  const float* image = nullptr;     // [in_h, in_w, in_c] of this batch
  const float* filter = nullptr;    // [filter_h, filter_w, in_c * multiplier]
  const float* bias = nullptr;      // in_c * multiplier values, or null
  const float* residual = nullptr;  // this row's, or null; may be equal to out
  float* out = nullptr;             // [out_w, in_c * multiplier]
  int64_t out_y = 0;
};

// One instruction set's functions. They allocate nothing and may run on any thread.
struct DepthwiseKernels {
  int lanes;  // floats of a vector
  void (*row)(const DepthwiseShape& shape, const DepthwiseRow& row);
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_DEPTHWISE_H_
