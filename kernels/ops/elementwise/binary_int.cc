// Binary arithmetic of integers without scales (see binary.h): mostly the arithmetic of shapes, so
// the loops are plain.
#include <atomic>
#include <limits>
#include <type_traits>

#include "kernels/ops/elementwise/binary.h"
#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

// What may be wrong with data; kept as a number so that threads can report it.
enum Fault : int { kNoFault = 0, kDivisionByZero, kQuotientOverflow, kNegativeExponent };

template <typename T>
using Unsigned = typename std::make_unsigned<T>::type;

// Wraps around. U may be the int that narrow numbers are computed in.
template <typename T, typename U>
T Wrap(U value) {
  return static_cast<T>(value);
}

template <typename T>
T Power(T base, T exponent, Fault* fault) {
  if (exponent < 0) {
    *fault = kNegativeExponent;
    return 0;
  }
  // 64 bits: the product of two narrower unsigned numbers would be computed as signed int.
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (Unsigned<T> e = static_cast<Unsigned<T>>(exponent); e != 0; e >>= 1) {
    if ((e & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

// kDiv rounds toward zero, kFloorDiv down; the remainder of kFloorMod has the divisor's sign.
template <typename T>
T Divide(BinaryFn fn, T a, T b, Fault* fault) {
  if (b == 0) {
    *fault = kDivisionByZero;
    return 0;
  }
  if (std::is_signed<T>::value && b == static_cast<T>(-1)) {
    if (fn == BinaryFn::kFloorMod) return 0;
    if (a == std::numeric_limits<T>::min()) *fault = kQuotientOverflow;
    return Wrap<T>(Unsigned<T>(0) - static_cast<Unsigned<T>>(a));
  }
  const T quotient = static_cast<T>(a / b), remainder = static_cast<T>(a % b);
  if (fn == BinaryFn::kDiv) return quotient;
  const bool down = remainder != 0 && (remainder < 0) != (b < 0);
  if (fn == BinaryFn::kFloorDiv) return static_cast<T>(down ? quotient - 1 : quotient);
  return static_cast<T>(down ? remainder + b : remainder);
}

template <typename T>
T Apply(BinaryFn fn, T a, T b, Fault* fault) {
  const Unsigned<T> ua = static_cast<Unsigned<T>>(a), ub = static_cast<Unsigned<T>>(b);
  switch (fn) {
    case BinaryFn::kAdd:
      return Wrap<T>(ua + ub);
    case BinaryFn::kSub:
      return Wrap<T>(ua - ub);
    case BinaryFn::kMul:
      return Wrap<T>(uint64_t{ua} * ub);  // narrow factors would become signed ints
    case BinaryFn::kMaximum:
      return a > b ? a : b;
    case BinaryFn::kMinimum:
      return a < b ? a : b;
    case BinaryFn::kSquaredDifference:
      return Wrap<T>((uint64_t{ua} - ub) * (uint64_t{ua} - ub));
    case BinaryFn::kPow:
      return Power(a, b, fault);
    case BinaryFn::kDiv:
    case BinaryFn::kFloorDiv:
    case BinaryFn::kFloorMod:
      return Divide(fn, a, b, fault);
    case BinaryFn::kAtan2:
    case BinaryFn::kPrelu:
      break;
  }
  return 0;
}

// The activation's interval in whole numbers.
template <typename T>
void IntRange(Activation activation, T* lo, T* hi) {
  float flo, fhi;
  ActivationRange(activation, &flo, &fhi);
  *lo = flo < -1.0f || (flo < 0.0f && !std::is_signed<T>::value) ? std::numeric_limits<T>::min()
                                                                 : static_cast<T>(flo);
  *hi = fhi > 6.0f ? std::numeric_limits<T>::max() : static_cast<T>(fhi);
}

Status FaultStatus(int fault, const char* name) {
  switch (fault) {
    case kDivisionByZero:
      return InvalidArgument("{}: input 1 holds a 0, and integers cannot be divided by 0", name);
    case kQuotientOverflow:
      return InvalidArgument("{}: the least integer divided by -1 has no integer quotient", name);
    case kNegativeExponent:
      return InvalidArgument(
          "{}: input 1 holds a negative exponent, which integers cannot be raised to", name);
    default:
      return Status::Ok();
  }
}

}  // namespace

template <typename T>
Status RunBinaryInt(const RunContext& context, BinaryFn fn, const char* name) {
  const T* a = context.input_data<T>(0);
  const T* b = context.input_data<T>(1);
  T* y = context.output_data<T>(0);
  T lo, hi;
  IntRange(context.params->activation, &lo, &hi);
  std::atomic<int> worst{kNoFault};
  ForEachTile(context.get_state<NestState>().nest, context.pool, [&](const NestTile& t) {
    Fault fault = kNoFault;
    MapTile(t, a, b, y, [&](T u, T v) {
      const T value = Apply(fn, u, v, &fault);
      return value < lo ? lo : (value > hi ? hi : value);
    });
    if (fault != kNoFault) worst.store(fault, std::memory_order_relaxed);
  });
  return FaultStatus(worst.load(std::memory_order_relaxed), name);
}

template Status RunBinaryInt<int8_t>(const RunContext&, BinaryFn, const char*);
template Status RunBinaryInt<int16_t>(const RunContext&, BinaryFn, const char*);
template Status RunBinaryInt<uint32_t>(const RunContext&, BinaryFn, const char*);
template Status RunBinaryInt<int32_t>(const RunContext&, BinaryFn, const char*);
template Status RunBinaryInt<int64_t>(const RunContext&, BinaryFn, const char*);

}  // namespace topwork
