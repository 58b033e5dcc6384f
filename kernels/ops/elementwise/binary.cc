// Prepare and the float32 path of binary arithmetic (see binary.h).
#include "kernels/ops/elementwise/binary.h"

#include <algorithm>
#include <limits>

#include "kernels/ops/elementwise/binary_quant.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/dynamic_range.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context, std::initializer_list<DType> dtypes) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, dtypes));
  const TensorView& a = *context.input(0);
  const TensorView& b = *context.input(1);
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  Shape out;
  TW_RETURN_IF_ERROR(BroadcastShape(context, 0, 2, &out));
  TW_RETURN_IF_ERROR(context.SetOutput(0, a.dtype, out));
  PlanNest(&context, out, {a.shape, b.shape}, &context.NewState<NestState>()->nest);
  AllowInPlaceWhereSafe(&context, 0, 2);
  return Status::Ok();
}

bool HasActivation(BinaryFn fn) {
  return fn == BinaryFn::kAdd || fn == BinaryFn::kSub || fn == BinaryFn::kMul ||
         fn == BinaryFn::kDiv;
}

// These know no scales: they are for the integers as they are.
bool IsPlainFunction(BinaryFn fn) { return fn == BinaryFn::kFloorDiv || fn == BinaryFn::kFloorMod; }

}  // namespace

Status ParseBinaryActivation(const OptionsView& options, OpParams* params) {
  return ParseActivation(options.Byte(0, 0), &params->activation);
}

Status PrepareBinaryFloat(PrepareContext& context) { return Prepare(context, {DType::kFloat32}); }

Status PrepareBinaryNumber(PrepareContext& context) {
  return PrepareBinaryOf(context, {DType::kFloat32, DType::kInt32, DType::kInt64});
}

Status PrepareBinaryOf(PrepareContext& context, std::initializer_list<DType> dtypes) {
  TW_RETURN_IF_ERROR(Prepare(context, dtypes));
  if (context.params().activation == Activation::kTanh && !IsFloat(context.input(0)->dtype)) {
    return context.Unsupported("the fused activation TANH needs float32 inputs, these are {}",
                               DTypeName(context.input(0)->dtype));
  }
  return Status::Ok();
}

Status RunBinaryFloat(const RunContext& context, BinaryFn fn) {
  const LoopFamily<ElementwiseKernels>& kernels = context.cpu->elementwise;
  const BinaryFunction run = kernels->binary[static_cast<int>(fn)];
  const float* a = context.input_data<float>(0);
  const float* b = context.input_data<float>(1);
  float* y = context.output_data<float>(0);
  float lo, hi;
  ActivationRange(context.params->activation, &lo, &hi);
  if (HasActivation(fn)) {
    lo = std::max(lo, -std::numeric_limits<float>::max());
    hi = std::min(hi, std::numeric_limits<float>::max());
  }
  const bool tanh = context.params->activation == Activation::kTanh;
  const RangeKeeper range(context);
  ForEachTile(context.get_state<NestState>().nest, context.pool, [&](const NestTile& tile) {
    BinaryTile t;
    t.a = a + tile.offset[0];
    t.b = b + tile.offset[1];
    t.y = y + tile.out;
    t.rows = tile.rows;
    t.n = tile.n;
    t.a_row = tile.row[0];
    t.b_row = tile.row[1];
    t.a_step = tile.step[0];
    t.b_step = tile.step[1];
    t.lo = lo;
    t.hi = hi;
    run(t);
    if (tanh) kernels->unary[static_cast<int>(UnaryFn::kTanh)](t.y, t.y, t.rows * t.n, 0.0f);
    range.Add(tile.thread, t.y, t.rows * t.n);
  });
  range.Finish();
  return Status::Ok();
}

Status RunBinaryNumber(const RunContext& context, BinaryFn fn, const char* name) {
  switch (context.in(0).dtype) {
    case DType::kInt32:
      return RunBinaryInt<int32_t>(context, fn, name);
    case DType::kInt64:
      if (IsSelected(DType::kInt64)) return RunBinaryInt<int64_t>(context, fn, name);
      break;
    case DType::kUInt32:
      if (IsSelected(DType::kUInt32)) return RunBinaryInt<uint32_t>(context, fn, name);
      break;
    case DType::kInt16:
      if (!IsSelected(DType::kInt16)) break;
      if (IsPlainFunction(fn) || !IsScaled(context.in(0))) {
        return RunBinaryInt<int16_t>(context, fn, name);
      }
      return RunBinaryQuant(context, fn, name);
    case DType::kInt8:
      if (IsPlainFunction(fn)) return RunBinaryInt<int8_t>(context, fn, name);
      return RunBinaryQuant(context, fn, name);
    case DType::kUInt8:
      return RunBinaryQuant(context, fn, name);
    default:
      break;
  }
  return RunBinaryFloat(context, fn);
}

}  // namespace topwork
