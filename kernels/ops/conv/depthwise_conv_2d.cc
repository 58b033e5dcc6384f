// DEPTHWISE_CONV_2D, NHWC, filter [1, h, w, in channels x multiplier]: output rows in parallel.
//
// The multiplier follows from the shapes (the one in the options is redundant and not read).
#include "kernels/ops/conv/depthwise_conv_2d.h"

#include <algorithm>

#include "kernels/contract/kernel.h"
#include "kernels/cpu/depthwise.h"
#include "kernels/ops/conv/conv_2d.h"
#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/dynamic_range.h"
#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/result_function.h"
#include "kernels/ops/shared/weighted.h"
#include "kernels/ops/shared/window.h"
#include "kernels/train/gradients.h"

namespace topwork {
namespace {

// Multiply-adds of a task: enough to be worth handing to a thread.
constexpr int64_t kTaskWork = 1 << 18;
constexpr int64_t kRangeValues = 1 << 12;  // looked through at once, while they are in the cache

struct DepthwiseState : OpState, DepthwiseRows {};

Status Parse(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(ParsePadding(options.Byte(0, 0), &params->padding));
  params->stride_w = options.Int(1, 0);
  params->stride_h = options.Int(2, 0);
  params->depth_multiplier = options.Int(3, 0);
  params->dilation_w = options.Int(5, 1);
  params->dilation_h = options.Int(6, 1);
  return ParseActivation(options.Byte(4, 0), &params->activation);
}

Status CheckShapes(const PrepareContext& context, Window* window) {
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  if (filter[0] != 1 || filter[3] < 1) {
    return context.Invalid("{} has shape {}, [1, height, width, channels ≥ 1] expected",
                           context.InputName(1), filter.ToString());
  }
  if (in[3] < 1 || filter[3] % in[3] != 0) {
    return context.Invalid("the {} channels of {} are no multiple of the {} of {}", filter[3],
                           context.InputName(1), in[3], context.InputName(0));
  }
  window->h.in = in[1];
  window->w.in = in[2];
  window->h.filter = filter[1];
  window->w.filter = filter[2];
  return MakeWindow(context, window);
}

const char* Variant(const DepthwiseShape& s) {
  if (s.multiplier != 1) return "direct, depth multiplier";
  if (s.dilation_w == 1 && (s.stride_w == 1 || s.stride_w == 2)) {
    if (s.filter_w == 3) return s.stride_w == 1 ? "direct 3 wide" : "direct 3 wide, stride 2";
    if (s.filter_w == 5) return s.stride_w == 1 ? "direct 5 wide" : "direct 5 wide, stride 2";
  }
  return "direct";
}

void FillRows(const Shape& in, const Window& window, int32_t out_c, DepthwiseRows* rows) {
  rows->batch = in[0];
  rows->out_h = window.h.out;
  DepthwiseShape& s = rows->shape;
  s.in_h = window.h.in;
  s.in_w = window.w.in;
  s.in_c = in[3];
  s.out_w = window.w.out;
  s.filter_h = window.h.filter;
  s.filter_w = window.w.filter;
  s.stride_h = window.h.stride;
  s.stride_w = window.w.stride;
  s.dilation_h = window.h.dilation;
  s.dilation_w = window.w.dilation;
  s.pad_top = window.h.pad;
  s.pad_left = window.w.pad;
  s.multiplier = out_c / in[3];
  const double row_work = static_cast<double>(s.out_w) * out_c * static_cast<double>(s.filter_h) *
                          static_cast<double>(s.filter_w);
  const double whole = row_work * static_cast<double>(window.h.out);
  rows->rows_per_task = std::max<int64_t>(
      1, static_cast<int64_t>(TaskWork(kTaskWork, whole) / std::max(1.0, row_work)));
}

// With one input channel this is CONV_2D, which is several times as fast in integers where its
// vectors of output channels are not mostly empty.
bool IsIntegerConv(const TensorView& in, const TensorView& filter) {
  return kHasQuantized && (in.dtype == DType::kInt8 || in.dtype == DType::kUInt8) &&
         in.shape[3] == 1 && filter.shape[3] >= 4;
}

Status Prepare(PrepareContext& context) {
  Arithmetic arithmetic;
  TW_RETURN_IF_ERROR(CheckArithmetic(context, 3, &arithmetic));
  if (arithmetic == Arithmetic::kFloat) TW_RETURN_IF_ERROR(CheckWeightedInputs(context));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 4, 4));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 4, 4));
  Window window;
  TW_RETURN_IF_ERROR(CheckShapes(context, &window));
  const Shape& in = context.input(0)->shape;
  const int32_t out_c = context.input(1)->shape[3];
  TW_RETURN_IF_ERROR(CheckBias(context, 2, out_c));
  Shape out{in[0], static_cast<int32_t>(window.h.out), static_cast<int32_t>(window.w.out), out_c};
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, out));
  LayColumnDown(static_cast<double>(window.h.filter) * out_c, &window);
  if (IsIntegerConv(*context.input(0), *context.input(1))) {
    const ConvShape conv = {window, in[0], 1, out_c, 1, out_c};
    return PrepareQuantizedConv(&context, conv, arithmetic, true);
  }
  DepthwiseRows rows;
  FillRows(in, window, out_c, &rows);
  if (kHasQuantized && arithmetic != Arithmetic::kFloat) {
    return PrepareQuantizedDepthwise(&context, window, rows, arithmetic);
  }
  TW_RETURN_IF_ERROR(CheckResidual(&context, out));

  DepthwiseState* state = context.NewState<DepthwiseState>();
  static_cast<DepthwiseRows&>(*state) = rows;
  ActivationRange(context.params().activation, &state->shape.lo, &state->shape.hi);
  context.SetVariant(Variant(state->shape));
  context.SetTasks(state->n_tasks());
  return Status::Ok();
}

Status Run(const RunContext& context) {
  if (IsIntegerConv(context.in(0), context.in(1))) return RunQuantizedConv(context);
  if (kHasQuantized && context.in(1).dtype != DType::kFloat32)
    return RunQuantizedDepthwise(context);
  const DepthwiseState& state = context.get_state<DepthwiseState>();
  const DepthwiseShape& s = state.shape;
  if (context.out(0).shape.NumElements() == 0) return Status::Ok();
  const float* input = context.input_data<float>(0);
  const float* residual = context.input_data<float>(3);
  float* output = context.output_data<float>(0);
  const int64_t image = s.in_h * s.in_w * s.in_c;
  const int64_t out_row = s.out_w * s.in_c * s.multiplier;
  const int64_t rows = state.batch * state.out_h;
  const int64_t per_task = state.rows_per_task;
  const RangeKeeper range(context);
  const ResultFunction function(context, range);
  context.pool->ParallelFor(state.n_tasks(), [&](int64_t task, int thread) {
    DepthwiseRow row;
    row.filter = context.input_data<float>(1);
    row.bias = context.input_data<float>(2);
    const int64_t end = std::min(rows, (task + 1) * per_task);
    int64_t first = task * per_task;  // of the rows whose range is not kept yet
    for (int64_t i = first; i < end; ++i) {
      row.image = input + i / state.out_h * image;
      row.out_y = i % state.out_h;
      row.out = output + i * out_row;
      row.residual = residual != nullptr ? residual + i * out_row : nullptr;
      context.cpu->depthwise->row(s, row);
      if (function.is_there()) {
        function.Apply(thread, {row.out, 1, out_row, out_row});
      } else if ((i + 1 - first) * out_row >= kRangeValues || i + 1 == end) {
        range.Add(thread, output + first * out_row, (i + 1 - first) * out_row);
        first = i + 1;
      }
    }
  });
  range.Finish();
  ApplyFusedTanh(context);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kDepthwiseConv2d)
        .Versions(7)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kDepthwiseConv2D, Parse)
        .Cpu(Prepare, Run)
        .Gpu(PlanDepthwiseConv2D)
        .Gradient(kBackwardDepthwiseConv2D)
        .Int8(IntegerForm::kWeighted, 3)
        .Weighted({0, 1, 2, 3})
        .DynamicRange(6)
        .WidensHalf()
        .Work(WorkRule::kDepthwise)
        .Bands(BandRule::kWindow)
        .FusesResidual()
        .FusesFunction()
        .FusesActivation()
        .Inputs(2)
        .CountsAxes()
        .Head(HeadRole::kLayer),
};

Span<const OpDef> DepthwiseConv2dOps() { return Selected<kOps>(); }

}  // namespace topwork
