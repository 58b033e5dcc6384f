// REDUCE_WINDOW: windows without padding (see reduce_window.h).
//
// Inputs: data, initial value (one, of the data's type), window shape, strides and dilations
// (int64, one for each dimension, known at plan time). ALL and ANY are for bool.
#include "kernels/ops/reduce/reduce_window.h"

#include <algorithm>
#include <type_traits>

#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

template <typename T>
T Apply(WindowFn fn, T a, T b) {
  switch (fn) {
    case WindowFn::kMinimum:
      return a <= b ? a : b;  // NaN in the data stays
    case WindowFn::kMaximum:
      return a >= b ? a : b;
    case WindowFn::kAll:
      return static_cast<T>(a != T(0) && b != T(0));
    case WindowFn::kAny:
      return static_cast<T>(a != T(0) || b != T(0));
    default:
      break;
  }
  if constexpr (std::is_floating_point<T>::value) {
    return fn == WindowFn::kAdd ? a + b : a * b;
  } else {
    const uint64_t u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
    return static_cast<T>(fn == WindowFn::kAdd ? u + v : u * v);
  }
}

template <typename T>
T Fold(const Windows& s, const T* x, int d, T value) {
  for (int64_t i = 0; i < s.window[d]; ++i, x += s.tap_step[d]) {
    value = d + 1 == s.rank ? Apply(s.fn, value, *x) : Fold(s, x, d + 1, value);
  }
  return value;
}

template <typename T>
void RunAs(const RunContext& context, const Windows& s, const void* data) {
  const Shape& out = context.out(0).shape;
  const T* x = static_cast<const T*>(data);
  const T first = *context.input_data<T>(1);
  T* y = context.output_data<T>(0);
  ParallelRows(context.pool, out.NumElements(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      int64_t at = 0, rest = k;
      for (int d = s.rank - 1; d >= 0; --d) {
        at += rest % out.dim(d) * s.step[d];
        rest /= out.dim(d);
      }
      y[k] = Fold(s, x + at, 0, first);
    }
  });
}

}  // namespace

Status PrepareWindows(PrepareContext& context, const Shape& in, const char* const names[3],
                      const std::vector<int64_t> lists[3], Windows* s) {
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kFloat32, DType::kFloat64, DType::kBool, DType::kInt8,
                             DType::kUInt8, DType::kInt16, DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  const int rank = in.rank();
  for (int i = 0; i < 3; ++i) {
    const bool fits = static_cast<int>(lists[i].size()) == rank &&
                      std::all_of(lists[i].begin(), lists[i].end(),
                                  [](int64_t v) { return v > 0 && v < (int64_t{1} << 31); });
    if (!fits || rank < 1 || context.input(1)->shape.NumElements() != 1) {
      return context.Invalid(
          "{} must hold a positive number for each of {} dimensions, and {} one value", names[i],
          rank, context.InputName(1));
    }
  }
  s->rank = rank;
  Shape out = in;
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    const size_t at = static_cast<size_t>(d);
    const int64_t reach = (lists[0][at] - 1) * lists[2][at] + 1;
    const int64_t n = reach > in.dim(d) ? 0 : (in.dim(d) - reach) / lists[1][at] + 1;
    out.set_dim(d, static_cast<int32_t>(n));
    s->window[d] = lists[0][at];
    s->step[d] = stride * lists[1][at];
    s->tap_step[d] = stride * lists[2][at];
    stride *= in.dim(d);
  }
  return context.SetOutput(0, context.input(0)->dtype, out);
}

Status RunWindows(const RunContext& context, const Windows& windows, const void* data) {
  // TFLite computes with bool as with int8.
  VisitDType<float, double, int16_t, int32_t, int64_t, uint8_t, int8_t>(
      context.in(0).dtype, [&](auto type) { RunAs<decltype(type)>(context, windows, data); });
  return Status::Ok();
}

namespace {

struct WindowState : OpState {
  Windows windows;
};

Status Parse(const OptionsView& options, OpParams* params) {
  const int32_t function = options.Int(0, 0);
  if (function < 1 || function > 6) {
    return InvalidModel("reduce_function {} does not exist (1 to 6 do)", function);
  }
  params->mode = static_cast<uint8_t>(function);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(5, 5));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  std::vector<int64_t> lists[3];
  std::string texts[3];
  for (int i = 0; i < 3; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i + 2, {DType::kInt64}));
    TW_RETURN_IF_ERROR(ReadInts(context, i + 2, &lists[i]));
    texts[i] = context.InputName(i + 2);
  }
  const char* const names[3] = {texts[0].c_str(), texts[1].c_str(), texts[2].c_str()};
  WindowState* s = context.NewState<WindowState>();
  s->windows.fn = static_cast<WindowFn>(context.params().mode);
  return PrepareWindows(context, context.input(0)->shape, names, lists, &s->windows);
}

Status Run(const RunContext& context) {
  return RunWindows(context, context.get_state<WindowState>().windows, context.in(0).data);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kReduceWindow)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool,
                DType::kInt16, DType::kInt8, DType::kFloat64})
        .Options(OptionsType2::kReduceWindow, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> ReduceWindowOps() { return Selected<kOps>(); }

}  // namespace topwork
