// CONV_3D_TRANSPOSE: the gradient of a convolution over volumes with respect to its input, as a
// layer; float32. Inputs: output shape (int32, 5 values), filter [d, h, w, out channels, in
// channels], data, bias (optional).
//
//   out[b, z s - pad + dz, .., o] += data[b, z, .., c] filter[dz, dy, dx, o, c]
// Every thread makes whole slices of the output and gathers what reaches them.
#include <algorithm>

#include "kernels/ops/conv/conv_3d.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 4));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 5, 5));
  TW_RETURN_IF_ERROR(context.CheckRank(2, 5, 5));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32}));
  const Shape& filter = context.input(1)->shape;
  const Shape& data = context.input(2)->shape;
  TW_RETURN_IF_ERROR(CheckConv3dInputs(context, 2, 1, 3, filter.dim(3)));
  Shape out;
  TW_RETURN_IF_ERROR(ReadShape(context, 0, &out));
  if (out.rank() != 5 || out.dim(0) != data.dim(0) || out.dim(4) != filter.dim(3) ||
      data.dim(4) != filter.dim(4)) {
    return context.Invalid("output shape {}, filter {} and data {} do not fit each other",
                           out.ToString(), filter.ToString(), data.ToString());
  }
  Volume* v = context.NewState<Volume>();
  TW_RETURN_IF_ERROR(MakeVolume(context, out, filter, v));
  v->in_channels = filter.dim(4);
  v->out_channels = filter.dim(3);
  for (int a = 0; a < 3; ++a) {
    if (v->axis[a].out == data.dim(a + 1)) continue;
    return context.Invalid("an output of shape {} needs {} values along axis {}, {} has {}",
                           out.ToString(), v->axis[a].out, a + 1, context.InputName(2),
                           data.dim(a + 1));
  }
  return context.SetOutput(0, DType::kFloat32, out);
}

// The position whose tap number `tap` touches `at`, or −1.
int64_t PositionOf(const WindowAxis& axis, int64_t at, int64_t tap) {
  const int64_t origin = at + axis.pad - tap * axis.dilation;
  if (origin < 0 || origin % axis.stride != 0) return -1;
  const int64_t position = origin / axis.stride;
  return position < axis.out ? position : -1;
}

// y[o] += sum of x[c] filter[o, c].
void AddProduct(const Volume& v, const float* x, const float* filter, float* y) {
  for (int64_t o = 0; o < v.out_channels; ++o) {
    float sum = 0.0f;
    for (int64_t c = 0; c < v.in_channels; ++c) sum += x[c] * filter[o * v.in_channels + c];
    y[o] += sum;
  }
}

// One row of the output along its width.
void RunRow(const Volume& v, const float* data, const float* filter, int64_t z, int64_t y,
            float* out) {
  const WindowAxis &az = v.axis[0], &ay = v.axis[1], &ax = v.axis[2];
  std::fill(out, out + ax.in * v.out_channels, 0.0f);
  for (int64_t dz = 0; dz < az.filter; ++dz) {
    const int64_t pz = PositionOf(az, z, dz);
    for (int64_t dy = 0; pz >= 0 && dy < ay.filter; ++dy) {
      const int64_t py = PositionOf(ay, y, dy);
      for (int64_t dx = 0; py >= 0 && dx < ax.filter; ++dx) {
        const float* taps =
            filter + ((dz * ay.filter + dy) * ax.filter + dx) * v.in_channels * v.out_channels;
        for (int64_t x = 0; x < ax.in; ++x) {
          const int64_t px = PositionOf(ax, x, dx);
          if (px < 0) continue;
          AddProduct(v, data + ((pz * ay.out + py) * ax.out + px) * v.in_channels, taps,
                     out + x * v.out_channels);
        }
      }
    }
  }
}

Status Run(const RunContext& context) {
  const Volume& v = context.get_state<Volume>();
  const float* filter = context.input_data<float>(1);
  RunVolumeRows(context, v, 2, 3, {v.axis[0].out, v.axis[1].out, v.axis[2].out},
                {v.axis[0].in, v.axis[1].in, v.axis[2].in},
                [&](const float* image, int64_t z, int64_t y, float* out) {
                  RunRow(v, image, filter, z, y, out);
                });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kConv3dTranspose)
        .Types({DType::kFloat32})
        .DataInput(2)
        .Options(OptionsType::kConv3D, ParseConv3d)
        .Cpu(Prepare, Run)
        .WidensHalf(),
};

Span<const OpDef> Conv3dTransposeOps() { return Selected<kOps>(); }

}  // namespace topwork
