// RESIZE_BILINEAR: each output pixel is a weighted mean of four neighbours. Positions follow
// align_corners and half_pixel_centers as TensorFlow defines them. int8 and int16: positions and
// weights in 1/1024, as TFLite has them; float32 and uint8: real ones.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/gemm_plan.h"
#include "kernels/cpu/resize.h"
#include "kernels/ops/conv/resize.h"

namespace topwork {
namespace {

constexpr int32_t kOne = 1 << 10;  // a pixel

struct ResizeState : OpState {
  size_t columns_offset = 0, space_offset = 0, space_block = 0;  // scratch; a block per thread
};

Status Parse(const OptionsView& options, OpParams* params) {
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

Status Prepare(PrepareContext& context) {
  if (context.params().align_corners && context.params().half_pixel_centers) {
    return InvalidModel("%s: align_corners and half_pixel_centers are both set",
                        context.Where().c_str());
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
  context.SetVariant(IsFixed(context.input(0)->dtype) ? "bilinear fixed" : "bilinear");
  return scratch.Request(&context);
}

Status Run(const RunContext& context) {
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
  for (int32_t x = 0; x < out[2]; ++x) columns[x] = MixAt(params, fixed, x, in[2], out[2]);
  const int64_t element = DTypeBits(dtype) / 8;
  const int64_t in_row = int64_t{in[2]} * in[3] * element;
  const int64_t out_row = int64_t{out[2]} * out[3] * element;
  context.pool->ParallelFor(int64_t{out[0]} * out[1], [&](int64_t task, int thread) {
    ResizeRow row;
    row.line = MixAt(params, fixed, static_cast<int32_t>(task % out[1]), in[1], out[1]);
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

}  // namespace

extern const OpDef kOpResizeBilinear;
const OpDef kOpResizeBilinear = {
    OpCode::kResizeBilinear, "RESIZE_BILINEAR", 15, 4, Parse, Prepare, Run};

}  // namespace topwork
