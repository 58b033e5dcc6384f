// Functions of one quantized tensor: what the activations and mathematical operators do with int8,
// uint8 and int16.
//
// An operator describes itself by a function object from one integer to another, made in prepare.
// 8-bit types become a table of 256 answers; int16 calls the object for every element.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_UNARY_QUANT_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_UNARY_QUANT_H_

#include <cmath>

#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quantized.h"

namespace topwork {

// One input and one output of the same quantized type and shape, with a scale each.
struct UnaryQuant {
  DType dtype = DType::kInt8;
  QuantOne in, out;
  int32_t lo = 0, hi = 0;  // the type's range
};
Status PrepareUnaryQuant(PrepareContext& context, std::initializer_list<DType> dtypes,
                         UnaryQuant* quant);

// What 8-bit operators look up.
struct TableState : OpState {
  uint8_t table[256];
};

template <typename Fn>
struct MapState : TableState {
  explicit MapState() = default;
  Fn fn;
};

// Fn: int32_t operator()(int32_t q) const, with a result inside the type's range.
template <typename Fn>
void SetMap(PrepareContext& context, DType dtype, const Fn& fn) {
  MapState<Fn>* state = context.NewState<MapState<Fn>>();
  state->fn = fn;
  if (dtype == DType::kInt16) return;
  for (int32_t q = RangeOf(dtype).lo; q <= RangeOf(dtype).hi; ++q) {
    state->table[static_cast<uint8_t>(q)] = static_cast<uint8_t>(fn(q));
  }
}

// y = table[x] over the whole of an 8-bit tensor.
void RunTable(const RunContext& context, const uint8_t* table);

template <typename Fn>
Status RunMap(const RunContext& context) {
  const MapState<Fn>& state = context.get_state<MapState<Fn>>();
  if (context.in(0).dtype != DType::kInt16) {
    RunTable(context, state.table);
    return Status::Ok();
  }
  const int16_t* x = context.input_data<int16_t>(0);
  int16_t* y = context.output_data<int16_t>(0);
  const Fn& fn = state.fn;
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 2,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) y[i] = static_cast<int16_t>(fn(x[i]));
               });
  return Status::Ok();
}

// A real function by way of float32; for int16 a table of 513 points with straight lines between,
// as TFLite has it.
struct RealMap {
  int16_t points[513];
  int32_t operator()(int32_t q) const {
    const int32_t index = 256 + (q >> 7);
    const int16_t base = points[index];
    const int16_t slope = static_cast<int16_t>(points[index + 1] - base);
    return static_cast<int16_t>(base + ((slope * (q & 0x7f) + 64) >> 7));
  }
};

// The 513 points of f between quantized int16 values of quant.in and quant.out; Real is float or
// double, whichever TFLite computes them in.
template <typename Real>
void FillRealMap(const UnaryQuant& quant, FunctionRef<Real(Real)> f, RealMap* map);
// Sets the state for y = f(x) and run RunMap<RealMap>. f is called with finite numbers.
void SetRealMap(PrepareContext& context, const UnaryQuant& quant, FunctionRef<float(float)> f);
// The whole of prepare for such an operator.
Status PrepareRealMap(PrepareContext& context, std::initializer_list<DType> dtypes,
                      FunctionRef<float(float)> f);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_UNARY_QUANT_H_
