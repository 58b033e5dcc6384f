// RESIZE_BILINEAR of quantized images (see resize_bilinear.h).
#include <algorithm>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/quantized.h"
#include "kernels/ops/resize.h"
#include "kernels/ops/resize_bilinear.h"

namespace topwork {
namespace {

constexpr int32_t kOne = 1 << 10;  // a pixel

// An output pixel along one axis: its two input pixels with their weights, in both arithmetics.
struct QuantMix {
  int32_t first, second;
  int32_t weights[2];
  float float_weights[2];
};

// Input pixels per output pixel in 1/1024.
int32_t FixedScale(const OpParams& params, int32_t in, int32_t out) {
  const bool corners = params.align_corners && out > 1;
  const int64_t from = corners ? in - 1 : in, to = corners ? out - 1 : out;
  return static_cast<int32_t>((from * kOne + to / 2) / to);
}

QuantMix QuantMixAt(const OpParams& params, bool fixed, int32_t i, int32_t in, int32_t out) {
  QuantMix mix = {};
  if (!fixed) {
    const BilinearMix real = MixAt(params, i, in, ResizeScale(params, in, out));
    mix.first = real.first;
    mix.second = real.second;
    mix.float_weights[0] = 1.0f - real.weight;
    mix.float_weights[1] = real.weight;
    return mix;
  }
  const int64_t scale = FixedScale(params, in, out);
  const int64_t at = params.half_pixel_centers ? i * scale + scale / 2 - kOne / 2 : i * scale;
  const int64_t last = in - 1;
  mix.first = static_cast<int32_t>(std::min(std::max<int64_t>(at / kOne, 0), last));
  mix.second = static_cast<int32_t>(std::min((at + kOne - 1) / kOne, last));
  mix.weights[1] = static_cast<int32_t>(at - int64_t{kOne} * mix.first);
  mix.weights[0] = kOne - mix.weights[1];
  return mix;
}

template <typename T>
void RunRow(const RunContext& context, const QuantMix& row, const QuantMix* columns, const T* image,
            T* to) {
  const Shape& in = context.in(0).shape;
  const int64_t channels = in[3], in_row = in[2] * channels;
  const auto mix =
      context.cpu->elementwise->quantized->mix[static_cast<int>(QuantTypeOf(DTypeOf<T>::kValue))];
  for (int32_t x = 0; x < context.out(0).shape[2]; ++x, to += channels) {
    const QuantMix& column = columns[x];
    QuantMixTask task;
    for (int k = 0; k < 4; ++k) {
      const int64_t y_at = k < 2 ? row.first : row.second;
      const int64_t x_at = k % 2 == 0 ? column.first : column.second;
      task.x[k] = image + y_at * in_row + x_at * channels;
      task.weights[k] = row.weights[k / 2] * column.weights[k % 2];
    }
    for (int k = 0; k < 2; ++k) {
      task.line[k] = row.float_weights[k];
      task.column[k] = column.float_weights[k];
    }
    mix(task, to, channels);
  }
}

template <typename T>
void RunAs(const RunContext& context) {
  const OpParams& params = *context.params;
  const Shape& in = context.in(0).shape;
  const Shape& out = context.out(0).shape;
  const bool fixed = context.in(0).dtype != DType::kUInt8;
  QuantMix* columns = reinterpret_cast<QuantMix*>(context.scratch);
  for (int32_t x = 0; x < out[2]; ++x) columns[x] = QuantMixAt(params, fixed, x, in[2], out[2]);
  context.pool->ParallelFor(static_cast<int64_t>(out[0]) * out[1], [&](int64_t task, int) {
    const int32_t y = static_cast<int32_t>(task % out[1]);
    const QuantMix row = QuantMixAt(params, fixed, y, in[1], out[1]);
    RunRow(context, row, columns, context.input_data<T>(0) + task / out[1] * in[1] * in[2] * in[3],
           context.output_data<T>(0) + task * out[2] * out[3]);
  });
}

}  // namespace

Status PrepareResizeBilinearQuant(PrepareContext& context) {
  context.RequestScratch(static_cast<size_t>(context.output(0).shape[2]) * sizeof(QuantMix));
  context.SetVariant(context.input(0)->dtype == DType::kUInt8 ? "bilinear" : "bilinear fixed");
  return Status::Ok();
}

Status RunResizeBilinearQuant(const RunContext& context) {
  switch (context.in(0).dtype) {
    case DType::kInt8:
      RunAs<int8_t>(context);
      break;
    case DType::kUInt8:
      RunAs<uint8_t>(context);
      break;
    default:
      RunAs<int16_t>(context);
  }
  return Status::Ok();
}

}  // namespace topwork
