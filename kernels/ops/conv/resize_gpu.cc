// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR on a GPU (resize.cl).
#include <vector>

#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/conv/resize.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status PlanResize(GpuContext& context, const char* entry, bool nearest) {
  const OpParams& params = context.params();
  if (!HasSameQuantization(*context.input(0), context.output(0))) {
    return Unsupported("its input and its output have different scales");
  }
  const Shape& in = context.input(0)->shape;
  const Shape& out = context.output(0).shape;
  const int64_t n_rows = static_cast<int64_t>(out[0]) * out[1];
  std::vector<LaunchArgument> args = {BufferArg(context.In(0)),
                                      BufferArg(context.Out(0)),
                                      IntArg(in[1]),
                                      IntArg(in[2]),
                                      IntArg(in[3]),
                                      IntArg(out[1]),
                                      IntArg(out[2]),
                                      IntArg(n_rows),
                                      FloatArg(ResizeScale(params, in[1], out[1])),
                                      FloatArg(ResizeScale(params, in[2], out[2])),
                                      IntArg(params.half_pixel_centers)};
  if (nearest) args.push_back(IntArg(params.align_corners));
  context.Add("resize", entry, args, (in[3] + 3) / 4, out[2], n_rows);
  context.TakesSteps(1, nearest ? 4 : 16, nearest ? 0 : 16);
  context.TakesStages(in[3]);
  if (context.moves_bytes()) context.TakesFormat(context.output_format(0));
  return Status::Ok();
}

}  // namespace

Status PlanResizeBilinear(GpuContext& context) {
  return PlanResize(context, "resize_bilinear", false);
}
Status PlanResizeNearest(GpuContext& context) {
  // The kernel passes values on as floats.
  const GpuFormat& format = context.output_format(0);
  if (!format.is_real) return Unsupported("output 0 is {}", DTypeName(format.dtype));
  return PlanResize(context, "resize_nearest", true);
}

}  // namespace topwork
