// TRANSPOSE_CONV on a GPU (transpose_conv.cl).
#include <vector>

#include "kernels/gpu/transpose_rows.h"
#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/window.h"

namespace topwork {
namespace {

// The first input row (column) that reaches each of the axis's output rows, axis.in of them.
void AppendFirsts(const WindowAxis& axis, std::vector<int32_t>* to) {
  for (int64_t out = 0; out < axis.in; ++out) {
    const int64_t beyond = out + axis.pad - (axis.filter - 1);
    const int64_t first = beyond <= 0 ? 0 : (beyond + axis.stride - 1) / axis.stride;
    to->push_back(static_cast<int32_t>(first));
  }
}

}  // namespace

Status PlanTransposeConv(GpuContext& context) {
  const OpParams& params = context.params();
  if (!context.is_constant(1)) return Unsupported("its weights are not constant");
  if (context.input(3) != nullptr && !context.is_constant(3)) {
    return Unsupported("its bias is not constant");
  }
  const Shape& filter = context.input(1)->shape;
  const Shape& in = context.input(2)->shape;
  const Shape& out = context.output(0).shape;
  // Of the forward convolution whose image is our output.
  WindowAxis h = {out[1], filter[1], params.stride_h, 1, 0, 0};
  WindowAxis w = {out[2], filter[2], params.stride_w, 1, 0, 0};
  (void)PlaceWindow(params.padding, &h);  // what falls outside is cut off
  (void)PlaceWindow(params.padding, &w);
  const int64_t in_c = in[3], out_c = out[3], taps = h.filter * w.filter;
  const int64_t wide = (out_c + 3) / 4 * 4;
  const GpuFloats from = context.LaterFloats(1);
  const int weights = context.Constant(static_cast<size_t>(taps * in_c * wide), [&](float* to) {
    TransposeRows(from.Read(), taps * in_c, out_c, taps * in_c, to, wide);
  });
  const float* bias = context.input(3) == nullptr ? nullptr : context.Floats(3);
  const int biases = context.Constant(static_cast<size_t>(wide), [&](float* to) {
    for (int64_t i = 0; i < wide; ++i) to[i] = bias != nullptr && i < out_c ? bias[i] : 0.0f;
  });
  std::vector<int32_t> firsts;
  AppendFirsts(h, &firsts);
  AppendFirsts(w, &firsts);
  float lo, hi;
  ActivationRange(params.activation, &lo, &hi);
  const int64_t n_rows = out.Product(0, 2);
  context.Add("transpose_conv", "transpose_conv",
              {BufferArg(context.In(2)), BufferArg(weights), BufferArg(biases),
               BufferArg(context.Out(0)), BufferArg(context.Table({firsts.data(), firsts.size()})),
               IntArg(in[1]), IntArg(in[2]), IntArg(in_c), IntArg(out[1]), IntArg(out[2]),
               IntArg(out_c), IntArg(w.filter), IntArg(h.stride), IntArg(w.stride), IntArg(h.pad),
               IntArg(w.pad), IntArg(n_rows), FloatArg(lo), FloatArg(hi)},
              wide / 4, out[2], n_rows);
  context.TakesRows(in_c, out_c);
  const int64_t met =
      ((h.filter + h.stride - 1) / h.stride) * ((w.filter + w.stride - 1) / w.stride);
  context.TakesSteps(met * ((in_c + 3) / 4), 20, 16);
  context.TakesStages(out_c);
  return Status::Ok();
}

}  // namespace topwork
