// Reductions of real numbers (reduce.cl) and of bytes (integer_elementwise.cl) on a GPU.
#include "kernels/ops/reduce/reduce_gpu.h"

#include <algorithm>
#include <vector>

#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/products/requantizer.h"
#include "kernels/ops/reduce/reduce.h"

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

// False, and nothing is added, where the tensors are no bytes or the kind has no kernel for them:
// [outer, steps, inner] to [outer, inner].
bool AddIntegerReduce(GpuContext& context, ReduceKind kind, int64_t outer, int64_t steps,
                      int64_t inner) {
  const bool sums = kind == ReduceKind::kMean || kind == ReduceKind::kSum;
  const bool picks = kind == ReduceKind::kMax || kind == ReduceKind::kMin;
  if (!AreBytes(context, 1) || !(sums || picks) || steps > kMostSteps) return false;
  const ReduceState& state = context.state<ReduceState>();
  const SplitFactor factor(state.factor);
  context.Add("integer_elementwise", "integer_reduce",
              {BufferArg(context.InBytes(0)), BufferArg(context.OutBytes(0)),
               EnumArg(sums ? ReduceKind::kSum : kind), IntArg(outer), IntArg(steps), IntArg(inner),
               SignArg(context), IntArg(steps * state.in_zero), IntArg(factor.mantissa),
               IntArg(factor.left), IntArg(factor.right), IntArg(state.out_zero)},
              inner, outer);
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
  context.Add("reduce", "reduce",
              {BufferArg(from), BufferArg(context.Out(0)), EnumArg(kind), IntArg(outer),
               IntArg(steps), IntArg(inner)},
              inner, outer);
  return Status::Ok();
}

}  // namespace topwork
