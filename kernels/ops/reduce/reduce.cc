// Reductions over any set of dimensions (see reduce.h).
#include "kernels/ops/reduce/reduce.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/reduce/reduce_gpu.h"
#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quant.h"
#include "kernels/ops/shared/quantized.h"
#include "kernels/train/gradients.h"

namespace topwork {
namespace {

// Prepare of all reductions and the float32 path (see reduce.h).

constexpr int64_t kGrain = 32768;  // input elements of one parallel task, about
// Of positions whose rows are reduced in parts.
constexpr int64_t kParts = 4;
constexpr int64_t kMinRows = 16;
constexpr int64_t kMinInParts = 8192;  // input elements

// Merges neighbours of a kind and fills the state's loops.
void MakeLoops(const Shape& shape, const bool* reduce, ReduceState* state) {
  struct Group {
    int64_t dim;
    bool reduced;
  };
  Group groups[kMaxRank];
  int n = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (reduce[i]) state->count *= shape[i];
    if (shape[i] == 1) continue;
    if (n > 0 && groups[n - 1].reduced == reduce[i]) {
      groups[n - 1].dim *= shape[i];
    } else {
      groups[n++] = {shape[i], reduce[i]};
    }
  }
  if (n == 0) groups[n++] = {1, false};
  state->inner = groups[n - 1].dim;
  state->inner_kept = !groups[n - 1].reduced;
  int64_t stride = state->inner;
  for (int i = n - 2; i >= 0; --i) {
    if (groups[i].reduced) {
      state->reduced[state->n_reduced++] = {groups[i].dim, stride};
      state->steps *= groups[i].dim;
    } else {
      state->kept[state->n_kept++] = {groups[i].dim, stride};
      state->outer *= groups[i].dim;
    }
    stride *= groups[i].dim;
  }
  std::reverse(state->kept, state->kept + state->n_kept);
  std::reverse(state->reduced, state->reduced + state->n_reduced);
}

Status PrepareReduce(PrepareContext& context, std::initializer_list<DType> dtypes,
                     ReduceState** out_state) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, dtypes));
  const TensorView& in = *context.input(0);
  std::vector<int64_t> axes;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &axes));
  bool reduce[kMaxRank] = {};
  for (int64_t value : axes) {
    int axis = 0;
    TW_RETURN_IF_ERROR(NormalizeAxis(context, value, in.shape.rank(), "axis", &axis));
    reduce[axis] = true;
  }
  Shape out;
  for (int i = 0; i < in.shape.rank(); ++i) {
    if (!reduce[i]) {
      out.Append(in.shape[i]);
    } else if (context.params().keep_dims) {
      out.Append(1);
    }
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, in.dtype, out));
  ReduceState* state = context.NewState<ReduceState>();
  MakeLoops(in.shape, reduce, state);
  context.SetVariant(state->inner_kept ? "columns" : "rows");
  *out_state = state;
  return Status::Ok();
}

Status PlanParts(PrepareContext* context, ReduceState* s) {
  const bool one_loop = s->inner_kept && s->outer == 1 && s->n_reduced == 1;
  if (!one_loop || s->count < kMinRows || s->count > kMaxRows ||
      s->count * s->inner < kMinInParts) {
    return Status::Ok();
  }
  s->parts = kParts;
  ScratchLayout scratch;
  s->parts_offset = scratch.AddSized(kParts * s->inner, 4);
  return scratch.Request(context);
}

// Columns [column, column + n) of one outer position.
void ReduceColumns(const ReduceState& s, ReduceRowsFunction reduce, const float* x, float* acc,
                   int64_t n) {
  if (s.n_reduced == 0) return reduce(acc, x, 1, 0, n);
  const ReduceState::Loop& rows = s.reduced[s.n_reduced - 1];
  const int64_t steps = rows.dim == 0 ? 0 : s.steps / rows.dim;
  for (int64_t step = 0; step < steps; ++step) {
    reduce(acc, x + LoopOffset(s.reduced, s.n_reduced - 1, step), rows.dim, rows.stride, n);
  }
}

float Combine(ReduceFn fn, float a, float b) {
  switch (fn) {
    case ReduceFn::kSum:
      return a + b;
    case ReduceFn::kProd:
      return a * b;
    case ReduceFn::kMax:
      return b > a ? b : a;
    case ReduceFn::kMin:
      break;
  }
  return b < a ? b : a;
}

float Identity(ReduceFn fn) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (fn) {
    case ReduceFn::kSum:
      return 0.0f;
    case ReduceFn::kProd:
      return 1.0f;
    case ReduceFn::kMax:
      return -kInfinity;
    case ReduceFn::kMin:
      break;
  }
  return kInfinity;
}

void Divide(float* y, int64_t n, float divisor) {
  if (divisor == 1.0f) return;
  for (int64_t i = 0; i < n; ++i) y[i] /= divisor;
}

void RunParts(const RunContext& context, const ReduceState& s, ReduceFn fn, float divisor) {
  const ReduceRowsFunction reduce = context.cpu->elementwise->reduce_rows[static_cast<int>(fn)];
  const float* x = context.input_data<float>(0);
  float* y = context.output_data<float>(0);
  float* parts = reinterpret_cast<float*>(context.scratch + s.parts_offset);
  const int64_t n = s.inner, stride = s.reduced[0].stride;
  context.pool->ParallelFor(s.parts, [&](int64_t part, int) {
    const int64_t first = s.FirstRow(part);
    float* acc = parts + part * n;
    std::fill(acc, acc + n, Identity(fn));
    reduce(acc, x + first * stride, s.FirstRow(part + 1) - first, stride, n);
  });
  std::fill(y, y + n, Identity(fn));
  reduce(y, parts, s.parts, n, n);
  Divide(y, n, divisor);
}

// Tasks are cut by the sizes alone: strips of columns, or groups of rows.
void RunColumns(const RunContext& context, const ReduceState& s, ReduceFn fn, float divisor) {
  const ReduceRowsFunction reduce = context.cpu->elementwise->reduce_rows[static_cast<int>(fn)];
  const float* x = context.input_data<float>(0);
  float* y = context.output_data<float>(0);
  const int64_t wanted = kGrain / std::max<int64_t>(1, s.count);
  const int64_t strip = std::min(s.inner, std::max<int64_t>(64, wanted / 64 * 64));
  if (strip == 0) return;
  const int64_t strips = (s.inner + strip - 1) / strip;
  const int64_t group = std::max<int64_t>(1, wanted / strip);  // outer positions of one task
  ParallelRows(context.pool, s.outer * strips, kCopyPieceBytes / group,
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task) {
                   const int64_t o = task / strips, column = task % strips * strip;
                   const int64_t n = std::min(strip, s.inner - column);
                   float* acc = y + o * s.inner + column;
                   std::fill(acc, acc + n, Identity(fn));
                   ReduceColumns(s, reduce, x + LoopOffset(s.kept, s.n_kept, o) + column, acc, n);
                   Divide(acc, n, divisor);
                 }
               });
}

void RunRows(const RunContext& context, const ReduceState& s, ReduceFn fn, float divisor) {
  const ReduceRowFunction reduce = context.cpu->elementwise->reduce_row[static_cast<int>(fn)];
  const float* x = context.input_data<float>(0);
  float* y = context.output_data<float>(0);
  const int64_t group = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, s.count));
  ParallelRows(context.pool, s.outer, kCopyPieceBytes / group, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const float* row = x + LoopOffset(s.kept, s.n_kept, o);
      float acc = Identity(fn);
      for (int64_t step = 0; step < s.steps; ++step) {
        acc = Combine(fn, acc, reduce(row + LoopOffset(s.reduced, s.n_reduced, step), s.inner));
      }
      y[o] = acc / divisor;
    }
  });
}

ReduceFn FloatFn(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kProd:
      return ReduceFn::kProd;
    case ReduceKind::kMax:
      return ReduceFn::kMax;
    case ReduceKind::kMin:
      return ReduceFn::kMin;
    default:
      return ReduceFn::kSum;
  }
}

}  // namespace

int64_t LoopOffset(const ReduceState::Loop* loops, int n_loops, int64_t index) {
  int64_t offset = 0;
  for (int i = n_loops - 1; i >= 0; --i) {
    offset += index % loops[i].dim * loops[i].stride;
    index /= loops[i].dim;
  }
  return offset;
}

Status ParseReduce(const OptionsView& options, OpParams* params) {
  params->keep_dims = options.Bool(0, false);
  return Status::Ok();
}

// Of booleans a sum or maximum is whether any, a product or minimum whether all are true.
ReduceKind LogicalKind(ReduceKind kind) {
  if (kind == ReduceKind::kSum || kind == ReduceKind::kMax) return ReduceKind::kAny;
  return kind == ReduceKind::kProd || kind == ReduceKind::kMin ? ReduceKind::kAll : kind;
}

Status PrepareReduceNumber(PrepareContext& context, ReduceKind kind) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 2));
  if (context.input(0)->dtype == DType::kBool && kind != ReduceKind::kMean) {
    return PrepareReduceBool(context);
  }
  ReduceState* state = nullptr;
  TW_RETURN_IF_ERROR(PrepareReduce(
      context,
      {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt8, DType::kUInt8, DType::kInt16},
      &state));
  const TensorView& in = *context.input(0);
  if (IsFloat(in.dtype)) return PlanParts(&context, state);
  if (!IsQuantizedInteger(in.dtype)) return Status::Ok();
  if (kind == ReduceKind::kMax || kind == ReduceKind::kMin ||
      (kind == ReduceKind::kProd && !IsScaled(in))) {
    return CheckSameQuantization(context, 0, 0);
  }
  if (kind == ReduceKind::kProd && in.dtype == DType::kUInt8) {
    return context.Unsupported("{} is uint8 with a scale; quantized it must be int8 or int16",
                               context.InputName(0));
  }
  TW_RETURN_IF_ERROR(PrepareReduceQuant(context, kind, state));
  return state->multiplies ? Status::Ok() : PlanParts(&context, state);
}

Status PrepareReduceBool(PrepareContext& context) {
  ReduceState* state = nullptr;
  return PrepareReduce(context, {DType::kBool}, &state);
}

Status RunReduceKind(const RunContext& context, ReduceKind kind) {
  if (!IsFloat(context.in(0).dtype)) {
    if (context.in(0).dtype == DType::kBool) kind = LogicalKind(kind);
    const bool rescales = context.get_state<ReduceState>().rescales;
    return rescales ? RunReduceQuant(context) : RunReduceInt(context, kind);
  }
  const ReduceState& state = context.get_state<ReduceState>();
  const bool divide = kind == ReduceKind::kMean && state.count > 0;
  const float divisor = divide ? static_cast<float>(state.count) : 1.0f;
  if (state.parts > 1) {
    RunParts(context, state, FloatFn(kind), divisor);
  } else if (state.inner_kept) {
    RunColumns(context, state, FloatFn(kind), divisor);
  } else {
    RunRows(context, state, FloatFn(kind), divisor);
  }
  return Status::Ok();
}

// MEAN: the mean of the elements along the axes; float32, int8, uint8, int16, int32 and int64.

// SUM: the sum of the elements along the axes; float32, int8, uint8, int16, int32 and int64.

// REDUCE_ALL: whether all elements along the axes are true; bool.

// REDUCE_ANY: whether any element along the axes is true; bool.

// REDUCE_MAX: the largest element along the axes; float32, int8, uint8, int16, int32 and int64.

// REDUCE_MIN: the least element along the axes; float32, int8, uint8, int16, int32 and int64.

// REDUCE_PROD: the product of the elements along the axes; float32, int32, int64, int8 and int16;
// uint8 and these two as plain numbers where they have no scale.

constexpr OpDef kOps[] = {
    OpDef(OpCode::kMean)
        .Versions(3)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16,
                DType::kInt8})
        .Options(OptionsType::kReducer, ParseReduce)
        .Cpu(PrepareReduce<ReduceKind::kMean>, RunReduce<ReduceKind::kMean>)
        .Gpu(PlanReduceKind<ReduceKind::kMean>)
        .Gradient(kBackwardMean)
        .Int8(IntegerForm::kOwn, 2)
        .WidensHalf()
        .Head(HeadRole::kPooling)
        .Inputs(2)
        .CountsAxes(),
    OpDef(OpCode::kSum)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool,
                DType::kInt16, DType::kInt8})
        .Options(OptionsType::kReducer, ParseReduce)
        .Cpu(PrepareReduce<ReduceKind::kSum>, RunReduce<ReduceKind::kSum>)
        .Gpu(PlanReduceKind<ReduceKind::kSum>)
        .Int8(IntegerForm::kOwn, 2)
        .WidensHalf(),
    OpDef(OpCode::kReduceAll)
        .Types({DType::kBool})
        .Options(OptionsType::kReducer, ParseReduce)
        .Cpu(PrepareReduceBool, RunReduce<ReduceKind::kAll>),
    OpDef(OpCode::kReduceAny)
        .Types({DType::kBool})
        .Options(OptionsType::kReducer, ParseReduce)
        .Cpu(PrepareReduceBool, RunReduce<ReduceKind::kAny>),
    OpDef(OpCode::kReduceMax)
        .Versions(3)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool,
                DType::kInt16, DType::kInt8})
        .Options(OptionsType::kReducer, ParseReduce)
        .Cpu(PrepareReduce<ReduceKind::kMax>, RunReduce<ReduceKind::kMax>)
        .Gpu(PlanReduceKind<ReduceKind::kMax>)
        .Int8(IntegerForm::kSame, 2)
        .WidensHalf()
        .Head(HeadRole::kEmbedding),
    OpDef(OpCode::kReduceMin)
        .Versions(3)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool,
                DType::kInt16, DType::kInt8})
        .Options(OptionsType::kReducer, ParseReduce)
        .Cpu(PrepareReduce<ReduceKind::kMin>, RunReduce<ReduceKind::kMin>)
        .Gpu(PlanReduceKind<ReduceKind::kMin>)
        .Int8(IntegerForm::kSame, 2)
        .WidensHalf(),
    OpDef(OpCode::kReduceProd)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool,
                DType::kInt16, DType::kInt8})
        .Options(OptionsType::kReducer, ParseReduce)
        .Cpu(PrepareReduce<ReduceKind::kProd>, RunReduce<ReduceKind::kProd>)
        .Gpu(PlanReduceKind<ReduceKind::kProd>)
        .WidensHalf(),
};

Span<const OpDef> ReduceOps() { return Selected<kOps>(); }

}  // namespace topwork
