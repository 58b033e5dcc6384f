// Pools of real numbers (pool.cl) and of bytes (integer_elementwise.cl) on a GPU.
#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/conv/pool.h"
#include "kernels/ops/products/weighted_gpu.h"
#include "kernels/ops/shared/activation.h"

namespace topwork {
namespace {

// False, and nothing is added, where the tensors are no bytes or the kind has no kernel for them.
bool AddIntegerPool(GpuContext& context, PoolKind kind) {
  if (kind == PoolKind::kL2 || !AreBytes(context, 1)) return false;
  const PoolState& state = context.state<PoolState>();
  const Window& window = state.window;
  const Shape& in = context.input(0)->shape;
  const int64_t n_rows = in[0] * window.h.out;
  context.Add(
      "integer_elementwise", "integer_pool",
      {BufferArg(context.InBytes(0)), BufferArg(context.OutBytes(0)), EnumArg(kind), IntArg(in[1]),
       IntArg(in[2]), IntArg(in[3]), IntArg(window.h.out), IntArg(window.w.out),
       IntArg(window.h.filter), IntArg(window.w.filter), IntArg(window.h.stride),
       IntArg(window.w.stride), IntArg(window.h.pad), IntArg(window.w.pad), IntArg(n_rows),
       SignArg(context), IntArg(state.range.lo), IntArg(state.range.hi)},
      in[3], window.w.out, n_rows);
  context.TakesType(KernelType::kI8);
  return true;
}

}  // namespace

Status PlanPool(GpuContext& context, PoolKind kind) {
  if (AddIntegerPool(context, kind)) return Status::Ok();
  const OpParams& params = context.params();
  const Shape& in = context.input(0)->shape;
  const Window window = WindowOf(context, params.filter_h, params.filter_w);
  float lo, hi;
  ActivationRange(params.activation, &lo, &hi);
  const int64_t n_rows = in[0] * window.h.out;
  context.Add("pool", "pool",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), EnumArg(kind), IntArg(in[1]),
               IntArg(in[2]), IntArg(in[3]), IntArg(window.h.out), IntArg(window.w.out),
               IntArg(window.h.filter), IntArg(window.w.filter), IntArg(window.h.stride),
               IntArg(window.w.stride), IntArg(window.h.pad), IntArg(window.w.pad), IntArg(n_rows),
               FloatArg(lo), FloatArg(hi)},
              Fours(in[3]), window.w.out, n_rows);
  return Status::Ok();
}

}  // namespace topwork
