// BATCH_MATMUL: [..., m, k] by [..., k, n] with broadcast leading dimensions; adj_x and adj_y
// transpose the last two.
//
// The right side is packed (once, when it is constant). A left side that is transposed is turned
// block by block in per-thread scratch. One right matrix for all of an untransposed left side is a
// single product with the batches' rows stacked.
#include "kernels/ops/products/batch_matmul.h"

#include <algorithm>

#include "kernels/contract/kernel.h"
#include "kernels/ops/products/product_gpu.h"
#include "kernels/ops/shared/gemm_plan.h"

namespace topwork {
namespace {

struct BatchMatMulState : OpState, BatchMatMulShape {
  PackedWeights weights;
  GemmCut cut;
  GemmWork work;
  size_t rows_offset = 0;  // scratch: one block of turned rows per thread
};

Status Parse(const OptionsView& options, OpParams* params) {
  params->adj_x = options.Bool(0, false);
  params->adj_y = options.Bool(1, false);
  params->asymmetric_quantize_inputs = options.Bool(2, false);
  return Status::Ok();
}

// The output's leading dimensions; fills dims and steps.
Status Broadcast(const PrepareContext& context, const Shape& a, const Shape& b,
                 BatchMatMulShape* state, Shape* out) {
  const int rank = std::max(a.rank(), b.rank());
  state->rank = rank - 2;
  int64_t a_step = 1, b_step = 1;
  *out = Shape();
  for (int i = 0; i < rank; ++i) out->Append(0);
  for (int i = rank - 3; i >= 0; --i) {
    const int32_t da = a.BroadcastDim(i, rank), db = b.BroadcastDim(i, rank);
    if (da != db && da != 1 && db != 1) {
      return context.Invalid("shapes {} and {} cannot be broadcast together", a.ToString(),
                             b.ToString());
    }
    out->set_dim(i, da == 1 ? db : da);
    state->dims[i] = (*out)[i];
    state->a_steps[i] = da == 1 ? 0 : a_step;
    state->b_steps[i] = db == 1 ? 0 : b_step;
    a_step *= da;
    b_step *= db;
    state->batches *= (*out)[i];
  }
  out->set_dim(rank - 2, static_cast<int32_t>(state->m));
  out->set_dim(rank - 1, static_cast<int32_t>(state->n));
  return Status::Ok();
}

Status PlanProduct(PrepareContext* context, BatchMatMulState* state, int64_t b_matrices) {
  ScratchLayout scratch;
  GemmWeights layout;
  layout.n = state->n;
  layout.k = layout.depth[2] = state->k;
  layout.stride_n = context->params().adj_y ? state->k : 1;
  layout.stride_k[2] = context->params().adj_y ? 1 : state->n;
  const GemmKernels& kernels = ProductsOf(*context);
  TW_RETURN_IF_ERROR(PlanPackedWeights(context, kernels, 1, layout, b_matrices, state->n * state->k,
                                       &scratch, &state->weights));
  const bool stacked = b_matrices == 1 && !state->transpose_a;
  if (stacked) {
    state->m *= state->batches;
    state->batches = 1;
    state->rank = 0;
  }
  state->cut = CutGemm(kernels, state->m, state->n, state->k, state->transpose_a);
  state->work = PlanGemmWork(*context, kernels, state->cut.most_rows, state->k, &scratch);
  if (state->transpose_a) {
    int64_t block = 0;
    if (MulOverflow(state->cut.most_rows, state->k, &block)) block = -1;  // Request refuses it
    state->rows_offset = scratch.Add(block, context->max_threads());
  }
  context->SetTasks(state->batches * state->cut.n_tasks());
  context->SetVariant(stacked ? "gemm" : "gemm batched");
  return scratch.Request(context);
}

Status CheckTypes(const PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt8, DType::kInt16}));
  switch (context.input(0)->dtype) {
    case DType::kInt8:
      TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt8}));
      break;
    case DType::kInt16:
      TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt16, DType::kInt8}));
      break;
    default:
      TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kFloat32, DType::kInt8}));
  }
  TW_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  return context.CheckRank(1, 2, kMaxRank);
}

Status Prepare(PrepareContext& context) {
  const OpParams& params = context.params();
  TW_RETURN_IF_ERROR(CheckTypes(context));
  const Shape& a = context.input(0)->shape;
  const Shape& b = context.input(1)->shape;
  BatchMatMulShape shape;
  shape.transpose_a = params.adj_x;
  shape.m = a[a.rank() - (params.adj_x ? 1 : 2)];
  shape.k = a[a.rank() - (params.adj_x ? 2 : 1)];
  shape.n = b[b.rank() - (params.adj_y ? 2 : 1)];
  if (b[b.rank() - (params.adj_y ? 1 : 2)] != shape.k) {
    return context.Invalid("shapes {}{} and {}{} do not agree in the dimension that is summed over",
                           a.ToString(), params.adj_x ? " (adjoint)" : "", b.ToString(),
                           params.adj_y ? " (adjoint)" : "");
  }
  Shape out;
  TW_RETURN_IF_ERROR(Broadcast(context, a, b, &shape, &out));
  shape.a_matrices = a.Product(0, a.rank() - 2);
  shape.b_matrices = b.Product(0, b.rank() - 2);
  const bool sums =
      context.input(0)->dtype == DType::kInt8 && context.output(0).dtype == DType::kInt32;
  TW_RETURN_IF_ERROR(context.SetOutput(0, sums ? DType::kInt32 : context.input(0)->dtype, out));
  if (kHasQuantized && context.input(1)->dtype != DType::kFloat32) {
    return PrepareBatchMatMulQuantized(&context, shape);
  }
  BatchMatMulState* state = context.NewState<BatchMatMulState>();
  static_cast<BatchMatMulShape&>(*state) = shape;
  return PlanProduct(&context, state, shape.b_matrices);
}

// rows x k of the transpose of a [k x m] matrix, from its column `first`.
void TurnRows(const float* a, int64_t m, int64_t k, int64_t first, int64_t rows, float* to) {
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t r = 0; r < rows; ++r) to[r * k + i] = a[i * m + first + r];
  }
}

Status Run(const RunContext& context) {
  if (kHasQuantized && context.in(1).dtype != DType::kFloat32)
    return RunBatchMatMulQuantized(context);
  const BatchMatMulState& s = context.get_state<BatchMatMulState>();
  if (context.out(0).shape.NumElements() == 0) return Status::Ok();
  const float* a = context.input_data<float>(0);
  const float* packed = GetPackedWeights(s.weights, context, 1);
  GemmTask whole;
  whole.c = context.output_data<float>(0);
  whole.lda = s.k;
  whole.ldc = s.n;
  whole.m = s.m;
  whole.n = s.n;
  whole.k = s.k;
  whole.lo = -__builtin_inff();
  whole.hi = __builtin_inff();
  const size_t block = ScratchLayout::BlockBytes(s.cut.most_rows * s.k);
  const int64_t per_batch = s.cut.n_tasks();
  context.pool->ParallelFor(s.batches * per_batch, [&](int64_t index, int thread) {
    const int64_t batch = index / per_batch;
    int64_t a_matrix = 0, b_matrix = 0, first_row = 0;
    MatricesOf(s, batch, &a_matrix, &b_matrix);
    GemmTask task = TaskOf(whole, s.cut, index % per_batch, &first_row);
    const float* matrix = a + a_matrix * s.m * s.k;
    if (s.transpose_a) {
      float* rows = reinterpret_cast<float*>(context.scratch + s.rows_offset +
                                             static_cast<size_t>(thread) * block);
      TurnRows(matrix, s.m, s.k, first_row, task.m, rows);
      task.a = rows;
    } else {
      task.a = matrix + first_row * s.k;
    }
    task.packed = packed + b_matrix * s.weights.packed_size;
    task.c += batch * s.m * s.n;
    task.work = s.work.Of(context, thread);
    s.weights.kernels->run(task);
  });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kBatchMatmul)
        .Versions(4)
        .Types({DType::kFloat32, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kBatchMatMul, Parse)
        .Cpu(Prepare, Run)
        .Gpu(PlanBatchMatMul)
        .Int8(IntegerForm::kOwn, 2)
        .ReadsFloat16()
        .WidensHalf()
        .Work(WorkRule::kMatMul)
        .Head(HeadRole::kMatMul)
        .Inputs(2),
};

Span<const OpDef> BatchMatmulOps() { return Selected<kOps>(); }

}  // namespace topwork
