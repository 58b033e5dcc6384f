// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.
#include "kernels/cpu/resize.h"

#include <algorithm>
#include <cmath>

#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/conv/resize.h"
#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {

// Checks of the resizing operators.

Status PrepareResize(PrepareContext* context, std::initializer_list<DType> dtypes) {
  TW_RETURN_IF_ERROR(context->CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context->CheckOutputs(1));
  TW_RETURN_IF_ERROR(context->CheckDType(0, dtypes));
  TW_RETURN_IF_ERROR(context->CheckDType(1, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context->CheckRank(0, 4, 4));
  if (context->input(1)->shape != Shape{2}) {
    return context->Invalid("{} has shape {}, [2] (height and width) expected",
                            context->InputName(1), context->input(1)->shape.ToString());
  }
  TW_RETURN_IF_ERROR(context->NeedValue(1));
  const Shape& in = context->input(0)->shape;
  const int32_t* size = context->input(1)->as<const int32_t>();
  if (size[0] < 1 || size[1] < 1) {
    return context->Invalid("its new size is {} x {}, at least 1 x 1 expected", size[0], size[1]);
  }
  if (in[1] < 1 || in[2] < 1) {
    return context->Invalid("{} has shape {}: an image without pixels cannot be resized",
                            context->InputName(0), in.ToString());
  }
  return context->SetOutput(0, context->input(0)->dtype, Shape{in[0], size[0], size[1], in[3]});
}

namespace {

// RESIZE_BILINEAR: each output pixel is a weighted mean of four neighbours. Positions follow
// align_corners and half_pixel_centers as TensorFlow defines them. int8 and int16: positions and
// weights in 1/1024, as TFLite has them; float32 and uint8: real ones.

constexpr int32_t kOne = 1 << 10;  // a pixel

struct ResizeState : OpState {
  size_t columns_offset = 0, space_offset = 0, space_block = 0;  // scratch; a block per thread
};

Status ParseResizeBilinear(const OptionsView& options, OpParams* params) {
  params->align_corners = options.Bool(2, false);
  params->half_pixel_centers = options.Bool(3, false);
  return Status::Ok();
}

bool IsFixed(DType dtype) { return dtype == DType::kInt8 || dtype == DType::kInt16; }

ResizeMix RealMixAt(const OpParams& params, int32_t i, int32_t in, float scale) {
  const float x = static_cast<float>(i);
  const float at = params.half_pixel_centers ? (x + 0.5f) * scale - 0.5f : x * scale;
  ResizeMix mix;
  mix.first = std::clamp(static_cast<int32_t>(std::floor(at)), 0, in - 1);
  mix.second = std::clamp(static_cast<int32_t>(std::ceil(at)), 0, in - 1);
  mix.real_weights[1] = at - static_cast<float>(mix.first);
  mix.real_weights[0] = 1.0f - mix.real_weights[1];
  return mix;
}

// Input pixels per output pixel in 1/1024.
int32_t FixedScale(const OpParams& params, int32_t in, int32_t out) {
  const bool corners = params.align_corners && out > 1;
  const int64_t from = corners ? in - 1 : in, to = corners ? out - 1 : out;
  return static_cast<int32_t>((from * kOne + to / 2) / to);
}

// Whether the weights are multiples of 1/16; sets `sixteenths`.
#if defined(__OPTIMIZE_SIZE__)  // has no loops for them
bool FindSixteenths(bool, ResizeMix*) { return false; }
#else
bool FindSixteenths(bool fixed, ResizeMix* mix) {
  bool all = true;
  for (int i = 0; i < 2; ++i) {
    const float exact =
        16.0f * (fixed ? static_cast<float>(mix->weights[i]) / kOne : mix->real_weights[i]);
    const float bounded = std::clamp(exact, -32.0f, 32.0f);
    mix->sixteenths[i] = static_cast<int16_t>(bounded);
    all = all && static_cast<float>(mix->sixteenths[i]) == exact;
  }
  return all;
}
#endif

// For output pixel i of an axis with `in` input and `out` output pixels.
ResizeMix MixAt(const OpParams& params, bool fixed, int32_t i, int32_t in, int32_t out) {
  if (!fixed) return RealMixAt(params, i, in, ResizeScale(params, in, out));
  const int64_t scale = FixedScale(params, in, out);
  const int64_t at = params.half_pixel_centers ? i * scale + scale / 2 - kOne / 2 : i * scale;
  const int64_t last = in - 1;
  ResizeMix mix;
  mix.first = static_cast<int32_t>(std::min(std::max<int64_t>(at / kOne, 0), last));
  mix.second = static_cast<int32_t>(std::min((at + kOne - 1) / kOne, last));
  mix.weights[1] = static_cast<int32_t>(at - int64_t{kOne} * mix.first);
  mix.weights[0] = kOne - mix.weights[1];
  return mix;
}

Status PrepareResizeBilinear(PrepareContext& context) {
  if (context.params().align_corners && context.params().half_pixel_centers) {
    return context.Invalid("align_corners and half_pixel_centers are both set");
  }
  TW_RETURN_IF_ERROR(
      PrepareResize(&context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}));
  const Shape& in = context.input(0)->shape;
  ResizeState* state = context.NewState<ResizeState>();
  ScratchLayout scratch;
  state->columns_offset = scratch.AddSized(context.output(0).shape[2], sizeof(ResizeMix));
  const int64_t space = 2 * (int64_t{in[2]} * in[3] + kResizePad);
  state->space_block = ScratchLayout::BlockBytes(space);
  state->space_offset = scratch.Add(space, context.max_threads());
  context.SetTasks(int64_t{context.output(0).shape[0]} * context.output(0).shape[1]);
  context.SetVariant(IsFixed(context.input(0)->dtype) ? "bilinear fixed" : "bilinear");
  return scratch.Request(&context);
}

Status RunResizeBilinear(const RunContext& context) {
  const OpParams& params = *context.params;
  const ResizeState& s = context.get_state<ResizeState>();
  const Shape& in = context.in(0).shape;
  const Shape& out = context.out(0).shape;
  if (out.NumElements() == 0) return Status::Ok();
  const DType dtype = context.in(0).dtype;
  const bool fixed = IsFixed(dtype);
  const ResizeKernels& kernels = *context.cpu->resize;
  const auto run_row = dtype == DType::kInt8    ? kernels.i8
                       : dtype == DType::kUInt8 ? kernels.u8
                       : dtype == DType::kInt16 ? kernels.i16
                                                : kernels.f32;
  ResizeMix* columns = reinterpret_cast<ResizeMix*>(context.scratch + s.columns_offset);
  bool in_sixteenths = true;
  for (int32_t x = 0; x < out[2]; ++x) {
    columns[x] = MixAt(params, fixed, x, in[2], out[2]);
    in_sixteenths = FindSixteenths(fixed, &columns[x]) && in_sixteenths;
  }
  const int64_t element = DTypeBits(dtype) / 8;
  const int64_t in_row = int64_t{in[2]} * in[3] * element;
  const int64_t out_row = int64_t{out[2]} * out[3] * element;
  context.pool->ParallelFor(int64_t{out[0]} * out[1], [&](int64_t task, int thread) {
    ResizeRow row;
    row.line = MixAt(params, fixed, static_cast<int32_t>(task % out[1]), in[1], out[1]);
    row.in_sixteenths = FindSixteenths(fixed, &row.line) && in_sixteenths;
    const uint8_t* image = context.input_data<uint8_t>(0) + task / out[1] * in[1] * in_row;
    row.upper = image + row.line.first * in_row;
    row.lower = image + row.line.second * in_row;
    row.in_width = in[2];
    row.out_width = out[2];
    row.channels = in[3];
    row.columns = columns;
    row.out = context.output_data<uint8_t>(0) + task * out_row;
    row.space = reinterpret_cast<float*>(context.scratch + s.space_offset +
                                         static_cast<size_t>(thread) * s.space_block);
    run_row(row);
  });
  return Status::Ok();
}

// RESIZE_NEAREST_NEIGHBOR: each output pixel is a copy of one input pixel. Positions follow
// align_corners and half_pixel_centers as TensorFlow defines them.

Status ParseResizeNearestNeighbor(const OptionsView& options, OpParams* params) {
  params->align_corners = options.Bool(0, false);
  params->half_pixel_centers = options.Bool(1, false);
  return Status::Ok();
}

// The input pixel of output pixel i along an axis.
int32_t SourceOf(const OpParams& params, int32_t i, int32_t in, float scale) {
  const float at = (static_cast<float>(i) + (params.half_pixel_centers ? 0.5f : 0.0f)) * scale;
  const float nearest = params.align_corners ? std::round(at) : std::floor(at);
  return std::clamp(static_cast<int32_t>(nearest), 0, in - 1);
}

Status PrepareResizeNearestNeighbor(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PrepareResize(
      &context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16, DType::kFloat16,
                 DType::kBFloat16, DType::kUInt16, DType::kInt32, DType::kUInt32, DType::kBool}));
  context.RequestScratch(static_cast<uint64_t>(context.output(0).shape[2]) * sizeof(int32_t));
  context.SetTasks(int64_t{context.output(0).shape[0]} * context.output(0).shape[1]);
  context.SetVariant("copy");
  return Status::Ok();
}

Status RunResizeNearestNeighbor(const RunContext& context) {
  const OpParams& params = *context.params;
  const Shape& in = context.in(0).shape;
  const Shape& out = context.out(0).shape;
  if (out.NumElements() == 0) return Status::Ok();
  const uint8_t* input = context.input_data<uint8_t>(0);
  uint8_t* output = context.output_data<uint8_t>(0);
  const int64_t pixel = in[3] * ElementBytes(context.in(0));
  const int64_t in_row = in[2] * pixel, out_row = out[2] * pixel;
  int32_t* columns = reinterpret_cast<int32_t*>(context.scratch);
  const float scale_y = ResizeScale(params, in[1], out[1]);
  const float scale_x = ResizeScale(params, in[2], out[2]);
  for (int32_t x = 0; x < out[2]; ++x) columns[x] = SourceOf(params, x, in[2], scale_x);
  context.pool->ParallelFor(static_cast<int64_t>(out[0]) * out[1], [&](int64_t task, int) {
    const int64_t batch = task / out[1];
    const int32_t y = SourceOf(params, static_cast<int32_t>(task % out[1]), in[1], scale_y);
    const uint8_t* row = input + (batch * in[1] + y) * in_row;
    uint8_t* to = output + task * out_row;
    for (int32_t x = 0; x < out[2]; ++x, to += pixel) {
      CopyBytes(to, row + columns[x] * pixel, pixel);
    }
  });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kResizeBilinear)
        .Versions(4)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kResizeBilinear, ParseResizeBilinear)
        .Cpu(PrepareResizeBilinear, RunResizeBilinear)
        .Gpu(PlanResizeBilinear)
        .NoGpuInt16()
        .Int8(IntegerForm::kSame, 2)
        .WidensHalf(),
    OpDef(OpCode::kResizeNearestNeighbor)
        .Versions(4)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kBool,
                DType::kInt16, DType::kInt8, DType::kUInt32, DType::kUInt16, DType::kBFloat16})
        .Options(OptionsType::kResizeNearestNeighbor, ParseResizeNearestNeighbor)
        .Cpu(PrepareResizeNearestNeighbor, RunResizeNearestNeighbor)
        .Gpu(PlanResizeNearest, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
};

Span<const OpDef> ResizeOps() { return Selected<kOps>(); }

}  // namespace topwork
