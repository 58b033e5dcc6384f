// SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION: rows along the last axis (see rowwise.h).
#include "kernels/ops/reduce/rowwise.h"

#include <algorithm>
#include <cmath>

#include "kernels/ops/reduce/reduce_gpu.h"
#include "kernels/ops/reduce/rowwise_quant.h"
#include "kernels/train/gradients.h"

namespace topwork {

namespace {

// Rows of n elements that one task takes.
int64_t RowsOfBlock(int64_t n) {
  constexpr int64_t kBlock = 4096;  // elements
  return std::max<int64_t>(1, kBlock / std::max<int64_t>(1, n));
}

int64_t RowTasks(const Shape& shape) {
  if (shape.NumElements() == 0) return 0;
  const int64_t n = shape.rank() == 0 ? 1 : shape.back();
  const int64_t per_task = RowsOfBlock(n);
  return (shape.NumElements() / n + per_task - 1) / per_task;
}

}  // namespace

// Rows along the last axis, shared out in blocks.

Status PrepareRowwise(PrepareContext* context, int min_rank) {
  TW_RETURN_IF_ERROR(context->CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context->CheckOutputs(1));
  TW_RETURN_IF_ERROR(context->CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context->CheckRank(0, min_rank, kMaxRank));
  context->AllowInPlace(0, 0);
  context->SetVariant("rows");
  context->SetTasks(RowTasks(context->input(0)->shape));
  return context->SetOutput(0, DType::kFloat32, context->input(0)->shape);
}

void ForEachRowRange(const RunContext& context, FunctionRef<void(int64_t, int64_t, int64_t)> body) {
  const Shape& shape = context.in(0).shape;
  if (shape.NumElements() == 0) return;
  const int64_t n = shape.rank() == 0 ? 1 : shape.back();
  const int64_t rows = shape.NumElements() / n;
  const int64_t per_task = RowsOfBlock(n);
  context.pool->ParallelFor(RowTasks(shape), [&](int64_t task, int) {
    const int64_t first = task * per_task;
    body(first, std::min(per_task, rows - first), n);
  });
}

void ForEachRowBlock(const RunContext& context,
                     FunctionRef<void(const float*, float*, int64_t, int64_t)> body) {
  const float* in = context.input_data<float>(0);
  float* out = context.output_data<float>(0);
  ForEachRowRange(context, [&](int64_t first, int64_t rows, int64_t n) {
    body(in + first * n, out + first * n, rows, n);
  });
}

float SumOf(const CpuKernels& cpu, UnaryFn fn, const float* x, int64_t n) {
  constexpr int64_t kChunk = 256;
  float values[kChunk];
  float sum = 0.0f;
  const ElementwiseKernels& kernels = *cpu.elementwise;
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t count = std::min(kChunk, n - i);
    kernels.unary[static_cast<int>(fn)](x + i, values, count, 0.0f);
    sum += kernels.reduce_row[static_cast<int>(ReduceFn::kSum)](values, count);
  }
  return sum;
}

namespace {

// SOFTMAX along the last axis: e^(beta (x - max)) / sum.

Status ParseSoftmax(const OptionsView& options, OpParams* params) {
  params->beta = options.Float(0, 0.0f);
  return Status::Ok();
}

Status PrepareSoftmax(PrepareContext& context) {
  return kHasQuantized && IsRowwiseQuant(context) ? PrepareSoftmaxQuant(context)
                                                  : PrepareRowwise(&context, 1);
}

Status RunSoftmax(const RunContext& context) {
  if (kHasQuantized && context.in(0).dtype != DType::kFloat32) return RunSoftmaxQuant(context);
  const CpuKernels& cpu = *context.cpu;
  const LoopFamily<ElementwiseKernels>& kernels = cpu.elementwise;
  const float beta = context.params->beta;
  ForEachRowBlock(context, [&](const float* in, float* out, int64_t rows, int64_t n) {
    if (n <= kernels->short_row && rows > 1) return kernels->softmax(in, out, rows, n, beta);
    for (int64_t r = 0; r < rows; ++r) {
      const float max = kernels->reduce_row[static_cast<int>(ReduceFn::kMax)](in + r * n, n);
      ApplyScalar<BinaryFn::kSub>(cpu, in + r * n, max, out + r * n, n);
    }
    if (beta != 1.0f) ApplyScalar<BinaryFn::kMul>(cpu, out, beta, out, rows * n);
    kernels->unary[static_cast<int>(UnaryFn::kExp)](out, out, rows * n, 0.0f);
    for (int64_t r = 0; r < rows; ++r) {
      const float sum = kernels->reduce_row[static_cast<int>(ReduceFn::kSum)](out + r * n, n);
      ApplyScalar<BinaryFn::kDiv>(cpu, out + r * n, sum, out + r * n, n);
    }
  });
  return Status::Ok();
}

// LOG_SOFTMAX along the last axis: x - max - log(sum of e^(x - max)).

Status PrepareLogSoftmax(PrepareContext& context) {
  return kHasQuantized && IsRowwiseQuant(context) ? PrepareLogSoftmaxQuant(context)
                                                  : PrepareRowwise(&context, 1);
}

Status RunLogSoftmax(const RunContext& context) {
  if (kHasQuantized && context.in(0).dtype != DType::kFloat32) return RunLogSoftmaxQuant(context);
  const CpuKernels& cpu = *context.cpu;
  ForEachRowBlock(context, [&](const float* in, float* out, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) {
      float* y = out + r * n;
      const float max =
          cpu.elementwise->reduce_row[static_cast<int>(ReduceFn::kMax)](in + r * n, n);
      ApplyScalar<BinaryFn::kSub>(cpu, in + r * n, max, y, n);
      ApplyScalar<BinaryFn::kSub>(cpu, y, std::log(SumOf(cpu, UnaryFn::kExp, y, n)), y, n);
    }
  });
  return Status::Ok();
}

// L2_NORMALIZATION along the last axis: x / max(|x|, 1e-6).

Status ParseL2Normalization(const OptionsView& options, OpParams* params) {
  return ParseActivation(options.Byte(0, 0), &params->activation);
}

Status PrepareL2Normalization(PrepareContext& context) {
  if (context.params().activation != Activation::kNone) {
    return context.Unsupported("a fused activation is not supported");
  }
  return kHasQuantized && IsRowwiseQuant(context) ? PrepareL2NormalizationQuant(context)
                                                  : PrepareRowwise(&context, 1);
}

Status RunL2Normalization(const RunContext& context) {
  if (kHasQuantized && context.in(0).dtype != DType::kFloat32)
    return RunL2NormalizationQuant(context);
  constexpr float kEpsilon = 1e-6f;
  const CpuKernels& cpu = *context.cpu;
  ForEachRowBlock(context, [&](const float* in, float* out, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) {
      const float norm = std::sqrt(SumOf(cpu, UnaryFn::kSquare, in + r * n, n));
      ApplyScalar<BinaryFn::kDiv>(cpu, in + r * n, std::max(norm, kEpsilon), out + r * n, n);
    }
  });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kSoftmax)
        .Versions(4)
        .Types({DType::kFloat32, DType::kFloat16, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kSoftmax, ParseSoftmax)
        .Cpu(PrepareSoftmax, RunSoftmax)
        .Gpu(PlanRowwiseKind<RowwiseKind::kSoftmax>)
        .NoGpuInt16()
        .Gradient(kBackwardSoftmax)
        .Int8(IntegerForm::kFixed, 2, {1.0f / 256.0f, -128})
        .WidensHalf()
        .Work(WorkRule::kFunctions)
        .Head(HeadRole::kScores),
    OpDef(OpCode::kLogSoftmax)
        .Versions(2)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt8})
        .Options(OptionsType::kLogSoftmax)
        .Cpu(PrepareLogSoftmax, RunLogSoftmax)
        .Gpu(PlanRowwiseKind<RowwiseKind::kLogSoftmax>)
        .Int8(IntegerForm::kFixed, 2, {16.0f / 256.0f, 127})
        .Work(WorkRule::kFunctions)
        .Head(HeadRole::kScores)
        .WidensHalf(),
    OpDef(OpCode::kL2Normalization)
        .Versions(2)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt8})
        .Options(OptionsType::kL2Norm, ParseL2Normalization)
        .Cpu(PrepareL2Normalization, RunL2Normalization)
        .Gpu(PlanRowwiseKind<RowwiseKind::kL2Normalization>)
        .Int8(IntegerForm::kFixed, 2, {1.0f / 128.0f, 0})
        .Head(HeadRole::kEmbedding)
        .WidensHalf(),
};

Span<const OpDef> RowwiseOps() { return Selected<kOps>(); }

}  // namespace topwork
