// BackwardKernels: the gradient loops that need SIMD, one table for each instruction set.
//
// Depthwise convolution over NHWC: y[b, oy, ox, c] = Σ_tap x[b, iy, ix, c] · filter[tap, c], one
// output channel for each input channel. Every sum has a fixed order, whatever range is computed at
// once: that of the taps (input), or of examples, rows and columns (weights).
#ifndef TOPWORK_KERNELS_TRAIN_BACKWARD_KERNELS_H_
#define TOPWORK_KERNELS_TRAIN_BACKWARD_KERNELS_H_

#include <cstdint>

#include "kernels/contract/cpu_kernels.h"

namespace topwork {

// One axis of the window: sizes of image, filter and output, and the padding before the image.
struct BackwardAxis {
  int64_t in = 0, filter = 1, stride = 1, dilation = 1, pad = 0, out = 0;
};

struct DepthwiseBackward {
  BackwardAxis h, w;
  int64_t batch = 0, channels = 0;
  const float* x = nullptr;
  const float* filter = nullptr;  // [filter_h, filter_w, channels]
  const float* delta = nullptr;   // dL/dz
};

// Channels that a task of the weights' gradient takes at once.
constexpr int64_t kDepthwiseChannels = 64;
// The most taps through which one position of the input can be reached in `input_row`.
constexpr int64_t kMaxDepthwiseTaps = 64;

struct BackwardKernels {
  const char* isa;
  // Computes row `y` of image `b` of the input's gradient, [in_w, channels] at out; adds to it with
  // `accumulate`. For filters of at most kMaxDepthwiseTaps taps.
  void (*depthwise_input_row)(const DepthwiseBackward& d, int64_t b, int64_t y, bool accumulate,
                              float* out);
  // Channels [begin, end), at most kDepthwiseChannels, of the filter's gradient.
  void (*depthwise_weights)(const DepthwiseBackward& d, int64_t begin, int64_t end, bool accumulate,
                            float* out);
  // to[i] (+)= lo < v[i] < hi ? delta[i] : 0 for n elements; `to` may be delta.
  void (*pass_between)(const float* v, const float* delta, float lo, float hi, int64_t n,
                       bool accumulate, float* to);
  // to[i] += from[i]
  void (*add)(const float* from, int64_t n, float* to);
  // to[c · n_rows + r] = from[r · stride + c] for columns [begin, end).
  void (*transpose)(const float* from, int64_t stride, int64_t n_rows, int64_t begin, int64_t end,
                    float* to);
  // out[c] (+)= Σ_r x[r · n_columns + c] for columns [begin, end), at most kSumColumns; partial
  // sums over kRowsPerSum rows, for precision.
  void (*sum_rows)(const float* x, int64_t n_rows, int64_t n_columns, int64_t begin, int64_t end,
                   bool accumulate, float* out);
};
constexpr int64_t kSumColumns = 64;
constexpr int64_t kRowsPerSum = 256;

// The table that belongs to the instruction set of `cpu`.
const BackwardKernels& BackwardKernelsFor(const CpuKernels& cpu);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_TRAIN_BACKWARD_KERNELS_H_
