// CAST: values of one type as another: float32, float16, float64, complex64, bool and the integers
// of 8 to 64 bits (but uint64), and bfloat16, whose way leads through float32; int4, int2 and uint4
// from and to float32.
//
// Real to integer cuts off the fraction and saturates (NaN gives 0); a wider integer wraps around
// in a narrower one; anything but 0 is true. Of a complex number the real part counts.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quant.h"
#include "runtime/tensor/bfloat16.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace {

struct Half {
  uint16_t bits;
};
struct Bool {
  uint8_t byte;
};
struct Complex {
  float re, im;
};

// Types as C++ computes with them.
inline float Value(Half x) { return HalfToFloat(x.bits); }
inline float Value(Complex x) { return x.re; }
inline int Value(Bool x) { return x.byte != 0 ? 1 : 0; }
template <typename T>
T Value(T x) {
  return x;
}

template <typename To, typename From>
To RealToInt(From x) {
  constexpr To least = std::numeric_limits<To>::min(), most = std::numeric_limits<To>::max();
  if (!(x == x)) return 0;
  if (x <= static_cast<From>(least)) return least;
  // `most` itself may round up to a power of two that does not fit.
  if (x >= static_cast<From>(most)) return most;
  return static_cast<To>(x);
}

template <typename To>
struct Convert {
  template <typename From>
  static To Do(From x) {
    if constexpr (std::is_same<To, Half>::value) {
      return Half{FloatToHalf(static_cast<float>(x))};
    } else if constexpr (std::is_same<To, Complex>::value) {
      return Complex{static_cast<float>(x), 0.0f};
    } else if constexpr (std::is_same<To, Bool>::value) {
      return Bool{static_cast<uint8_t>(x != From(0) ? 1 : 0)};
    } else if constexpr (std::is_floating_point<From>::value && std::is_integral<To>::value) {
      return RealToInt<To>(x);
    } else {
      return static_cast<To>(x);
    }
  }
};

using CastFunction = void (*)(const void* x, void* y, int64_t begin, int64_t end);

template <typename From, typename To>
void CastRange(const void* x, void* y, int64_t begin, int64_t end) {
  const From* from = static_cast<const From*>(x);
  To* to = static_cast<To*>(y);
  for (int64_t i = begin; i < end; ++i) to[i] = Convert<To>::Do(Value(from[i]));
}

void CastFromPacked(const RunContext& context) {
  const TensorView& in = context.in(0);
  float* y = context.output_data<float>(0);
  ParallelRows(context.pool, in.shape.NumElements(), 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      y[i] = static_cast<float>(PackedAt(in.dtype, in.data, i));
    }
  });
}

// The fraction cut off, saturated; NaN gives the largest value. Whole bytes at a time.
void CastToPacked(const RunContext& context) {
  const TensorView& out = context.out(0);
  const QuantizedRange range = RangeOf(out.dtype);
  const float lo = static_cast<float>(range.lo), hi = static_cast<float>(range.hi);
  const int64_t n = out.shape.NumElements(), each = 8 / DTypeBits(out.dtype);
  const float* x = context.input_data<float>(0);
  ParallelRows(context.pool, static_cast<int64_t>(out.bytes()), 4 * each,
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   int8_t values[4] = {};
                   const int64_t few = std::min(n - b * each, each);
                   for (int64_t i = 0; i < few; ++i) {
                     values[i] = static_cast<int8_t>(std::max(lo, std::min(hi, x[b * each + i])));
                   }
                   PackBytes(out.dtype, values, few, 0, 1, out.as<uint8_t>() + b);
                 }
               });
}

// Whether this build's CASTs have the type. bfloat16 leads through float32, uint64 is as int64.
constexpr bool Casts(DType dtype) {
  constexpr uint32_t types = SelectedTypesOf(OpCode::kCast, nullptr);
  const auto has = [](DType one) { return (types >> static_cast<int>(one) & 1u) != 0; };
  return has(dtype) || dtype == DType::kFloat32 || (dtype == DType::kInt64 && has(DType::kUInt64));
}

template <typename From>
CastFunction CastTo(DType to) {
  switch (to) {
    case DType::kFloat32:
      return Casts(DType::kFloat32) ? CastRange<From, float> : nullptr;
    case DType::kFloat16:
      return Casts(DType::kFloat16) ? CastRange<From, Half> : nullptr;
    case DType::kFloat64:
      return Casts(DType::kFloat64) ? CastRange<From, double> : nullptr;
    case DType::kInt8:
      return Casts(DType::kInt8) ? CastRange<From, int8_t> : nullptr;
    case DType::kUInt8:
      return Casts(DType::kUInt8) ? CastRange<From, uint8_t> : nullptr;
    case DType::kInt16:
      return Casts(DType::kInt16) ? CastRange<From, int16_t> : nullptr;
    case DType::kUInt16:
      return Casts(DType::kUInt16) ? CastRange<From, uint16_t> : nullptr;
    case DType::kInt32:
      return Casts(DType::kInt32) ? CastRange<From, int32_t> : nullptr;
    case DType::kUInt32:
      return Casts(DType::kUInt32) ? CastRange<From, uint32_t> : nullptr;
    case DType::kInt64:
      return Casts(DType::kInt64) ? CastRange<From, int64_t> : nullptr;
    case DType::kBool:
      return Casts(DType::kBool) ? CastRange<From, Bool> : nullptr;
    case DType::kComplex64:
      return Casts(DType::kComplex64) ? CastRange<From, Complex> : nullptr;
    default:
      return nullptr;
  }
}

// uint64 has the bits of int64 beside other integers. Null when one of the types is not supported,
// or packed.
CastFunction FindCast(DType from, DType to) {
  if (from == DType::kUInt64 || to == DType::kUInt64) {
    DType* const wide = from == DType::kUInt64 ? &from : &to;
    const DType other = wide == &from ? to : from;
    if (IsFloat(other) || other == DType::kFloat16 || other == DType::kFloat64 ||
        other == DType::kComplex64) {
      return nullptr;
    }
    *wide = DType::kInt64;
  }
  switch (from) {
    case DType::kFloat32:
      return Casts(DType::kFloat32) ? CastTo<float>(to) : nullptr;
    case DType::kFloat16:
      return Casts(DType::kFloat16) ? CastTo<Half>(to) : nullptr;
    case DType::kFloat64:
      return Casts(DType::kFloat64) ? CastTo<double>(to) : nullptr;
    case DType::kInt8:
      return Casts(DType::kInt8) ? CastTo<int8_t>(to) : nullptr;
    case DType::kUInt8:
      return Casts(DType::kUInt8) ? CastTo<uint8_t>(to) : nullptr;
    case DType::kInt16:
      return Casts(DType::kInt16) ? CastTo<int16_t>(to) : nullptr;
    case DType::kUInt16:
      return Casts(DType::kUInt16) ? CastTo<uint16_t>(to) : nullptr;
    case DType::kInt32:
      return Casts(DType::kInt32) ? CastTo<int32_t>(to) : nullptr;
    case DType::kUInt32:
      return Casts(DType::kUInt32) ? CastTo<uint32_t>(to) : nullptr;
    case DType::kInt64:
      return Casts(DType::kInt64) ? CastTo<int64_t>(to) : nullptr;
    case DType::kBool:
      return Casts(DType::kBool) ? CastTo<Bool>(to) : nullptr;
    case DType::kComplex64:
      return Casts(DType::kComplex64) ? CastTo<Complex>(to) : nullptr;
    default:
      return nullptr;
  }
}

// Values that are float32 on their way to or from bfloat16, at a time.
constexpr int64_t kRealsAtATime = 256;

// From bfloat16, or to it.
void CastBFloat16(const RunContext& context) {
  const TensorView &in = context.in(0), &out = context.out(0);
  const bool from = in.dtype == DType::kBFloat16;
  const CastFunction other =
      from ? FindCast(DType::kFloat32, out.dtype) : FindCast(in.dtype, DType::kFloat32);
  ParallelRows(context.pool, out.shape.NumElements(), 4, [&](int64_t begin, int64_t end) {
    float reals[kRealsAtATime];
    const int64_t bytes = DTypeBits(from ? out.dtype : in.dtype) / 8;
    for (int64_t at = begin; at < end; at += kRealsAtATime) {
      const int64_t n = std::min(end - at, kRealsAtATime);
      if (from) {
        for (int64_t i = 0; i < n; ++i) reals[i] = BFloat16ToFloat(in.as<uint16_t>()[at + i]);
        other(reals, out.as<uint8_t>() + at * bytes, 0, n);
        continue;
      }
      other(in.as<uint8_t>() + at * bytes, reals, 0, n);
      for (int64_t i = 0; i < n; ++i) out.as<uint16_t>()[at + i] = FloatToBFloat16(reals[i]);
    }
  });
}

bool IsBFloat16Cast(DType from, DType to) {
  if (!IsSelected(DType::kBFloat16)) return false;
  if (from == to) return false;
  return (from == DType::kBFloat16 && FindCast(DType::kFloat32, to) != nullptr) ||
         (to == DType::kBFloat16 && FindCast(from, DType::kFloat32) != nullptr);
}

bool IsPackedCast(DType from, DType to) {
  return (IsFloat(from) && IsPacked(to)) || (IsPacked(from) && IsFloat(to));
}

// The output tensor's type decides; the option only repeats it. A CAST that changes no type copies.
Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  const TensorView& in = *context.input(0);
  const DType to = context.output(0).dtype;
  if (in.dtype == to && DTypeBits(to) > 0) {
    context.AllowView(0, 0);
    return context.SetOutput(0, to, in.shape);
  }
  const bool known = FindCast(in.dtype, to) != nullptr || IsPackedCast(in.dtype, to) ||
                     IsBFloat16Cast(in.dtype, to);
  if (!known) {
    return context.Unsupported("{} cannot be cast from {} to {}", context.InputName(0),
                               DTypeName(in.dtype), DTypeName(to));
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, to, in.shape));
  if (DTypeBits(in.dtype) == DTypeBits(to)) context.AllowInPlace(0, 0);
  return Status::Ok();
}

Status Run(const RunContext& context) {
  if (context.in(0).dtype == context.out(0).dtype) return RunByteCopy(context);
  if (IsBFloat16Cast(context.in(0).dtype, context.out(0).dtype)) {
    CastBFloat16(context);
    return Status::Ok();
  }
  if (IsPackedCast(context.in(0).dtype, context.out(0).dtype)) {
    IsPacked(context.in(0).dtype) ? CastFromPacked(context) : CastToPacked(context);
    return Status::Ok();
  }
  const CastFunction cast = FindCast(context.in(0).dtype, context.out(0).dtype);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 4,
               [&](int64_t begin, int64_t end) {
                 cast(context.in(0).data, context.out(0).data, begin, end);
               });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCast)
        .Versions(9)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kComplex64, DType::kInt8, DType::kFloat64,
                DType::kUInt32, DType::kUInt16, DType::kInt4, DType::kBFloat16, DType::kInt2,
                DType::kUInt4})
        .Options(OptionsType::kCast)
        .Cpu(Prepare, Run)
        .Gpu(PlanCast, GpuTypes::kAny),
};

Span<const OpDef> CastOps() { return Selected<kOps>(); }

}  // namespace topwork
