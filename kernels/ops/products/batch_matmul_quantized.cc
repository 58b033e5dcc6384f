// BATCH_MATMUL on quantized tensors (see batch_matmul.h). The left side becomes rows of 16-bit
// values without their zero point, the right side is packed (once, when it is constant); products
// of two int16 tensors are made by plain loops, all with an int16 side summed in 64 bits. Answers
// are TFLite's to the bit; dynamic range is within its rounding.
#include <algorithm>

#include "kernels/cpu/integer.h"
#include "kernels/ops/products/batch_matmul.h"
#include "kernels/ops/products/integer_product.h"
#include "kernels/ops/shared/dynamic_range.h"
#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quantized.h"

namespace topwork {
namespace {

constexpr int64_t kRowsAtOnce = 64;

// What multiplies what, into what.
enum class Form { kBytes, kSums, kWide, kWideByBytes, kDynamicRange };

struct QuantizedMatMulState : OpState, BatchMatMulShape {
  Form form = Form::kBytes;
  QuantOne left, right;
  std::vector<float> scales;         // of the right side's columns, padded
  std::vector<FixedFactor> factors;  // of the columns, padded
  Requantizer requantizer;           // int8
  std::vector<int32_t> no_bias;
  const uint8_t* packed = nullptr;
  size_t packed_bytes = 0;  // of a matrix
  size_t packed_offset = 0, turned_offset = 0, turned_block = 0;
  size_t rows_offset = 0, row_offset = 0, row_block = 0, row_scales_offset = 0;
};

// Matrix `index` of the right side as n rows of k, packed; `turned` holds n * k bytes.
void PackMatrix(const IntegerGemm& gemm, const QuantizedMatMulState& s, bool adjoint,
                const int8_t* matrices, int64_t index, int8_t* turned, uint8_t* packed) {
  const int8_t* matrix = matrices + index * s.n * s.k;
  if (!adjoint) {
    for (int64_t i = 0; i < s.k; ++i) {
      for (int64_t j = 0; j < s.n; ++j) turned[j * s.k + i] = matrix[i * s.n + j];
    }
    matrix = turned;
  }
  IntegerWeights weights;
  weights.data = reinterpret_cast<const uint8_t*>(matrix);
  weights.n = s.n;
  weights.run_k = s.k;
  weights.zero_point = s.right.zero_point;
  gemm.pack(weights, 0, gemm.n_panels(s.n), packed + static_cast<size_t>(index) * s.packed_bytes);
}

Status PlanRight(PrepareContext* context, ScratchLayout* scratch, QuantizedMatMulState* s) {
  const IntegerGemm& gemm = *context->cpu().integer->int16;
  int64_t words = 0;
  if (MulOverflow(s->k + 4, s->n + gemm.max_columns, &words) ||
      MulOverflow(words, 4 * std::max<int64_t>(s->b_matrices, 1), &words) ||
      words > static_cast<int64_t>(kMostBytes)) {
    return OutOfMemory("{}: {} is too large to pack", context->Where(), context->InputName(1));
  }
  s->packed_bytes = AlignUp(gemm.packed_bytes(s->n, 1, s->k));
  const size_t total = s->packed_bytes * static_cast<size_t>(s->b_matrices);
  const bool adjoint = context->params().adj_y;
  const TensorView& right = *context->input(1);
  if (right.data == nullptr) {
    s->packed_offset = scratch->AddSized(static_cast<int64_t>(total), 1);
    const int64_t turned = adjoint ? 0 : s->n * s->k;
    s->turned_offset = scratch->AddSized(turned, 1, context->max_threads());
    s->turned_block = ScratchLayout::SizedBlock(turned, 1);
    return Status::Ok();
  }
  const std::string tag =
      StrFormat("{} matrices {} zero {}", gemm.tag, adjoint ? 1 : 0, s->right.zero_point);
  TW_ASSIGN_OR_RETURN(const void* packed,
                      context->PackConstant(1, tag.c_str(), total, true, [&](void* to) {
                        std::vector<int8_t> turned(static_cast<size_t>(s->n * s->k));
                        for (int64_t i = 0; i < s->b_matrices; ++i) {
                          PackMatrix(gemm, *s, adjoint, right.as<const int8_t>(), i, turned.data(),
                                     static_cast<uint8_t*>(to));
                        }
                      }));
  s->packed = static_cast<const uint8_t*>(packed);
  return Status::Ok();
}

// Row i of matrix `matrix` of the left side: its values lie `*step` apart.
template <typename T>
const T* RowOf(const RunContext& context, const BatchMatMulShape& s, int64_t matrix, int64_t i,
               int64_t* step) {
  *step = s.transpose_a ? s.m : 1;
  return context.input_data<T>(0) + matrix * s.m * s.k + (s.transpose_a ? i : i * s.k);
}

template <typename T>
void FillIntegerRow(const RunContext& context, const QuantizedMatMulState& s, int64_t row,
                    int16_t* to) {
  int64_t step = 1;
  const T* from = RowOf<T>(context, s, row / s.m, row % s.m, &step);
  for (int64_t i = 0; i < s.k; ++i) {
    to[i] = static_cast<int16_t>(from[i * step] - s.left.zero_point);
  }
}

// `space` holds k floats and k bytes.
float FillFloatRow(const RunContext& context, const QuantizedMatMulState& s, int64_t row,
                   uint8_t* space, int16_t* to) {
  int64_t step = 1;
  const float* from = RowOf<float>(context, s, row / s.m, row % s.m, &step);
  float* values = reinterpret_cast<float*>(space);
  int8_t* bytes = reinterpret_cast<int8_t*>(values + s.k);
  for (int64_t i = 0; i < s.k; ++i) values[i] = from[i * step];
  const DynamicScale scale =
      QuantizeRow(context, values, s.k, !context.params->asymmetric_quantize_inputs, bytes);
  for (int64_t i = 0; i < s.k; ++i) to[i] = static_cast<int16_t>(bytes[i] - scale.zero_point);
  return scale.scale;
}

// How kWideByBytes ends: columns have factors and no bias.
void FinishWideRows(const IntegerTask& task, const int64_t* sums, int64_t stride, int64_t row,
                    int rows, int64_t n0, int columns) {
  const FixedFactor* factors = static_cast<const FixedFactor*>(task.finish_data) + n0;
  for (int m = 0; m < rows; ++m) {
    int16_t* out = static_cast<int16_t*>(task.c) + (row + m) * task.ldc + n0;
    for (int j = 0; j < columns; ++j) {
      const int64_t value = MultiplyByFactor64(sums[m * stride + j], factors[j]);
      out[j] = static_cast<int16_t>(ClampTo(value, {-32768, 32767}));
    }
  }
}

void RunRowsOf(const RunContext& context, const QuantizedMatMulState& s, const uint8_t* packed,
               int64_t batch, int64_t first) {
  const IntegerGemm& gemm = *context.cpu->integer->int16;
  int64_t a = 0, b = 0;
  MatricesOf(s, batch, &a, &b);
  const int64_t row = a * s.m + first, at = (batch * s.m + first) * s.n;
  IntegerTask task;
  task.a = context.scratch + s.rows_offset + static_cast<size_t>(row * s.k) * sizeof(int16_t);
  task.lda = s.k * 2;
  task.run_k = s.k;
  task.m = std::min(kRowsAtOnce, s.m - first);
  task.n = s.n;
  task.panel_end = gemm.n_panels(s.n);
  task.packed = packed + static_cast<size_t>(b) * s.packed_bytes;
  task.ldc = s.n;
  if (s.form == Form::kWideByBytes) {
    task.epilogue = IntegerEpilogue::kWide;
    task.c = context.output_data<int16_t>(0) + at;
    task.finish = FinishWideRows;
    task.finish_data = s.factors.data();
  } else if (s.form == Form::kSums) {
    task.epilogue = IntegerEpilogue::kSums;
    task.c = context.output_data<int32_t>(0) + at;
  } else if (s.form == Form::kDynamicRange) {
    task.epilogue = IntegerEpilogue::kFloat;
    task.c = context.output_data<float>(0) + at;
    task.scale = s.scales.data();
    task.row_scale = reinterpret_cast<const float*>(context.scratch + s.row_scales_offset) + row;
    task.row_step = 1;
    task.lo = -__builtin_inff();
    task.hi = __builtin_inff();
  } else {
    task.c = context.output_data<int8_t>(0) + at;
    const bool small = s.requantizer.has_small_factors() && s.k <= 4096;  // products within ±2^28
    s.requantizer.EndTask(0, small, &task);
    task.bias = s.no_bias.data();
  }
  gemm.run(task);
}

Status RunInt16(const RunContext& context, const QuantizedMatMulState& s) {
  const int64_t b_step = context.params->adj_y ? 1 : s.n;
  ParallelRows(context.pool, s.batches * s.m, s.n * s.k, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t a = 0, b = 0, step = 1;
      MatricesOf(s, row / s.m, &a, &b);
      const int16_t* left = RowOf<int16_t>(context, s, a, row % s.m, &step);
      const int16_t* matrix = context.input_data<int16_t>(1) + b * s.n * s.k;
      int16_t* out = context.output_data<int16_t>(0) + row * s.n;
      for (int64_t j = 0; j < s.n; ++j) {
        const int16_t* right = matrix + (context.params->adj_y ? j * s.k : j);
        int64_t sum = 0;
        for (int64_t i = 0; i < s.k; ++i) {
          sum += static_cast<int32_t>(left[i * step]) * right[i * b_step];
        }
        out[j] = static_cast<int16_t>(
            ClampTo(MultiplyByFactor64(sum, s.factors[static_cast<size_t>(j)]), {-32768, 32767}));
      }
    }
  });
  return Status::Ok();
}

Form FormOf(const PrepareContext& context) {
  switch (context.input(0)->dtype) {
    case DType::kFloat32:
      return Form::kDynamicRange;
    case DType::kInt16:
      return context.input(1)->dtype == DType::kInt8 ? Form::kWideByBytes : Form::kWide;
    default:
      return context.output(0).dtype == DType::kInt32 ? Form::kSums : Form::kBytes;
  }
}

// The right side's zero point and its scale of every column, `padded` of them. (LiteRT reads a
// scale a column with float data only, else 0, and all its answers are 0; here the file's scales
// hold.)
Status ReadRight(const PrepareContext& context, int64_t padded, QuantizedMatMulState* s) {
  const TensorView& right = *context.input(1);
  const Quantization* q = right.quantization;
  if (q == nullptr || q->scales.size() <= 1) {
    TW_RETURN_IF_ERROR(ReadInputQuant(context, 1, &s->right));
    s->scales.assign(static_cast<size_t>(padded), s->right.scale);
    if (s->form != Form::kDynamicRange || s->right.zero_point == 0) return Status::Ok();
    return context.Unsupported("{} has zero point {}; none is defined with float data",
                               context.InputName(1), s->right.zero_point);
  }
  const int axis = right.shape.rank() - (context.params().adj_y ? 2 : 1);
  const bool zero = std::all_of(q->zero_points.begin(), q->zero_points.end(),
                                [](int64_t zero_point) { return zero_point == 0; });
  if (q->axis != axis || static_cast<int64_t>(q->scales.size()) != s->n || !zero) {
    return context.Unsupported(
        "{} has {} scales along axis {}{}; supported here: one, or {} along axis {} without "
        "zero points",
        context.InputName(1), q->scales.size(), q->axis, zero ? "" : " and zero points", s->n,
        axis);
  }
  s->scales.assign(q->scales.begin(), q->scales.end());
  s->scales.resize(static_cast<size_t>(padded), q->scales[0]);
  return Status::Ok();
}

// The factor of every column from products to the output.
Status ReadFactors(const PrepareContext& context, QuantizedMatMulState* s) {
  QuantOne out;
  TW_RETURN_IF_ERROR(ReadInputQuant(context, 0, &s->left));
  TW_RETURN_IF_ERROR(ReadOutputQuant(context, 0, &out));
  if (context.input(0)->dtype == DType::kInt16 && s->right.zero_point != 0) {
    return context.Invalid("{} has zero point {}; with int16 data it must be 0",
                           context.InputName(1), s->right.zero_point);
  }
  for (const float scale : s->scales) {
    // TFLite takes the product of the scales in single precision.
    const double product = static_cast<double>(s->left.scale * scale);
    s->factors.push_back(MakeFixedFactor(std::min(product / static_cast<double>(out.scale), 1e30)));
  }
  return Status::Ok();
}

}  // namespace

Status PrepareBatchMatMulQuantized(PrepareContext* context, const BatchMatMulShape& shape) {
  QuantizedMatMulState* s = context->NewState<QuantizedMatMulState>();
  static_cast<BatchMatMulShape&>(*s) = shape;
  s->form = FormOf(*context);
  const int64_t padded = (s->n + kColumnPad - 1) / kColumnPad * kColumnPad;
  if (s->form != Form::kSums) TW_RETURN_IF_ERROR(ReadRight(*context, padded, s));
  if (s->form != Form::kSums && s->form != Form::kDynamicRange) {
    TW_RETURN_IF_ERROR(ReadFactors(*context, s));
  }
  if (s->form == Form::kWide) {
    context->SetVariant("int16 loops");
    return Status::Ok();
  }
  if (s->form == Form::kBytes) {
    s->requantizer.PlanBytes(context->output(0), s->factors);
    s->no_bias.assign(static_cast<size_t>(padded), 0);
  }
  ScratchLayout scratch;
  TW_RETURN_IF_ERROR(PlanRight(context, &scratch, s));
  const int64_t rows = s->a_matrices * s->m;
  int64_t values = 0;
  if (MulOverflow(rows, s->k, &values)) values = -1;  // Request refuses it
  const int64_t quantized = s->form == Form::kDynamicRange ? s->k : 0;
  s->rows_offset = scratch.AddSized(values, 2);
  s->row_scales_offset = scratch.Add(rows);
  s->row_offset = scratch.AddSized(quantized, 5, context->max_threads());
  s->row_block = ScratchLayout::SizedBlock(quantized, 5);
  context->SetVariant(s->form == Form::kDynamicRange  ? "dynamic range gemm batched"
                      : s->form == Form::kWideByBytes ? "int16x8 gemm batched"
                                                      : "int8 gemm batched");
  return scratch.Request(context);
}

Status RunBatchMatMulQuantized(const RunContext& context) {
  const QuantizedMatMulState& s = context.get_state<QuantizedMatMulState>();
  if (context.out(0).shape.NumElements() == 0) return Status::Ok();
  if (s.form == Form::kWide) return RunInt16(context, s);
  const uint8_t* packed = s.packed;
  if (packed == nullptr) {
    uint8_t* to = context.scratch + s.packed_offset;
    context.pool->ParallelFor(s.b_matrices, [&](int64_t index, int thread) {
      int8_t* turned = reinterpret_cast<int8_t*>(context.scratch + s.turned_offset +
                                                 static_cast<size_t>(thread) * s.turned_block);
      PackMatrix(*context.cpu->integer->int16, s, context.params->adj_y,
                 context.input_data<int8_t>(1), index, turned, to);
    });
    packed = to;
  }
  int16_t* rows = reinterpret_cast<int16_t*>(context.scratch + s.rows_offset);
  float* scales = reinterpret_cast<float*>(context.scratch + s.row_scales_offset);
  context.pool->ParallelFor(s.a_matrices * s.m, [&](int64_t row, int thread) {
    uint8_t* space = context.scratch + s.row_offset + static_cast<size_t>(thread) * s.row_block;
    if (s.form == Form::kDynamicRange) {
      scales[row] = FillFloatRow(context, s, row, space, rows + row * s.k);
    } else if (s.form == Form::kWideByBytes) {
      FillIntegerRow<int16_t>(context, s, row, rows + row * s.k);
    } else {
      FillIntegerRow<int8_t>(context, s, row, rows + row * s.k);
    }
  });
  const int64_t blocks = (s.m + kRowsAtOnce - 1) / kRowsAtOnce;
  context.pool->ParallelFor(s.batches * blocks, [&](int64_t index, int) {
    RunRowsOf(context, s, packed, index / blocks, index % blocks * kRowsAtOnce);
  });
  return Status::Ok();
}

}  // namespace topwork
