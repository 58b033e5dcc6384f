// AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D (see pool.h).
#include "kernels/ops/conv/pool.h"

#include <algorithm>

#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quantized.h"
#include "kernels/train/gradients.h"

namespace topwork {
namespace {

// Pools: checks, and rows of outputs shared out among threads.

constexpr int64_t kTaskWork = 1 << 16;           // elements read by a task
constexpr double kMaxQuantizedWindow = 65000.0;  // so that sums of int16 fit into int32

PoolAxis AxisOf(const WindowAxis& axis) {
  return {axis.in, axis.filter, axis.stride, axis.pad, axis.out};
}
}  // namespace

Status ParsePool(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(ParsePadding(options.Byte(0, 0), &params->padding));
  params->stride_w = options.Int(1, 0);
  params->stride_h = options.Int(2, 0);
  params->filter_w = options.Int(3, 0);
  params->filter_h = options.Int(4, 0);
  return ParseActivation(options.Byte(5, 0), &params->activation);
}

Status PreparePool(PrepareContext* context, bool explicit_padding_allowed, bool quantized) {
  const OpParams& params = context->params();
  TW_RETURN_IF_ERROR(context->CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context->CheckOutputs(1));
  const DType dtype = context->input(0)->dtype;
  if (quantized && IsQuantizedInteger(dtype)) {
    // Integers without a scale are pooled as they are; a clamp to reals would need one.
    if (IsScaled(*context->input(0)) || IsScaled(context->output(0)) ||
        params.activation != Activation::kNone) {
      TW_RETURN_IF_ERROR(CheckInputScale(*context, 0));
      TW_RETURN_IF_ERROR(CheckOutputScale(*context, 0));
    }
    TW_RETURN_IF_ERROR(CheckSameQuantization(*context, 0, 0));
  } else {
    TW_RETURN_IF_ERROR(context->CheckDType(0, {DType::kFloat32}));
  }
  TW_RETURN_IF_ERROR(context->CheckRank(0, 4, 4));
  if (params.has_explicit_padding && !explicit_padding_allowed) {
    return InternalError("{}: explicit padding was fused into a pool that cannot have it",
                         context->Where());
  }
  if (params.activation == Activation::kTanh) {
    return context->Unsupported("fused activation TANH is not supported");
  }
  const Shape& in = context->input(0)->shape;
  PoolState* state = context->NewState<PoolState>();
  Window& window = state->window;
  window.h.in = in[1];
  window.w.in = in[2];
  window.h.filter = params.filter_h;
  window.w.filter = params.filter_w;
  TW_RETURN_IF_ERROR(MakeWindow(*context, &window));
  const double pixels = static_cast<double>(std::min(window.h.filter, window.h.in)) *
                        static_cast<double>(std::min(window.w.filter, window.w.in));
  if (dtype != DType::kFloat32 && pixels > kMaxQuantizedWindow) {
    return context->Unsupported("a window of {:.0f} pixels is too large for {}", pixels,
                                DTypeName(dtype));
  }
  state->batch = in[0];
  state->channels = in[3];
  ActivationRange(params.activation, &state->lo, &state->hi);
  if (dtype != DType::kFloat32) {
    TW_RETURN_IF_ERROR(
        QuantizedActivationRange(*context, context->output(0), params.activation, &state->range));
  }
  const double row_work = static_cast<double>(window.w.out) * static_cast<double>(state->channels) *
                          static_cast<double>(std::min(window.h.filter, window.h.in + 1)) *
                          static_cast<double>(std::min(window.w.filter, window.w.in + 1));
  state->rows_per_task = std::max<int64_t>(
      1, static_cast<int64_t>(static_cast<double>(kTaskWork) / std::max(1.0, row_work)));
  context->SetTasks(state->n_tasks());
  return context->SetOutput(
      0, dtype,
      Shape{in[0], static_cast<int32_t>(window.h.out), static_cast<int32_t>(window.w.out), in[3]});
}

void RunPool(const RunContext& context, PoolFunction pool) {
  const PoolState& s = context.get_state<PoolState>();
  if (context.out(0).shape.NumElements() == 0) return;
  PoolTask whole;
  whole.h = AxisOf(s.window.h);
  whole.w = AxisOf(s.window.w);
  whole.batch = s.batch;
  whole.channels = s.channels;
  whole.x = context.input_data<uint8_t>(0);
  whole.y = context.output_data<uint8_t>(0);
  whole.lo = s.lo;
  whole.hi = s.hi;
  whole.integer_lo = s.range.lo;
  whole.integer_hi = s.range.hi;
  const int64_t rows = s.batch * s.window.h.out, per_task = s.rows_per_task;
  context.pool->ParallelFor(s.n_tasks(), [&](int64_t i, int) {
    PoolTask task = whole;
    task.row_begin = i * per_task;
    task.row_end = std::min(rows, (i + 1) * per_task);
    pool(task);
  });
}

namespace {

// AVERAGE_POOL_2D: the mean of the pixels under each window; padding is not counted. float32, int8,
// uint8 and int16 (ties away from zero).

Status PrepareAveragePool2d(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, false, true));
  context.SetVariant("direct");
  return Status::Ok();
}

Status RunAveragePool2d(const RunContext& context) {
  const PoolKernels& kernels = *context.cpu->pool;
  const DType dtype = context.in(0).dtype;
  RunPool(context, IsFloat(dtype) ? kernels.mean
                                  : kernels.integer_mean[static_cast<int>(QuantTypeOf(dtype))]);
  return Status::Ok();
}

// MAX_POOL_2D: the largest of the pixels under each window; padding counts as the least number.
// float32, int8, uint8 and int16.

Status PrepareMaxPool2d(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, true, true));
  context.SetVariant("direct");
  return Status::Ok();
}

Status RunMaxPool2d(const RunContext& context) {
  const PoolKernels& kernels = *context.cpu->pool;
  const DType dtype = context.in(0).dtype;
  RunPool(context, IsFloat(dtype) ? kernels.largest
                                  : kernels.integer_largest[static_cast<int>(QuantTypeOf(dtype))]);
  return Status::Ok();
}

// L2_POOL_2D: the root of the mean square under each window; padding is not counted.

Status PrepareL2Pool2d(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, false, false));
  context.SetVariant("direct");
  return Status::Ok();
}

Status RunL2Pool2d(const RunContext& context) {
  RunPool(context, context.cpu->pool->root_mean_square);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kAveragePool2d)
        .Versions(3)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kPool2D, ParsePool)
        .Cpu(PrepareAveragePool2d, RunAveragePool2d)
        .Gpu(PlanPoolKind<PoolKind::kAverage>)
        .Gradient(kBackwardAveragePool2D)
        .Int8(IntegerForm::kSame, 2)
        .WidensHalf()
        .Work(WorkRule::kWindow)
        .Head(HeadRole::kPooling)
        .CountsAxes(),
    OpDef(OpCode::kMaxPool2d)
        .Versions(3)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kPool2D, ParsePool)
        .Cpu(PrepareMaxPool2d, RunMaxPool2d)
        .Gpu(PlanPoolKind<PoolKind::kMax>)
        .Gradient(kBackwardMaxPool2D)
        .Int8(IntegerForm::kSame, 2)
        .WidensHalf()
        .Work(WorkRule::kWindow)
        .CountsAxes()
        .Head(HeadRole::kEmbedding),
    OpDef(OpCode::kL2Pool2d)
        .Types({DType::kFloat32})
        .Options(OptionsType::kPool2D, ParsePool)
        .Cpu(PrepareL2Pool2d, RunL2Pool2d)
        .Gpu(PlanPoolKind<PoolKind::kL2>)
        .WidensHalf(),
};

Span<const OpDef> PoolOps() { return Selected<kOps>(); }

}  // namespace topwork
