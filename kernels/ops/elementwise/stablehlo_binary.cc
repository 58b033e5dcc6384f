// StableHLO's arithmetic of two tensors (see stablehlo_binary.h).
#include "kernels/ops/elementwise/stablehlo_binary.h"

#include <algorithm>
#include <type_traits>

#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

// The loops of StableHLO's arithmetic (see stablehlo_binary.h).

bool IsOfBits(StablehloFn fn) { return fn == StablehloFn::kAnd || fn == StablehloFn::kShiftLeft; }

template <typename T>
T Shift(T a, T b) {
  const uint64_t distance = static_cast<uint64_t>(b);
  return distance < 8 * sizeof(T) ? static_cast<T>(static_cast<uint64_t>(a) << distance) : T(0);
}

template <typename T>
T Apply(StablehloFn fn, T a, T b) {
  if (fn == StablehloFn::kMaximum) return std::max(a, b);
  if (fn == StablehloFn::kMinimum) return std::min(a, b);
  if constexpr (std::is_floating_point<T>::value) {
    return fn == StablehloFn::kAdd ? a + b : a * b;
  } else {
    // 64 bits without sign: narrow ones would become signed ints.
    const uint64_t u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
    if (fn == StablehloFn::kAnd) return static_cast<T>(u & v);
    if (fn == StablehloFn::kShiftLeft) return Shift(a, b);
    return static_cast<T>(fn == StablehloFn::kAdd ? u + v : u * v);
  }
}

template <typename T>
void ApplyAs(StablehloFn fn, const void* a, const void* b, void* y, int64_t n) {
  const T *p = static_cast<const T*>(a), *q = static_cast<const T*>(b);
  T* out = static_cast<T*>(y);
  for (int64_t i = 0; i < n; ++i) out[i] = Apply(fn, p[i], q[i]);
}

void ApplyHalf(StablehloFn fn, const void* a, const void* b, void* y, int64_t n) {
  const uint16_t *p = static_cast<const uint16_t*>(a), *q = static_cast<const uint16_t*>(b);
  uint16_t* out = static_cast<uint16_t*>(y);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = FloatToHalf(Apply(fn, HalfToFloat(p[i]), HalfToFloat(q[i])));
  }
}

// Of booleans a sum or maximum is "or", a product or minimum "and".
void ApplyBool(StablehloFn fn, const void* a, const void* b, void* y, int64_t n) {
  const uint8_t *p = static_cast<const uint8_t*>(a), *q = static_cast<const uint8_t*>(b);
  uint8_t* out = static_cast<uint8_t*>(y);
  const bool any = fn == StablehloFn::kAdd || fn == StablehloFn::kMaximum;
  for (int64_t i = 0; i < n; ++i) {
    out[i] = (any ? (p[i] | q[i]) != 0 : p[i] != 0 && q[i] != 0) ? 1 : 0;
  }
}

}  // namespace

Status CheckStablehloNumber(const PrepareContext& context, int i) {
  return context.CheckDType(i, {DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kBool,
                                DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16,
                                DType::kInt32, DType::kUInt32, DType::kInt64, DType::kUInt64});
}

Status PrepareStablehloBinary(PrepareContext& context, StablehloFn fn) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  if (fn == StablehloFn::kShiftLeft) {
    TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt8, DType::kInt16, DType::kInt32}));
  } else if (IsOfBits(fn)) {
    TW_RETURN_IF_ERROR(context.CheckDType(
        0, {DType::kBool, DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32,
            DType::kUInt32, DType::kInt64, DType::kUInt64}));
  } else {
    TW_RETURN_IF_ERROR(CheckStablehloNumber(context, 0));
  }
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  const Shape& shape = context.input(0)->shape;
  if (context.input(1)->shape != shape) {
    return context.Invalid("{} has shape {}, {} has {}; they must be equal", context.InputName(0),
                           shape.ToString(), context.InputName(1),
                           context.input(1)->shape.ToString());
  }
  context.AllowInPlace(0, 0);
  context.AllowInPlace(1, 0);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

void ApplyStablehlo(StablehloFn fn, DType dtype, const void* a, const void* b, void* y, int64_t n) {
  if (dtype == DType::kFloat16) return ApplyHalf(fn, a, b, y, n);
  if (dtype == DType::kBool) return ApplyBool(fn, a, b, y, n);
  VisitDType<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
             uint64_t>(dtype, [&](auto type) { ApplyAs<decltype(type)>(fn, a, b, y, n); });
}

Status RunStablehloBinary(const RunContext& context, StablehloFn fn) {
  const DType dtype = context.in(0).dtype;
  const int64_t bytes = ElementBytes(context.in(0));
  const uint8_t* a = context.input_data<uint8_t>(0);
  const uint8_t* b = context.input_data<uint8_t>(1);
  uint8_t* y = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), bytes,
               [&](int64_t begin, int64_t end) {
                 const int64_t at = begin * bytes;
                 ApplyStablehlo(fn, dtype, a + at, b + at, y + at, end - begin);
               });
  return Status::Ok();
}

// STABLEHLO_ADD: y = a + b (see stablehlo_binary.h).

// STABLEHLO_AND: y = a & b, of booleans and of bits (see stablehlo_binary.h).

// STABLEHLO_MAXIMUM: the larger of two numbers (see stablehlo_binary.h).

// STABLEHLO_MINIMUM: the smaller of two numbers (see stablehlo_binary.h).

// STABLEHLO_MULTIPLY: y = a b (see stablehlo_binary.h).

// STABLEHLO_SHIFT_LEFT: y = a << b, 0 where no bit is left (see stablehlo_binary.h).

constexpr OpDef kOps[] = {
    OpDef(OpCode::kStablehloAdd)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kFloat64, DType::kUInt64,
                DType::kUInt32, DType::kUInt16})
        .Cpu(PrepareStablehlo<StablehloFn::kAdd>, RunStablehlo<StablehloFn::kAdd>),
    OpDef(OpCode::kStablehloAnd)
        .Types({DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool, DType::kInt16,
                DType::kInt8, DType::kUInt64, DType::kUInt32, DType::kUInt16})
        .Cpu(PrepareStablehlo<StablehloFn::kAnd>, RunStablehlo<StablehloFn::kAnd>),
    OpDef(OpCode::kStablehloMaximum)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kFloat64, DType::kUInt64,
                DType::kUInt32, DType::kUInt16})
        .Cpu(PrepareStablehlo<StablehloFn::kMaximum>, RunStablehlo<StablehloFn::kMaximum>),
    OpDef(OpCode::kStablehloMinimum)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kFloat64, DType::kUInt64,
                DType::kUInt32, DType::kUInt16})
        .Cpu(PrepareStablehlo<StablehloFn::kMinimum>, RunStablehlo<StablehloFn::kMinimum>),
    OpDef(OpCode::kStablehloMultiply)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kFloat64, DType::kUInt64,
                DType::kUInt32, DType::kUInt16})
        .Cpu(PrepareStablehlo<StablehloFn::kMultiply>, RunStablehlo<StablehloFn::kMultiply>),
    OpDef(OpCode::kStablehloShiftLeft)
        .Types({DType::kInt32, DType::kInt16, DType::kInt8})
        .Cpu(PrepareStablehlo<StablehloFn::kShiftLeft>, RunStablehlo<StablehloFn::kShiftLeft>),
};

Span<const OpDef> StablehloBinaryOps() { return Selected<kOps>(); }

}  // namespace topwork
