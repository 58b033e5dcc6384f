// Unary and binary operators on a GPU (unary.cl, binary.cl).
#include "kernels/ops/elementwise/elementwise_gpu.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/gpu/gpu_context.h"
#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/products/integer_gpu.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/broadcast.h"

namespace topwork {

Status PlanUnary(GpuContext& context, UnaryFn fn, float alpha) {
  if (AddIntegerLookup(context)) return Status::Ok();
  const int64_t n = context.output(0).shape.NumElements();
  context.Add("unary", "unary",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), IntArg(n), EnumArg(fn),
               FloatArg(alpha)},
              n);
  return Status::Ok();
}

Status PlanLeakyRelu(GpuContext& context) {
  return PlanUnary(context, UnaryFn::kLeakyRelu, context.params().alpha);
}

Status PlanLogistic(GpuContext& context) {
  return PlanUnary(context, LogisticFn(context.params()), 0.0f);
}

Status PlanGelu(GpuContext& context) {
  return PlanUnary(context, context.params().approximate ? UnaryFn::kGeluTanh : UnaryFn::kGelu,
                   0.0f);
}

Status PlanBinary(GpuContext& context, BinaryFn fn) {
  if (!context.output_format(0).is_real) return PlanBinaryInt(context, fn);
  if (AddIntegerBinary(context, fn)) return Status::Ok();
  const Shape& out = context.output(0).shape;
  const int64_t n = out.NumElements();
  float lo, hi;
  ActivationRange(context.params().activation, &lo, &hi);
  if (fn == BinaryFn::kAdd || fn == BinaryFn::kSub || fn == BinaryFn::kMul ||
      fn == BinaryFn::kDiv) {
    lo = std::max(lo, -std::numeric_limits<float>::max());
    hi = std::min(hi, std::numeric_limits<float>::max());
  }
  std::vector<LaunchArgument> args = {BufferArg(context.In(0)), BufferArg(context.In(1)),
                                      BufferArg(context.Out(0))};
  const bool same = context.input(0)->shape == out && context.input(1)->shape == out;
  if (!same) {
    const LoopNest nest = MakeLoopNest(out, {context.input(0)->shape, context.input(1)->shape});
    std::vector<int32_t> table;
    for (const int64_t* row : {nest.dims, nest.strides[0], nest.strides[1]}) {
      for (int d = 0; d < nest.rank; ++d) table.push_back(static_cast<int32_t>(row[d]));
    }
    args.push_back(BufferArg(context.Table({table.data(), table.size()})));
    args.push_back(IntArg(nest.rank));
  }
  for (const LaunchArgument& arg : {IntArg(n), EnumArg(fn), FloatArg(lo), FloatArg(hi)}) {
    args.push_back(arg);
  }
  context.Add("binary", {same ? "binary_same" : "binary", same ? "same" : ""}, args, n);
  return Status::Ok();
}

Status PlanNeg(GpuContext& context) {
  if (context.output_format(0).is_quantized()) {
    return Unsupported("it negates integers whatever their scale");
  }
  return PlanUnary(context, UnaryFn::kNeg, 0.0f);
}

Status PlanAddN(GpuContext& context) {
  const int64_t n = context.output(0).shape.NumElements();
  const float infinity = std::numeric_limits<float>::infinity();
  int sum = context.In(0);
  if (context.n_inputs() == 1) {
    context.Alias(0, 0);
    return Status::Ok();
  }
  for (int i = 1; i < context.n_inputs(); ++i) {
    const int more = context.In(i);
    const int to =
        i + 1 < context.n_inputs() ? context.Scratch(static_cast<size_t>(n)) : context.Out(0);
    context.Add("binary", {"binary_same", "same"},
                {BufferArg(sum), BufferArg(more), BufferArg(to), IntArg(n), EnumArg(BinaryFn::kAdd),
                 FloatArg(-infinity), FloatArg(infinity)},
                n);
    sum = to;
  }
  return Status::Ok();
}

}  // namespace topwork
