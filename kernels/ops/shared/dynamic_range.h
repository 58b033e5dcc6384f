// Quantization of floats at run time, for operators with quantized weights ("dynamic range").
#ifndef TOPWORK_KERNELS_OPS_SHARED_DYNAMIC_RANGE_H_
#define TOPWORK_KERNELS_OPS_SHARED_DYNAMIC_RANGE_H_

#include <cstdint>

#include "kernels/contract/kernel.h"
#include "kernels/contract/selection.h"

namespace topwork {

// real = scale * (q − zero_point), q in [−127, 127] (symmetric) or [−128, 127].
struct DynamicScale {
  float scale = 1.0f;
  int32_t zero_point = 0;
};

// The scale of values in [lo, hi], where lo ≤ 0 ≤ hi; TFLite's rule.
DynamicScale MakeDynamicScale(float lo, float hi, bool symmetric);

// Keeps the range of output 0, which tasks write, where another operator wants it.
class RangeKeeper {
 public:
  explicit RangeKeeper(const RunContext& context);
  bool is_wanted() const { return range_ != nullptr; }
  // Lanes for the loops of a thread; null: nobody wants them.
  KeptRange::Lanes* Of(int thread) const {
    return range_ == nullptr ? nullptr : range_->threads + thread;
  }
  // Takes in n values that the thread has just written.
  void Add(int thread, const float* values, int64_t n) const;
  // All values were taken in.
  void Finish() const;

 private:
  const CpuKernels& cpu_;
  KeptRange* const range_;
};

struct ChannelRange {
  int64_t begin, end;
};
// Part `index` of the channels: whole blocks of kChannelBlock, and the last has what is left.
constexpr int64_t kChannelBlock = 64;
ChannelRange PartOfChannels(int64_t index, int64_t parts, int64_t channels);

// Chunks of n values that threads take; QuantizeImage wants `partials` of twice as many floats.
int64_t DynamicChunks(int64_t n);
// The range of n values, which all threads look at.
KeptRange MeasureRange(const RunContext& context, const float* in, int64_t n, float* partials);
// The scale of n values of input 0 from `in` on; their range is found by all threads where the
// context does not give it.
DynamicScale ScaleOfImage(const RunContext& context, const float* in, int64_t n, bool symmetric,
                          float* partials);
// Quantizes n values with that scale, on this thread.
void QuantizeValues(const RunContext& context, const float* in, int64_t n, const DynamicScale& q,
                    bool symmetric, int8_t* out);
// Scale and n values of an image, on all threads.
DynamicScale QuantizeImage(const RunContext& context, const float* in, int64_t n, bool symmetric,
                           float* partials, int8_t* out);
// Quantizes a row on this thread.
DynamicScale QuantizeRow(const RunContext& context, const float* in, int64_t n, bool symmetric,
                         int8_t* out);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_DYNAMIC_RANGE_H_
