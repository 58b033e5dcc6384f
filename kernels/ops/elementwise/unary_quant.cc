// Prepare and tables of unary operators on quantized tensors (see unary_quant.h).
#include "kernels/ops/elementwise/unary_quant.h"

#include <algorithm>

#include "kernels/ops/elementwise/unary.h"

namespace topwork {
namespace {

// NaN becomes lo.
float ClampRound(float x, float lo, float hi) { return std::min(std::max(lo, x), hi); }

}  // namespace

Status PrepareUnaryQuant(PrepareContext& context, std::initializer_list<DType> dtypes,
                         UnaryQuant* quant) {
  TW_RETURN_IF_ERROR(PrepareUnary(context, dtypes));
  TW_RETURN_IF_ERROR(ReadInputQuant(context, 0, &quant->in));
  TW_RETURN_IF_ERROR(ReadOutputQuant(context, 0, &quant->out));
  quant->dtype = context.input(0)->dtype;
  quant->lo = RangeOf(quant->dtype).lo;
  quant->hi = RangeOf(quant->dtype).hi;
  context.SetTasks(
      CountRowTasks(context.output(0).shape.NumElements(), DTypeBits(quant->dtype) / 8));
  context.SetVariant(quant->dtype == DType::kInt16 ? "int16" : "table");
  return Status::Ok();
}

void RunTable(const RunContext& context, const uint8_t* table) {
  const uint8_t* x = context.input_data<uint8_t>(0);
  uint8_t* y = context.output_data<uint8_t>(0);
  const auto lookup = context.cpu->elementwise->quantized->lookup;
  ParallelRows(
      context.pool, context.out(0).shape.NumElements(), 1,
      [&](int64_t begin, int64_t end) { lookup(x + begin, y + begin, {end - begin}, table); });
}

// TFLite's 513 points. Each is moved by half of the error that a straight line makes in the middle
// of the piece that begins there.
template <typename Real>
void FillRealMap(const UnaryQuant& quant, FunctionRef<Real(Real)> f, RealMap* map) {
  const auto at = [](const QuantOne& q, int32_t value) {
    return static_cast<Real>(q.scale) * static_cast<Real>(value - q.zero_point);
  };
  const auto place = [](Real x) {
    if (std::isnan(x)) return int16_t{0};  // infinity minus infinity
    return static_cast<int16_t>(std::min(std::max(x, Real(-32768)), Real(32767)));
  };
  const Real in_min = at(quant.in, -32768), in_max = at(quant.in, 32767);
  const Real step = (in_max - in_min) / 512;
  const Real inverse = 65536 / (at(quant.out, 32767) - at(quant.out, -32768));
  for (int i = 0; i < 512; ++i) {
    const Real x = in_min + static_cast<Real>(i) * step;
    const Real here = std::round(f(x) * inverse);
    const Real next = f(in_min + static_cast<Real>(i + 1) * step) * inverse;
    const Real line = std::round((next + here) / 2);
    const Real error = line - std::round(f(x + step / 2) * inverse);
    map->points[i] = place(here - std::round(error / 2));
  }
  map->points[512] = place(std::round(f(in_max) * inverse));
}

template void FillRealMap<float>(const UnaryQuant&, FunctionRef<float(float)>, RealMap*);
template void FillRealMap<double>(const UnaryQuant&, FunctionRef<double(double)>, RealMap*);

void SetRealMap(PrepareContext& context, const UnaryQuant& quant, FunctionRef<float(float)> f) {
  MapState<RealMap>* state = context.NewState<MapState<RealMap>>();
  if (!context.keeps_state()) return;
  if (quant.dtype == DType::kInt16) {
    FillRealMap<float>(quant, f, &state->fn);
    return;
  }
  const float inverse = 1.0f / quant.out.scale;
  const float lo = static_cast<float>(quant.lo - quant.out.zero_point);
  const float hi = static_cast<float>(quant.hi - quant.out.zero_point);
  for (int32_t q = quant.lo; q <= quant.hi; ++q) {
    const float x = quant.in.scale * static_cast<float>(q - quant.in.zero_point);
    const float y = ClampRound(std::round(f(x) * inverse), lo, hi);
    state->table[static_cast<uint8_t>(q)] =
        static_cast<uint8_t>(static_cast<int32_t>(y) + quant.out.zero_point);
  }
}

Status PrepareRealMap(PrepareContext& context, std::initializer_list<DType> dtypes,
                      FunctionRef<float(float)> f) {
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(PrepareUnaryQuant(context, dtypes, &quant));
  SetRealMap(context, quant, f);
  return Status::Ok();
}

}  // namespace topwork
