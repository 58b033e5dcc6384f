// Reductions of real numbers (reduce.cl) and of bytes (integer_elementwise.cl) on a GPU.
#include "kernels/ops/reduce/reduce_gpu.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/products/requantizer.h"
#include "kernels/ops/products/weighted_gpu.h"
#include "kernels/ops/reduce/reduce.h"
#include "kernels/ops/shared/fold_groups.h"

namespace topwork {
namespace {

constexpr int64_t kMostSteps = int64_t{1} << 22;  // whose sum fits into int32 after the zero points

// Which dimensions are reduced; false when the axes are not known.
bool ReducedDims(const GpuContext& context, bool* reduced) {
  const TensorView* axes = context.input(1);
  const int rank = context.input(0)->shape.rank();
  std::fill(reduced, reduced + kMaxRank, false);
  if (axes == nullptr || axes->data == nullptr) return false;
  for (int64_t i = 0; i < axes->shape.NumElements(); ++i) {
    const int64_t axis =
        axes->dtype == DType::kInt64 ? axes->as<const int64_t>()[i] : axes->as<const int32_t>()[i];
    reduced[axis < 0 ? axis + rank : axis] = true;
  }
  return true;
}

// A copy of input 0 with its reduced dimensions after the others.
int ReducedLast(GpuContext& context, const bool* reduced) {
  const Shape& in = context.input(0)->shape;
  int64_t strides[kMaxRank], to = in.NumElements();
  ContiguousStrides(in, 1, strides);
  StridedCopy copy(1);
  for (const bool last : {false, true}) {
    for (int d = 0; d < in.rank(); ++d) {
      if (reduced[d] != last) continue;
      to /= in.dim(d);
      copy.AddDim(in.dim(d), strides[d], to);
    }
  }
  copy.Finish();
  const int sorted = context.Scratch(static_cast<size_t>(in.NumElements()));
  AddStridedCopy(context, copy, 1, context.In(0), sorted);
  return sorted;
}

// What [outer, steps, inner] are called by the kernel of a work-item a result, and by that of groups.
void AddSizes(const FoldGroups& groups, int64_t outer, int64_t steps, int64_t inner,
              std::vector<LaunchArgument>* args) {
  if (groups.block == 0) args->push_back(IntArg(outer));
  args->push_back(IntArg(steps));
  args->push_back(IntArg(inner));
  if (groups.block > 0) args->push_back(IntArg(groups.block));
}

struct FoldKernels {
  KernelName single, group;
};

// Work-items of a result each, by `loads` elements a step.
struct FoldSizes {
  int64_t columns, rows, steps, loads;
};

void AddFold(GpuContext& context, const char* program, const FoldKernels& kernels,
             std::vector<LaunchArgument> args, const FoldGroups& groups, const FoldSizes& sizes) {
  if (groups.block == 0) {
    context.Add(program, kernels.single, std::move(args), sizes.columns, sizes.rows);
    context.TakesSteps(sizes.steps, static_cast<double>(sizes.loads));
    return;
  }
  context.AddGroups(program, kernels.group, std::move(args), groups.local, groups.n, sizes.rows);
  context.TakesSmallerGroups();
  context.TakesSteps(groups.steps, static_cast<double>(sizes.loads));
}

// False, and nothing is added, where the tensors are no bytes or the kind has no kernel for them:
// [outer, steps, inner] to [outer, inner].
bool AddIntegerReduce(GpuContext& context, ReduceKind kind, int64_t outer, int64_t steps,
                      int64_t inner) {
  const bool sums = kind == ReduceKind::kMean || kind == ReduceKind::kSum;
  const bool picks = kind == ReduceKind::kMax || kind == ReduceKind::kMin;
  if (!AreBytes(context, 1) || !(sums || picks) || steps > kMostSteps) return false;
  const ReduceState& state = context.state<ReduceState>();
  const SplitFactor factor(state.factor);
  const FoldGroups groups = FoldGroupsOf(inner, outer, steps);
  std::vector<LaunchArgument> args = {BufferArg(context.InBytes(0)), BufferArg(context.OutBytes(0)),
                                      EnumArg(sums ? ReduceKind::kSum : kind)};
  AddSizes(groups, outer, steps, inner, &args);
  for (const int64_t n : {steps * state.in_zero, int64_t{factor.mantissa}, int64_t{factor.left},
                          int64_t{factor.right}, int64_t{state.out_zero}}) {
    args.push_back(IntArg(n));
  }
  args.insert(args.end() - 5, SignArg(context));
  AddFold(context, "integer_elementwise", {"integer_reduce", {"integer_reduce_group", "group"}},
          std::move(args), groups, {inner, outer, steps, 1});
  context.TakesType(KernelType::kI8);
  return true;
}

}  // namespace

Status PlanReduce(GpuContext& context, ReduceKind kind) {
  const Shape& in = context.input(0)->shape;
  bool reduced[kMaxRank];
  if (!ReducedDims(context, reduced)) return Unsupported("its axes are not constant");
  int64_t outer = 1, steps = 1, inner = 1;
  bool inside = false, behind = false, apart = false;
  for (int d = 0; d < in.rank(); ++d) {
    if (in.dim(d) == 1) continue;
    if (reduced[d]) {
      apart = apart || behind;
      inside = true;
      steps *= in.dim(d);
    } else {
      behind = behind || inside;
      (inside ? inner : outer) *= in.dim(d);
    }
  }
  if (!apart && AddIntegerReduce(context, kind, outer, steps, inner)) return Status::Ok();
  int from = context.In(0);
  if (apart) {
    from = ReducedLast(context, reduced);
    outer *= inner;
    inner = 1;
  }
  const FoldGroups groups = FoldGroupsOf(Fours(inner), outer, steps);
  std::vector<LaunchArgument> args = {BufferArg(from), BufferArg(context.Out(0)), EnumArg(kind)};
  AddSizes(groups, outer, steps, inner, &args);
  AddFold(context, "reduce", {"reduce", {"reduce_group", "group"}}, std::move(args), groups,
          {Fours(inner), outer, steps, 4});
  context.TakesRows(inner, inner);
  context.TakesStages(inner);
  return Status::Ok();
}

}  // namespace topwork
