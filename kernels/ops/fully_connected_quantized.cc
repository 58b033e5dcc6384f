// FULLY_CONNECTED on quantized tensors (integer_product.h). Dynamic range: every row of the input
// is quantized to 8 bits with a scale of its own, symmetric unless asymmetric_quantize_inputs.
#include <algorithm>

#include "kernels/ops/dynamic_range.h"
#include "kernels/ops/fully_connected.h"
#include "kernels/ops/weighted.h"

namespace topwork {
namespace {

struct QuantizedFullyConnectedState : OpState, FullyConnectedShape {
  IntegerProduct product;
  size_t rows_offset = 0, scales_offset = 0, zeros_offset = 0;  // kHybrid; scratch
};

void QuantizeRows(const RunContext& context, const QuantizedFullyConnectedState& s, int8_t* rows,
                  float* scales, int32_t* zeros) {
  const float* in = context.input_data<float>(0);
  const bool symmetric = !context.params->asymmetric_quantize_inputs;
  const int64_t per_task = std::max<int64_t>(1, 16384 / s.depth);
  context.pool->ParallelFor((s.batch + per_task - 1) / per_task, [&](int64_t task, int) {
    const int64_t end = std::min(s.batch, (task + 1) * per_task);
    for (int64_t r = task * per_task; r < end; ++r) {
      const DynamicScale q =
          QuantizeRow(context, in + r * s.depth, s.depth, symmetric, rows + r * s.depth);
      scales[r] = q.scale;
      zeros[r] = q.zero_point + s.product.native_shift;
    }
  });
}

const char* Variant(Arithmetic arithmetic, bool one_row) {
  switch (arithmetic) {
    case Arithmetic::kHybrid:
      return one_row ? "hybrid gemv" : "hybrid gemm";
    case Arithmetic::kInt16:
      return one_row ? "int16 gemv" : "int16 gemm";
    default:
      return one_row ? "int8 gemv" : "int8 gemm";
  }
}

}  // namespace

Status PrepareQuantizedFullyConnected(PrepareContext* context, const FullyConnectedShape& shape,
                                      Arithmetic arithmetic) {
  QuantizedFullyConnectedState* state = context->NewState<QuantizedFullyConnectedState>();
  static_cast<FullyConnectedShape&>(*state) = shape;
  IntegerProduct& p = state->product;
  p.arithmetic = arithmetic;
  p.m = shape.batch;
  p.n = shape.units;
  p.k = shape.depth;
  p.wide.real = true;
  ScratchLayout scratch;
  TW_RETURN_IF_ERROR(PlanIntegerProduct(context, &scratch, &p));
  if (arithmetic == Arithmetic::kHybrid) {
    state->rows_offset = scratch.AddSized(shape.batch * shape.depth, 1);
    state->scales_offset = scratch.Add(shape.batch);
    state->zeros_offset = scratch.Add(shape.batch);
  }
  context->SetVariant(Variant(arithmetic, shape.batch == 1));
  return scratch.Request(context);
}

Status RunQuantizedFullyConnected(const RunContext& context) {
  const QuantizedFullyConnectedState& s = context.get_state<QuantizedFullyConnectedState>();
  if (s.batch == 0) return Status::Ok();
  BeginIntegerProduct(context, s.product);
  ProductRun run;
  run.m = s.batch;
  run.a = context.input_data<void>(0);
  run.lda = s.depth;
  run.c = context.output_data<void>(0);
  const bool hybrid = s.product.arithmetic == Arithmetic::kHybrid;
  if (hybrid) {
    int8_t* rows = reinterpret_cast<int8_t*>(context.scratch + s.rows_offset);
    float* scales = reinterpret_cast<float*>(context.scratch + s.scales_offset);
    int32_t* zeros = reinterpret_cast<int32_t*>(context.scratch + s.zeros_offset);
    QuantizeRows(context, s, rows, scales, zeros);
    run.a = rows;
    run.row_scale = scales;
    run.row_zero = zeros;
    run.row_step = 1;
  }
  RunIntegerProduct(context, s.product, run, [](int64_t, int64_t, int64_t, uint8_t*) {});
  if (hybrid) ApplyFusedTanh(context);
  return Status::Ok();
}

}  // namespace topwork
