// TRANSPOSE_CONV, NHWC by OHWI: inputs output_shape, filter, data and (optional) bias.
//
// An output pixel sees the taps that agree with its position modulo the strides. So the taps fall
// into stride_h x stride_w classes, and the pixels of a class are one ordinary convolution of
// stride 1 with a part of the filter. Each part is packed by itself. An output row gathers, class
// by class, the input pixels of its taps, and multiplies them into every stride_w-th pixel.
#include "kernels/ops/conv/transpose_conv.h"

#include <algorithm>

#include "kernels/contract/kernel.h"
#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/weighted.h"

namespace topwork {
namespace {

struct TransposeConvState : OpState, TransposeConvShape {
  const float* packed = nullptr;  // null: packed at run into scratch
  size_t packed_offset = 0, patches_offset = 0;
  int64_t max_depth = 0;  // of the largest part
  float lo = 0.0f, hi = 0.0f;
};

Status Parse(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(ParsePadding(options.Byte(0, 0), &params->padding));
  params->stride_w = options.Int(1, 0);
  params->stride_h = options.Int(2, 0);
  return ParseActivation(options.Byte(3, 0), &params->activation);
}

// The part of the filter whose taps start at (y, x). Taps run downwards in y and backwards in x:
// then the input pixels of a row of taps lie in ascending order.
GemmWeights PartOf(const TransposeConvState& s, const float* filter, int64_t y, int64_t x) {
  GemmWeights part;
  part.n = s.out_c;
  part.stride_n = s.h.filter * s.w.filter * s.in_c;
  part.depth[0] = TapsOfClass(s.h, y);
  part.depth[1] = TapsOfClass(s.w, x);
  part.depth[2] = s.in_c;
  part.k = part.depth[0] * part.depth[1] * part.depth[2];
  part.stride_k[0] = s.h.stride * s.w.filter * s.in_c;
  part.stride_k[1] = -s.w.stride * s.in_c;
  const int64_t last_x = x + (part.depth[1] - 1) * s.w.stride;
  part.data = filter + (y * s.w.filter + last_x) * s.in_c;
  return part;
}

int64_t PackedOffset(const GemmKernels& kernels, const TransposeConvState& s, int64_t y,
                     int64_t x) {
  const int64_t taps = TapsBefore(s.h, y) * s.w.filter + TapsOfClass(s.h, y) * TapsBefore(s.w, x);
  return kernels.packed_size(s.out_c, taps * s.in_c);
}

void PackPart(const GemmKernels& kernels, const TransposeConvState& s, const float* filter,
              int64_t index, float* packed) {
  const int64_t y = index / ClassesOf(s.w), x = index % ClassesOf(s.w);
  kernels.pack(PartOf(s, filter, y, x), 0, kernels.n_panels(s.out_c),
               packed + PackedOffset(kernels, s, y, x));
}

Status CheckInputs(PrepareContext* context) {
  TW_RETURN_IF_ERROR(context->CheckInputs(3, 4));
  TW_RETURN_IF_ERROR(context->CheckOutputs(1));
  TW_RETURN_IF_ERROR(context->CheckDType(0, {DType::kInt32}));
  TW_RETURN_IF_ERROR(
      context->CheckDType(2, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}));
  if (context->input(2)->dtype == DType::kFloat32) {
    TW_RETURN_IF_ERROR(context->CheckDType(1, {DType::kFloat32, DType::kInt8}));
    TW_RETURN_IF_ERROR(context->CheckDType(3, {DType::kFloat32}));
  }
  TW_RETURN_IF_ERROR(context->CheckRank(1, 4, 4));
  TW_RETURN_IF_ERROR(context->CheckRank(2, 4, 4));
  if (context->input(0)->shape != Shape{4}) {
    return context->Invalid("{} has shape {}, [4] (an NHWC shape) expected", context->InputName(0),
                            context->input(0)->shape.ToString());
  }
  return context->NeedValue(0);
}

// The output's shape: input 0. Files for TFLite Micro, which does not read that, have a place holder
// there, such as [1, 1, 0, 1]; where its channels are not the filter's, the output tensor's own shape
// counts.
Shape AskedShape(const PrepareContext& context) {
  Shape asked(context.input(0)->as<const int32_t>(), 4);
  const Shape& declared = context.output(0).shape;
  const int32_t batch = context.input(2)->shape[0], channels = context.input(1)->shape[0];
  if (asked[3] != channels && declared.rank() == 4 && declared[1] > 0 && declared[2] > 0 &&
      declared[3] == channels) {
    asked = declared;
    asked.set_dim(0, batch);
  }
  // Files ask for a batch of 1 by a constant, whatever batch their user gives.
  if (asked[0] == 1) asked.set_dim(0, batch);
  return asked;
}

Status CheckShapes(const PrepareContext& context, const Shape& out, TransposeConvShape* state) {
  const Shape& filter = context.input(1)->shape;
  const Shape& in = context.input(2)->shape;
  const OpParams& params = context.params();
  if (filter.NumElements() == 0 || filter[3] != in[3]) {
    return context.Invalid("{} has shape {}, which does not fit the {} channels of {}",
                           context.InputName(1), filter.ToString(), in[3], context.InputName(2));
  }
  if (out[0] != in[0] || out[3] != filter[0]) {
    return context.Invalid(
        "the output shape {} asked for must have the batch {} of {} and the {} "
        "output channels of {}",
        out.ToString(), in[0], context.InputName(2), filter[0], context.InputName(1));
  }
  if (params.stride_h < 1 || params.stride_w < 1) {
    return context.Invalid("its strides are {} and {}, at least 1 expected", params.stride_h,
                           params.stride_w);
  }
  state->batch = in[0];
  state->in_h = in[1];
  state->in_w = in[2];
  state->in_c = in[3];
  state->out_c = filter[0];
  state->h.in = out[1];
  state->w.in = out[2];
  state->h.filter = filter[1];
  state->w.filter = filter[2];
  state->h.stride = params.stride_h;
  state->w.stride = params.stride_w;
  // A window larger than the output is fine here: what falls outside is cut off.
  PlaceWindow(params.padding, &state->h);
  PlaceWindow(params.padding, &state->w);
  return Status::Ok();
}

Status PlanParts(PrepareContext* context, TransposeConvState* state) {
  const GemmKernels& kernels = *context->cpu().gemm;
  ScratchLayout scratch;
  const int64_t depth = state->h.filter * state->w.filter * state->in_c;
  int64_t elements = 0, block = 0;
  if (MulOverflow(depth, state->out_c + kernels.max_columns, &elements) ||
      MulOverflow(depth, kColumnsAtOnce, &block) ||
      elements > static_cast<int64_t>(kMostBytes / sizeof(float))) {
    return OutOfMemory("{}: {} is too large to pack", context->Where(), context->InputName(1));
  }
  const int64_t packed_size = kernels.packed_size(state->out_c, depth);
  const int64_t classes = ClassesOf(state->h) * ClassesOf(state->w);
  const TensorView& filter = *context->input(1);
  if (filter.data != nullptr) {
    const std::string tag = StrFormat("{} transposed, strides {} {}", kernels.tag,
                                      context->params().stride_h, context->params().stride_w);
    TW_ASSIGN_OR_RETURN(
        const void* packed,
        context->PackConstant(
            1, tag.c_str(), static_cast<size_t>(packed_size) * sizeof(float), true, [&](void* to) {
              for (int64_t i = 0; i < classes; ++i) {
                PackPart(kernels, *state, filter.as<const float>(), i, static_cast<float*>(to));
              }
            }));
    state->packed = static_cast<const float*>(packed);
  } else {
    state->packed_offset = scratch.Add(packed_size);
  }
  state->max_depth = TapsOfClass(state->h, 0) * TapsOfClass(state->w, 0) * state->in_c;
  state->patches_offset = scratch.Add(state->max_depth * kColumnsAtOnce, context->max_threads());
  return scratch.Request(context);
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckInputs(&context));
  const Shape out = AskedShape(context);
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(2)->dtype, out));
  TransposeConvShape shape;
  TW_RETURN_IF_ERROR(CheckShapes(context, out, &shape));
  TW_RETURN_IF_ERROR(CheckBias(context, 3, shape.out_c));
  if (kHasQuantized && context.input(1)->dtype != DType::kFloat32) {
    return PrepareTransposeConvQuantized(&context, shape);
  }
  TransposeConvState* state = context.NewState<TransposeConvState>();
  static_cast<TransposeConvShape&>(*state) = shape;
  ActivationRange(context.params().activation, &state->lo, &state->hi);
  context.SetVariant("gemm per stride phase");
  context.SetTasks(shape.batch * shape.h.in);
  return PlanParts(&context, state);
}

void OutputRow(const RunContext& context, const TransposeConvState& s, const float* packed,
               int64_t row, float* patches) {
  const GemmKernels& kernels = *context.cpu->gemm;
  const float* image = context.input_data<float>(2) + row / s.h.in * s.in_h * s.in_w * s.in_c;
  float* out = context.output_data<float>(0) + row * s.w.in * s.out_c;
  const int64_t at_y = row % s.h.in + s.h.pad;
  const int64_t class_y = at_y % s.h.stride, y = at_y / s.h.stride;
  GemmTask task;
  task.bias = context.input_data<float>(3);
  task.a = patches;
  task.n = s.out_c;
  task.ldc = s.w.stride * s.out_c;
  task.panel_end = kernels.n_panels(s.out_c);
  task.lo = s.lo;
  task.hi = s.hi;
  for (int64_t first = 0; first < std::min(s.w.stride, s.w.in); ++first) {
    const int64_t at_x = first + s.w.pad;
    const int64_t class_x = at_x % s.w.stride, x = at_x / s.w.stride;
    const int64_t taps_y = TapsOfClass(s.h, class_y), taps_x = TapsOfClass(s.w, class_x);
    task.k = task.lda = taps_y * taps_x * s.in_c;
    task.packed = task.k > 0 ? packed + PackedOffset(kernels, s, class_y, class_x) : packed;
    const int64_t pixels = (s.w.in - first - 1) / s.w.stride + 1;
    for (int64_t j = 0; j < pixels; j += kColumnsAtOnce) {
      task.m = std::min(kColumnsAtOnce, pixels - j);
      if (task.k > 0) {
        GatherTaps(s, image, y, taps_y, x + j - (taps_x - 1), taps_x, task.m, patches);
      }
      task.c = out + (first + j * s.w.stride) * s.out_c;
      kernels.run(task);
    }
  }
}

Status Run(const RunContext& context) {
  if (kHasQuantized && context.in(1).dtype != DType::kFloat32)
    return RunTransposeConvQuantized(context);
  const TransposeConvState& s = context.get_state<TransposeConvState>();
  if (context.out(0).shape.NumElements() == 0) return Status::Ok();
  const float* packed = s.packed;
  if (packed == nullptr) {
    float* to = reinterpret_cast<float*>(context.scratch + s.packed_offset);
    context.pool->ParallelFor(ClassesOf(s.h) * ClassesOf(s.w), [&](int64_t index, int) {
      PackPart(*context.cpu->gemm, s, context.input_data<float>(1), index, to);
    });
    packed = to;
  }
  const size_t block = ScratchLayout::BlockBytes(s.max_depth * kColumnsAtOnce);
  context.pool->ParallelFor(s.batch * s.h.in, [&](int64_t row, int thread) {
    OutputRow(context, s, packed, row,
              reinterpret_cast<float*>(context.scratch + s.patches_offset +
                                       static_cast<size_t>(thread) * block));
  });
  ApplyFusedTanh(context);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kTransposeConv)
        .Versions(5)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .DataInput(2)
        .Options(OptionsType::kTransposeConv, Parse)
        .Cpu(Prepare, Run)
        .Gpu(PlanTransposeConv)
        .Int8(IntegerForm::kWeighted, 2)
        .Weighted({2, 1, 3, 0})
        .ReadsFloat16()
        .WidensHalf()
        .Work(WorkRule::kTransposed)
        .FusesActivation(),
};

Span<const OpDef> TransposeConvOps() { return Selected<kOps>(); }

}  // namespace topwork
