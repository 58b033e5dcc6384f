// Run-time quantization: the range first, then the values.
#include "kernels/ops/shared/dynamic_range.h"

#include <algorithm>
#include <cmath>

#include "kernels/contract/selection.h"
#include "kernels/cpu/integer.h"

namespace topwork {
namespace {

constexpr int64_t kChunk = 16384, kFewChunks = 16;

// The values of chunk `index` of n: so many from *first on.
int64_t ChunkOf(int64_t index, int64_t n, int64_t* first) {
  const int64_t chunks = DynamicChunks(n);
  const int64_t size = ((n + chunks - 1) / chunks + kRangeLanes - 1) / kRangeLanes * kRangeLanes;
  *first = std::min(n, index * size);
  return std::min(size, n - *first);
}

}  // namespace

RangeKeeper::RangeKeeper(const RunContext& context)
    : cpu_(*context.cpu), range_(kHasQuantized ? context.out_range : nullptr) {
  if (range_ == nullptr) return;
  std::fill(range_->threads, range_->threads + range_->n_threads, KeptRange::Lanes{});
}

void RangeKeeper::Add(int thread, const float* values, int64_t n) const {
  if (range_ == nullptr) return;
  KeptRange::Lanes* lanes = range_->threads + thread;
  cpu_.integer->min_max(values, n, &lanes->least[0], &lanes->most[0]);
}

void RangeKeeper::Finish() const {
  if (range_ == nullptr) return;
  float least = 0.0f, most = 0.0f;
  for (int thread = 0; thread < range_->n_threads; ++thread) {
    const KeptRange::Lanes& lanes = range_->threads[thread];
    for (int i = 0; i < kRangeLanes; ++i) {
      least = std::min(least, lanes.least[i]);
      most = std::max(most, lanes.most[i]);
    }
  }
  range_->least = least;
  range_->most = most;
  range_->is_known = true;
}

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

ChannelRange PartOfChannels(int64_t index, int64_t parts, int64_t channels) {
  const int64_t blocks = channels / kChannelBlock, next = index + 1;
  return {index * blocks / parts * kChannelBlock,
          next == parts ? channels : next * blocks / parts * kChannelBlock};
}

int64_t DynamicChunks(int64_t n) {
  const int64_t chunks = (n + kChunk - 1) / kChunk;
  // Two threads have the same share of a few.
  return chunks > 1 && chunks < kFewChunks ? chunks + chunks % 2 : chunks;
}

KeptRange MeasureRange(const RunContext& context, const float* in, int64_t n, float* partials) {
  const int64_t chunks = DynamicChunks(n);
  context.pool->ParallelFor(chunks, [&](int64_t chunk, int) {
    float* range = partials + 2 * chunk;
    range[0] = range[1] = 0.0f;
    int64_t first = 0;
    const int64_t size = ChunkOf(chunk, n, &first);
    context.cpu->integer->min_max(in + first, size, &range[0], &range[1]);
  });
  KeptRange range;
  range.is_known = true;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    range.least = std::min(range.least, partials[2 * chunk]);
    range.most = std::max(range.most, partials[2 * chunk + 1]);
  }
  return range;
}

DynamicScale ScaleOfImage(const RunContext& context, const float* in, int64_t n, bool symmetric,
                          float* partials) {
  const bool is_known = context.in_range != nullptr && context.in_range->is_known;
  const KeptRange range = is_known ? *context.in_range : MeasureRange(context, in, n, partials);
  return MakeDynamicScale(range.least, range.most, symmetric);
}

void QuantizeValues(const RunContext& context, const float* in, int64_t n, const DynamicScale& q,
                    bool symmetric, int8_t* out) {
  context.cpu->integer->quantize(in, n, 1.0f / q.scale, q.zero_point, symmetric ? -127 : -128, out);
}

DynamicScale QuantizeImage(const RunContext& context, const float* in, int64_t n, bool symmetric,
                           float* partials, int8_t* out) {
  const DynamicScale q = ScaleOfImage(context, in, n, symmetric, partials);
  context.pool->ParallelFor(DynamicChunks(n), [&](int64_t chunk, int) {
    int64_t first = 0;
    const int64_t size = ChunkOf(chunk, n, &first);
    QuantizeValues(context, in + first, size, q, symmetric, out + first);
  });
  return q;
}

DynamicScale QuantizeRow(const RunContext& context, const float* in, int64_t n, bool symmetric,
                         int8_t* out) {
  float lo = 0.0f, hi = 0.0f;
  context.cpu->integer->min_max(in, n, &lo, &hi);
  const DynamicScale q = MakeDynamicScale(lo, hi, symmetric);
  QuantizeValues(context, in, n, q, symmetric, out);
  return q;
}

}  // namespace topwork
