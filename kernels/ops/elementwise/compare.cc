// Comparisons (see compare.h).
#include "kernels/ops/elementwise/compare.h"

#include "kernels/ops/shared/broadcast.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quantized.h"
#include "runtime/tensor/strings.h"

namespace topwork {
namespace {

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

Status Prepare(PrepareContext& context) {
  const TensorView& a = *context.input(0);
  const TensorView& b = *context.input(1);
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  Shape out;
  TW_RETURN_IF_ERROR(BroadcastShape(context, 0, 2, &out));
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kBool, out));
  CompareState* state = context.NewState<CompareState>();
  state->nest = MakeLoopNest(out, {a.shape, b.shape});
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
  return Prepare(context);
}

Status PrepareCompareEqual(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kBool,
                             DType::kInt16, DType::kInt8, DType::kUInt8, DType::kString}));
  return Prepare(context);
}

Status RunCompare(const RunContext& context, CompareFn fn) {
  switch (context.in(0).dtype) {
    case DType::kFloat32:
      CompareAs<float>(context, fn);
      break;
    case DType::kInt32:
      CompareAs<int32_t>(context, fn);
      break;
    case DType::kInt64:
      CompareAs<int64_t>(context, fn);
      break;
    case DType::kInt16:
      CompareAs<int16_t>(context, fn);
      break;
    case DType::kInt8:
      CompareAs<int8_t>(context, fn);
      break;
    case DType::kString:
      CompareWith<StringRef>(context, [fn](const StringRef& a, const StringRef& b) {
        return (a == b) == (fn == CompareFn::kEqual);
      });
      break;
    default:
      CompareAs<uint8_t>(context, fn);
      break;
  }
  return Status::Ok();
}

}  // namespace topwork
