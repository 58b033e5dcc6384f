// Reductions of int32, int64 and bool, REDUCE_MAX and REDUCE_MIN of int8, uint8 and int16, and
// their REDUCE_PROD where they have no scale (see reduce.h), one output element at a time. Sums and
// products wrap around; the mean is cut off toward zero.
#include <algorithm>
#include <limits>

#include "kernels/ops/reduce/reduce.h"
#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

// y[k] = finish(op(... op(start, x) ...)) over the elements of output k.
template <typename T, typename Acc, typename Op, typename Finish>
void Reduce(const RunContext& context, Acc start, Op op, Finish finish) {
  const ReduceState& s = context.get_state<ReduceState>();
  const T* x = context.input_data<T>(0);
  T* y = context.output_data<T>(0);
  const int64_t columns = s.inner_kept ? s.inner : 1;
  const int64_t row = s.inner_kept ? 1 : s.inner;
  ParallelRows(context.pool, s.outer * columns, 4 * std::max<int64_t>(1, s.count),
               [&](int64_t begin, int64_t end) {
                 for (int64_t k = begin; k < end; ++k) {
                   const T* from = x + LoopOffset(s.kept, s.n_kept, k / columns) + k % columns;
                   Acc acc = start;
                   for (int64_t step = 0; step < s.steps; ++step) {
                     const T* at = from + LoopOffset(s.reduced, s.n_reduced, step);
                     for (int64_t i = 0; i < row; ++i) acc = op(acc, at[i]);
                   }
                   y[k] = finish(acc);
                 }
               });
}

template <typename T>
void ReduceNumber(const RunContext& context, ReduceKind kind) {
  const int64_t count = context.get_state<ReduceState>().count;
  const auto add = [](uint64_t acc, T x) { return acc + static_cast<uint64_t>(x); };
  const auto same = [](T acc) { return acc; };
  const auto narrow = [](uint64_t acc) { return static_cast<T>(acc); };
  switch (kind) {
    case ReduceKind::kMean:
      return Reduce<T, uint64_t>(context, 0, add, [count](uint64_t acc) {
        return static_cast<T>(count > 0 ? static_cast<int64_t>(acc) / count : 0);
      });
    case ReduceKind::kSum:
      return Reduce<T, uint64_t>(context, 0, add, narrow);
    case ReduceKind::kProd:
      return Reduce<T, uint64_t>(
          context, 1, [](uint64_t acc, T x) { return acc * static_cast<uint64_t>(x); }, narrow);
    case ReduceKind::kMax:
      return Reduce<T, T>(
          context, std::numeric_limits<T>::min(), [](T acc, T x) { return std::max(acc, x); },
          same);
    case ReduceKind::kMin:
      return Reduce<T, T>(
          context, std::numeric_limits<T>::max(), [](T acc, T x) { return std::min(acc, x); },
          same);
    case ReduceKind::kAny:
    case ReduceKind::kAll:
      return;
  }
}

void ReduceBool(const RunContext& context, ReduceKind kind) {
  const bool all = kind == ReduceKind::kAll;
  Reduce<uint8_t, bool>(
      context, all, [all](bool acc, uint8_t x) { return all ? acc && x != 0 : acc || x != 0; },
      [](bool acc) { return static_cast<uint8_t>(acc ? 1 : 0); });
}

}  // namespace

Status RunReduceInt(const RunContext& context, ReduceKind kind) {
  if (context.in(0).dtype == DType::kBool) {
    ReduceBool(context, kind);
    return Status::Ok();
  }
  VisitDType<int32_t, int64_t, int8_t, uint8_t, int16_t>(
      context.in(0).dtype, [&](auto type) { ReduceNumber<decltype(type)>(context, kind); });
  return Status::Ok();
}

}  // namespace topwork
