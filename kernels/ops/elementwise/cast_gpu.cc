// CAST and QUANTIZE on a GPU (cast.cl).
#include <limits>

#include "kernels/gpu/gpu_rounding.h"
#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/shared/quant.h"

namespace topwork {
namespace {

Status PlanToInt(GpuContext& context, int64_t n) {
  const DType to = context.output_format(0).dtype;
  const bool from_real = context.input_format(0).is_real;
  const bool is_wide = to == DType::kInt32 || to == DType::kInt64;
  if (from_real && to == DType::kInt64) return Unsupported("its results may be beyond int32");
  const int x = context.In(0), y = context.Out(0);
  if (to == DType::kBool) {
    context.Add("cast", "cast_to_bool", {BufferArg(x), BufferArg(y), IntArg(n)}, (n + 3) / 4);
  } else if (from_real || is_wide) {
    QuantizedRange range = RangeOf(to);
    if (is_wide) {
      range = {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    }
    context.Add("cast", "cast_to_int",
                {BufferArg(x), BufferArg(y), IntArg(n), IntArg(range.lo), IntArg(range.hi)},
                (n + 3) / 4);
  } else {
    context.Add("cast", "cast_wrap",
                {BufferArg(x), BufferArg(y), IntArg(n), IntArg(32 - DTypeBits(to)),
                 IntArg(to != DType::kUInt8)},
                (n + 3) / 4);
    context.TakesType(KernelType::kI32);
    return Status::Ok();
  }
  context.TakesFormat(context.input_format(0));
  return Status::Ok();
}

}  // namespace

// Integers of the format's types are cast, never scaled.
Status PlanCast(GpuContext& context) {
  const GpuFormat& from = context.input_format(0);
  const GpuFormat& to = context.output_format(0);
  if (from.is_quantized() || to.is_quantized()) return Unsupported("it casts a quantized tensor");
  const int64_t n = context.output(0).shape.NumElements();
  if (from.is_real && to.is_real) {
    context.Alias(0, 0);
    return Status::Ok();
  }
  if (!to.is_real) return PlanToInt(context, n);
  context.Add("cast", "cast_to_real",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), IntArg(n)}, (n + 3) / 4);
  return Status::Ok();
}

Status PlanDequantize(GpuContext& context) {
  context.Alias(0, 0);
  return Status::Ok();
}

Status PlanQuantize(GpuContext& context) {
  const GpuFormat& format = context.output_format(0);
  if (!format.is_quantized()) return Unsupported("output 0 has no scale");
  if (format.is_bytes) {  // which is what happens to all reals that are to be bytes
    context.Alias(0, 0);
    return Status::Ok();
  }
  const QuantizedRange range = RangeOf(format.dtype);
  const int64_t n = context.output(0).shape.NumElements();
  context.Add("cast", "quantize",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), IntArg(n),
               FloatArg(format.scale), StepsArg(range.lo, format), StepsArg(range.hi, format)},
              (n + 3) / 4);
  return Status::Ok();
}

}  // namespace topwork
