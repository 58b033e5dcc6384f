// STABLEHLO_SCATTER: input 0 with elements replaced by, or combined with, those of input 2.
//
// Dimensions `update_window_dims` of the updates are those of a window, which lacks the
// `inserted_window_dims` of input 0. The others are the batch dimensions of the index vectors of
// input 1, which say where the window lies. Elements outside are left out. The one operator of the
// body subgraph says how values are combined (none: replaced). Updates are applied in their order.
#include <algorithm>

#include "kernels/ops/elementwise/stablehlo_binary.h"
#include "kernels/ops/movement/index_vectors.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

struct UpdateDim {
  int64_t n = 1;
  int64_t step = 1;        // in the updates
  int64_t index_step = 0;  // in the indices; 0 for the window's
  int dim = -1;            // of input 0; −1: a batch dimension
};

struct ScatterState : OpState {
  bool replace = false;
  StablehloFn fn = StablehloFn::kAdd;
  IndexVectors vectors;
  int n_dims = 0;             // of the updates
  int first_inner = 0;        // from here on all are the window's
  int64_t n_outer = 1;        // positions of the dimensions before
  bool inner[kMaxRank] = {};  // dimensions of input 0 that the inner ones run over
  UpdateDim dims[kMaxRank];
  int64_t size[kMaxRank] = {}, stride[kMaxRank] = {};  // of input 0
};

Status Parse(const OptionsView& options, OpParams* params) {
  if (!options.present()) return InvalidModel("its options are missing");
  params->options = options;
  return Status::Ok();
}

Status ReadBody(const PrepareContext& context, ScatterState* s) {
  const int subgraph = context.params().options.Int(6, 0);
  TW_ASSIGN_OR_RETURN(const std::vector<OpCode> body, context.OperatorsOf(subgraph));
  s->replace = body.empty();
  if (s->replace) return Status::Ok();
  static const OpCode kCodes[] = {OpCode::kStablehloAdd, OpCode::kStablehloMultiply,
                                  OpCode::kStablehloMaximum, OpCode::kStablehloMinimum};
  static const StablehloFn kFns[] = {StablehloFn::kAdd, StablehloFn::kMultiply,
                                     StablehloFn::kMaximum, StablehloFn::kMinimum};
  for (int i = 0; i < 4 && body.size() == 1; ++i) {
    s->fn = kFns[i];
    if (body[0] == kCodes[i]) return Status::Ok();
  }
  return context.Unsupported(
      "its body, subgraph {}, must be no operator or one of STABLEHLO_ADD, STABLEHLO_MULTIPLY, "
      "STABLEHLO_MAXIMUM and STABLEHLO_MINIMUM",
      subgraph);
}

Status DoNotFit(const PrepareContext& context) {
  return context.Invalid("updates of shape {} do not fit its options, input {} and indices {}",
                         context.input(2)->shape.ToString(), context.input(0)->shape.ToString(),
                         context.input(1)->shape.ToString());
}

Status PlanUpdates(const PrepareContext& context, ScatterState* s) {
  const Shape &shape = context.input(0)->shape, &updates = context.input(2)->shape;
  std::vector<int> window, inserted, kept;
  TW_RETURN_IF_ERROR(ReadDims(context, 1, "update_window_dims", updates.rank(), &window));
  TW_RETURN_IF_ERROR(ReadDims(context, 2, "inserted_window_dims", shape.rank(), &inserted));
  for (int d = 0; d < shape.rank(); ++d) {
    if (!Contains(inserted, d)) kept.push_back(d);
  }
  s->n_dims = updates.rank();
  if (kept.size() != window.size() ||
      s->vectors.n_batch + static_cast<int>(window.size()) != s->n_dims) {
    return DoNotFit(context);
  }
  for (int u = 0, b = 0; u < s->n_dims; ++u) {
    UpdateDim& dim = s->dims[u];
    dim.n = updates.dim(u);
    const auto at = std::find(window.begin(), window.end(), u);
    if (at != window.end()) {
      dim.dim = kept[static_cast<size_t>(at - window.begin())];
      continue;
    }
    if (dim.n != s->vectors.batch[b]) return DoNotFit(context);
    dim.index_step = s->vectors.batch_step[b++];
    s->first_inner = u + 1;
  }
  int64_t step = 1;
  for (int u = s->n_dims - 1; u >= 0; step *= s->dims[u--].n) {
    s->dims[u].step = step;
    if (u < s->first_inner) {
      s->n_outer *= s->dims[u].n;
    } else {
      s->inner[s->dims[u].dim] = true;
    }
  }
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckStablehloNumber(context, 0));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 2));
  const Shape& shape = context.input(0)->shape;
  ScatterState* s = context.NewState<ScatterState>();
  TW_RETURN_IF_ERROR(ReadBody(context, s));
  std::vector<int> map;
  TW_RETURN_IF_ERROR(ReadDims(context, 3, "scatter_dims_to_operand_dims", shape.rank(), &map));
  TW_RETURN_IF_ERROR(
      PlanIndexVectors(context, context.params().options.Long(4, 0), map, &s->vectors));
  TW_RETURN_IF_ERROR(PlanUpdates(context, s));
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; stride *= shape.dim(d--)) {
    s->size[d] = shape.dim(d);
    s->stride[d] = stride;
  }
  context.AllowInPlace(0, 0);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

struct Target {
  const ScatterState& s;
  DType dtype;
  int64_t element;
  const int64_t* start;

  void Combine(uint8_t* to, const uint8_t* from, int64_t n) const {
    if (s.replace) {
      std::memcpy(to, from, static_cast<size_t>(n * element));
    } else {
      ApplyStablehlo(s.fn, dtype, to, from, to, n);
    }
  }

  // Dimensions from u on, at element `to` of the output (without start[] of those dimensions).
  void Walk(int u, uint8_t* to, const uint8_t* from) const {
    if (u == s.n_dims) return Combine(to, from, 1);
    const UpdateDim& dim = s.dims[u];
    const int64_t first = start[dim.dim];
    const int64_t begin = std::max<int64_t>(-first, 0);
    const int64_t end = std::min<int64_t>(s.size[dim.dim] - first, dim.n);
    if (begin >= end) return;
    const int64_t step = s.stride[dim.dim] * element, from_step = dim.step * element;
    to += (first + begin) * step;
    from += begin * from_step;
    if (u + 1 == s.n_dims && step == element) return Combine(to, from, end - begin);
    for (int64_t i = begin; i < end; ++i, to += step, from += from_step) Walk(u + 1, to, from);
  }
};

Status Run(const RunContext& context) {
  const ScatterState& s = context.get_state<ScatterState>();
  TW_RETURN_IF_ERROR(RunByteCopy(context));
  if (context.in(2).shape.NumElements() == 0) return Status::Ok();
  int64_t start[kMaxRank];
  const Target target = {s, context.in(0).dtype, ElementBytes(context.in(0)), start};
  const uint8_t* from = context.input_data<uint8_t>(2);
  for (int64_t k = 0; k < s.n_outer; ++k) {
    int64_t at = 0, update = 0, rest = k, window[kMaxRank] = {};
    for (int u = s.first_inner - 1; u >= 0; --u) {
      const UpdateDim& dim = s.dims[u];
      const int64_t i = rest % dim.n;
      rest /= dim.n;
      at += i * dim.index_step;
      update += i * dim.step;
      if (dim.dim >= 0) window[dim.dim] = i;
    }
    s.vectors.Read(context.in(1), at, start);
    int64_t to = 0;
    bool inside = true;
    for (int d = 0; d < s.vectors.rank; ++d) {
      if (s.inner[d]) continue;
      const int64_t i = start[d] + window[d];
      inside = i >= 0 && i < s.size[d];
      if (!inside) break;
      to += i * s.stride[d];
    }
    if (!inside) continue;
    target.Walk(s.first_inner, context.output_data<uint8_t>(0) + to * target.element,
                from + update * target.element);
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kStablehloScatter)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kFloat64, DType::kUInt64,
                DType::kUInt32, DType::kUInt16})
        .Options(OptionsType2::kStablehloScatter, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> StablehloScatterOps() { return Selected<kOps>(); }

}  // namespace topwork
