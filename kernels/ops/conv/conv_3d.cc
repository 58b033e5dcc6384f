// CONV_3D: convolution over volumes, float32.
//
//   out[b, z, y, x, o] = act(bias[o] + sum over taps and c of in[.., c] filter[dz, dy, dx, c, o])
// A row of output channels is summed tap by tap, so neighbouring filter values are read together;
// rows of pixels are shared out among threads. No packing: volumes are rare.
#include "kernels/ops/conv/conv_3d.h"

#include <algorithm>
#include <cmath>

#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {

Status ParseConv3d(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(ParsePadding(options.Byte(0, 0), &params->padding));
  params->stride_d = options.Int(1, 0);
  params->stride_w = options.Int(2, 0);
  params->stride_h = options.Int(3, 0);
  TW_RETURN_IF_ERROR(ParseActivation(options.Byte(4, 0), &params->activation));
  params->dilation_d = options.Int(5, 1);
  params->dilation_w = options.Int(6, 1);
  params->dilation_h = options.Int(7, 1);
  return Status::Ok();
}

Status MakeVolume(const PrepareContext& context, const Shape& size, const Shape& filter,
                  Volume* volume) {
  const OpParams& p = context.params();
  const int32_t strides[3] = {p.stride_d, p.stride_h, p.stride_w};
  const int32_t dilations[3] = {p.dilation_d, p.dilation_h, p.dilation_w};
  volume->batch = size.dim(0);
  for (int a = 0; a < 3; ++a) {
    WindowAxis& axis = volume->axis[a];
    axis.in = size.dim(a + 1);
    axis.filter = filter.dim(a);
    axis.stride = strides[a];
    axis.dilation = dilations[a];
    if (axis.in < 1 || axis.filter < 1 || axis.stride < 1 || axis.dilation < 1) {
      return context.Invalid(
          "size {}, filter {}, stride {} and dilation {} along axis {} must be positive", axis.in,
          axis.filter, axis.stride, axis.dilation, a + 1);
    }
    if (!PlaceWindow(p.padding, &axis)) {
      return context.Invalid("the window is larger than the volume along axis {}", a + 1);
    }
  }
  return Status::Ok();
}

Status CheckConv3dInputs(const PrepareContext& context, int data, int filter, int bias,
                         int64_t out_channels) {
  for (int i : {data, filter, bias}) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kFloat32}));
  }
  const TensorView* values = context.input(bias);
  if (values == nullptr || values->shape.NumElements() == out_channels) return Status::Ok();
  return context.Invalid("{} has shape {}, {} values expected", context.InputName(bias),
                         values->shape.ToString(), out_channels);
}

namespace {

// y = activation(y + bias) for `n` pixels; bias may be null.
void FinishPixels(Activation activation, const float* bias, int64_t channels, int64_t n, float* y) {
  float lo, hi;
  ActivationRange(activation, &lo, &hi);
  for (int64_t i = 0; i < n; ++i, y += channels) {
    for (int64_t o = 0; o < channels; ++o) {
      const float value = bias == nullptr ? y[o] : y[o] + bias[o];
      y[o] = std::min(std::max(value, lo), hi);
      if (activation == Activation::kTanh) y[o] = std::tanh(value);
    }
  }
}

}  // namespace

void RunVolumeRows(const RunContext& context, const Volume& volume, int data, int bias,
                   const int64_t (&in)[3], const int64_t (&out)[3], const VolumeRow& row) {
  const int64_t image = in[0] * in[1] * in[2] * volume.in_channels;
  const int64_t width = out[2] * volume.out_channels;
  ParallelRows(context.pool, volume.batch * out[0] * out[1], width * 4 * volume.in_channels,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const int64_t slice = r / out[1];
                   float* y = context.output_data<float>(0) + r * width;
                   row(context.input_data<float>(data) + slice / out[0] * image, slice % out[0],
                       r % out[1], y);
                   FinishPixels(context.params->activation, context.input_data<float>(bias),
                                volume.out_channels, out[2], y);
                 }
               });
}

namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 5, 5));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 5, 5));
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  TW_RETURN_IF_ERROR(CheckConv3dInputs(context, 0, 1, 2, filter.dim(4)));
  if (in.dim(4) != filter.dim(3)) {
    return context.Invalid("{} has {} channels, its filter is for {}", context.InputName(0),
                           in.dim(4), filter.dim(3));
  }
  Volume* v = context.NewState<Volume>();
  TW_RETURN_IF_ERROR(MakeVolume(context, in, filter, v));
  v->in_channels = filter.dim(3);
  v->out_channels = filter.dim(4);
  Shape out({in.dim(0)});
  for (const WindowAxis& axis : v->axis) out.Append(static_cast<int32_t>(axis.out));
  out.Append(filter.dim(4));
  return context.SetOutput(0, DType::kFloat32, out);
}

// y += x filter for one pixel: x has in_channels values, y out_channels.
void AddProduct(const Volume& v, const float* x, const float* filter, float* y) {
  for (int64_t c = 0; c < v.in_channels; ++c) {
    const float value = x[c];
    for (int64_t o = 0; o < v.out_channels; ++o) y[o] += value * filter[o];
    filter += v.out_channels;
  }
}

// One row of pixels along the width.
void RunRow(const Volume& v, const float* in, const float* filter, int64_t z, int64_t y,
            float* out) {
  const WindowAxis &az = v.axis[0], &ay = v.axis[1], &ax = v.axis[2];
  const int64_t z0 = z * az.stride - az.pad, y0 = y * ay.stride - ay.pad;
  const TapRange tz = ClipTaps(az, z0), ty = ClipTaps(ay, y0);
  std::fill(out, out + ax.out * v.out_channels, 0.0f);
  for (int64_t x = 0; x < ax.out; ++x, out += v.out_channels) {
    const int64_t x0 = x * ax.stride - ax.pad;
    const TapRange tx = ClipTaps(ax, x0);
    for (int64_t dz = tz.begin; dz < tz.end; ++dz) {
      for (int64_t dy = ty.begin; dy < ty.end; ++dy) {
        const int64_t line = (z0 + dz * az.dilation) * ay.in + y0 + dy * ay.dilation;
        for (int64_t dx = tx.begin; dx < tx.end; ++dx) {
          const int64_t pixel = line * ax.in + x0 + dx * ax.dilation;
          const int64_t tap = (dz * ay.filter + dy) * ax.filter + dx;
          AddProduct(v, in + pixel * v.in_channels, filter + tap * v.in_channels * v.out_channels,
                     out);
        }
      }
    }
  }
}

Status Run(const RunContext& context) {
  const Volume& v = context.get_state<Volume>();
  const float* filter = context.input_data<float>(1);
  RunVolumeRows(context, v, 0, 2, {v.axis[0].in, v.axis[1].in, v.axis[2].in},
                {v.axis[0].out, v.axis[1].out, v.axis[2].out},
                [&](const float* image, int64_t z, int64_t y, float* out) {
                  RunRow(v, image, filter, z, y, out);
                });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kConv3d)
        .Types({DType::kFloat32})
        .Options(OptionsType::kConv3D, ParseConv3d)
        .Cpu(Prepare, Run)
        .WidensHalf(),
};

Span<const OpDef> Conv3dOps() { return Selected<kOps>(); }

}  // namespace topwork
