// Mathematical functions of one tensor, element by element (see unary.h).
#include "kernels/ops/elementwise/unary.h"

#include <algorithm>
#include <cmath>

#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/elementwise/unary_int.h"
#include "kernels/ops/elementwise/unary_quant.h"
#include "kernels/ops/shared/dynamic_range.h"
#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {

// Prepare and run of unary operators (see unary.h).

Status PrepareUnary(PrepareContext& context, std::initializer_list<DType> dtypes) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, dtypes));
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, context.input(0)->shape));
  context.AllowInPlace(0, 0);
  return Status::Ok();
}

Status PrepareUnaryFloat(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PrepareUnary(context, {DType::kFloat32}));
  context.SetTasks(CountRowTasks(context.output(0).shape.NumElements(), sizeof(float)));
  return Status::Ok();
}

Status RunUnaryFloat(const RunContext& context, UnaryFn fn, float alpha) {
  const UnaryFunction run = context.cpu->elementwise->unary[static_cast<int>(fn)];
  const float* x = context.input_data<float>(0);
  float* y = context.output_data<float>(0);
  const RangeKeeper range(context);
  ParallelRowsOfThreads(context.pool, context.out(0).shape.NumElements(),
                        static_cast<int64_t>(sizeof(float)),
                        [&](int64_t begin, int64_t end, int thread) {
                          run(x + begin, y + begin, end - begin, alpha);
                          range.Add(thread, y + begin, end - begin);
                        });
  range.Finish();
  return Status::Ok();
}

namespace {

// ABS: y = |x|; float32, int8, int16 (with a scale or plain) and int32. The least plain integer
// stays as it is.

struct AbsMap {
  int32_t in_zero, out_zero, lo, hi;
  bool rescale;
  FixedFactor scale;
  int32_t operator()(int32_t q) const {
    const int32_t x = q < in_zero ? in_zero - q : q - in_zero;
    return PlaceInt(rescale ? MultiplyByFactor(x, scale) : x, out_zero, lo, hi);
  }
};

bool IsPlain(const TensorView& view) {
  return view.dtype == DType::kInt32 || (view.dtype == DType::kInt16 && !IsScaled(view));
}

Status PrepareAbs(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  const TensorView& in = *context.input(0);
  if (IsFloat(in.dtype) || IsPlain(in)) {
    return PrepareUnary(context, {DType::kFloat32, DType::kInt16, DType::kInt32});
  }
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(PrepareUnaryQuant(
      context, {DType::kFloat32, DType::kInt8, DType::kInt16, DType::kInt32}, &quant));
  AbsMap map;
  map.in_zero = quant.in.zero_point;
  map.out_zero = quant.out.zero_point;
  map.lo = quant.lo;
  map.hi = quant.hi;
  map.rescale = quant.in.scale != quant.out.scale;
  map.scale = MakeFixedFactor(static_cast<double>(quant.in.scale / quant.out.scale));
  SetMap(context, quant.dtype, map);
  return Status::Ok();
}

template <typename T>
Status RunPlain(const RunContext& context) {
  MapInts<T>(context, [](T x) {
    const uint32_t bits = static_cast<uint32_t>(x);
    return static_cast<T>(x < 0 ? 0u - bits : bits);
  });
  return Status::Ok();
}

Status RunAbs(const RunContext& context) {
  const TensorView& in = context.in(0);
  if (IsFloat(in.dtype)) return RunUnaryFloat(context, UnaryFn::kAbs);
  if (!IsPlain(in)) return RunMap<AbsMap>(context);
  return in.dtype == DType::kInt16 ? RunPlain<int16_t>(context) : RunPlain<int32_t>(context);
}

// CEIL: y = ⌈x⌉; float32.

// COS: y = cos x; float32.

// EXP: y = e^x; float32, int8 and int16.

Status PrepareExp(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  return PrepareRealMap(context, {DType::kFloat32, DType::kInt8, DType::kInt16},
                        [](float x) { return std::exp(x); });
}

Status RunExp(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kExp);
  return RunMap<RealMap>(context);
}

// FLOOR: y = ⌊x⌋; float32.

// LOG: y = ln x; float32 (−∞ at 0, NaN below), int8 and int16 (the least number at 0 and below).

Status PrepareLog(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(
      PrepareUnaryQuant(context, {DType::kFloat32, DType::kInt8, DType::kInt16}, &quant));
  const float least = static_cast<float>(quant.lo - quant.out.zero_point) * quant.out.scale;
  SetRealMap(context, quant, [least](float x) { return x <= 0.0f ? least : std::log(x); });
  return Status::Ok();
}

Status RunLog(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kLog);
  return RunMap<RealMap>(context);
}

// NEG: y = -x; float32, int8, int16, int32 and int64 (the least integer stays as it is). As in
// TFLite integers are negated as they are, whatever their scales and zero points.

Status PrepareNeg(PrepareContext& context) {
  return PrepareUnary(context,
                      {DType::kFloat32, DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64});
}

Status RunNeg(const RunContext& context) {
  const DType dtype = context.in(0).dtype;
  if (IsFloat(dtype)) return RunUnaryFloat(context, UnaryFn::kNeg);
  VisitDType<int8_t, int16_t, int32_t, int64_t>(dtype, [&](auto type) {
    using T = decltype(type);
    MapInts<T>(context, [](T x) { return static_cast<T>(0 - static_cast<Wrapping<T>>(x)); });
  });
  return Status::Ok();
}

// ROUND: y = x rounded to the nearest integer, ties to even; float32.

// RSQRT: y = 1 / √x; float32, int8 and int16 (the greatest number at 0 and below).

Status PrepareRsqrt(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(
      PrepareUnaryQuant(context, {DType::kFloat32, DType::kInt8, DType::kInt16}, &quant));
  const float most = static_cast<float>(quant.hi - quant.out.zero_point) * quant.out.scale;
  SetRealMap(context, quant, [most](float x) { return x <= 0.0f ? most : 1.0f / std::sqrt(x); });
  return Status::Ok();
}

Status RunRsqrt(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kRsqrt);
  return RunMap<RealMap>(context);
}

// SIGN: y = -1, 0 or 1 as x is below, at or above 0; float32, float64 and int32. NaN stays NaN.

Status PrepareSign(PrepareContext& context) {
  return PrepareUnary(context, {DType::kFloat32, DType::kFloat64, DType::kInt32});
}

Status RunSign(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kSign);
  if (context.in(0).dtype == DType::kFloat64) {
    MapInts<double>(context, [](double x) { return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x); });
    return Status::Ok();
  }
  MapInts<int32_t>(context, [](int32_t x) { return (x > 0) - (x < 0); });
  return Status::Ok();
}

// SIN: y = sin x; float32.

// SQRT: y = √x; float32 (NaN below 0), int8 and int16 (the fraction is cut off; 0 below 0).

struct SqrtMap {
  int32_t in_zero, out_zero, lo, hi;
  float in_scale, out_scale;
  int32_t operator()(int32_t q) const {
    const float x = std::max(0.0f, in_scale * static_cast<float>(q - in_zero));
    const float y = std::min(std::sqrt(x) / out_scale, 65536.0f);
    return PlaceInt(static_cast<int32_t>(y), out_zero, lo, hi);
  }
};

Status PrepareSqrt(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(
      PrepareUnaryQuant(context, {DType::kFloat32, DType::kInt8, DType::kInt16}, &quant));
  SqrtMap map;
  map.in_zero = quant.in.zero_point;
  map.out_zero = quant.out.zero_point;
  map.lo = quant.lo;
  map.hi = quant.hi;
  map.in_scale = quant.in.scale;
  map.out_scale = quant.out.scale;
  SetMap(context, quant.dtype, map);
  return Status::Ok();
}

Status RunSqrt(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kSqrt);
  return RunMap<SqrtMap>(context);
}

}  // namespace

// SQUARE: y = x²; float32.

constexpr OpDef kOps[] = {
    OpDef(OpCode::kAbs)
        .Versions(5)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kAbs)
        .Cpu(PrepareAbs, RunAbs)
        .Gpu(PlanUnaryFn<UnaryFn::kAbs>)
        .WidensHalf()
        .ByElement(),
    OpDef(OpCode::kCeil)
        .Types({DType::kFloat32})
        .Cpu(PrepareUnaryFloat, RunUnary<UnaryFn::kCeil>)
        .Gpu(PlanUnaryFn<UnaryFn::kCeil>)
        .WidensHalf(),
    OpDef(OpCode::kCos)
        .Versions(2)
        .Types({DType::kFloat32, DType::kFloat16})
        .Options(OptionsType::kCos)
        .Cpu(PrepareUnaryFloat, RunUnary<UnaryFn::kCos>)
        .Gpu(PlanUnaryFn<UnaryFn::kCos>)
        .WidensHalf()
        .Work(WorkRule::kFunctions),
    OpDef(OpCode::kExp)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kExp)
        .Cpu(PrepareExp, RunExp)
        .Gpu(PlanUnaryFn<UnaryFn::kExp>)
        .NoGpuInt16()
        .WidensHalf()
        .Work(WorkRule::kFunctions),
    OpDef(OpCode::kFloor)
        .Types({DType::kFloat32, DType::kFloat16, DType::kBFloat16})
        .Cpu(PrepareUnaryFloat, RunUnary<UnaryFn::kFloor>)
        .Gpu(PlanUnaryFn<UnaryFn::kFloor>)
        .WidensHalf(),
    OpDef(OpCode::kLog)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt16, DType::kInt8})
        .Cpu(PrepareLog, RunLog)
        .Gpu(PlanUnaryFn<UnaryFn::kLog>)
        .NoGpuInt16()
        .WidensHalf()
        .Work(WorkRule::kFunctions),
    OpDef(OpCode::kNeg)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kInt64, DType::kInt16,
                DType::kInt8, DType::kBFloat16})
        .Options(OptionsType::kNeg)
        .Cpu(PrepareNeg, RunNeg)
        .Gpu(PlanNeg)
        .WidensHalf()
        .ByElement(),
    OpDef(OpCode::kRound)
        .Types({DType::kFloat32, DType::kFloat16, DType::kBFloat16})
        .Cpu(PrepareUnaryFloat, RunUnary<UnaryFn::kRound>)
        .Gpu(PlanUnaryFn<UnaryFn::kRound>)
        .WidensHalf(),
    OpDef(OpCode::kRsqrt)
        .Versions(3)
        .Types({DType::kFloat32, DType::kInt16, DType::kInt8})
        .Cpu(PrepareRsqrt, RunRsqrt)
        .Gpu(PlanUnaryFn<UnaryFn::kRsqrt>)
        .NoGpuInt16()
        .WidensHalf()
        .Work(WorkRule::kFunctions),
    OpDef(OpCode::kSign)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt32, DType::kFloat64})
        .Options(OptionsType::kSign)
        .Cpu(PrepareSign, RunSign)
        .Gpu(PlanUnaryFn<UnaryFn::kSign>)
        .WidensHalf(),
    OpDef(OpCode::kSin)
        .Versions(2)
        .Types({DType::kFloat32, DType::kFloat16})
        .Cpu(PrepareUnaryFloat, RunUnary<UnaryFn::kSin>)
        .Gpu(PlanUnaryFn<UnaryFn::kSin>)
        .WidensHalf()
        .Work(WorkRule::kFunctions),
    OpDef(OpCode::kSqrt)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt16, DType::kInt8})
        .Cpu(PrepareSqrt, RunSqrt)
        .Gpu(PlanUnaryFn<UnaryFn::kSqrt>)
        .WidensHalf()
        .Work(WorkRule::kFunctions),
    OpDef(OpCode::kSquare)
        .Types({DType::kFloat32})
        .Options(OptionsType::kSquare)
        .Cpu(PrepareUnaryFloat, RunUnary<UnaryFn::kSquare>)
        .Gpu(PlanUnaryFn<UnaryFn::kSquare>)
        .WidensHalf(),
    OpDef(OpCode::kStablehloCbrt)
        .Types({DType::kFloat32})
        .Cpu(PrepareUnaryFloat, RunUnary<UnaryFn::kCbrt>)
        .Gpu(PlanUnaryFn<UnaryFn::kCbrt>)
        .WidensHalf()
        .Work(WorkRule::kFunctions),
};

Span<const OpDef> UnaryOps() { return Selected<kOps>(); }

}  // namespace topwork
