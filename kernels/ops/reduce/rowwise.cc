// Rows along the last axis, shared out in blocks.
#include "kernels/ops/reduce/rowwise.h"

#include <algorithm>

namespace topwork {

Status PrepareRowwise(PrepareContext* context, int min_rank) {
  TW_RETURN_IF_ERROR(context->CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context->CheckOutputs(1));
  TW_RETURN_IF_ERROR(context->CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context->CheckRank(0, min_rank, kMaxRank));
  context->AllowInPlace(0, 0);
  context->SetVariant("rows");
  return context->SetOutput(0, DType::kFloat32, context->input(0)->shape);
}

void ForEachRowRange(const RunContext& context, FunctionRef<void(int64_t, int64_t, int64_t)> body) {
  constexpr int64_t kBlock = 4096;  // elements of a task
  const Shape& shape = context.in(0).shape;
  if (shape.NumElements() == 0) return;
  const int64_t n = shape.rank() == 0 ? 1 : shape.back();
  const int64_t rows = shape.NumElements() / n;
  const int64_t per_task = std::max<int64_t>(1, kBlock / n);
  context.pool->ParallelFor((rows + per_task - 1) / per_task, [&](int64_t task, int) {
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

}  // namespace topwork
