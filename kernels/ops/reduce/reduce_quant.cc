// MEAN, SUM and REDUCE_PROD of quantized types (see reduce.h). Sums are made in 32 bits, gathered
// in 64 and brought to the output's scale by one factor that holds the mean's division, too.
// Products are rescaled after every multiplication, in memory order, as TFLite does. Means and sums
// of numbers without a scale are those of the numbers, where TFLite divides 0 by 0.
#include <algorithm>
#include <cmath>

#include "kernels/contract/selection.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/ops/reduce/reduce.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quantized.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

constexpr int64_t kStrip = 256;  // columns summed at a time

struct Finisher {
  const ReduceState& state;
  QuantizedRange range;
  template <typename T>
  void Store(int64_t sum, T* y) const {
    const int64_t moved = sum - state.count * state.in_zero;
    const int64_t bounded = std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, moved));
    const int32_t scaled = MultiplyByFactor(static_cast<int32_t>(bounded), state.factor);
    *y = static_cast<T>(PlaceInt(scaled, state.out_zero, range.lo, range.hi));
  }
};

// Columns of sums that lie within int32 as results.
[[maybe_unused]] void Rescale(const QuantElementwiseKernels& kernels, const int32_t* sums,
                              int8_t* y, int64_t n, const RequantizeParams& p) {
  kernels.requantize_i32_i8(sums, y, n, p);
}
[[maybe_unused]] void Rescale(const QuantElementwiseKernels& kernels, const int32_t* sums,
                              uint8_t* y, int64_t n, const RequantizeParams& p) {
  kernels.requantize_i32_u8(sums, y, n, p);
}
[[maybe_unused]] void Rescale(const QuantElementwiseKernels& kernels, const int32_t* sums,
                              int16_t* y, int64_t n, const RequantizeParams& p) {
  kernels.requantize_i32_i16(sums, y, n, p);
}

// Adds the rows of every reduced position below x to totals[0, n): int32_t where there are at most
// kMaxRows, else int64_t.
template <typename T, typename Sum>
void SumStrip(const RunContext& context, const T* x, int64_t n, Sum* totals) {
  const ReduceState& s = context.get_state<ReduceState>();
  const auto sum_rows = context.cpu->elementwise->quantized
                            ->sum_rows[static_cast<int>(QuantTypeOf(DTypeOf<T>::kValue))];
  ReduceState::Loop rows;  // a single row where nothing outside the innermost dimension is reduced
  if (s.n_reduced > 0) rows = s.reduced[s.n_reduced - 1];
  const int outer = std::max(0, s.n_reduced - 1);
  const int64_t steps = rows.dim == 0 ? 0 : s.steps / rows.dim;
  for (int64_t step = 0; step < steps; ++step) {
    const T* from = x + LoopOffset(s.reduced, outer, step);
    if constexpr (sizeof(Sum) == 4) {
      sum_rows(totals, from, rows.dim, rows.stride, n);
      continue;
    }
    for (int64_t r = 0; r < rows.dim; r += kMaxRows) {
      int32_t sums[kStrip];
      std::fill(sums, sums + n, 0);
      sum_rows(sums, from + r * rows.stride, std::min(kMaxRows, rows.dim - r), rows.stride, n);
      for (int64_t i = 0; i < n; ++i) totals[i] += static_cast<Sum>(sums[i]);
    }
  }
}

RequantizeParams ParamsOf(const Finisher& finish) {
  const ReduceState& s = finish.state;
  RequantizeParams params;
  params.x_offset = static_cast<int32_t>(-s.count * s.in_zero);
  params.y_offset = s.out_zero;
  params.scale = s.factor;
  params.lo = finish.range.lo;
  params.hi = finish.range.hi;
  return params;
}

template <typename T>
void RunParts(const RunContext& context, const Finisher& finish) {
  const ReduceState& s = context.get_state<ReduceState>();
  const QuantElementwiseKernels& kernels = *context.cpu->elementwise->quantized;
  const T* x = context.input_data<T>(0);
  int32_t* sums = reinterpret_cast<int32_t*>(context.scratch + s.parts_offset);
  const int64_t n = s.inner, stride = s.reduced[0].stride;
  context.pool->ParallelFor(s.parts, [&](int64_t part, int) {
    const int64_t first = s.FirstRow(part);
    std::fill(sums + part * n, sums + (part + 1) * n, 0);
    kernels.sum_rows[static_cast<int>(QuantTypeOf(DTypeOf<T>::kValue))](
        sums + part * n, x + first * stride, s.FirstRow(part + 1) - first, stride, n);
  });
  for (int64_t part = 1; part < s.parts; ++part) {
    for (int64_t i = 0; i < n; ++i) sums[i] += sums[part * n + i];
  }
  Rescale(kernels, sums, context.output_data<T>(0), n, ParamsOf(finish));
}

template <typename T>
void RunColumns(const RunContext& context, const Finisher& finish) {
  const ReduceState& s = context.get_state<ReduceState>();
  const T* x = context.input_data<T>(0);
  T* y = context.output_data<T>(0);
  const int64_t strips = (s.inner + kStrip - 1) / kStrip;
  const QuantElementwiseKernels& kernels = *context.cpu->elementwise->quantized;
  const bool is_short = s.count <= kMaxRows;
  const RequantizeParams params = is_short ? ParamsOf(finish) : RequantizeParams();
  ParallelRows(context.pool, s.outer * strips, std::max<int64_t>(1, s.count) * kStrip,
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task) {
                   const int64_t o = task / strips, column = task % strips * kStrip;
                   const int64_t n = std::min(kStrip, s.inner - column);
                   const T* from = x + LoopOffset(s.kept, s.n_kept, o) + column;
                   T* to = y + o * s.inner + column;
                   if (is_short) {
                     int32_t sums[kStrip];
                     std::fill(sums, sums + n, 0);
                     SumStrip(context, from, n, sums);
                     Rescale(kernels, sums, to, n, params);
                     continue;
                   }
                   int64_t totals[kStrip] = {};
                   SumStrip(context, from, n, totals);
                   for (int64_t i = 0; i < n; ++i) finish.Store(totals[i], to + i);
                 }
               });
}

template <typename T>
void RunRows(const RunContext& context, const Finisher& finish) {
  const ReduceState& s = context.get_state<ReduceState>();
  const T* x = context.input_data<T>(0);
  T* y = context.output_data<T>(0);
  ParallelRows(context.pool, s.outer, std::max<int64_t>(1, s.count),
               [&](int64_t begin, int64_t end) {
                 for (int64_t o = begin; o < end; ++o) {
                   const T* from = x + LoopOffset(s.kept, s.n_kept, o);
                   int64_t total = 0;
                   for (int64_t step = 0; step < s.steps; ++step) {
                     const T* row = from + LoopOffset(s.reduced, s.n_reduced, step);
                     for (int64_t i = 0; i < s.inner; i += kMaxRows) {
                       const int64_t stop = std::min(s.inner, i + kMaxRows);
                       int32_t sum = 0;
                       for (int64_t k = i; k < stop; ++k) sum += row[k];
                       total += sum;
                     }
                   }
                   finish.Store(total, y + o);
                 }
               });
}

template <typename T>
void RunProducts(const RunContext& context) {
  const ReduceState& s = context.get_state<ReduceState>();
  const QuantizedRange range = RangeOf(DTypeOf<T>::kValue);
  const int64_t columns = s.inner_kept ? s.inner : 1, row = s.inner_kept ? 1 : s.inner;
  ParallelRows(context.pool, s.outer * columns, 4 * std::max<int64_t>(1, s.count),
               [&](int64_t begin, int64_t end) {
                 for (int64_t k = begin; k < end; ++k) {
                   const T* from = context.input_data<T>(0) +
                                   LoopOffset(s.kept, s.n_kept, k / columns) + k % columns;
                   int32_t product = 0;
                   bool first = true;
                   for (int64_t step = 0; step < s.steps; ++step) {
                     const T* at = from + LoopOffset(s.reduced, s.n_reduced, step);
                     for (int64_t i = 0; i < row; ++i) {
                       const int64_t value = at[i] - s.in_zero;
                       product = first ? static_cast<int32_t>(value)
                                       : MultiplyByFactor64(product * value, s.factor);
                       first = false;
                     }
                   }
                   const int32_t scaled = MultiplyByFactor64(product, s.factor);
                   context.output_data<T>(0)[k] =
                       static_cast<T>(PlaceInt(scaled, s.out_zero, range.lo, range.hi));
                 }
               });
}

template <typename T>
Status RunAs(const RunContext& context) {
  const ReduceState& state = context.get_state<ReduceState>();
  const Finisher finish = {state, RangeOf(DTypeOf<T>::kValue)};
  if (context.out(0).shape.NumElements() == 0) return Status::Ok();
  if (HasType(OpCode::kReduceProd, DTypeOf<T>::kValue) && state.multiplies) {
    RunProducts<T>(context);
    return Status::Ok();
  }
  if (state.parts > 1) {
    RunParts<T>(context, finish);
  } else if (state.inner_kept) {
    RunColumns<T>(context, finish);
  } else {
    RunRows<T>(context, finish);
  }
  return Status::Ok();
}

}  // namespace

Status PrepareReduceQuant(const PrepareContext& context, ReduceKind kind, ReduceState* state) {
  state->rescales = true;
  QuantOne in, out;
  if (IsScaled(*context.input(0)) || IsScaled(context.output(0))) {
    TW_RETURN_IF_ERROR(ReadInputQuant(context, 0, &in));
    TW_RETURN_IF_ERROR(ReadOutputQuant(context, 0, &out));
  }
  state->in_zero = in.zero_point;
  state->out_zero = out.zero_point;
  state->factor = MakeFixedFactor(static_cast<double>(in.scale) / static_cast<double>(out.scale));
  if (kind == ReduceKind::kProd) {
    state->multiplies = true;
    const double root = std::pow(static_cast<double>(out.scale),
                                 1.0 / static_cast<double>(std::max<int64_t>(1, state->count)));
    state->factor = MakeFixedFactor(static_cast<double>(in.scale) / root);
  }
  if (kind != ReduceKind::kMean || state->count == 0) return Status::Ok();
  // The division by the count goes into the factor, which keeps at least 30 bits.
  int shift = 0;
  while (shift < 32 && (state->count >> (shift + 1)) != 0) ++shift;
  shift = std::min(shift, 31 + state->factor.shift);
  state->factor.mantissa =
      static_cast<int32_t>((static_cast<int64_t>(state->factor.mantissa) << shift) / state->count);
  state->factor.shift -= shift;
  return Status::Ok();
}

Status RunReduceQuant(const RunContext& context) {
  return VisitDType<int8_t, uint8_t, int16_t>(
      context.in(0).dtype, [&](auto type) { return RunAs<decltype(type)>(context); });
}

}  // namespace topwork
