// RESIZE_NEAREST_NEIGHBOR: each output pixel is a copy of one input pixel. Positions follow
// align_corners and half_pixel_centers as TensorFlow defines them.
#include <algorithm>
#include <cmath>

#include "kernels/ops/conv/resize.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
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

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PrepareResize(
      &context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16, DType::kFloat16,
                 DType::kBFloat16, DType::kUInt16, DType::kInt32, DType::kUInt32, DType::kBool}));
  context.RequestScratch(static_cast<size_t>(context.output(0).shape[2]) * sizeof(int32_t));
  context.SetVariant("copy");
  return Status::Ok();
}

Status Run(const RunContext& context) {
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

extern const OpDef kOpResizeNearestNeighbor;
const OpDef kOpResizeNearestNeighbor = {
    OpCode::kResizeNearestNeighbor, "RESIZE_NEAREST_NEIGHBOR", 74, 4, Parse, Prepare, Run};

}  // namespace topwork
