// CONV_2D, NHWC by OHWI: a GEMM over output pixels, [pixels x taps] by [taps x channels].
//
// The left matrix A comes in three ways. A 1x1 convolution of stride 1 has its input as A. With
// wide rows and few output channels the taps are read in place (conv_direct.h). Otherwise the taps
// of a block of pixels are gathered into scratch of the thread (im2col, never the whole matrix) and
// multiplied while they are in cache. A grouped convolution is one such product for each group.
// Layers of 3x3, 1x3 or 3x1 taps and many channels are several smaller products instead (conv_winograd.h).
// Bias, the residual that fusion may have added, and the activation are applied to each tile before
// it leaves the registers.
#include "kernels/ops/conv/conv_2d.h"

#include <algorithm>
#include <cstring>

#include "kernels/contract/kernel.h"
#include "kernels/ops/conv/conv_direct.h"
#include "kernels/ops/conv/conv_gpu.h"
#include "kernels/ops/conv/conv_winograd.h"
#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/gemm_sparse.h"
#include "kernels/ops/shared/result_function.h"
#include "kernels/ops/shared/weighted.h"
#include "kernels/ops/shared/window.h"
#include "kernels/train/gradients.h"

namespace topwork {
namespace {

// From which on depths are worth gathering for 16-bit products.
constexpr int64_t kLeastHalfDepth = 64;

enum class Way { kPointwise, kDirect, kGather, kWinograd };

struct ConvState : OpState, ConvShape {
  Way way = Way::kGather;
  SparseWeights sparse;  // kPointwise, without groups
  PackedWeights weights;
  GemmCut cut;            // kPointwise, kGather
  DirectConv direct;      // kDirect
  WinogradConv winograd;  // kWinograd; without `weights`
  GemmWork work;
  size_t patches_offset = 0;  // kGather; scratch: one block of patches per thread
  // kGather: the part of a patch that is multiplied. Filters of spectrograms begin and end with zeros.
  int64_t first_k = 0, run_k = 0;
  float lo = 0.0f, hi = 0.0f;
};

Status Parse(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(ParsePadding(options.Byte(0, 0), &params->padding));
  params->stride_w = options.Int(1, 0);
  params->stride_h = options.Int(2, 0);
  params->dilation_w = options.Int(4, 1);
  params->dilation_h = options.Int(5, 1);
  return ParseActivation(options.Byte(3, 0), &params->activation);
}

int64_t Depth(const ConvShape& shape) {
  return shape.window.h.filter * shape.window.w.filter * shape.group_in;
}

// Whether the taps are read in place. Depths that are multiplied together must not reach from one row of
// the image into the next: long filters of 16-bit products are gathered then, short ones are float32.
bool IsDirect(const PrepareContext& context, const ConvShape& shape) {
  const GemmKernels& products = ProductsOf(context);
  if (products.half != nullptr && shape.in_c % products.depths != 0 &&
      Depth(shape) >= kLeastHalfDepth) {
    return false;
  }
  return shape.groups() == 1 && !shape.window.IsPointwise() &&
         IsDirectConv(shape.window, shape.out_c);
}

const GemmKernels& KernelsOf(const PrepareContext& context, const ConvShape& shape, bool direct) {
  const int64_t run = direct ? shape.in_c : 0, depth = Depth(shape);
  const GemmKernels& products = ProductsOf(context);
  return products.half != nullptr && run % products.depths == 0
             ? products
             : FloatsOf(context.cpu(), depth, run);
}

// Sets first_k and run_k: depths are left out at both ends that are zero in all filters, which are
// known. Filters of float16 leave out what those of float32 would, for 32-bit ARM rounds the products
// of four depths otherwise than those of the last ones.
void LeaveZerosOut(const PrepareContext& context, ConvState* state) {
  const int64_t depth = state->weights.layout.k;
  state->first_k = 0;
  state->run_k = depth;
  GemmWeights filters;
  filters.data = context.input(1)->as<const float>();
  filters.half = context.HalfConstant(1);
  if (kShortLoops || filters.data == nullptr) return;
  if (state->weights.one_row || state->weights.kernels->half != nullptr) return;
  int64_t first = depth, end = 0;
  for (int64_t n = 0, at = 0; n < state->out_c && first + depth - end > 0; ++n, at += depth) {
    int64_t k = 0;
    while (k < first && IsZero(filters, at + k)) ++k;
    first = k;
    k = depth;
    while (k > end && IsZero(filters, at + k - 1)) --k;
    end = k;
  }
  if (first >= end) return;  // all of them are zero
  const int64_t together = state->weights.kernels->depths;
  state->first_k = first / together * together;
  state->run_k = std::min(depth, CeilDiv(end, together) * together) - state->first_k;
}

Status ChooseWay(PrepareContext* context, bool direct, ConvState* state, ScratchLayout* scratch) {
  const int64_t groups = state->weights.groups, depth = state->weights.layout.k;
  const Window& window = state->window;
  if (kHasSparse && state->sparse.present()) {
    state->way = Way::kPointwise;
    context->SetVariant("gemm 1x1 sparse");
    state->cut = CutSparseGemm(context->cpu(), state->batch * window.h.out * window.w.out,
                               state->group_out, depth);
    context->SetTasks(state->cut.n_tasks());
    return Status::Ok();
  }
  const GemmKernels& kernels = *state->weights.kernels;
  if (window.IsPointwise()) {
    state->way = Way::kPointwise;
    context->SetVariant(groups > 1 ? "gemm 1x1 grouped" : "gemm 1x1");
  } else if (direct) {
    state->way = Way::kDirect;
    state->direct.window = window;
    state->direct.batch = state->batch;
    state->direct.in_c = state->in_c;
    state->direct.out_c = state->out_c;
    CutDirectConv(&state->direct);
    state->work = PlanGemmWork(*context, kernels, 1, MostValues(state->direct), scratch);
    context->SetVariant("direct");
    context->SetTasks(DirectConvTasks(state->direct));
    return Status::Ok();
  } else {
    context->SetVariant(groups > 1 ? "im2col grouped" : "im2col");
  }
  const bool gather = state->way == Way::kGather;
  state->cut =
      CutGemm(kernels, state->batch * window.h.out * window.w.out, state->group_out, depth, gather);
  state->work = PlanGemmWork(*context, kernels, state->cut.most_rows, depth, scratch);
  context->SetTasks(groups * state->cut.n_tasks());
  if (gather) {
    LeaveZerosOut(*context, state);
    int64_t block = 0;
    if (MulOverflow(state->cut.most_rows, depth, &block)) block = -1;  // Request refuses it
    state->patches_offset = scratch->Add(block, context->max_threads());
  }
  return Status::Ok();
}

Status PlanProducts(PrepareContext* context, ConvState* state, ScratchLayout* scratch) {
  const Window& window = state->window;
  const bool direct = IsDirect(*context, *state);
  GemmWeights layout;
  layout.n = state->group_out;
  layout.k = layout.depth[2] = Depth(*state);
  layout.stride_n = layout.k;
  const int64_t groups = state->groups();
  if (groups == 1 && window.IsPointwise()) {
    TW_RETURN_IF_ERROR(PlanSparseWeights(context, 1, layout, &state->sparse));
  }
  state->weights.layout = layout;
  if (!(kHasSparse && state->sparse.present())) {
    const int64_t m = direct ? 0 : state->batch * window.h.out * window.w.out;
    TW_RETURN_IF_ERROR(PlanPackedWeights(context, KernelsOf(*context, *state, direct), 1, layout,
                                         groups, layout.n * layout.k, scratch, &state->weights, m));
  }
  return ChooseWay(context, direct, state, scratch);
}

Status Prepare(PrepareContext& context) {
  const OpParams& params = context.params();
  Arithmetic arithmetic;
  TW_RETURN_IF_ERROR(CheckArithmetic(context, 0, &arithmetic));
  if (arithmetic == Arithmetic::kFloat) TW_RETURN_IF_ERROR(CheckWeightedInputs(context));
  ConvShape shape;
  TW_RETURN_IF_ERROR(CheckConvShapes(context, &shape));
  TW_RETURN_IF_ERROR(CheckBias(context, 2, shape.out_c));
  Shape out{context.input(0)->shape[0], static_cast<int32_t>(shape.window.h.out),
            static_cast<int32_t>(shape.window.w.out), static_cast<int32_t>(shape.out_c)};
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, out));
  LayColumnDown(static_cast<double>(shape.window.h.filter * shape.group_in * shape.out_c),
                &shape.window);
  if (kHasQuantized && arithmetic != Arithmetic::kFloat)
    return PrepareQuantizedConv(&context, shape, arithmetic);
  TW_RETURN_IF_ERROR(CheckResidual(&context, out));

  ConvState* state = context.NewState<ConvState>();
  static_cast<ConvShape&>(*state) = shape;
  ActivationRange(params.activation, &state->lo, &state->hi);
  ScratchLayout scratch;
  const WinogradTile tile = kShortLoops ? WinogradTile() : ChooseWinograd(context, shape);
  if (tile.h != 0) {
    state->way = Way::kWinograd;
    TW_RETURN_IF_ERROR(PlanWinograd(&context, shape, tile, &scratch, &state->winograd));
  } else {
    TW_RETURN_IF_ERROR(PlanProducts(&context, state, &scratch));
  }
  return scratch.Request(&context);
}

// Copies n ≥ 1 floats; short runs without a call, in pieces of which the last overlaps.
inline void CopyRun(float* to, const float* from, int64_t n) {
  if (n > 64) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
  } else if (n >= 4) {
    for (int64_t i = 0; i + 4 < n; i += 4) std::memcpy(to + i, from + i, 16);
    std::memcpy(to + n - 4, from + n - 4, 16);
  } else if (n >= 2) {
    std::memcpy(to, from, 8);
    std::memcpy(to + n - 2, from + n - 2, 8);
  } else {
    *to = *from;
  }
}

// One row of the GEMM's A: the taps of output pixel (y, x), in (ky, kx, channel) order.
void GatherPatch(const ConvState& s, const float* image, int64_t y, int64_t x, float* patch) {
  const WindowAxis& h = s.window.h;
  const WindowAxis& w = s.window.w;
  const int64_t c = s.group_in, row = w.filter * c;
  const int64_t y0 = y * h.stride - h.pad, x0 = x * w.stride - w.pad;
  const TapRange tx = ClipTaps(w, x0);
  const bool contiguous = w.dilation == 1 && c == s.in_c;
  for (int64_t ky = 0; ky < h.filter; ++ky, patch += row) {
    const int64_t iy = y0 + ky * h.dilation;
    if (iy < 0 || iy >= h.in || tx.begin == tx.end) {
      std::memset(patch, 0, static_cast<size_t>(row) * sizeof(float));
      continue;
    }
    const float* in = image + (iy * w.in + x0) * s.in_c;
    for (int64_t i = 0; i < tx.begin * c; ++i) patch[i] = 0.0f;
    if (contiguous) {
      CopyRun(patch + tx.begin * c, in + tx.begin * c, (tx.end - tx.begin) * c);
    } else {
      for (int64_t kx = tx.begin; kx < tx.end; ++kx) {
        CopyRun(patch + kx * c, in + kx * w.dilation * s.in_c, c);
      }
    }
    for (int64_t i = tx.end * c; i < row; ++i) patch[i] = 0.0f;
  }
}

void GatherPatches(const ConvState& s, const float* input, int64_t first, int64_t n,
                   float* patches) {
  const int64_t out_h = s.window.h.out, out_w = s.window.w.out;
  const int64_t depth = s.weights.layout.k;
  const int64_t image = s.window.h.in * s.window.w.in * s.in_c;
  int64_t x = first % out_w, y = first / out_w % out_h, b = first / out_w / out_h;
  for (int64_t i = 0; i < n; ++i) {
    GatherPatch(s, input + b * image, y, x, patches + i * depth);
    if (++x == out_w) {
      x = 0;
      if (++y == out_h) {
        y = 0;
        ++b;
      }
    }
  }
}

// The columns of the task's panels have their results.
void EndColumns(const ResultFunction& function, const GemmKernels* kernels, const GemmTask& task,
                int thread) {
  const auto first_column = [&](int64_t panel) {
    return kernels != nullptr ? kernels->first_column(task.n, panel) : panel * kSparseColumns;
  };
  const int64_t begin = first_column(task.panel_begin);
  const int64_t end = std::min(task.n, first_column(task.panel_end));
  function.Apply(thread, {task.c + begin, task.m, end - begin, task.ldc});
}

// The product of all pixels, cut into tasks, for every group.
void RunTasks(const RunContext& context, const ConvState& s, const GemmKernels* kernels,
              const float* input, const GemmTask& whole, const ResultFunction* function) {
  const int64_t groups = s.weights.groups, per_group = s.cut.n_tasks();
  const size_t block = ScratchLayout::BlockBytes(s.cut.most_rows * whole.k);
  context.pool->ParallelFor(groups * per_group, [&](int64_t index, int thread) {
    const int64_t g = index % groups;  // neighbouring tasks share their rows of the input
    int64_t first_row = 0;
    GemmTask task = TaskOf(whole, s.cut, index / groups, &first_row);
    if (task.packed != nullptr) task.packed += g * s.weights.packed_size;
    task.c += g * s.group_out;
    if (task.bias != nullptr) task.bias += g * s.group_out;
    if (task.residual != nullptr) task.residual += g * s.group_out;
    if (s.way == Way::kPointwise) {
      task.a = input + first_row * s.in_c + g * s.group_in;
      task.lda = s.in_c;
    } else {
      float* patches = reinterpret_cast<float*>(context.scratch + s.patches_offset +
                                                static_cast<size_t>(thread) * block);
      GatherPatches(s, input + g * s.group_in, first_row, task.m, patches);
      task.a = patches + s.first_k;
      task.lda = whole.k;
      task.first_k = s.first_k;
      task.run_k = s.run_k;
    }
    if (kHasSparse && s.sparse.present()) {
      context.cpu->sparse_gemm->run(task, s.sparse);
    } else {
      task.work = s.work.Of(context, thread);
      kernels->run(task);
    }
    if (kFusesFunctions && function != nullptr) EndColumns(*function, kernels, task, thread);
  });
}

// Every way but Winograd's; `whole` has bias, residual, c, lo and hi set.
void RunProducts(const RunContext& context, const ConvState& s, const float* input, GemmTask whole,
                 const ResultFunction* function) {
  WeightsNow weights;
  if (!(kHasSparse && s.sparse.present())) weights = GetWeights(s.weights, context, 1);
  whole.packed = weights.data;
  whole.ldc = whole.ldr = s.out_c;
  whole.m = s.batch * s.window.h.out * s.window.w.out;
  whole.n = s.group_out;
  whole.k = s.weights.layout.k;
  if (s.way == Way::kDirect) {
    RunDirectConv(s.direct, input, whole, *weights.kernels, s.work, context, function);
  } else {
    RunTasks(context, s, weights.kernels, input, whole, function);
  }
}

// `function`: of the results; or null.
void RunFloats(const RunContext& context, const ConvState& s, const ResultFunction* function) {
  const float* input = context.input_data<float>(0);
  GemmTask whole;
  whole.bias = context.input_data<float>(2);
  whole.residual = context.input_data<float>(3);
  whole.c = context.output_data<float>(0);
  whole.lo = s.lo;
  whole.hi = s.hi;
  if (!kShortLoops && s.way == Way::kWinograd) {
    RunWinograd(s.winograd, input, whole, context, function);
  } else {
    RunProducts(context, s, input, whole, function);
  }
}

Status Run(const RunContext& context) {
  if (kHasQuantized && context.in(1).dtype != DType::kFloat32) return RunQuantizedConv(context);
  const ConvState& s = context.get_state<ConvState>();
  if (context.out(0).shape.NumElements() == 0) return Status::Ok();
  if (kFusesFunctions && context.params->fused_function >= 0) {
    const RangeKeeper range(context);  // products of floats keep none themselves
    const ResultFunction function(context, range);
    RunFloats(context, s, &function);
    range.Finish();
    return Status::Ok();
  }
  RunFloats(context, s, nullptr);
  ApplyFusedTanh(context);
  return Status::Ok();
}

}  // namespace

Status CheckConvShapes(const PrepareContext& context, ConvShape* shape) {
  TW_RETURN_IF_ERROR(context.CheckRank(0, 4, 4));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 4, 4));
  const Shape& in = context.input(0)->shape;
  const Shape& filter = context.input(1)->shape;
  for (int i = 0; i < 4; ++i) {
    if (filter[i] < 1) {
      return context.Invalid("{} has shape {}, no dimension may be 0", context.InputName(1),
                             filter.ToString());
    }
  }
  shape->batch = in[0];
  shape->in_c = in[3];
  shape->out_c = filter[0];
  shape->group_in = filter[3];
  const int64_t groups = shape->in_c / shape->group_in;
  if (groups < 1 || shape->in_c % shape->group_in != 0) {
    return context.Invalid("{} has {} channels, which is no multiple of the {} of {}",
                           context.InputName(0), in[3], filter[3], context.InputName(1));
  }
  if (shape->out_c % groups != 0) {
    return context.Invalid("{} output channels cannot be shared out over {} groups", shape->out_c,
                           groups);
  }
  shape->group_out = shape->out_c / groups;
  shape->window.h.in = in[1];
  shape->window.w.in = in[2];
  shape->window.h.filter = filter[1];
  shape->window.w.filter = filter[2];
  return MakeWindow(context, &shape->window);
}

constexpr OpDef kOps[] = {
    OpDef(OpCode::kConv2d)
        .Versions(8)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt16, DType::kInt8})
        .Options(OptionsType::kConv2D, Parse)
        .Cpu(Prepare, Run)
        .Gpu(PlanConv2D)
        .Gradient(kBackwardConv2D)
        .Int8(IntegerForm::kWeighted, 3)
        .DynamicRange(5)
        .WidensHalf()
        .PacksHalves()
        .Work(WorkRule::kWeights)
        .Bands(BandRule::kApart)
        .Head(HeadRole::kDense)
        .FusesResidual()
        .AddsToDynamic()
        .FusesFunction()
        .FusesActivation()
        .Inputs(2)
        .CountsAxes(),
};

Span<const OpDef> Conv2dOps() { return Selected<kOps>(); }

}  // namespace topwork
