// The loops of StableHLO's arithmetic (see stablehlo_binary.h).
#include "kernels/ops/stablehlo_binary.h"

#include <algorithm>
#include <type_traits>

#include "kernels/ops/indexing.h"

namespace topwork {
namespace {

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
void RunAs(const RunContext& context, StablehloFn fn) {
  const T* a = context.input_data<T>(0);
  const T* b = context.input_data<T>(1);
  T* y = context.output_data<T>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), static_cast<int64_t>(sizeof(T)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) y[i] = Apply(fn, a[i], b[i]);
               });
}

// Of booleans a sum or maximum is "or", a product or minimum "and".
void RunBool(const RunContext& context, StablehloFn fn) {
  const uint8_t* a = context.input_data<uint8_t>(0);
  const uint8_t* b = context.input_data<uint8_t>(1);
  uint8_t* y = context.output_data<uint8_t>(0);
  const bool any = fn == StablehloFn::kAdd || fn == StablehloFn::kMaximum;
  for (int64_t i = 0; i < context.out(0).shape.NumElements(); ++i) {
    y[i] = (any ? (a[i] | b[i]) != 0 : a[i] != 0 && b[i] != 0) ? 1 : 0;
  }
}

}  // namespace

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
    TW_RETURN_IF_ERROR(context.CheckDType(
        0,
        {DType::kFloat32, DType::kFloat64, DType::kBool, DType::kInt8, DType::kUInt8, DType::kInt16,
         DType::kUInt16, DType::kInt32, DType::kUInt32, DType::kInt64, DType::kUInt64}));
  }
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  const Shape& shape = context.input(0)->shape;
  if (context.input(1)->shape != shape) {
    return InvalidModel("%s: %s has shape %s, %s has %s; they must be equal",
                        context.Where().c_str(), context.InputName(0).c_str(),
                        shape.ToString().c_str(), context.InputName(1).c_str(),
                        context.input(1)->shape.ToString().c_str());
  }
  context.AllowInPlace(0, 0);
  context.AllowInPlace(1, 0);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

Status RunStablehloBinary(const RunContext& context, StablehloFn fn) {
  switch (context.in(0).dtype) {
    case DType::kFloat32:
      RunAs<float>(context, fn);
      break;
    case DType::kFloat64:
      RunAs<double>(context, fn);
      break;
    case DType::kInt8:
      RunAs<int8_t>(context, fn);
      break;
    case DType::kUInt8:
      RunAs<uint8_t>(context, fn);
      break;
    case DType::kInt16:
      RunAs<int16_t>(context, fn);
      break;
    case DType::kUInt16:
      RunAs<uint16_t>(context, fn);
      break;
    case DType::kInt32:
      RunAs<int32_t>(context, fn);
      break;
    case DType::kUInt32:
      RunAs<uint32_t>(context, fn);
      break;
    case DType::kInt64:
      RunAs<int64_t>(context, fn);
      break;
    case DType::kUInt64:
      RunAs<uint64_t>(context, fn);
      break;
    default:
      RunBool(context, fn);
      break;
  }
  return Status::Ok();
}

}  // namespace topwork
