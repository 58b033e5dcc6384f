// ARG_MAX and ARG_MIN (see arg_extreme.h).
#include "kernels/ops/reduce/arg_extreme.h"

#include <algorithm>
#include <type_traits>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/positions.h"
#include "kernels/ops/reduce/axis_state.h"
#include "kernels/ops/reduce/reduce_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

// Prepare and run of ARG_MAX and ARG_MIN (see arg_extreme.h).

template <typename T>
int64_t Position(const T* x, int64_t n, int64_t stride, bool largest) {
  T best = x[0];
  int64_t position = 0;
  for (int64_t i = 1; i < n; ++i) {
    const T value = x[i * stride];
    if (largest ? value > best : value < best) {
      best = value;
      position = i;
    }
  }
  return position;
}

// What ParallelRows is told of a result: the fast loop for bytes takes less than the others.
int64_t RowBytes(const AxisState& s, DType dtype) {
  return s.inner == 1 && DTypeBits(dtype) == 8 ? s.axis : 4 * s.axis;
}

template <typename T>
void RunAs(const RunContext& context, bool largest) {
  const AxisState& s = context.get_state<AxisState>();
  const T* x = context.input_data<T>(0);
  const bool wide = context.out(0).dtype == DType::kInt64;
  ParallelRows(context.pool, s.outer * s.inner, RowBytes(s, context.in(0).dtype),
               [&](int64_t begin, int64_t end) {
                 for (int64_t k = begin; k < end; ++k) {
                   const T* from = x + k / s.inner * s.axis * s.inner + k % s.inner;
                   const int64_t position = Position(from, s.axis, s.inner, largest);
                   if (wide) {
                     context.output_data<int64_t>(0)[k] = position;
                   } else {
                     context.output_data<int32_t>(0)[k] = static_cast<int32_t>(position);
                   }
                 }
               });
}

// For bytes that lie next to each other. It works on blocks of rows, because positions are made
// with 64 bits.
void RunBytes(const RunContext& context, bool is_signed, bool largest) {
  constexpr int64_t kRows = 64;
  const AxisState& s = context.get_state<AxisState>();
  const uint8_t* x = context.input_data<uint8_t>(0);
  const bool wide = context.out(0).dtype == DType::kInt64;
  const uint8_t flip = PositionFlip(is_signed, largest);
  ParallelRows(context.pool, s.outer, RowBytes(s, context.in(0).dtype),
               [&](int64_t begin, int64_t end) {
                 const auto find = context.cpu->positions->least_bytes;
                 if (wide) {
                   find(x + begin * s.axis, end - begin, s.axis, flip,
                        context.output_data<int64_t>(0) + begin);
                   return;
                 }
                 int64_t positions[kRows];
                 for (int64_t k = begin; k < end; k += kRows) {
                   const int64_t n = std::min(kRows, end - k);
                   find(x + k * s.axis, n, s.axis, flip, positions);
                   for (int64_t i = 0; i < n; ++i) {
                     context.output_data<int32_t>(0)[k + i] = static_cast<int32_t>(positions[i]);
                   }
                 }
               });
}

template <typename T>
void RunAsBytes(const RunContext& context, bool largest) {
  if (context.get_state<AxisState>().inner == 1) {
    RunBytes(context, std::is_signed<T>::value, largest);
  } else {
    RunAs<T>(context, largest);
  }
}

}  // namespace

Status PrepareArgExtreme(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt8,
                             DType::kUInt8, DType::kInt16, DType::kBool}));
  TW_ASSIGN_OR_RETURN(const AxisState* state, NewAxisState(context));
  const Shape& shape = context.input(0)->shape;
  if (state->axis == 0 && state->outer * state->inner > 0) {
    return context.Invalid("{} of shape {} has no elements along axis {} to compare",
                           context.InputName(0), shape.ToString(), state->dim);
  }
  Shape out;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != state->dim) out.Append(shape[i]);
  }
  context.SetTasks(
      CountRowTasks(state->outer * state->inner, RowBytes(*state, context.input(0)->dtype)));
  const bool wide = context.output(0).dtype == DType::kInt64;
  return context.SetOutput(0, wide ? DType::kInt64 : DType::kInt32, out);
}

Status RunArgExtreme(const RunContext& context, bool largest) {
  VisitDType<float, int32_t, int64_t, int8_t, int16_t, uint8_t>(context.in(0).dtype,
                                                                [&](auto type) {
                                                                  using T = decltype(type);
                                                                  if constexpr (sizeof(T) == 1) {
                                                                    RunAsBytes<T>(context, largest);
                                                                  } else {
                                                                    RunAs<T>(context, largest);
                                                                  }
                                                                });
  return Status::Ok();
}

namespace {

// ARG_MAX: the position of the largest element along an axis; the first one where several are
// equal.

Status RunArgMax(const RunContext& context) { return RunArgExtreme(context, true); }

// ARG_MIN: the position of the least element along an axis; the first one where several are equal.

Status RunArgMin(const RunContext& context) { return RunArgExtreme(context, false); }

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kArgMax)
        .Versions(3)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kBool, DType::kInt8})
        .Options(OptionsType::kArgMax)
        .Cpu(PrepareArgExtreme, RunArgMax)
        .Gpu(PlanArgExtremeOf<true>, GpuTypes::kAny)
        .Int8(IntegerForm::kSame, 2)
        .WidensHalf(),
    OpDef(OpCode::kArgMin)
        .Versions(3)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kBool, DType::kInt8})
        .Options(OptionsType::kArgMin)
        .Cpu(PrepareArgExtreme, RunArgMin)
        .Gpu(PlanArgExtremeOf<false>, GpuTypes::kAny)
        .Int8(IntegerForm::kSame, 2)
        .WidensHalf(),
};

Span<const OpDef> ArgExtremeOps() { return Selected<kOps>(); }

}  // namespace topwork
