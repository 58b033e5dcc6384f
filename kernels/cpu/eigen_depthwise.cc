// Depthwise rows on Eigen's arrays: a row of output is an array of channels x pixels, and each tap
// adds the pixels that it sees, times its weights. Taps are added in ascending (ky, kx) order to
// bias + residual; the clamp comes last.
#include <Eigen/Core>

#include "kernels/cpu/depthwise.h"

namespace topwork {
namespace eigen {
namespace {

using Index = int64_t;
using Eigen::Dynamic;
using Values = Eigen::ArrayXXf;
using Weights = Eigen::ArrayXf;

// kInner: distance of neighbouring channels in memory, or Dynamic.
template <int kInner>
using Step = Eigen::Stride<Dynamic, kInner>;

struct Range {
  Index begin = 0, end = 0;
};

Index CeilDiv(Index a, Index b) { return (a + b - 1) / b; }

// The pixels of the row at which the tap `kx` lies inside the image.
Range PixelsThatSee(const DepthwiseShape& s, Index kx) {
  const Index origin = kx * s.dilation_w - s.pad_left;  // the tap's place at pixel 0
  Range r;
  if (origin < 0) r.begin = CeilDiv(-origin, s.stride_w);
  r.end = origin < s.in_w ? CeilDiv(s.in_w - origin, s.stride_w) : 0;
  if (r.end > s.out_w) r.end = s.out_w;
  return r;
}

// Adds one tap. Output channel c * multiplier + m is input channel c.
template <int kInner>
void AddTap(const DepthwiseShape& s, const float* in, const float* w, float* out, Range pixels,
            Index m) {
  const Index in_step = s.stride_w * s.in_c, out_step = s.in_c * s.multiplier;
  const Index count = pixels.end - pixels.begin;
  const Eigen::Map<const Values, 0, Step<1>> x(in + pixels.begin * in_step, s.in_c, count,
                                               Step<1>(in_step, 1));
  Eigen::Map<Values, 0, Step<kInner>> y(out + pixels.begin * out_step + m, s.in_c, count,
                                        Step<kInner>(out_step, s.multiplier));
  const Eigen::Map<const Weights, 0, Eigen::InnerStride<kInner>> weights(
      w + m, s.in_c, Eigen::InnerStride<kInner>(s.multiplier));
  y += x.colwise() * weights;
}

void Row(const DepthwiseShape& s, const DepthwiseRow& r) {
  const Index channels = s.in_c * s.multiplier;
  Eigen::Map<Values> out(r.out, channels, s.out_w);
  if (r.residual != nullptr) {
    out = Eigen::Map<const Values>(r.residual, channels, s.out_w);
  } else {
    out.setZero();
  }
  if (r.bias != nullptr) out.colwise() += Eigen::Map<const Weights>(r.bias, channels);
  for (Index ky = 0; ky < s.filter_h; ++ky) {
    const Index y = r.out_y * s.stride_h - s.pad_top + ky * s.dilation_h;
    if (y < 0 || y >= s.in_h) continue;
    for (Index kx = 0; kx < s.filter_w; ++kx) {
      const Range pixels = PixelsThatSee(s, kx);
      if (pixels.begin >= pixels.end) continue;
      // Where pixel 0 sees the tap: outside the image, maybe, but the first of `pixels` is inside.
      const float* in = r.image + (y * s.in_w + kx * s.dilation_w - s.pad_left) * s.in_c;
      const float* w = r.filter + (ky * s.filter_w + kx) * channels;
      if (s.multiplier == 1) {
        AddTap<1>(s, in, w, r.out, pixels, 0);
        continue;
      }
      for (Index m = 0; m < s.multiplier; ++m) AddTap<Dynamic>(s, in, w, r.out, pixels, m);
    }
  }
  out = (out < s.lo).select(s.lo, out);  // not max and min: a NaN stays a NaN
  out = (out > s.hi).select(s.hi, out);
}

constexpr int kLanes = Eigen::internal::packet_traits<float>::size;

}  // namespace

extern const DepthwiseKernels kDepthwiseKernels;
const DepthwiseKernels kDepthwiseKernels = {kLanes, Row};

}  // namespace eigen
}  // namespace topwork
