// RESIZE_BILINEAR: each output pixel is a weighted mean of four neighbours. Positions follow
// align_corners and half_pixel_centers as TensorFlow defines them.
#include "kernels/ops/resize_bilinear.h"

#include <algorithm>
#include <cmath>

#include "kernels/ops/resize.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->align_corners = options.Bool(2, false);
  params->half_pixel_centers = options.Bool(3, false);
  return Status::Ok();
}

}  // namespace

BilinearMix MixAt(const OpParams& params, int32_t i, int32_t in, float scale) {
  const float x = static_cast<float>(i);
  const float at = params.half_pixel_centers ? (x + 0.5f) * scale - 0.5f : x * scale;
  BilinearMix mix;
  mix.first = std::clamp(static_cast<int32_t>(std::floor(at)), 0, in - 1);
  mix.second = std::clamp(static_cast<int32_t>(std::ceil(at)), 0, in - 1);
  mix.weight = at - static_cast<float>(mix.first);
  return mix;
}

namespace {

Status Prepare(PrepareContext& context) {
  if (context.params().align_corners && context.params().half_pixel_centers) {
    return InvalidModel("%s: align_corners and half_pixel_centers are both set",
                        context.Where().c_str());
  }
  TW_RETURN_IF_ERROR(
      PrepareResize(&context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}));
  if (context.input(0)->dtype != DType::kFloat32) return PrepareResizeBilinearQuant(context);
  context.RequestScratch(static_cast<size_t>(context.output(0).shape[2]) * sizeof(BilinearMix));
  context.SetVariant("bilinear");
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const OpParams& params = *context.params;
  const Shape& in = context.in(0).shape;
  const Shape& out = context.out(0).shape;
  if (out.NumElements() == 0) return Status::Ok();
  if (context.in(0).dtype != DType::kFloat32) return RunResizeBilinearQuant(context);
  const float* input = context.input_data<float>(0);
  float* output = context.output_data<float>(0);
  const int64_t channels = in[3], in_row = in[2] * channels, out_row = out[2] * channels;
  BilinearMix* columns = reinterpret_cast<BilinearMix*>(context.scratch);
  const float scale_y = ResizeScale(params, in[1], out[1]);
  const float scale_x = ResizeScale(params, in[2], out[2]);
  for (int32_t x = 0; x < out[2]; ++x) columns[x] = MixAt(params, x, in[2], scale_x);
  context.pool->ParallelFor(static_cast<int64_t>(out[0]) * out[1], [&](int64_t task, int) {
    const int64_t batch = task / out[1];
    const BilinearMix row = MixAt(params, static_cast<int32_t>(task % out[1]), in[1], scale_y);
    const float* image = input + batch * in[1] * in_row;
    const float* top = image + row.first * in_row;
    const float* bottom = image + row.second * in_row;
    float* to = output + task * out_row;
    for (int32_t x = 0; x < out[2]; ++x, to += channels) {
      const BilinearMix& column = columns[x];
      const float* top_left = top + column.first * channels;
      const float* top_right = top + column.second * channels;
      const float* bottom_left = bottom + column.first * channels;
      const float* bottom_right = bottom + column.second * channels;
      const float w11 = row.weight * column.weight, w10 = row.weight * (1 - column.weight);
      const float w01 = (1 - row.weight) * column.weight;
      const float w00 = (1 - row.weight) * (1 - column.weight);
      for (int64_t c = 0; c < channels; ++c) {
        to[c] =
            top_left[c] * w00 + bottom_left[c] * w10 + top_right[c] * w01 + bottom_right[c] * w11;
      }
    }
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpResizeBilinear;
const OpDef kOpResizeBilinear = {
    OpCode::kResizeBilinear, "RESIZE_BILINEAR", 15, 4, Parse, Prepare, Run};

}  // namespace topwork
