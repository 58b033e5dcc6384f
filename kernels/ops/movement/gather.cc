// GATHER and GATHER_ND.
#include <algorithm>

#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/packed_moves.h"

namespace topwork {
namespace {

// GATHER: the slices of input 0 along `axis` that input 1 lists.
//
//   out[b.., o.., i.., n..] = in[b.., o.., indices[b.., i..], n..]
// with the first batch_dims dimensions b shared by both inputs. Slices of int4 that do not fill
// whole bytes are unpacked, others are moved as they lie. Indices are checked at run time; negative
// ones are refused, as TFLite does.

struct GatherState : OpState {
  int64_t outer = 1;  // between the batch dimensions and the axis
  int64_t axis_size = 0;
  int64_t n_indices = 1;    // per batch
  int64_t inner_bytes = 0;  // of one slice
  int64_t batch = 1;
  bool whole_bytes = true;  // a slice fills
};

Status ParseGather(const OptionsView& options, OpParams* params) {
  params->axis = options.Int(0, 0);
  params->batch_dims = options.Int(1, 0);
  return Status::Ok();
}

Status PrepareGather(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 0, {DType::kInt4}));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64, DType::kInt16}));
  const TensorView& input = *context.input(0);
  const Shape& indices = context.input(1)->shape;
  const int rank = input.shape.rank();
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, context.params().axis, rank, "axis", &axis));
  int64_t batch_dims = context.params().batch_dims;
  if (batch_dims < 0) batch_dims += indices.rank();
  if (batch_dims < 0 || batch_dims > axis || batch_dims > indices.rank()) {
    return context.Invalid(
        "batch_dims {} is outside [0, axis {}] or above the rank of the indices, {}",
        context.params().batch_dims, axis, indices.rank());
  }
  const int batch = static_cast<int>(batch_dims);
  for (int d = 0; d < batch; ++d) {
    if (input.shape.dim(d) != indices.dim(d)) {
      return context.Invalid("batch dimension {} is {} in {} and {} in {}", d, input.shape.dim(d),
                             context.InputName(0), indices.dim(d), context.InputName(1));
    }
  }
  TW_RETURN_IF_ERROR(CheckOutputRank(context, rank + indices.rank() - 1 - batch));
  Shape shape;
  for (int d = 0; d < axis; ++d) shape.Append(input.shape.dim(d));
  for (int d = batch; d < indices.rank(); ++d) shape.Append(indices.dim(d));
  for (int d = axis + 1; d < rank; ++d) shape.Append(input.shape.dim(d));
  GatherState* state = context.NewState<GatherState>();
  state->batch = indices.Product(0, batch);
  state->outer = input.shape.Product(batch, axis);
  state->axis_size = input.shape.dim(axis);
  state->n_indices = indices.Product(batch, indices.rank());
  const int64_t inner = input.shape.Product(axis + 1, rank);
  state->whole_bytes = inner * DTypeBits(input.dtype) % 8 == 0;
  state->inner_bytes = state->whole_bytes ? inner * DTypeBits(input.dtype) / 8 : inner;
  const Status set = context.SetOutput(0, input.dtype, shape);
  return state->whole_bytes ? set : RequestWidening(context, set);
}

// Element k; most models list int32, which needs no look at the type.
int64_t IndexAt(const TensorView& indices, int64_t k) {
  return indices.dtype == DType::kInt32 ? indices.as<int32_t>()[k] : IntAt(indices, k);
}

// How many of the slices from k on, at most `n`, are listed in the order in which they lie.
int64_t RunOf(const TensorView& indices, int64_t k, int64_t n) {
  const int64_t first = IndexAt(indices, k);
  int64_t run = 1;
  while (run < n && IndexAt(indices, k + run) == first + run) ++run;
  return run;
}

Status GatherBytes(const RunContext& context) {
  const GatherState& s = context.get_state<GatherState>();
  const TensorView& indices = context.in(1);
  for (int64_t k = 0; k < s.batch * s.n_indices; ++k) {
    TW_RETURN_IF_ERROR(CheckIndex(IndexAt(indices, k), s.axis_size, k));
  }
  if (context.out(0).bytes() == 0) return Status::Ok();
  const uint8_t* in = context.input_data<uint8_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, s.batch * s.outer * s.n_indices, s.inner_bytes,
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin, n = 0; row < end; row += n) {
                   const int64_t block = row / s.n_indices;  // batch × outer
                   const int64_t at = row % s.n_indices;
                   const int64_t k = block / s.outer * s.n_indices + at;
                   n = RunOf(indices, k, std::min(end - row, s.n_indices - at));
                   const int64_t from = block * s.axis_size + IndexAt(indices, k);
                   CopyBytes(out + row * s.inner_bytes, in + from * s.inner_bytes,
                             n * s.inner_bytes);
                 }
               });
  return Status::Ok();
}

Status RunGather(const RunContext& context) {
  return context.get_state<GatherState>().whole_bytes ? GatherBytes(context)
                                                      : RunWidened(context, GatherBytes);
}

// GATHER_ND: the elements or slices of input 0 at the coordinates in the last dimension of input 1.
//
//   out[i.., n..] = params[indices[i.., 0], ..., indices[i.., D−1], n..]
// Every coordinate is checked against its own dimension at run time; negative ones are refused.

Status PrepareGatherNd(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64, DType::kInt16}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, kMaxRank));
  const Shape& params = context.input(0)->shape;
  const Shape& indices = context.input(1)->shape;
  const int depth = indices.back();
  if (depth > params.rank()) {
    return context.Invalid("{} has {} coordinates per entry for a tensor of rank {}",
                           context.InputName(1), depth, params.rank());
  }
  TW_RETURN_IF_ERROR(CheckOutputRank(context, indices.rank() - 1 + params.rank() - depth));
  Shape shape;
  for (int d = 0; d + 1 < indices.rank(); ++d) shape.Append(indices.dim(d));
  for (int d = depth; d < params.rank(); ++d) shape.Append(params.dim(d));
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

// The slice of entry `row`, counted in slices; its coordinates must have been checked.
int64_t SliceOf(const Shape& params, const TensorView& indices, int64_t row, int depth) {
  int64_t slice = 0;
  for (int d = 0; d < depth; ++d) slice = slice * params.dim(d) + IntAt(indices, row * depth + d);
  return slice;
}

Status RunGatherNd(const RunContext& context) {
  const Shape& params = context.in(0).shape;
  const TensorView& indices = context.in(1);
  const int depth = indices.shape.back();
  const int64_t n_rows = indices.shape.Product(0, indices.shape.rank() - 1);
  for (int64_t k = 0; k < n_rows * depth; ++k) {
    const int d = static_cast<int>(k % depth);
    TW_RETURN_IF_ERROR(CheckIndex(IntAt(indices, k), params.dim(d), k));
  }
  if (context.out(0).bytes() == 0) return Status::Ok();
  const int64_t bytes = params.Product(depth, params.rank()) * ElementBytes(context.in(0));
  const uint8_t* in = context.input_data<uint8_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, n_rows, bytes, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      CopyBytes(out + row * bytes, in + SliceOf(params, indices, row, depth) * bytes, bytes);
    }
  });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kGather)
        .Versions(8)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kInt4,
                DType::kBFloat16})
        .Options(OptionsType::kGather, ParseGather)
        .Cpu(PrepareGather, RunGather)
        .Gpu(PlanGather, GpuTypes::kAny)
        .Int8(IntegerForm::kSame, 2)
        .ReadsFloat16(),
    OpDef(OpCode::kGatherNd)
        .Versions(6)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kBFloat16})
        .Options(OptionsType::kGatherNd)
        .Cpu(PrepareGatherNd, RunGatherNd)
        .Gpu(PlanGatherNd, GpuTypes::kAny),
};

Span<const OpDef> GatherOps() { return Selected<kOps>(); }

}  // namespace topwork
