// QUANTIZE, DEQUANTIZE and FAKE_QUANT.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/elementwise/unary_quant.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quantized.h"
#include "kernels/ops/shared/scales.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace {

// QUANTIZE: float32 to int8, uint8 or int16 with one scale or one a channel (round(x / scale) +
// zero point, ties away from 0, saturated), to int4 or uint4 with one scale; and one quantized
// type to another: int8 or uint8 to int8, uint8 or int16; int16 to int8, int16 or int32; int32 to
// int8 or int16. With a table (fused_table), bytes to bytes.

struct RequantizeState : OpState {
  RequantizeParams params;
  int16_t table[256];  // of 8-bit inputs: the output for each of them
};

Status CheckTypes(const PrepareContext& context, DType from, DType to) {
  const bool to_small = to == DType::kInt8 || to == DType::kInt16;
  bool known = to_small || to == DType::kUInt8;
  if (from == DType::kInt32) known = to_small;
  if (from == DType::kInt16) known = to_small || to == DType::kInt32;
  if (IsFloat(from) && (to == DType::kInt4 || to == DType::kUInt4)) known = true;
  if (known) return Status::Ok();
  return context.Unsupported(
      "{} to {} is not supported; int8, uint8, int16, int4 and uint4 are made of float32",
      DTypeName(from), DTypeName(to));
}

Status PrepareRequantize(PrepareContext& context) {
  const DType from = context.input(0)->dtype, to = context.output(0).dtype;
  // Only from int16 to int16 the zero points must be 0.
  const bool symmetric = from == to;
  TW_RETURN_IF_ERROR(CheckInputScale(context, 0, symmetric));
  TW_RETURN_IF_ERROR(CheckOutputScale(context, 0, symmetric));
  const QuantOne in = {ScaleOf(*context.input(0)), ZeroPointOf(*context.input(0))};
  const QuantOne out = {ScaleOf(context.output(0)), ZeroPointOf(context.output(0))};
  RequantizeState* state = context.NewState<RequantizeState>();
  RequantizeParams& params = state->params;
  params.x_offset = -in.zero_point;
  params.y_offset = out.zero_point;
  params.scale = MakeFixedFactor(static_cast<double>(in.scale) / static_cast<double>(out.scale));
  const bool wide = to == DType::kInt32;
  params.lo = wide ? INT32_MIN : RangeOf(to).lo;
  params.hi = wide ? INT32_MAX : RangeOf(to).hi;
  if (from != DType::kInt8 && from != DType::kUInt8) {
    context.SetVariant("rescale");
    return Status::Ok();
  }
  for (int32_t q = RangeOf(from).lo; q <= RangeOf(from).hi; ++q) {
    state->table[static_cast<uint8_t>(q)] =
        static_cast<int16_t>(PlaceInt(MultiplyByFactor(q + params.x_offset, params.scale),
                                      params.y_offset, params.lo, params.hi));
  }
  context.SetVariant("table");
  return Status::Ok();
}

Status PrepareQuantize(PrepareContext& context) {
  if (context.params().fused_table) {
    context.AllowInPlace(0, 0);
    context.SetTasks(CountRowTasks(context.input(0)->shape.NumElements(), 1));
    context.SetVariant("table");
    return context.SetOutput(0, context.output(0).dtype, context.input(0)->shape);
  }
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(
      0, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16, DType::kInt32}));
  const DType from = context.input(0)->dtype, to = context.output(0).dtype;
  TW_RETURN_IF_ERROR(CheckTypes(context, from, to));
  TW_RETURN_IF_ERROR(context.SetOutput(0, to, context.input(0)->shape));
  if (DTypeBits(from) == DTypeBits(to)) context.AllowInPlace(0, 0);
  if (!IsFloat(from)) return PrepareRequantize(context);
  context.SetVariant("float");
  TW_RETURN_IF_ERROR(CheckScales(context, Operand::Output(0)));
  if (!IsPacked(to) || context.output(0).quantization->scales.size() == 1) return Status::Ok();
  return context.Unsupported("output 0 is {} with a scale a channel; one scale is supported",
                             DTypeName(to));
}

// Whole bytes of the output at a time.
void RunPacked(const RunContext& context) {
  constexpr int64_t kBytes = 128;
  const TensorView& out = context.out(0);
  const float scale = ScaleOf(out);
  const int32_t zero_point = ZeroPointOf(out);
  const QuantizedRange range = RangeOf(out.dtype);
  const int64_t n = out.shape.NumElements(), each = 8 / DTypeBits(out.dtype);
  const float* x = context.input_data<float>(0);
  ParallelRows(context.pool, static_cast<int64_t>(out.bytes()), 4 * each,
               [&](int64_t begin, int64_t end) {
                 int16_t wide[2 * kBytes];
                 int8_t narrow[2 * kBytes];
                 for (int64_t at = begin; at < end; at += kBytes) {
                   const int64_t first = at * each, last = std::min(at + kBytes, end);
                   const int64_t few = std::min(last * each, n) - first;
                   context.cpu->elementwise->quantize_i16(x + first, wide, few, scale, zero_point);
                   for (int64_t i = 0; i < few; ++i) {
                     narrow[i] = static_cast<int8_t>(
                         std::min<int32_t>(std::max<int32_t>(wide[i], range.lo), range.hi));
                   }
                   PackBytes(out.dtype, narrow, few, 0, last - at, out.as<uint8_t>() + at);
                 }
               });
}

Status RunFloat(const RunContext& context) {
  const LoopFamily<ElementwiseKernels>& kernels = context.cpu->elementwise;
  const TensorView& out = context.out(0);
  if (IsPacked(out.dtype)) {
    RunPacked(context);
    return Status::Ok();
  }
  const float* x = context.input_data<float>(0);
  ForEachScale(out, context.pool, [&](int64_t at, int64_t n, float scale, int32_t zero_point) {
    if (out.dtype == DType::kInt8) {
      kernels->quantize_i8(x + at, out.as<int8_t>() + at, n, scale, zero_point);
    } else if (out.dtype == DType::kUInt8) {
      kernels->quantize_u8(x + at, out.as<uint8_t>() + at, n, scale, zero_point);
    } else {
      kernels->quantize_i16(x + at, out.as<int16_t>() + at, n, scale, zero_point);
    }
  });
  return Status::Ok();
}

// Elements [begin, end) of a tensor of bytes.
void RunBytes(const RunContext& context, int64_t begin, int64_t end) {
  const int16_t* table = context.get_state<RequantizeState>().table;
  const uint8_t* x = context.input_data<uint8_t>(0);
  if (context.out(0).dtype == DType::kInt16) {
    int16_t* y = context.output_data<int16_t>(0);
    for (int64_t i = begin; i < end; ++i) y[i] = table[x[i]];
    return;
  }
  uint8_t bytes[256];
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(table[i]);
  context.cpu->elementwise->quantized->lookup(x + begin, context.output_data<uint8_t>(0) + begin,
                                              {end - begin}, bytes);
}

void RunWide(const RunContext& context, int64_t begin, int64_t end) {
  const LoopFamily<ElementwiseKernels>& kernels = context.cpu->elementwise;
  const RequantizeParams& params = context.get_state<RequantizeState>().params;
  const int64_t n = end - begin;
  const DType to = context.out(0).dtype;
  if (context.in(0).dtype == DType::kInt32) {
    const int32_t* x = context.input_data<int32_t>(0) + begin;
    if (to == DType::kInt8) {
      kernels->quantized->requantize_i32_i8(x, context.output_data<int8_t>(0) + begin, n, params);
    } else {
      kernels->quantized->requantize_i32_i16(x, context.output_data<int16_t>(0) + begin, n, params);
    }
    return;
  }
  const int16_t* x = context.input_data<int16_t>(0) + begin;
  if (to == DType::kInt8) {
    kernels->quantized->requantize_i16_i8(x, context.output_data<int8_t>(0) + begin, n, params);
  } else if (to == DType::kInt16) {
    kernels->quantized->requantize_i16_i16(x, context.output_data<int16_t>(0) + begin, n, params);
  } else {
    kernels->quantized->requantize_i16_i32(x, context.output_data<int32_t>(0) + begin, n, params);
  }
}

Status RunQuantize(const RunContext& context) {
  if (context.params->fused_table) {
    RunTable(context, context.input_data<uint8_t>(1));
    return Status::Ok();
  }
  const DType from = context.in(0).dtype;
  if (IsFloat(from)) return RunFloat(context);
  const bool bytes = from == DType::kInt8 || from == DType::kUInt8;
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 4,
               [&](int64_t begin, int64_t end) {
                 bytes ? RunBytes(context, begin, end) : RunWide(context, begin, end);
               });
  return Status::Ok();
}

// DEQUANTIZE: y = scale * (x - zero_point) in float32, from int8, uint8, int16, int4, int2 or
// uint4 with one scale or one a channel; and float16 to float32, which has no scale.

// Packed elements that are unpacked at a time.
constexpr int64_t kUnpacked = 512;

Status PrepareDequantize(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kFloat16, DType::kInt8, DType::kUInt8, DType::kInt16,
                             DType::kInt4, DType::kInt2, DType::kUInt4}));
  const TensorView& in = *context.input(0);
  if (in.dtype != DType::kFloat16) {
    TW_RETURN_IF_ERROR(CheckScales(context, Operand::Input(0)));
  }
  return context.SetOutput(0, DType::kFloat32, in.shape);
}

Status RunDequantize(const RunContext& context) {
  const LoopFamily<ElementwiseKernels>& kernels = context.cpu->elementwise;
  const TensorView& in = context.in(0);
  float* y = context.output_data<float>(0);
  if (in.dtype == DType::kFloat16) {
    const uint16_t* x = in.as<uint16_t>();
    ParallelRows(context.pool, in.shape.NumElements(), 4, [&](int64_t begin, int64_t end) {
      kernels->half_to_float(x + begin, y + begin, end - begin);
    });
    return Status::Ok();
  }
  ForEachScale(in, context.pool, [&](int64_t at, int64_t n, float scale, int32_t zero_point) {
    if (in.dtype == DType::kInt8) {
      kernels->dequantize_i8(in.as<int8_t>() + at, y + at, n, scale, zero_point);
    } else if (in.dtype == DType::kUInt8) {
      kernels->dequantize_u8(in.as<uint8_t>() + at, y + at, n, scale, zero_point);
    } else if (IsPacked(in.dtype)) {
      int8_t bytes[kUnpacked];
      for (int64_t i = 0; i < n; i += kUnpacked) {
        const int64_t few = std::min(n - i, kUnpacked);
        Unpack(in.dtype, in.data, at + i, few, bytes);
        kernels->dequantize_i8(bytes, y + at + i, few, scale, zero_point);
      }
    } else {
      kernels->dequantize_i16(in.as<int16_t>() + at, y + at, n, scale, zero_point);
    }
  });
  return Status::Ok();
}

// FAKE_QUANT: float32 values moved to the nearest of 2^num_bits levels between `min` and `max`,
// nudged so that 0 is a level (TensorFlow's FakeQuantWithMinMaxArgs).
//
//   scale = (max - min) / (2^bits - 1),  zero = round(-min / scale)
//   lo = -zero scale,  hi = (2^bits - 1 - zero) scale
//   y = round((clamp(x, lo, hi) - lo) / scale) scale + lo
// narrow_range is for weights only and refused, as TFLite does.

Status ParseFakeQuant(const OptionsView& options, OpParams* params) {
  params->min = options.Float(0, 0.0f);
  params->max = options.Float(1, 0.0f);
  params->count = options.Int(2, 0);
  if (options.Bool(3, false)) {
    return Unsupported("narrow_range is not supported at run time, only for weights");
  }
  return Status::Ok();
}

struct FakeQuantState : OpState {
  float lo = 0.0f, hi = 0.0f, scale = 1.0f, inverse = 1.0f;
};

Status PrepareFakeQuant(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  const float min = context.params().min, max = context.params().max;
  const int bits = context.params().count;
  if (!(min <= 0.0f && max >= 0.0f && min < max) || bits < 1 || bits > 16) {
    return context.Invalid(
        "min {}, max {}, num_bits {}; min <= 0 <= max, min < max and 1 to 16 bits expected", min,
        max, bits);
  }
  FakeQuantState* state = context.NewState<FakeQuantState>();
  const float top = static_cast<float>((1 << bits) - 1);
  state->scale = (max - min) / top;
  const float zero = std::round(std::clamp(-min / state->scale, 0.0f, top));
  state->lo = -zero * state->scale;
  state->hi = (top - zero) * state->scale;
  state->inverse = 1.0f / state->scale;
  context.AllowInPlace(0, 0);
  return context.SetOutput(0, DType::kFloat32, context.input(0)->shape);
}

Status RunFakeQuant(const RunContext& context) {
  const FakeQuantState& s = context.get_state<FakeQuantState>();
  const float* x = context.input_data<float>(0);
  float* y = context.output_data<float>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 4,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const float shifted = std::min(std::max(x[i], s.lo), s.hi) - s.lo;
                   y[i] = std::round(shifted * s.inverse) * s.scale + s.lo;
                 }
               });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kQuantize)
        .Versions(6)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kQuantize)
        .Cpu(PrepareQuantize, RunQuantize)
        .Gpu(PlanQuantize, GpuTypes::kOnGrid)
        .Head(HeadRole::kPassing)
        .ByElement(),
    OpDef(OpCode::kDequantize)
        .Versions(9)
        .Types({DType::kFloat16, DType::kUInt8, DType::kInt16, DType::kInt8, DType::kInt4,
                DType::kInt2, DType::kUInt4})
        .Options(OptionsType::kDequantize)
        .Cpu(PrepareDequantize, RunDequantize)
        .Gpu(PlanDequantize)
        .Head(HeadRole::kPassing)
        .ByElement(),
    OpDef(OpCode::kFakeQuant)
        .Versions(2)
        .Types({DType::kFloat32})
        .Options(OptionsType::kFakeQuant, ParseFakeQuant)
        .Cpu(PrepareFakeQuant, RunFakeQuant),
};

Span<const OpDef> QuantizeOps() { return Selected<kOps>(); }

}  // namespace topwork
