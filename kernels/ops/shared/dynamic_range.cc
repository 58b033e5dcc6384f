// Run-time quantization: the range first, then the values.
#include "kernels/ops/shared/dynamic_range.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/integer.h"

namespace topwork {
namespace {

constexpr int64_t kChunk = 16384;

void Quantize(const RunContext& context, const float* in, int64_t n, const DynamicScale& q,
              bool symmetric, int8_t* out) {
  context.cpu->integer->quantize(in, n, 1.0f / q.scale, q.zero_point, symmetric ? -127 : -128, out);
}

}  // namespace

DynamicScale MakeDynamicScale(float lo, float hi, bool symmetric) {
  DynamicScale q;
  if (symmetric) {
    const float most = std::max(-lo, hi);
    if (most > 0.0f) q.scale = most / 127.0f;
    return q;
  }
  if (!(lo < hi)) return q;
  const double scale = (static_cast<double>(hi) - static_cast<double>(lo)) / 255.0;
  const double from_lo = -128.0 - static_cast<double>(lo) / scale;
  const double from_hi = 127.0 - static_cast<double>(hi) / scale;
  const double lo_error = 128.0 + std::fabs(static_cast<double>(lo) / scale);
  const double hi_error = 127.0 + std::fabs(static_cast<double>(hi) / scale);
  const double zero = lo_error < hi_error ? from_lo : from_hi;
  q.scale = static_cast<float>(scale);
  q.zero_point = static_cast<int32_t>(std::round(std::min(127.0, std::max(-128.0, zero))));
  return q;
}

int64_t DynamicChunks(int64_t n) { return (n + kChunk - 1) / kChunk; }

DynamicScale QuantizeImage(const RunContext& context, const float* in, int64_t n, bool symmetric,
                           float* partials, int8_t* out) {
  const int64_t chunks = DynamicChunks(n);
  context.pool->ParallelFor(chunks, [&](int64_t chunk, int) {
    float* range = partials + 2 * chunk;
    range[0] = range[1] = 0.0f;
    context.cpu->integer->min_max(in + chunk * kChunk, std::min(kChunk, n - chunk * kChunk),
                                  &range[0], &range[1]);
  });
  float lo = 0.0f, hi = 0.0f;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    lo = std::min(lo, partials[2 * chunk]);
    hi = std::max(hi, partials[2 * chunk + 1]);
  }
  const DynamicScale q = MakeDynamicScale(lo, hi, symmetric);
  context.pool->ParallelFor(chunks, [&](int64_t chunk, int) {
    const int64_t first = chunk * kChunk;
    Quantize(context, in + first, std::min(kChunk, n - first), q, symmetric, out + first);
  });
  return q;
}

DynamicScale QuantizeRow(const RunContext& context, const float* in, int64_t n, bool symmetric,
                         int8_t* out) {
  float lo = 0.0f, hi = 0.0f;
  context.cpu->integer->min_max(in, n, &lo, &hi);
  const DynamicScale q = MakeDynamicScale(lo, hi, symmetric);
  Quantize(context, in, n, q, symmetric, out);
  return q;
}

}  // namespace topwork
