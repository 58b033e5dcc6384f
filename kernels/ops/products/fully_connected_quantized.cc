// FULLY_CONNECTED on quantized tensors (integer_product.h). Dynamic range: every row of the input
// is quantized to 8 bits with a scale of its own, symmetric unless asymmetric_quantize_inputs.
#include <algorithm>

#include "kernels/ops/products/fully_connected.h"
#include "kernels/ops/shared/dynamic_range.h"
#include "kernels/ops/shared/padded_image.h"
#include "kernels/ops/shared/weighted.h"

namespace topwork {
namespace {

struct QuantizedFullyConnectedState : OpState, FullyConnectedShape {
  IntegerProduct product;
  PaddedImage rows;                  // integers, as the GEMM reads them
  std::vector<int64_t> run_offsets;  // weights in blocks: where the blocks' values begin in a row
  size_t wide_offset = 0;
  size_t rows_offset = 0, scales_offset = 0, zeros_offset = 0;  // kDynamicRange; scratch
};

void QuantizeRows(const RunContext& context, const QuantizedFullyConnectedState& s, int8_t* rows,
                  int16_t* wide, float* scales, int32_t* zeros) {
  const float* in = context.input_data<float>(0);
  // With weights in blocks TFLite quantizes rows asymmetrically, whatever the option says.
  const bool symmetric = !context.params->asymmetric_quantize_inputs && !s.product.has_blocks;
  const int64_t per_task = std::max<int64_t>(1, 16384 / s.depth);
  context.pool->ParallelFor((s.batch + per_task - 1) / per_task, [&](int64_t task, int) {
    const int64_t end = std::min(s.batch, (task + 1) * per_task);
    for (int64_t r = task * per_task; r < end; ++r) {
      const DynamicScale q =
          QuantizeRow(context, in + r * s.depth, s.depth, symmetric, rows + r * s.depth);
      scales[r] = q.scale;
      zeros[r] = q.zero_point + s.product.native_shift;
      if (wide == nullptr) continue;
      context.cpu->integer->widen(reinterpret_cast<const uint8_t*>(rows + r * s.depth), s.depth,
                                  false, q.zero_point, wide + r * s.depth);
    }
  });
}

const char* Variant(Arithmetic arithmetic, bool one_row) {
  switch (arithmetic) {
    case Arithmetic::kDynamicRange:
      return one_row ? "dynamic range gemv" : "dynamic range gemm";
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
  p.run_k = shape.depth;
  ChooseIntegerGemm(*context, &p);
  const int32_t block = context->input(1)->quantization->block;
  if (block > 0) {
    p.has_blocks = true;
    p.run_k = block;
    p.runs = shape.depth / block;
    for (int64_t i = 0; i < p.runs; ++i) {
      state->run_offsets.push_back(i * block * static_cast<int64_t>(ValueSize(p)));
    }
  }
  p.real = true;
  ScratchLayout scratch;
  TW_RETURN_IF_ERROR(PlanIntegerProduct(context, &scratch, &p));
  if (arithmetic == Arithmetic::kDynamicRange) {
    state->rows_offset = scratch.AddSized(shape.batch * shape.depth, 1);
    state->scales_offset = scratch.Add(shape.batch);
    state->zeros_offset = scratch.Add(shape.batch);
    state->wide_offset = scratch.AddSized(p.gemm->bytes ? 0 : shape.batch * shape.depth, 2);
  } else {
    const size_t size = IsInt16(arithmetic) ? 2 : 1;
    state->rows = MakeImage(1, shape.batch, 1, shape.depth, size, ValueSize(p));
    PlanImage(false, &scratch, &state->rows);
  }
  context->SetVariant(p.has_blocks ? "dynamic range blocks"
                                   : Variant(arithmetic, shape.batch == 1));
  return scratch.Request(context);
}

Status RunQuantizedFullyConnected(const RunContext& context) {
  const QuantizedFullyConnectedState& s = context.get_state<QuantizedFullyConnectedState>();
  if (s.batch == 0) return Status::Ok();
  BeginIntegerProduct(context, s.product);
  ProductRun run;
  run.m = s.batch;
  run.lda = s.depth * static_cast<int64_t>(ValueSize(s.product));
  run.run_offsets = s.run_offsets.empty() ? nullptr : s.run_offsets.data();
  run.c = context.output_data<void>(0);
  if (s.product.arithmetic == Arithmetic::kDynamicRange) {
    int8_t* rows = reinterpret_cast<int8_t*>(context.scratch + s.rows_offset);
    int16_t* wide = reinterpret_cast<int16_t*>(context.scratch + s.wide_offset);
    float* scales = reinterpret_cast<float*>(context.scratch + s.scales_offset);
    int32_t* zeros = reinterpret_cast<int32_t*>(context.scratch + s.zeros_offset);
    const bool bytes = s.product.gemm->bytes;
    QuantizeRows(context, s, rows, bytes ? nullptr : wide, scales, zeros);
    run.a = bytes ? reinterpret_cast<const uint8_t*>(rows) : reinterpret_cast<const uint8_t*>(wide);
    run.row_scale = scales;
    run.row_zero = zeros;
    run.row_step = 1;
  } else {
    run.a = FillImage(context, s.rows, context.input_data<void>(0), s.product.in_unsigned,
                      s.product.in_zero);
  }
  RunIntegerProduct(context, s.product, run, [](int64_t, int64_t, int64_t*) {});
  if (s.product.arithmetic == Arithmetic::kDynamicRange) ApplyFusedTanh(context);
  return Status::Ok();
}

}  // namespace topwork
