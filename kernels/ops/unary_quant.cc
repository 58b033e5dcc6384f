// Prepare and tables of unary operators on quantized tensors (see unary_quant.h).
#include "kernels/ops/unary_quant.h"

#include <algorithm>

#include "kernels/ops/unary.h"

namespace topwork {
namespace {

float ClampRound(float x, float lo, float hi) { return std::min(std::max(x, lo), hi); }

// TFLite's 513 points: each is moved by half the error that a straight line makes in the middle of
// the piece that begins there.
void FillPoints(const UnaryQuant& quant, FunctionRef<float(float)> f, int16_t* points) {
  const float lo = -32768.0f, hi = 32767.0f;
  const float in_min = quant.in.scale * static_cast<float>(-32768 - quant.in.zero_point);
  const float in_max = quant.in.scale * static_cast<float>(32767 - quant.in.zero_point);
  const float out_min = quant.out.scale * static_cast<float>(-32768 - quant.out.zero_point);
  const float out_max = quant.out.scale * static_cast<float>(32767 - quant.out.zero_point);
  const float step = (in_max - in_min) / 512.0f;
  const float inverse = 65536.0f / (out_max - out_min);
  for (int i = 0; i < 512; ++i) {
    const float at = in_min + static_cast<float>(i) * step;
    const float here = std::round(f(at) * inverse);
    const float next = f(in_min + static_cast<float>(i + 1) * step) * inverse;
    const float line = std::round((next + here) / 2.0f);
    const float error = line - std::round(f(at + step / 2.0f) * inverse);
    points[i] = static_cast<int16_t>(ClampRound(here - std::round(error / 2.0f), lo, hi));
  }
  points[512] = static_cast<int16_t>(ClampRound(std::round(f(in_max) * inverse), lo, hi));
}

}  // namespace

Status PrepareUnaryQuant(PrepareContext& context, std::initializer_list<DType> dtypes,
                         UnaryQuant* quant) {
  TW_RETURN_IF_ERROR(PrepareUnary(context, dtypes));
  TW_RETURN_IF_ERROR(ReadInputQuant(context, 0, &quant->in));
  TW_RETURN_IF_ERROR(ReadOutputQuant(context, 0, &quant->out));
  quant->dtype = context.input(0)->dtype;
  quant->lo = RangeOf(quant->dtype).lo;
  quant->hi = RangeOf(quant->dtype).hi;
  context.SetVariant(quant->dtype == DType::kInt16 ? "int16" : "table");
  return Status::Ok();
}

void RunTable(const RunContext& context, const uint8_t* table) {
  const uint8_t* x = context.input_data<uint8_t>(0);
  uint8_t* y = context.output_data<uint8_t>(0);
  const auto lookup = context.cpu->elementwise->quantized->lookup;
  ParallelRows(
      context.pool, context.out(0).shape.NumElements(), 1,
      [&](int64_t begin, int64_t end) { lookup(x + begin, y + begin, end - begin, table); });
}

void SetRealMap(PrepareContext& context, const UnaryQuant& quant, FunctionRef<float(float)> f) {
  MapState<RealMap>* state = context.NewState<MapState<RealMap>>();
  if (quant.dtype == DType::kInt16) {
    FillPoints(quant, f, state->fn.points);
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
