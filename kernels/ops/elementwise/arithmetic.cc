// Arithmetic of two or more tensors with broadcasting: the operators; the loops are in binary*.cc.
#include <algorithm>
#include <cmath>

#include "kernels/ops/elementwise/binary.h"
#include "kernels/ops/elementwise/binary_quant.h"
#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/train/gradients.h"

namespace topwork {
namespace {

// ADD: y = activation(a + b), float32, int8, uint8, int16, int32 and int64, with broadcasting.

Status ParseAdd(const OptionsView& options, OpParams* params) {
  params->pot_scale_int16 = options.Bool(1, true);
  return ParseBinaryActivation(options, params);
}

Status RunAdd(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kAdd, "ADD"); }

// SUB: y = activation(a - b), float32, int8, uint8, int16, int32 and int64, with broadcasting.

Status ParseSub(const OptionsView& options, OpParams* params) {
  params->pot_scale_int16 = options.Bool(1, true);
  return ParseBinaryActivation(options, params);
}

Status RunSub(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kSub, "SUB"); }

// MUL: y = activation(a * b), float32, int8, uint8, int16, int32, uint32 and int64, with
// broadcasting; complex64 without activation.

struct Complex {
  float re, im;
};

Status PrepareMul(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  if (context.input(0)->dtype != DType::kComplex64) return PrepareBinary<BinaryFn::kMul>(context);
  return PrepareBinaryOf(context, {DType::kComplex64});
}

Status RunMul(const RunContext& context) {
  if (context.in(0).dtype != DType::kComplex64) {
    return RunBinaryNumber(context, BinaryFn::kMul, "MUL");
  }
  ForEachTile(context.get_state<NestState>().nest, context.pool, [&](const NestTile& t) {
    MapTile(t, context.input_data<Complex>(0), context.input_data<Complex>(1),
            context.output_data<Complex>(0), [](Complex a, Complex b) {
              return Complex{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
            });
  });
  return Status::Ok();
}

// DIV: y = activation(a / b), float32, int8, uint8, int16, int32 and int64, with broadcasting.
// Plain integers are rounded toward zero; an integer divisor of 0 is an error at run time.

Status RunDiv(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kDiv, "DIV"); }

// MAXIMUM: y = a > b ? a : b, float32, int8, uint8, int16, int32 and int64, with broadcasting.
// Quantized inputs must have the output's scale.

Status RunMaximum(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kMaximum, "MAXIMUM");
}

// MINIMUM: y = a < b ? a : b, float32, int8, uint8, int16, int32 and int64, with broadcasting.
// Quantized inputs must have the output's scale.

Status RunMinimum(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kMinimum, "MINIMUM");
}

// POW: y = a to the power of b, float32, int32 and int64, with broadcasting. A negative integer
// exponent is an error at run time.

Status RunPow(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kPow, "POW"); }

// FLOOR_DIV: y = ⌊a / b⌋, float32, int8, int16, int32 and int64 (integers as they
// are, without scales), with broadcasting. An integer divisor of 0 is
// an error at run time.

Status PrepareFloorDiv(PrepareContext& context) {
  return PrepareBinaryOf(
      context, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt16, DType::kInt8});
}

Status RunFloorDiv(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kFloorDiv, "FLOOR_DIV");
}

// FLOOR_MOD: y = a - b ⌊a / b⌋ (the divisor's sign), float32, int8, int16, int32 and int64
// (integers as they are, without scales), with broadcasting. An integer divisor of 0 is an error at
// run time.

Status PrepareFloorMod(PrepareContext& context) {
  return PrepareBinaryOf(
      context, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt16, DType::kInt8});
}

Status RunFloorMod(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kFloorMod, "FLOOR_MOD");
}

// SQUARED_DIFFERENCE: y = (a - b)², float32, int8, int32 and int64, with broadcasting.

Status RunSquaredDifference(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kSquaredDifference, "SQUARED_DIFFERENCE");
}

// ATAN2: y = the angle of the point (b, a), float32 and float64, with broadcasting.

Status PrepareAtan2(PrepareContext& context) {
  return PrepareBinaryOf(context, {DType::kFloat32, DType::kFloat64});
}

Status RunAtan2(const RunContext& context) {
  if (context.in(0).dtype == DType::kFloat32) return RunBinaryFloat(context, BinaryFn::kAtan2);
  ForEachTile(context.get_state<NestState>().nest, context.pool, [&](const NestTile& t) {
    MapTile(t, context.input_data<double>(0), context.input_data<double>(1),
            context.output_data<double>(0), [](double a, double b) { return std::atan2(a, b); });
  });
  return Status::Ok();
}

// PRELU: y = x ≥ 0 ? x : alpha * x, float32, int8, uint8 and int16 (with int8 slopes); alpha
// broadcasts to the shape of x (one slope a channel as a rule).

Status PreparePrelu(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  const bool quantized = AreQuantized(*context.input(0));
  TW_RETURN_IF_ERROR(quantized ? PrepareBinaryQuant(context, BinaryFn::kPrelu)
                               : PrepareBinaryFloat(context));
  const Shape& shape = context.input(0)->shape;
  if (context.output(0).shape != shape) {
    return context.Invalid("{} of shape {} does not broadcast to {} of shape {}",
                           context.InputName(1), context.input(1)->shape.ToString(),
                           context.InputName(0), shape.ToString());
  }
  return Status::Ok();
}

Status RunPrelu(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kPrelu, "PRELU");
}

// ADD_N: the sum of one or more tensors of one shape; float32 and int32 (which wraps around).

constexpr int64_t kBlock = 512;

Status PrepareAddN(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(std::max(1, context.n_inputs()), context.n_inputs()));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt32}));
  const Shape& shape = context.input(0)->shape;
  for (int i = 1; i < context.n_inputs(); ++i) {
    TW_RETURN_IF_ERROR(CheckSameDType(context, 0, i));
    if (context.input(i)->shape != shape) {
      return context.Invalid("{} has shape {} but {} has shape {}; all must be equal",
                             context.InputName(i), context.input(i)->shape.ToString(),
                             context.InputName(0), shape.ToString());
    }
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, shape));
  for (int i = 0; i < context.n_inputs(); ++i) context.AllowInPlace(i, 0);
  return Status::Ok();
}

// Every block is read from all inputs before it is written, so the output may be any of them.
// Acc is T without signed overflow.
template <typename T, typename Acc>
void Sum(const RunContext& context, int64_t begin, int64_t end) {
  const int n_inputs = static_cast<int>(context.inputs.size());
  for (int64_t start = begin; start < end; start += kBlock) {
    const int64_t n = std::min(kBlock, end - start);
    Acc sum[kBlock];
    const T* first = context.input_data<T>(0) + start;
    for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<Acc>(first[i]);
    for (int k = 1; k < n_inputs; ++k) {
      const T* x = context.input_data<T>(k) + start;
      for (int64_t i = 0; i < n; ++i) sum[i] += static_cast<Acc>(x[i]);
    }
    T* y = context.output_data<T>(0) + start;
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(sum[i]);
  }
}

Status RunAddN(const RunContext& context) {
  const bool floats = IsFloat(context.out(0).dtype);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 4,
               [&](int64_t begin, int64_t end) {
                 if (floats) {
                   Sum<float, float>(context, begin, end);
                 } else {
                   Sum<int32_t, uint32_t>(context, begin, end);
                 }
               });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kAdd)
        .Versions(6)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kInt16, DType::kInt8})
        .Options(OptionsType::kAdd, ParseAdd)
        .Cpu(PrepareBinary<BinaryFn::kAdd>, RunAdd)
        .Gpu(PlanBinaryFn<BinaryFn::kAdd>, GpuTypes::kAny)
        .Gradient(kBackwardAdd)
        .Int8(IntegerForm::kOwn, 2)
        .ReadsFloat16()
        .WidensHalf()
        .FusesActivation()
        .Inputs(2)
        .Head(HeadRole::kBias)
        .ByElement(),
    OpDef(OpCode::kSub)
        .Versions(5)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16,
                DType::kInt8})
        .Options(OptionsType::kSub, ParseSub)
        .Cpu(PrepareBinary<BinaryFn::kSub>, RunSub)
        .Gpu(PlanBinaryFn<BinaryFn::kSub>, GpuTypes::kAny)
        .Gradient(kBackwardSub)
        .Int8(IntegerForm::kOwn, 2)
        .ReadsFloat16()
        .WidensHalf()
        .FusesActivation()
        .Inputs(2)
        .ByElement(),
    OpDef(OpCode::kMul)
        .Versions(8)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kInt16, DType::kComplex64, DType::kInt8, DType::kUInt32})
        .Options(OptionsType::kMul, ParseBinaryActivation)
        .Cpu(PrepareMul, RunMul)
        .Gpu(PlanBinaryFn<BinaryFn::kMul>, GpuTypes::kAny)
        .Gradient(kBackwardMul)
        .Int8(IntegerForm::kOwn, 3)
        .ReadsFloat16()
        .WidensHalf()
        .FusesActivation()
        .Inputs(2)
        .ByElement(),
    OpDef(OpCode::kDiv)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kDiv, ParseBinaryActivation)
        .Cpu(PrepareBinary<BinaryFn::kDiv>, RunDiv)
        .Gpu(PlanBinaryFn<BinaryFn::kDiv>)
        .Gradient(kBackwardDiv)
        .ReadsFloat16()
        .WidensHalf()
        .FusesActivation()
        .Inputs(2),
    OpDef(OpCode::kMaximum)
        .Versions(4)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kInt16, DType::kInt8, DType::kBFloat16})
        .Options(OptionsType::kMaximumMinimum)
        .Cpu(PrepareBinary<BinaryFn::kMaximum>, RunMaximum)
        .Gpu(PlanBinaryFn<BinaryFn::kMaximum>, GpuTypes::kAny)
        .Int8(IntegerForm::kSame, 2)
        .WidensHalf()
        .ByElement(),
    OpDef(OpCode::kMinimum)
        .Versions(4)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kInt16, DType::kInt8, DType::kBFloat16})
        .Options(OptionsType::kMaximumMinimum)
        .Cpu(PrepareBinary<BinaryFn::kMinimum>, RunMinimum)
        .Gpu(PlanBinaryFn<BinaryFn::kMinimum>, GpuTypes::kAny)
        .Int8(IntegerForm::kSame, 2)
        .WidensHalf()
        .ByElement(),
    OpDef(OpCode::kPow)
        .Types({DType::kFloat32, DType::kInt32})
        .Options(OptionsType::kPow)
        .Cpu(PrepareBinaryNumber, RunPow)
        .Gpu(PlanBinaryFn<BinaryFn::kPow>)
        .WidensHalf()
        .Work(WorkRule::kFunctions),
    OpDef(OpCode::kFloorDiv)
        .Versions(3)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kFloorDiv)
        .Cpu(PrepareFloorDiv, RunFloorDiv)
        .Gpu(PlanBinaryFn<BinaryFn::kFloorDiv>)
        .WidensHalf(),
    OpDef(OpCode::kFloorMod)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kFloorMod)
        .Cpu(PrepareFloorMod, RunFloorMod)
        .Gpu(PlanBinaryFn<BinaryFn::kFloorMod>)
        .WidensHalf(),
    OpDef(OpCode::kSquaredDifference)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt8})
        .Options(OptionsType::kSquaredDifference)
        .Cpu(PrepareBinary<BinaryFn::kSquaredDifference>, RunSquaredDifference)
        .Gpu(PlanBinaryFn<BinaryFn::kSquaredDifference>)
        .Int8(IntegerForm::kOwn, 2)
        .WidensHalf(),
    OpDef(OpCode::kAtan2)
        .Types({DType::kFloat32, DType::kFloat16, DType::kFloat64, DType::kBFloat16})
        .Options(OptionsType::kATan2)
        .Cpu(PrepareAtan2, RunAtan2)
        .Gpu(PlanBinaryFn<BinaryFn::kAtan2>)
        .WidensHalf()
        .Work(WorkRule::kFunctions),
    OpDef(OpCode::kPrelu)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Cpu(PreparePrelu, RunPrelu)
        .Gpu(PlanBinaryFn<BinaryFn::kPrelu>)
        .Gradient(kBackwardPrelu)
        .Int8(IntegerForm::kOwn, 1)
        .ReadsFloat16()
        .WidensHalf()
        .Inputs(2),
    OpDef(OpCode::kAddN)
        .Types({DType::kFloat32, DType::kInt32})
        .Options(OptionsType::kAddN)
        .Cpu(PrepareAddN, RunAddN)
        .Gpu(PlanAddN)
        .WidensHalf(),
};

Span<const OpDef> ArithmeticOps() { return Selected<kOps>(); }

}  // namespace topwork
