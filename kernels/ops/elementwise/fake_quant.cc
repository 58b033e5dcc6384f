// FAKE_QUANT: float32 values moved to the nearest of 2^num_bits levels between `min` and `max`,
// nudged so that 0 is a level (TensorFlow's FakeQuantWithMinMaxArgs).
//
//   scale = (max - min) / (2^bits - 1),  zero = round(-min / scale)
//   lo = -zero scale,  hi = (2^bits - 1 - zero) scale
//   y = round((clamp(x, lo, hi) - lo) / scale) scale + lo
// narrow_range is for weights only and refused, as TFLite does.
#include <algorithm>
#include <cmath>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->min = options.Float(0, 0.0f);
  params->max = options.Float(1, 0.0f);
  params->count = options.Int(2, 0);
  if (options.Bool(3, false)) {
    return Unsupported("narrow_range is not supported at run time, only for weights");
  }
  return Status::Ok();
}

struct FakeQuantState : OpState {
  float lo = 0.0f, hi = 0.0f, scale = 1.0f, inverse = 1.0f;
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  const float min = context.params().min, max = context.params().max;
  const int bits = context.params().count;
  if (!(min <= 0.0f && max >= 0.0f && min < max) || bits < 1 || bits > 16) {
    return InvalidModel(
        "%s: min %g, max %g, num_bits %d; min <= 0 <= max, min < max and 1 to 16 bits expected",
        context.Where().c_str(), static_cast<double>(min), static_cast<double>(max), bits);
  }
  FakeQuantState* state = context.NewState<FakeQuantState>();
  const float top = static_cast<float>((1 << bits) - 1);
  state->scale = (max - min) / top;
  const float zero = std::round(std::clamp(-min / state->scale, 0.0f, top));
  state->lo = -zero * state->scale;
  state->hi = (top - zero) * state->scale;
  state->inverse = 1.0f / state->scale;
  context.AllowInPlace(0, 0);
  return context.SetOutput(0, DType::kFloat32, context.input(0)->shape);
}

Status Run(const RunContext& context) {
  const FakeQuantState& s = context.get_state<FakeQuantState>();
  const float* x = context.input_data<float>(0);
  float* y = context.output_data<float>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 4,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const float shifted = std::min(std::max(x[i], s.lo), s.hi) - s.lo;
                   y[i] = std::round(shifted * s.inverse) * s.scale + s.lo;
                 }
               });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpFakeQuant;
const OpDef kOpFakeQuant = {OpCode::kFakeQuant, "FAKE_QUANT", 58, 2, Parse, Prepare, Run};

}  // namespace topwork
