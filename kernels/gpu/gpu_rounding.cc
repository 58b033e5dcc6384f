// The launches of gpu_rounding.h.
#include "kernels/gpu/gpu_rounding.h"

#include "kernels/ops/shared/quant.h"

namespace topwork {
void AddGrid(GpuContext& context, int64_t n, const GpuFormat& format, int block) {
  const QuantizedRange range = RangeOf(format.dtype);
  context.Add("cast", "quantize_in_place",
              {BufferArg(block), IntArg(n), FloatArg(format.scale), StepsArg(range.lo, format),
               StepsArg(range.hi, format)},
              (n + 3) / 4);
}

void AddBytesToReal(GpuContext& context, int64_t n, const GpuFormat& format, int from, int to) {
  context.Add("cast", "bytes_to_real",
              {BufferArg(from), BufferArg(to), IntArg(n), IntArg(format.dtype == DType::kUInt8),
               FloatArg(format.scale), IntArg(format.zero_point)},
              (n + 3) / 4);
}

void AddRealToBytes(GpuContext& context, int64_t n, const GpuFormat& format, int from, int to) {
  const QuantizedRange range = RangeOf(format.dtype);
  context.Add("cast", "real_to_bytes",
              {BufferArg(from), BufferArg(to), IntArg(n), FloatArg(format.scale),
               StepsArg(range.lo, format), StepsArg(range.hi, format), IntArg(format.zero_point)},
              (n + 3) / 4);
}

void AddTanh(GpuContext& context, int64_t n, int block) {
  context.Add("cast", "tanh_in_place", {BufferArg(block), IntArg(n)}, (n + 3) / 4);
}

}  // namespace topwork
