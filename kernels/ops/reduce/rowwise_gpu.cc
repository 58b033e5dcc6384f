// SOFTMAX, LOG_SOFTMAX, L2_NORMALIZATION (rowwise.cl) and LOCAL_RESPONSE_NORMALIZATION on a GPU.
#include <algorithm>

#include "kernels/ops/reduce/reduce_gpu.h"

namespace topwork {
namespace {

constexpr size_t kRowGroup = 64;  // TW_GROUP of rowwise.cl

}  // namespace

Status PlanRowwise(GpuContext& context, RowwiseKind kind) {
  const Shape& shape = context.input(0)->shape;
  const int64_t n = shape.back();
  context.AddGroups("rowwise", "rowwise",
                    {BufferArg(context.In(0)), BufferArg(context.Out(0)), EnumArg(kind), IntArg(n),
                     FloatArg(context.params().beta)},
                    kRowGroup, 1, shape.NumElements() / n);
  // Maximum, sum, results.
  context.TakesSteps(3 * ((n + 63) / 64), 1);
  return Status::Ok();
}

Status PlanLocalResponseNormalization(GpuContext& context) {
  const OpParams& params = context.params();
  const Shape& in = context.input(0)->shape;
  const int64_t n = in.back(), rows = in.NumElements() / n;
  context.Add("local_response_normalization", "local_response_normalization",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), IntArg(rows), IntArg(n),
               IntArg(std::min<int64_t>(params.radius, n)), IntArg(params.count),
               FloatArg(params.bias), FloatArg(params.alpha), FloatArg(params.beta)},
              n, rows);
  context.TakesSteps(std::min<int64_t>(2 * params.radius + 1, n), 1);
  return Status::Ok();
}

}  // namespace topwork
