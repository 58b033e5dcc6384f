// Activations: functions of one tensor that networks have between layers (see unary.h).
#include <cmath>

#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/elementwise/relu_quant.h"
#include "kernels/ops/elementwise/sigmoid_int16.h"
#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_quant.h"
#include "kernels/train/gradients.h"

namespace topwork {

// The RELU family (see relu_quant.h).

Status PrepareRelu(PrepareContext& context, Activation activation, bool int16) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  UnaryQuant quant;
  if (int16) {
    TW_RETURN_IF_ERROR(PrepareUnaryQuant(
        context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}, &quant));
  } else {
    TW_RETURN_IF_ERROR(
        PrepareUnaryQuant(context, {DType::kFloat32, DType::kInt8, DType::kUInt8}, &quant));
  }
  RescaleMap map;
  QuantizedRange range;
  TW_RETURN_IF_ERROR(QuantizedActivationRange(context, context.output(0), activation, &range));
  map.lo = range.lo;
  map.hi = range.hi;
  map.in_zero = quant.in.zero_point;
  map.out_zero = quant.out.zero_point;
  // The quotient is a float's in TFLite.
  map.scale = MakeFixedFactor(static_cast<double>(quant.in.scale / quant.out.scale));
  SetMap(context, quant.dtype, map);
  return Status::Ok();
}

Status RunRelu(const RunContext& context, UnaryFn fn) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, fn);
  return RunMap<RescaleMap>(context);
}

namespace {

// RELU: y = max(x, 0); float32, int8, uint8 and int16.

Status PrepareRelu(PrepareContext& context) {
  return PrepareRelu(context, Activation::kRelu, true);
}

Status RunRelu(const RunContext& context) { return RunRelu(context, UnaryFn::kRelu); }

// RELU6: y = min(max(x, 0), 6); float32, int8, uint8 and int16.

Status PrepareRelu6(PrepareContext& context) {
  return PrepareRelu(context, Activation::kRelu6, true);
}

Status RunRelu6(const RunContext& context) { return RunRelu(context, UnaryFn::kRelu6); }

// RELU_0_TO_1: y = min(max(x, 0), 1); float32, int8 and uint8.

Status PrepareRelu0To1(PrepareContext& context) {
  return PrepareRelu(context, Activation::kRelu0To1, false);
}

Status RunRelu0To1(const RunContext& context) { return RunRelu(context, UnaryFn::kRelu0To1); }

// RELU_N1_TO_1: y = min(max(x, -1), 1); float32, int8 and uint8.

Status PrepareReluN1To1(PrepareContext& context) {
  return PrepareRelu(context, Activation::kReluN1To1, false);
}

Status RunReluN1To1(const RunContext& context) { return RunRelu(context, UnaryFn::kReluN1To1); }

// LEAKY_RELU: y = x > 0 ? x : alpha * x; float32, int8, uint8 and int16.

struct LeakyMap {
  int32_t in_zero, out_zero, lo, hi;
  FixedFactor identity, slope;
  bool falling;  // alpha is negative
  int32_t operator()(int32_t q) const {
    const int32_t x = q - in_zero;
    const int32_t y = MultiplyByFactor(x, x >= 0 ? identity : slope);
    return PlaceInt(x < 0 && falling ? -y : y, out_zero, lo, hi);
  }
};

Status ParseLeakyRelu(const OptionsView& options, OpParams* params) {
  params->alpha = options.Float(0, 0.0f);
  return Status::Ok();
}

Status PrepareLeakyRelu(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(PrepareUnaryQuant(
      context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}, &quant));
  // Float products and quotients, as in TFLite.
  const float slope = quant.in.scale * context.params().alpha / quant.out.scale;
  LeakyMap map;
  map.in_zero = quant.in.zero_point;
  map.out_zero = quant.out.zero_point;
  map.lo = quant.lo;
  map.hi = quant.hi;
  map.identity = MakeFixedFactor(static_cast<double>(quant.in.scale / quant.out.scale));
  map.slope = MakeFixedFactor(static_cast<double>(std::fabs(slope)));
  map.falling = slope < 0.0f;
  SetMap(context, quant.dtype, map);
  return Status::Ok();
}

Status RunLeakyRelu(const RunContext& context) {
  if (!IsFloat(context.in(0).dtype)) return RunMap<LeakyMap>(context);
  return RunUnaryFloat(context, UnaryFn::kLeakyRelu, context.params->alpha);
}

// ELU: y = x < 0 ? e^x - 1 : x; float32 and int8.

Status PrepareElu(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  return PrepareRealMap(context, {DType::kFloat32, DType::kInt8},
                        [](float x) { return x < 0.0f ? std::expm1(x) : x; });
}

Status RunElu(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kElu);
  return RunMap<RealMap>(context);
}

// GELU: y = x Φ(x) with the normal distribution Φ, exactly or by the usual tanh formula
// (option `approximate`); float32, int8, uint8 and int16.

Status ParseGelu(const OptionsView& options, OpParams* params) {
  params->approximate = options.Bool(0, false);
  return Status::Ok();
}

float Gelu(float x) { return 0.5f * x * std::erfc(-x * 0.70710678f); }

float GeluTanh(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
}

Status PrepareGelu(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  const bool approximate = context.params().approximate;
  return PrepareRealMap(context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16},
                        [approximate](float x) { return approximate ? GeluTanh(x) : Gelu(x); });
}

Status RunGelu(const RunContext& context) {
  if (!IsFloat(context.in(0).dtype)) return RunMap<RealMap>(context);
  return RunUnaryFloat(context, context.params->approximate ? UnaryFn::kGeluTanh : UnaryFn::kGelu);
}

// LOGISTIC: y = 1 / (1 + e^-x); float32, int8, uint8 and int16.

Status PrepareLogistic(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  const DType dtype = context.input(0)->dtype;
  if (context.params().fused_product) context.SetVariant("times its input");
  if (IsFloat(dtype)) return PrepareUnaryFloat(context);
  if (dtype == DType::kInt16) return PrepareSigmoidInt16(context, false);
  return PrepareRealMap(context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16},
                        [](float x) { return 1.0f / (1.0f + std::exp(-x)); });
}

Status RunLogistic(const RunContext& context) {
  const DType dtype = context.in(0).dtype;
  if (IsFloat(dtype)) return RunUnaryFloat(context, LogisticFn(*context.params));
  return dtype == DType::kInt16 ? RunMap<SigmoidMap>(context) : RunMap<RealMap>(context);
}

// TANH: y = tanh x; float32, int8, uint8 and int16.

Status PrepareTanh(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  const DType dtype = context.input(0)->dtype;
  if (IsFloat(dtype)) return PrepareUnaryFloat(context);
  if (dtype == DType::kInt16) return PrepareSigmoidInt16(context, true);
  return PrepareRealMap(context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16},
                        [](float x) { return std::tanh(x); });
}

Status RunTanh(const RunContext& context) {
  const DType dtype = context.in(0).dtype;
  if (IsFloat(dtype)) return RunUnaryFloat(context, UnaryFn::kTanh);
  return dtype == DType::kInt16 ? RunMap<SigmoidMap>(context) : RunMap<RealMap>(context);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kRelu)
        .Versions(3)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Cpu(PrepareRelu, RunRelu)
        .Gpu(PlanUnaryFn<UnaryFn::kRelu>)
        .Gradient(kBackwardRelu)
        .Int8(IntegerForm::kOwn, 2)
        .WidensHalf()
        .Becomes(Activation::kRelu)
        .ByElement(),
    OpDef(OpCode::kRelu6)
        .Versions(3)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Cpu(PrepareRelu6, RunRelu6)
        .Gpu(PlanUnaryFn<UnaryFn::kRelu6>)
        .Gradient(kBackwardRelu6)
        .Int8(IntegerForm::kOwn, 2)
        .WidensHalf()
        .Becomes(Activation::kRelu6)
        .ByElement(),
    OpDef(OpCode::kRelu0To1)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt8})
        .Cpu(PrepareRelu0To1, RunRelu0To1)
        .Gpu(PlanUnaryFn<UnaryFn::kRelu0To1>)
        .WidensHalf()
        .Gradient(kBackwardRelu0To1)
        .Int8(IntegerForm::kOwn, 1)
        .Becomes(Activation::kRelu0To1)
        .ByElement(),
    OpDef(OpCode::kReluN1To1)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt8})
        .Cpu(PrepareReluN1To1, RunReluN1To1)
        .Gpu(PlanUnaryFn<UnaryFn::kReluN1To1>)
        .Gradient(kBackwardReluN1To1)
        .Int8(IntegerForm::kOwn, 1)
        .WidensHalf()
        .Becomes(Activation::kReluN1To1)
        .ByElement(),
    OpDef(OpCode::kLeakyRelu)
        .Versions(2)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kLeakyRelu, ParseLeakyRelu)
        .Cpu(PrepareLeakyRelu, RunLeakyRelu)
        .Gpu(PlanLeakyRelu)
        .Gradient(kBackwardLeakyRelu)
        .Int8(IntegerForm::kOwn, 1)
        .WidensHalf()
        .ByElement(),
    OpDef(OpCode::kElu)
        .Types({DType::kFloat32, DType::kInt8})
        .Cpu(PrepareElu, RunElu)
        .Gpu(PlanUnaryFn<UnaryFn::kElu>)
        .Gradient(kBackwardElu)
        .Int8(IntegerForm::kOwn, 1)
        .WidensHalf()
        .Work(WorkRule::kFunctions)
        .ByElement(),
    OpDef(OpCode::kGelu)
        .Versions(3)
        .Types({DType::kFloat32, DType::kFloat16, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kGelu, ParseGelu)
        .Cpu(PrepareGelu, RunGelu)
        .Gpu(PlanGelu)
        .NoGpuInt16()
        .Gradient(kBackwardGelu)
        .Int8(IntegerForm::kOwn, 2)
        .WidensHalf()
        .Work(WorkRule::kFunctions)
        .ByElement(),
    OpDef(OpCode::kLogistic)
        .Versions(3)
        .Types({DType::kFloat32, DType::kFloat16, DType::kUInt8, DType::kInt16, DType::kInt8,
                DType::kBFloat16})
        .Cpu(PrepareLogistic, RunLogistic)
        .Gpu(PlanLogistic)
        .Gradient(kBackwardLogistic)
        .Int8(IntegerForm::kFixed, 2, {1.0f / 256.0f, -128})
        .WidensHalf()
        .Work(WorkRule::kFunctions)
        .Head(HeadRole::kScores)
        .FusesProduct()
        .ByElement(),
    OpDef(OpCode::kTanh)
        .Versions(3)
        .Types({DType::kFloat32, DType::kFloat16, DType::kUInt8, DType::kInt16, DType::kInt8,
                DType::kBFloat16})
        .Cpu(PrepareTanh, RunTanh)
        .Gpu(PlanUnaryFn<UnaryFn::kTanh>)
        .NoGpuInt16()
        .Gradient(kBackwardTanh)
        .Int8(IntegerForm::kFixed, 2, {1.0f / 128.0f, 0})
        .WidensHalf()
        .Work(WorkRule::kFunctions)
        .ByElement(),
};

Span<const OpDef> ActivationsOps() { return Selected<kOps>(); }

}  // namespace topwork
