// Reductions of real numbers (reduce.cl) and of bytes (integer_elementwise.cl) on a GPU.
#include "kernels/ops/reduce/reduce_gpu.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/products/requantizer.h"
#include "kernels/ops/reduce/reduce.h"

namespace topwork {
namespace {

constexpr size_t kGroupItems = 64;  // TW_GROUP of reduce.cl
// More results keep a device busy with a work-item each.
constexpr int64_t kMostGroupedResults = 16384, kLeastGroupedSteps = 128, kMostParts = 64;
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

// A power of two of neighbouring results, which a work-group of reduce_part loads together.
int64_t LanesOf(int64_t inner) { return inner >= 16 ? 16 : inner >= 4 ? 4 : 1; }

}  // namespace

bool AddReduceByGroups(GpuContext& context, const GroupedReduce& p) {
  const int64_t lanes = LanesOf(p.inner), walkers = kGroupItems / lanes;
  if (p.steps < kLeastGroupedSteps || p.outer * p.inner >= kMostGroupedResults) return false;
  const int64_t parts = std::min(kMostParts, std::max(int64_t{1}, p.steps / (8 * walkers)));
  const int sums = context.FloatScratch(static_cast<size_t>(p.outer * parts * p.inner));
  context.AddGroups("reduce", {"reduce_part", "part"},
                    {BufferArg(p.from), BufferArg(sums), EnumArg(p.kind), IntArg(p.outer),
                     IntArg(p.steps), IntArg(p.inner), IntArg(parts), IntArg(lanes)},
                    kGroupItems, (p.inner + lanes - 1) / lanes, parts, p.outer);
  context.Add("reduce", {"reduce_rest", "rest"},
              {BufferArg(sums), BufferArg(context.Out(0)), EnumArg(p.kind), IntArg(p.outer),
               IntArg(p.steps), IntArg(p.inner), IntArg(parts), FloatArg(p.lo), FloatArg(p.hi)},
              p.inner, p.outer);
  return true;
}

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
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (AddReduceByGroups(context, {from, kind, outer, steps, inner, -kInfinity, kInfinity})) {
    return Status::Ok();
  }
  context.Add("reduce", "reduce",
              {BufferArg(from), BufferArg(context.Out(0)), EnumArg(kind), IntArg(outer),
               IntArg(steps), IntArg(inner)},
              inner, outer);
  return Status::Ok();
}

}  // namespace topwork
