// NumericVerify, a custom operator of converters' debug models: real values of input 0 (quantized,
// or float16) less those of input 1 (float32, the same shape).
//
// With `log_if_failed` and a `tolerance` of 0.1 or more, a difference above tolerance times the
// scale ends the run with an error. TFLite logs mean and deviation otherwise; this does not.
#include <cmath>

#include "kernels/contract/flex_map.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/scales.h"

namespace topwork {
namespace {

struct VerifyState : OpState {
  bool fails = false;
  float most = 0.0f;  // the largest difference allowed
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kFloat16}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kFloat32}));
  const TensorView& input = *context.input(0);
  const bool is_half = input.dtype == DType::kFloat16;
  if (!is_half) TW_RETURN_IF_ERROR(CheckScales(context, Operand::Input(0)));
  if (input.shape != context.input(1)->shape) {
    return context.Invalid("shapes {} and {} of its inputs differ", input.shape.ToString(),
                           context.input(1)->shape.ToString());
  }
  const FlexMap options(context.params().custom_options);
  const float tolerance = options.Float("tolerance", 0.0f);
  VerifyState* s = context.NewState<VerifyState>();
  s->fails = options.Bool("log_if_failed", false) && tolerance >= 0.1f;
  s->most = is_half ? 0.0f : tolerance * input.quantization->scales[size_t{0}];
  return context.SetOutput(0, DType::kFloat32, input.shape);
}

int64_t IntegerAt(const TensorView& view, int64_t i) {
  return view.dtype == DType::kUInt8 ? view.as<const uint8_t>()[i] : IntAt(view, i);
}

Status Run(const RunContext& context) {
  const VerifyState& s = context.get_state<VerifyState>();
  const TensorView& input = context.in(0);
  const float* reference = context.input_data<float>(1);
  float* y = context.output_data<float>(0);
  const int64_t n = input.shape.NumElements();
  if (input.dtype == DType::kFloat16) {
    const uint16_t* x = context.input_data<uint16_t>(0);
    for (int64_t i = 0; i < n; ++i) y[i] = HalfToFloat(x[i]) - reference[i];
  } else {
    ForEachScale(input, context.pool,
                 [&](int64_t begin, int64_t length, float scale, int32_t zero) {
                   for (int64_t i = begin; i < begin + length; ++i) {
                     const float value = scale * static_cast<float>(IntegerAt(input, i) - zero);
                     y[i] = value - reference[i];
                   }
                 });
  }
  for (int64_t i = 0; s.fails && i < n; ++i) {
    if (!(std::fabs(y[i]) > s.most)) continue;
    return InvalidArgument("element {} is {} away from its reference {}, by more than {}", i, y[i],
                           reference[i], s.most);
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("NumericVerify").Cpu(Prepare, Run).Effects(),
};

Span<const OpDef> NumericVerifyOps() { return Selected<kOps>(); }

}  // namespace topwork
