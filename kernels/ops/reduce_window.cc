// REDUCE_WINDOW: sums, products, extremes or logic over windows that slide over a tensor in every
// dimension, without padding.
//
// Inputs: data, initial value (one, of the data's type), window shape, strides and dilations
// (int64, one for each dimension, known at plan time). Integers wrap around; ALL and ANY are for
// bool.
#include <algorithm>
#include <type_traits>

#include "kernels/ops/indexing.h"

namespace topwork {
namespace {

enum Function : uint8_t { kAdd = 1, kMul = 2, kMinimum = 3, kMaximum = 4, kAll = 5, kAny = 6 };

Status Parse(const OptionsView& options, OpParams* params) {
  const int32_t function = options.Int(0, 0);
  if (function < kAdd || function > kAny) {
    return InvalidModel("reduce_function %d does not exist (1 to 6 do)", function);
  }
  params->mode = static_cast<uint8_t>(function);
  return Status::Ok();
}

struct WindowState : OpState {
  int rank = 0;
  int64_t window[kMaxRank] = {};
  int64_t step[kMaxRank] = {};      // in input elements, to the next position
  int64_t tap_step[kMaxRank] = {};  // to the next element of the window
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(5, 5));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kFloat32, DType::kFloat64, DType::kBool, DType::kInt8,
                             DType::kUInt8, DType::kInt16, DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  const Shape& in = context.input(0)->shape;
  const int rank = in.rank();
  std::vector<int64_t> list[3];
  for (int i = 0; i < 3; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i + 2, {DType::kInt64}));
    TW_RETURN_IF_ERROR(ReadInts(context, i + 2, &list[i]));
    const bool fits = static_cast<int>(list[i].size()) == rank &&
                      std::all_of(list[i].begin(), list[i].end(),
                                  [](int64_t v) { return v > 0 && v < (int64_t{1} << 31); });
    if (!fits || rank < 1 || context.input(1)->shape.NumElements() != 1) {
      return InvalidModel(
          "%s: %s must hold a positive number for each of %d dimensions, and %s one "
          "value",
          context.Where().c_str(), context.InputName(i + 2).c_str(), rank,
          context.InputName(1).c_str());
    }
  }
  WindowState* s = context.NewState<WindowState>();
  s->rank = rank;
  Shape out = in;
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    const size_t at = static_cast<size_t>(d);
    const int64_t reach = (list[0][at] - 1) * list[2][at] + 1;
    const int64_t n = reach > in.dim(d) ? 0 : (in.dim(d) - reach) / list[1][at] + 1;
    out.set_dim(d, static_cast<int32_t>(n));
    s->window[d] = list[0][at];
    s->step[d] = stride * list[1][at];
    s->tap_step[d] = stride * list[2][at];
    stride *= in.dim(d);
  }
  return context.SetOutput(0, context.input(0)->dtype, out);
}

template <typename T>
T Apply(uint8_t function, T a, T b) {
  switch (function) {
    case kMinimum:
      return std::min(a, b);
    case kMaximum:
      return std::max(a, b);
    case kAll:
      return static_cast<T>(a != T(0) && b != T(0));
    case kAny:
      return static_cast<T>(a != T(0) || b != T(0));
    default:
      break;
  }
  if constexpr (std::is_floating_point<T>::value) {
    return function == kAdd ? a + b : a * b;
  } else {
    const uint64_t u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
    return static_cast<T>(function == kAdd ? u + v : u * v);
  }
}

template <typename T>
T Fold(const WindowState& s, uint8_t function, const T* x, int d, T value) {
  for (int64_t i = 0; i < s.window[d]; ++i, x += s.tap_step[d]) {
    value = d + 1 == s.rank ? Apply(function, value, *x) : Fold(s, function, x, d + 1, value);
  }
  return value;
}

template <typename T>
void RunAs(const RunContext& context) {
  const WindowState& s = context.get_state<WindowState>();
  const Shape& out = context.out(0).shape;
  const T first = *context.input_data<T>(1);
  T* y = context.output_data<T>(0);
  ParallelRows(context.pool, out.NumElements(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      int64_t at = 0, rest = k;
      for (int d = s.rank - 1; d >= 0; --d) {
        at += rest % out.dim(d) * s.step[d];
        rest /= out.dim(d);
      }
      y[k] = Fold(s, context.params->mode, context.input_data<T>(0) + at, 0, first);
    }
  });
}

Status Run(const RunContext& context) {
  switch (context.in(0).dtype) {
    case DType::kFloat32:
      RunAs<float>(context);
      break;
    case DType::kFloat64:
      RunAs<double>(context);
      break;
    case DType::kInt16:
      RunAs<int16_t>(context);
      break;
    case DType::kInt32:
      RunAs<int32_t>(context);
      break;
    case DType::kInt64:
      RunAs<int64_t>(context);
      break;
    case DType::kUInt8:
      RunAs<uint8_t>(context);
      break;
    default:  // bool as TFLite computes with it
      RunAs<int8_t>(context);
      break;
  }
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpReduceWindow;
const OpDef kOpReduceWindow = {OpCode::kReduceWindow, "REDUCE_WINDOW", 0, 1, Parse, Prepare, Run};

}  // namespace topwork
