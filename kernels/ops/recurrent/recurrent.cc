// Products and checks of recurrent operators (see recurrent.h).
#include "kernels/ops/recurrent/recurrent.h"

#include <algorithm>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/dynamic_range.h"
#include "kernels/ops/shared/quant.h"

namespace topwork {
namespace {

constexpr int64_t kTaskWork = int64_t{1} << 22;
constexpr int64_t kOutputWork = 64;  // of its requantization
constexpr int64_t kRowBlockBytes = int64_t{1} << 16;

IntegerWeights WeightsOf(const CellMatrix& matrix, const uint8_t* data) {
  IntegerWeights weights;
  weights.data = data;
  weights.n = matrix.n;
  weights.run_k = matrix.k;
  weights.flip = matrix.flip;
  weights.zero_point = matrix.zero_point;
  return weights;
}

Status PlanBytes(PrepareContext* context, ScratchLayout* scratch, CellMatrix* out) {
  const IntegerKernels& kernels = *context->cpu().integer;
  const bool wide = out->arithmetic == CellArithmetic::kWide;
  out->gemm = kernels.bytes != nullptr && !wide ? kernels.bytes : kernels.int16;
  const std::string name = context->InputName(out->input);
  const TensorView& view = *context->input(out->input);
  const Quantization* q = view.quantization;
  if (q == nullptr || q->scales.size() != 1 || !(q->scales[0] > 0.0f)) {
    return context->Invalid("{} needs exactly one scale above 0", name);
  }
  const int64_t padded = (out->n + kColumnPad - 1) / kColumnPad * kColumnPad;
  out->scales.assign(static_cast<size_t>(padded), q->scales[0]);
  int64_t words = 0;
  if (MulOverflow(out->k + 4, out->n + out->gemm->max_columns, &words) ||
      words > static_cast<int64_t>(kMostBytes / sizeof(int32_t))) {
    return OutOfMemory("{}: {} is too large to pack", context->Where(), name);
  }
  const size_t bytes = out->gemm->packed_bytes(out->n, 1, out->k);
  if (view.data == nullptr) {
    out->packed_offset = scratch->AddSized(static_cast<int64_t>(bytes), 1);
    return Status::Ok();
  }
  const std::string tag = StrFormat("{} cell {}", out->gemm->tag, out->zero_point);
  const auto pack = [&](void* to) {
    out->gemm->pack(WeightsOf(*out, view.as<const uint8_t>()), 0, out->gemm->n_panels(out->n), to);
  };
  TW_ASSIGN_OR_RETURN(out->packed,
                      context->PackConstant(out->input, tag.c_str(), bytes, true, pack));
  return Status::Ok();
}

}  // namespace

Sequence SequenceOf(const PrepareContext& context, int i, bool time_major) {
  const Shape& shape = context.input(i)->shape;
  Sequence s;
  s.depth = shape.back();
  if (shape.rank() == 2) {
    s.batch = shape[0];
    s.time = 1;
    s.time_major = true;
    return s;
  }
  s.time_major = time_major;
  s.time = shape[time_major ? 0 : 1];
  s.batch = shape[time_major ? 1 : 0];
  return s;
}

Status CheckCellShape(const PrepareContext& context, int i, const Shape& shape, bool optional) {
  const TensorView* view = context.input(i);
  if (view == nullptr) {
    if (optional) return Status::Ok();
    return InvalidModel("{} lacks its input {}, which is not optional here", context.Where(), i);
  }
  if (view->shape == shape) return Status::Ok();
  return context.Invalid("{} has shape {}, {} expected", context.InputName(i),
                         view->shape.ToString(), shape.ToString());
}

Status CheckAuxiliary(const PrepareContext& context, int aux, const int (&weights)[2]) {
  const TensorView* view = context.input(aux);
  const bool has_weights = context.input(weights[0]) != nullptr;
  const bool has_other = context.input(weights[1]) != nullptr;
  if (view == nullptr) {
    if (!has_weights && !has_other) return Status::Ok();
    return InvalidModel("{} has auxiliary weights but no auxiliary input {}", context.Where(), aux);
  }
  if (has_weights != has_other) {
    return InvalidModel("{} has auxiliary weights for one direction only", context.Where());
  }
  TW_RETURN_IF_ERROR(context.CheckDType(aux, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckRank(aux, 3, 3));
  Shape wanted = context.input(0)->shape;
  if (has_weights) wanted.set_dim(2, view->shape[2]);
  return CheckCellShape(context, aux, wanted);
}

Status CheckState(const PrepareContext& context, int i, DType dtype, int64_t n) {
  const TensorView* view = context.input(i);
  if (view == nullptr) {
    return InvalidModel("{} lacks its input {}, the state, which is not optional", context.Where(),
                        i);
  }
  if (!context.is_variable(i)) {
    return context.Invalid("{} is the state and must be a variable (is_variable in the file)",
                           context.InputName(i));
  }
  TW_RETURN_IF_ERROR(context.CheckDType(i, {dtype}));
  if (view->shape.NumElements() == n) return Status::Ok();
  return context.Invalid("{} has shape {}, {} elements expected (of every batch its own)",
                         context.InputName(i), view->shape.ToString(), n);
}

Status PlanCellMatrix(PrepareContext* context, int input, CellArithmetic arithmetic,
                      ScratchLayout* scratch, CellMatrix* out) {
  const Shape& shape = context->input(input)->shape;
  out->input = input;
  out->arithmetic = arithmetic;
  out->n = shape[0];
  out->k = shape[1];
  if (arithmetic != CellArithmetic::kFloat) {
    TW_RETURN_IF_ERROR(context->CheckDType(input, {DType::kInt8, DType::kUInt8}));
    return PlanBytes(context, scratch, out);
  }
  TW_RETURN_IF_ERROR(context->CheckDType(input, {DType::kFloat32}));
  GemmWeights layout;
  layout.n = out->n;
  layout.k = layout.depth[2] = layout.stride_n = out->k;
  return PlanPackedWeights(context, *context->cpu().gemm, input, layout, 1, 0, scratch,
                           &out->floats);
}

void BeginCellMatrix(const RunContext& context, const CellMatrix& matrix) {
  if (!matrix.present()) return;
  if (matrix.arithmetic == CellArithmetic::kFloat) {
    GetPackedWeights(matrix.floats, context, matrix.input);
  } else if (matrix.packed == nullptr) {
    matrix.gemm->pack(WeightsOf(matrix, context.input_data<uint8_t>(matrix.input)), 0,
                      matrix.gemm->n_panels(matrix.n), context.scratch + matrix.packed_offset);
  }
}

void PlanCellRows(const PrepareContext& context, CellArithmetic arithmetic, int64_t m, int64_t k,
                  ScratchLayout* scratch, CellRowsPlan* out) {
  out->k = k;
  if (arithmetic == CellArithmetic::kFloat) return;
  out->bytes_offset = scratch->AddSized(m * k, 1);
  out->wide_offset = scratch->AddSized(context.cpu().integer->bytes != nullptr ? 0 : m * k, 2);
  out->scales_offset = scratch->Add(m);
  out->zeros_offset = scratch->Add(m);
}

CellRows MakeCellRows(const RunContext& context, const CellRowsPlan& plan,
                      CellArithmetic arithmetic, const float* x, int64_t m, int64_t stride) {
  CellRows rows;
  rows.m = m;
  rows.floats = x;
  rows.stride = stride;
  if (arithmetic == CellArithmetic::kFloat) return rows;
  const IntegerKernels& kernels = *context.cpu->integer;
  const bool bytes = kernels.bytes != nullptr;
  const int32_t shift = bytes && kernels.flip_int8 != 0 ? 128 : 0;
  int8_t* values = reinterpret_cast<int8_t*>(context.scratch + plan.bytes_offset);
  int16_t* wide = reinterpret_cast<int16_t*>(context.scratch + plan.wide_offset);
  float* scales = reinterpret_cast<float*>(context.scratch + plan.scales_offset);
  int32_t* zeros = reinterpret_cast<int32_t*>(context.scratch + plan.zeros_offset);
  for (int64_t r = 0; r < m; ++r) {
    int8_t* row = values + r * plan.k;
    const DynamicScale q = QuantizeRow(context, x + r * stride, plan.k,
                                       !context.params->asymmetric_quantize_inputs, row);
    scales[r] = q.scale;
    zeros[r] = q.zero_point + shift;
    if (bytes) continue;
    kernels.widen(reinterpret_cast<const uint8_t*>(row), plan.k, false, q.zero_point,
                  wide + r * plan.k);
  }
  rows.values =
      bytes ? reinterpret_cast<const uint8_t*>(values) : reinterpret_cast<const uint8_t*>(wide);
  rows.scales = scales;
  rows.zeros = zeros;
  return rows;
}

namespace {

void MultiplyFloats(const RunContext& context, const CellMatrix& matrix, const CellRows& rows,
                    const float* bias, bool add, float* c, int64_t ldc) {
  const GemmKernels& kernels = *context.cpu->gemm;
  GemmTask task;
  task.a = rows.floats;
  task.lda = rows.stride;
  task.packed = matrix.floats.constant != nullptr
                    ? matrix.floats.constant
                    : reinterpret_cast<float*>(context.scratch + matrix.floats.scratch_offset);
  task.bias = bias;
  task.residual = add ? c : nullptr;
  task.c = c;
  task.ldc = task.ldr = ldc;
  task.m = rows.m;
  task.n = matrix.n;
  task.k = matrix.k;
  ActivationRange(Activation::kNone, &task.lo, &task.hi);
  RunGemm(context.pool, kernels, task, CutGemm(kernels, task.m, task.n, task.k, false));
}

void RunBytes(const RunContext& context, const IntegerGemm& gemm, const IntegerTask& whole,
              size_t size) {
  const GemmCut cut =
      CutProduct({gemm.rows, gemm.n_panels(whole.n), kRowBlockBytes, kTaskWork, kOutputWork},
                 whole.m, whole.n, whole.run_k, false);
  context.pool->ParallelFor(cut.n_tasks(), [&](int64_t index, int) {
    int64_t first = 0;
    IntegerTask task = whole;
    task.m = cut.RowsOf(index, whole.m, &first);
    task.a += first * whole.lda;
    task.c = static_cast<uint8_t*>(whole.c) + first * whole.ldc * static_cast<int64_t>(size);
    if (whole.addend != nullptr) task.addend = whole.addend + first * whole.ldc;
    if (whole.row_scale != nullptr) task.row_scale += first;
    if (whole.row_zero != nullptr) task.row_zero += first;
    task.panel_begin = index % cut.panel_blocks * cut.panels;
    task.panel_end = std::min(task.panel_begin + cut.panels, gemm.n_panels(whole.n));
    gemm.run(task);
  });
}

IntegerTask BytesTask(const RunContext& context, const CellMatrix& matrix) {
  IntegerTask task;
  task.run_k = matrix.k;
  task.n = matrix.n;
  task.packed = matrix.packed != nullptr ? matrix.packed : context.scratch + matrix.packed_offset;
  task.flip = matrix.gemm->bytes ? context.cpu->integer->flip_int8 : 0;
  task.lda = matrix.k * (matrix.gemm->bytes ? 1 : 2);
  return task;
}

}  // namespace

void MultiplyCell(const RunContext& context, const CellMatrix& matrix, const CellRows& rows,
                  const float* bias, bool add, float* c, int64_t ldc) {
  if (matrix.arithmetic == CellArithmetic::kFloat) {
    MultiplyFloats(context, matrix, rows, bias, add, c, ldc);
    return;
  }
  IntegerTask task = BytesTask(context, matrix);
  task.epilogue = IntegerEpilogue::kFloat;
  task.a = rows.values;
  task.m = rows.m;
  task.c = c;
  task.ldc = ldc;
  task.addend = add ? c : nullptr;
  task.scale = matrix.scales.data();
  task.float_bias = bias;
  task.row_scale = rows.scales;
  task.row_zero = matrix.gemm->bytes ? rows.zeros : nullptr;
  task.row_step = 1;
  ActivationRange(Activation::kNone, &task.lo, &task.hi);
  RunBytes(context, *matrix.gemm, task, sizeof(float));
}

void MultiplyValues(const RunContext& context, const CellMatrix& matrix, const uint8_t* values,
                    int64_t m, int32_t* c) {
  IntegerTask task = BytesTask(context, matrix);
  task.epilogue = IntegerEpilogue::kSums;
  task.a = values;
  task.m = m;
  task.c = c;
  task.ldc = matrix.n;
  RunBytes(context, *matrix.gemm, task, sizeof(int32_t));
}

void ApplyCellActivation(const RunContext& context, Activation activation, float* x, int64_t n) {
  UnaryFn fn = UnaryFn::kTanh;
  switch (activation) {
    case Activation::kRelu:
      fn = UnaryFn::kRelu;
      break;
    case Activation::kReluN1To1:
      fn = UnaryFn::kReluN1To1;
      break;
    case Activation::kRelu6:
      fn = UnaryFn::kRelu6;
      break;
    case Activation::kTanh:
      break;
    default:
      return;
  }
  context.cpu->elementwise->unary[static_cast<int>(fn)](x, x, n, 0.0f);
}

}  // namespace topwork
