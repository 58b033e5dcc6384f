// Winograd's transforms for convolutions of 3x3 taps, float32, NHWC, F(2x2, 3x3) and F(4x4, 3x3), and
// for those of three taps in one direction, F(4, 3).
//
// Y = A^T [ sum over channels of (G g G^T) * (B^T d B) ] A (Lavin and Gray 2016, arXiv:1509.09308)
// for a tile d of side x side inputs, side = 4 or 6, and Y of (side - 2) x (side - 2) outputs. The
// sum over channels is a product for each of the side x side positions (gemm.h): of V, transformed
// inputs, and U, transformed filters; it gives M. V is [position][tile][in_wide], M is
// [position][tile][out_wide]. The points are 0, 1, -1 and infinity, or 0, +-3/4, +-3/2 and infinity.
// In one direction Y = A^T [ sum over channels of (G g) * (B^T d) ], of 6 inputs and 4 outputs.
//
// Tiles are counted row by row through all images. An input that is not finite spoils its tiles.
#ifndef TOPWORK_KERNELS_CPU_WINOGRAD_H_
#define TOPWORK_KERNELS_CPU_WINOGRAD_H_

#include <cstdint>

namespace topwork {

// Sizes that all tiles share.
struct WinogradShape {
  int64_t in_h = 0, in_w = 0, in_c = 0;
  int64_t out_h = 0, out_w = 0, out_c = 0;
  int64_t in_wide = 0, out_wide = 0;  // channels, rounded up to whole vectors
  int64_t pad_top = 0, pad_left = 0;
  int64_t tiles_h = 0, tiles_w = 0;  // of one image
  int64_t tile_h = 0, tile_w = 0;  // outputs of a tile; one of them is 1 where the taps are a line
};

// V of tiles [first, first + n).
struct WinogradInput {
  const float* input = nullptr;
  int64_t first = 0, n = 0;
  float* v = nullptr;    // of the first of them
  int64_t v_stride = 0;  // between positions
};

// Outputs of tiles [first, first + n), channels [channel_begin, channel_end). Up to a vector of M is
// read after the last of them.
struct WinogradOutput {
  const float* m = nullptr;  // of the first of them, channel 0
  int64_t m_stride = 0;      // between positions
  int64_t first = 0, n = 0;
  int64_t channel_begin = 0, channel_end = 0;
  const float* bias = nullptr;      // out_c values, or null
  const float* residual = nullptr;  // of the output's shape, or null; may be equal to output
  float* output = nullptr;
  float lo = 0.0f, hi = 0.0f;  // the result is clamped to [lo, hi]; NaN passes through
};

struct WinogradTransforms {
  void (*input)(const WinogradShape& shape, const WinogradInput& tiles);
  void (*output)(const WinogradShape& shape, const WinogradOutput& tiles);
};

// One instruction set's functions. They allocate nothing and may run on any thread.
struct WinogradKernels {
  int lanes;                     // floats of a vector
  WinogradTransforms two, four;  // tiles of 2x2, of 4x4 outputs
  WinogradTransforms line;       // tiles of 4x1 or 1x4 outputs
  // A position of one filter: to[c] = sum of factors[t] * taps[t * n + c] over the taps, for c < n.
  void (*filter)(const float* factors, int n_taps, const float* taps, int64_t n, float* to);
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_WINOGRAD_H_
