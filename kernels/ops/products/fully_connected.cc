// FULLY_CONNECTED: [batch x depth] by weights [units x depth], weights packed once.
//
// The input is flattened to rows of `depth` values whatever its rank; with keep_num_dims the output
// keeps the input's leading dimensions. A batch of one streams each packed weight once.
#include "kernels/ops/products/fully_connected.h"

#include "kernels/contract/cpu_kernels.h"
#include "kernels/contract/kernel.h"
#include "kernels/ops/products/product_gpu.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/gemm_sparse.h"
#include "kernels/ops/shared/weighted.h"
#include "kernels/train/gradients.h"

namespace topwork {
namespace {

struct FullyConnectedState : OpState, FullyConnectedShape {
  SparseWeights sparse;
  PackedWeights weights;  // where there are no sparse ones
  GemmCut cut;
  GemmWork work;
  float lo = 0.0f, hi = 0.0f;
};

Status Parse(const OptionsView& options, OpParams* params) {
  const int8_t format = options.Byte(1, 0);
  if (format != 0 && format != 1) {
    return InvalidModel("weights_format {} does not exist (0 DEFAULT, 1 SHUFFLED4x16INT8)", format);
  }
  params->weights_format = static_cast<uint8_t>(format);
  params->keep_dims = options.Bool(2, false);
  params->asymmetric_quantize_inputs = options.Bool(3, false);
  return ParseActivation(options.Byte(0, 0), &params->activation);
}

Status OutputShape(const PrepareContext& context, const FullyConnectedShape& state, Shape* out) {
  const Shape& in = context.input(0)->shape;
  if (!context.params().keep_dims) {
    *out = Shape{0, static_cast<int32_t>(state.units)};
    if (state.batch > INT32_MAX) {
      return context.Invalid("{} rows are too many", state.batch);
    }
    out->set_dim(0, static_cast<int32_t>(state.batch));
    return Status::Ok();
  }
  if (in.rank() == 0 || in.back() != state.depth) {
    return context.Invalid(
        "{} has shape {}, whose last dimension must be the {} columns of the "
        "weights (keep_num_dims is set)",
        context.InputName(0), in.ToString(), state.depth);
  }
  *out = in;
  out->set_dim(in.rank() - 1, static_cast<int32_t>(state.units));
  return Status::Ok();
}

// Rows and columns of inputs 0 and 1, and the output's shape.
Status CheckShapes(const PrepareContext& context, FullyConnectedShape* shape, Shape* out) {
  TW_RETURN_IF_ERROR(context.CheckRank(1, 2, 2));
  const Shape& in = context.input(0)->shape;
  const Shape& weights = context.input(1)->shape;
  if (weights[0] < 1 || weights[1] < 1) {
    return context.Invalid("{} has shape {}, no dimension may be 0", context.InputName(1),
                           weights.ToString());
  }
  shape->units = weights[0];
  shape->depth = weights[1];
  if (in.NumElements() % shape->depth != 0) {
    return context.Invalid(
        "the {} elements of {} (shape {}) do not divide into rows of {}, the columns of {}",
        in.NumElements(), context.InputName(0), in.ToString(), shape->depth, context.InputName(1));
  }
  shape->batch = in.NumElements() / shape->depth;
  TW_RETURN_IF_ERROR(CheckBias(context, 2, shape->units));
  return OutputShape(context, *shape, out);
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, context.params().fused_residual ? 4 : 3));
  FullyConnectedShape shape;
  Shape out;
  if (context.n_outputs() > 0 &&
      IsRareFullyConnected(context.params(), context.input(0)->dtype, context.input(1)->dtype,
                           context.output(0).dtype)) {
    TW_RETURN_IF_ERROR(CheckShapes(context, &shape, &out));
    return PrepareRareFullyConnected(&context, shape, out);
  }
  Arithmetic arithmetic;
  TW_RETURN_IF_ERROR(CheckArithmetic(context, 0, &arithmetic, true));
  if (arithmetic == Arithmetic::kFloat) TW_RETURN_IF_ERROR(CheckWeightedInputs(context));
  TW_RETURN_IF_ERROR(CheckShapes(context, &shape, &out));
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, out));
  if (kHasQuantized && arithmetic != Arithmetic::kFloat) {
    return PrepareQuantizedFullyConnected(&context, shape, arithmetic);
  }
  TW_RETURN_IF_ERROR(CheckResidual(&context, out));

  FullyConnectedState* state = context.NewState<FullyConnectedState>();
  static_cast<FullyConnectedShape&>(*state) = shape;
  ScratchLayout scratch;
  GemmWeights layout;
  layout.n = state->units;
  layout.k = layout.depth[2] = state->depth;
  layout.stride_n = state->depth;
  TW_RETURN_IF_ERROR(PlanSparseWeights(&context, 1, layout, &state->sparse));
  const bool is_sparse = kHasSparse && state->sparse.present();
  if (is_sparse) {
    state->cut = CutSparseGemm(context.cpu(), state->batch, state->units, state->depth);
  } else {
    const GemmKernels& kernels = ProductsOf(context);
    TW_RETURN_IF_ERROR(PlanPackedWeights(&context, kernels, 1, layout, 1, 0, &scratch,
                                         &state->weights, state->batch));
    state->cut = CutGemm(kernels, state->batch, state->units, state->depth, false);
    state->work = PlanGemmWork(context, kernels, state->cut.most_rows, state->depth, &scratch);
  }
  ActivationRange(context.params().activation, &state->lo, &state->hi);
  context.SetTasks(state->cut.n_tasks());
  context.SetVariant(is_sparse ? "gemm sparse" : state->batch == 1 ? "gemv" : "gemm");
  return scratch.Request(&context);
}

Status Run(const RunContext& context) {
  if (IsSelected(DType::kInt16) &&
      IsRareFullyConnected(*context.params, context.in(0).dtype, context.in(1).dtype,
                           context.out(0).dtype)) {
    return RunRareFullyConnected(context);
  }
  if (kHasQuantized && context.in(1).dtype != DType::kFloat32)
    return RunQuantizedFullyConnected(context);
  const FullyConnectedState& state = context.get_state<FullyConnectedState>();
  if (state.batch == 0) return Status::Ok();
  GemmTask task;
  task.a = context.input_data<float>(0);
  task.lda = state.depth;
  task.bias = context.input_data<float>(2);
  task.residual = context.input_data<float>(3);
  task.c = context.output_data<float>(0);
  task.ldc = task.ldr = state.units;
  task.m = state.batch;
  task.n = state.units;
  task.k = state.depth;
  task.lo = state.lo;
  task.hi = state.hi;
  if (kHasSparse && state.sparse.present()) {
    RunSparseGemm(context.pool, *context.cpu, task, state.sparse, state.cut);
  } else {
    const WeightsNow weights = GetWeights(state.weights, context, 1);
    task.packed = weights.data;
    RunGemm(context, *weights.kernels, task, state.cut, state.work);
  }
  ApplyFusedTanh(context);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kFullyConnected)
        .Versions(14)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kFullyConnected, Parse)
        .Cpu(Prepare, Run)
        .Gpu(PlanFullyConnected)
        .Gradient(kBackwardFullyConnected)
        .Int8(IntegerForm::kWeighted, 4)
        .DynamicRange(12)
        .WidensHalf()
        .PacksHalves()
        .Work(WorkRule::kWeights)
        .Head(HeadRole::kDense)
        .FusesResidual()
        .FusesActivation()
        .Inputs(2),
};

Span<const OpDef> FullyConnectedOps() { return Selected<kOps>(); }

}  // namespace topwork
