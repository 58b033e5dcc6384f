// Pools of real numbers (pool.cl) and of bytes (integer_elementwise.cl) on a GPU.
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/conv/pool.h"
#include "kernels/ops/products/weighted_gpu.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/fold_groups.h"

namespace topwork {
namespace {

// The pixels of the largest window, without those that pad the image.
int64_t Taps(const Window& window) {
  return std::min(window.h.filter, window.h.in) * std::min(window.w.filter, window.w.in);
}

// What all kernels of pools begin with.
std::vector<LaunchArgument> PoolArgs(const GpuContext& context, const Window& window, int from,
                                     int to, PoolKind kind) {
  const Shape& in = context.input(0)->shape;
  return {BufferArg(from),         BufferArg(to),           EnumArg(kind),
          IntArg(in[1]),           IntArg(in[2]),           IntArg(in[3]),
          IntArg(window.h.out),    IntArg(window.w.out),    IntArg(window.h.filter),
          IntArg(window.w.filter), IntArg(window.h.stride), IntArg(window.w.stride),
          IntArg(window.h.pad),    IntArg(window.w.pad)};
}

// False, and nothing is added, where the tensors are no bytes or the kind has no kernel for them.
bool AddIntegerPool(GpuContext& context, PoolKind kind) {
  if (kind == PoolKind::kL2 || !AreBytes(context, 1)) return false;
  const PoolState& state = context.state<PoolState>();
  const Window& window = state.window;
  const Shape& in = context.input(0)->shape;
  const int64_t n_rows = in[0] * window.h.out, taps = Taps(window);
  const FoldGroups groups = FoldGroupsOf(in[3], window.w.out * n_rows, taps);
  std::vector<LaunchArgument> args =
      PoolArgs(context, window, context.InBytes(0), context.OutBytes(0), kind);
  args.push_back(IntArg(groups.block > 0 ? groups.block : n_rows));
  for (const LaunchArgument& arg :
       {SignArg(context), IntArg(state.range.lo), IntArg(state.range.hi)}) {
    args.push_back(arg);
  }
  if (groups.block > 0) {
    context.AddGroups("integer_elementwise", {"integer_pool_group", "group"}, std::move(args),
                      groups.local, groups.n, window.w.out, n_rows);
    context.TakesSmallerGroups();
    context.TakesSteps(groups.steps, 1);
  } else {
    context.Add("integer_elementwise", "integer_pool", std::move(args), in[3], window.w.out,
                n_rows);
    context.TakesSteps(taps, 1);
  }
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
  const int64_t n_rows = in[0] * window.h.out, taps = Taps(window);
  const FoldGroups groups = FoldGroupsOf(Fours(in[3]), window.w.out * n_rows, taps);
  const int from = context.In(0);
  std::vector<LaunchArgument> args = PoolArgs(context, window, from, context.Out(0), kind);
  args.push_back(IntArg(groups.block > 0 ? groups.block : n_rows));
  args.push_back(FloatArg(lo));
  args.push_back(FloatArg(hi));
  if (groups.block > 0) {
    context.AddGroups("pool", {"pool_group", "group"}, std::move(args), groups.local, groups.n,
                      window.w.out, n_rows);
    context.TakesSmallerGroups();
    context.TakesSteps(groups.steps, 4);
  } else {
    context.Add("pool", "pool", std::move(args), Fours(in[3]), window.w.out, n_rows);
    context.TakesSteps(taps, 4);
  }
  context.TakesRows(in[3], in[3]);
  context.TakesStages(in[3]);
  return Status::Ok();
}

}  // namespace topwork
