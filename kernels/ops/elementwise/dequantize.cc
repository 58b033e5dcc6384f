// DEQUANTIZE: y = scale * (x - zero_point) in float32, from int8, uint8, int16, int4, int2 or
// uint4 with one scale or one a channel; and float16 to float32, which has no scale.
#include <algorithm>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/scales.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace {

// Packed elements that are unpacked at a time.
constexpr int64_t kUnpacked = 512;

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kFloat16, DType::kInt8, DType::kUInt8, DType::kInt16,
                             DType::kInt4, DType::kInt2, DType::kUInt4}));
  const TensorView& in = *context.input(0);
  if (in.dtype != DType::kFloat16) {
    TW_RETURN_IF_ERROR(CheckScales(context, in, context.InputName(0)));
  }
  return context.SetOutput(0, DType::kFloat32, in.shape);
}

Status Run(const RunContext& context) {
  const ElementwiseKernels& kernels = *context.cpu->elementwise;
  const TensorView& in = context.in(0);
  float* y = context.output_data<float>(0);
  if (in.dtype == DType::kFloat16) {
    const uint16_t* x = in.as<uint16_t>();
    ParallelRows(context.pool, in.shape.NumElements(), 4, [&](int64_t begin, int64_t end) {
      kernels.half_to_float(x + begin, y + begin, end - begin);
    });
    return Status::Ok();
  }
  ForEachScale(in, context.pool, [&](int64_t at, int64_t n, float scale, int32_t zero_point) {
    if (in.dtype == DType::kInt8) {
      kernels.dequantize_i8(in.as<int8_t>() + at, y + at, n, scale, zero_point);
    } else if (in.dtype == DType::kUInt8) {
      kernels.dequantize_u8(in.as<uint8_t>() + at, y + at, n, scale, zero_point);
    } else if (IsPacked(in.dtype)) {
      int8_t bytes[kUnpacked];
      for (int64_t i = 0; i < n; i += kUnpacked) {
        const int64_t few = std::min(n - i, kUnpacked);
        Unpack(in.dtype, in.data, at + i, few, bytes);
        kernels.dequantize_i8(bytes, y + at + i, few, scale, zero_point);
      }
    } else {
      kernels.dequantize_i16(in.as<int16_t>() + at, y + at, n, scale, zero_point);
    }
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpDequantize;
const OpDef kOpDequantize = {OpCode::kDequantize, "DEQUANTIZE", 38, 9, nullptr, Prepare, Run};

}  // namespace topwork
