// Comparisons of two tensors with broadcasting (see compare.h).
#include "kernels/ops/elementwise/compare.h"

#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/shared/broadcast.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quantized.h"
#include "runtime/tensor/strings.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

// Comparisons (see compare.h).

// A quantized operand as a multiple of 1/256, which is how TFLite compares such tensors.
struct RealOperand {
  int32_t offset = 0;
  FixedFactor scale;
  int32_t operator()(int32_t q) const { return MultiplyByFactor((q + offset) * 256, scale); }
};

struct CompareState : NestState {
  bool rescale = false;
  RealOperand a, b;
};

Status PrepareCompare(PrepareContext& context) {
  const TensorView& a = *context.input(0);
  const TensorView& b = *context.input(1);
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  Shape out;
  TW_RETURN_IF_ERROR(BroadcastShape(context, 0, 2, &out));
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kBool, out));
  CompareState* state = context.NewState<CompareState>();
  PlanNest(&context, out, {a.shape, b.shape}, &state->nest);
  if (IsQuantizedInteger(a.dtype) && (IsScaled(a) || IsScaled(b))) {
    TW_RETURN_IF_ERROR(CheckInputScale(context, 0));
    TW_RETURN_IF_ERROR(CheckInputScale(context, 1));
    state->rescale = true;
    state->a = {-ZeroPointOf(a), MakeFixedFactor(static_cast<double>(ScaleOf(a)))};
    state->b = {-ZeroPointOf(b), MakeFixedFactor(static_cast<double>(ScaleOf(b)))};
  }
  AllowInPlaceWhereSafe(&context, 0, 2);
  return Status::Ok();
}

template <typename T, typename F>
void CompareTiles(const RunContext& context, F compare) {
  const T* a = context.input_data<T>(0);
  const T* b = context.input_data<T>(1);
  uint8_t* y = context.output_data<uint8_t>(0);
  ForEachTile(context.get_state<NestState>().nest, context.pool,
              [&](const NestTile& t) { MapTile(t, a, b, y, compare); });
}

template <typename T, typename Op>
void CompareWith(const RunContext& context, Op op) {
  const CompareState& state = context.get_state<CompareState>();
  if constexpr (sizeof(T) <= 2) {
    if (state.rescale) {
      return CompareTiles<T>(context, [&](T a, T b) { return op(state.a(a), state.b(b)); });
    }
  }
  CompareTiles<T>(context, op);
}

template <typename T>
void CompareAs(const RunContext& context, CompareFn fn) {
  switch (fn) {
    case CompareFn::kEqual:
      return CompareWith<T>(context, [](auto a, auto b) { return a == b; });
    case CompareFn::kNotEqual:
      return CompareWith<T>(context, [](auto a, auto b) { return a != b; });
    case CompareFn::kLess:
      return CompareWith<T>(context, [](auto a, auto b) { return a < b; });
    case CompareFn::kLessEqual:
      return CompareWith<T>(context, [](auto a, auto b) { return a <= b; });
    case CompareFn::kGreater:
      return CompareWith<T>(context, [](auto a, auto b) { return a > b; });
    case CompareFn::kGreaterEqual:
      return CompareWith<T>(context, [](auto a, auto b) { return a >= b; });
  }
}

}  // namespace

Status PrepareCompareOrder(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt32, DType::kInt64,
                                            DType::kInt16, DType::kInt8, DType::kUInt8}));
  return PrepareCompare(context);
}

Status PrepareCompareEqual(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kBool,
                             DType::kInt16, DType::kInt8, DType::kUInt8, DType::kString}));
  return PrepareCompare(context);
}

Status RunCompare(const RunContext& context, CompareFn fn) {
  if (context.in(0).dtype == DType::kString) {
    CompareWith<StringRef>(context, [fn](const StringRef& a, const StringRef& b) {
      return (a == b) == (fn == CompareFn::kEqual);
    });
    return Status::Ok();
  }
  VisitDType<float, int32_t, int64_t, int16_t, int8_t, uint8_t>(
      context.in(0).dtype, [&](auto type) { CompareAs<decltype(type)>(context, fn); });
  return Status::Ok();
}

namespace {

// EQUAL: y = 1 where a = b, else 0, with broadcasting; numbers, bool and strings.

Status RunEqual(const RunContext& context) { return RunCompare(context, CompareFn::kEqual); }

// NOT_EQUAL: y = 1 where a ≠ b, else 0, with broadcasting; numbers, bool and strings.

Status RunNotEqual(const RunContext& context) { return RunCompare(context, CompareFn::kNotEqual); }

// LESS: y = 1 where a < b, else 0, with broadcasting; numbers.

Status RunLess(const RunContext& context) { return RunCompare(context, CompareFn::kLess); }

// LESS_EQUAL: y = 1 where a ≤ b, else 0, with broadcasting; numbers.

Status RunLessEqual(const RunContext& context) {
  return RunCompare(context, CompareFn::kLessEqual);
}

// GREATER: y = 1 where a > b, else 0, with broadcasting; numbers.

Status RunGreater(const RunContext& context) { return RunCompare(context, CompareFn::kGreater); }

// GREATER_EQUAL: y = 1 where a ≥ b, else 0, with broadcasting; numbers.

Status RunGreaterEqual(const RunContext& context) {
  return RunCompare(context, CompareFn::kGreaterEqual);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kEqual)
        .Versions(5)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kEqual)
        .Cpu(PrepareCompareEqual, RunEqual)
        .Gpu(PlanCompareFn<CompareFn::kEqual>, GpuTypes::kAny)
        .WidensHalf(),
    OpDef(OpCode::kNotEqual)
        .Versions(4)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kNotEqual)
        .Cpu(PrepareCompareEqual, RunNotEqual)
        .Gpu(PlanCompareFn<CompareFn::kNotEqual>, GpuTypes::kAny)
        .WidensHalf(),
    OpDef(OpCode::kLess)
        .Versions(3)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kInt16, DType::kInt8, DType::kBFloat16})
        .Options(OptionsType::kLess)
        .Cpu(PrepareCompareOrder, RunLess)
        .Gpu(PlanCompareFn<CompareFn::kLess>, GpuTypes::kAny)
        .WidensHalf(),
    OpDef(OpCode::kLessEqual)
        .Versions(2)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kInt16, DType::kInt8})
        .Options(OptionsType::kLessEqual)
        .Cpu(PrepareCompareOrder, RunLessEqual)
        .Gpu(PlanCompareFn<CompareFn::kLessEqual>, GpuTypes::kAny)
        .WidensHalf(),
    OpDef(OpCode::kGreater)
        .Versions(2)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kInt16, DType::kInt8, DType::kBFloat16})
        .Options(OptionsType::kGreater)
        .Cpu(PrepareCompareOrder, RunGreater)
        .Gpu(PlanCompareFn<CompareFn::kGreater>, GpuTypes::kAny)
        .WidensHalf(),
    OpDef(OpCode::kGreaterEqual)
        .Versions(3)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kInt16, DType::kInt8})
        .Options(OptionsType::kGreaterEqual)
        .Cpu(PrepareCompareOrder, RunGreaterEqual)
        .Gpu(PlanCompareFn<CompareFn::kGreaterEqual>, GpuTypes::kAny)
        .WidensHalf(),
};

Span<const OpDef> CompareOps() { return Selected<kOps>(); }

}  // namespace topwork
