// TRANSPOSE, TILE and BROADCAST_TO: copies in another order, or repeated.
#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/packed_moves.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

// TRANSPOSE: output dimension d is input dimension perm[d] (input 1; negative counts from the end).

Status PrepareTranspose(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0, {DType::kInt4, DType::kUInt4}));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  std::vector<int64_t> perm;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &perm));
  const TensorView& input = *context.input(0);
  const int rank = input.shape.rank();
  if (static_cast<int>(perm.size()) != rank) {
    return context.Invalid("perm has {} values for a tensor of rank {}", perm.size(), rank);
  }
  int64_t strides[kMaxRank] = {}, src[kMaxRank] = {};
  ContiguousStrides(input.shape, ElementBytes(input), strides);
  bool taken[kMaxRank] = {};
  Shape shape;
  for (int d = 0; d < rank; ++d) {
    int axis = 0;
    TW_RETURN_IF_ERROR(NormalizeAxis(context, perm[static_cast<size_t>(d)], rank, "perm", &axis));
    if (taken[axis]) {
      return context.Invalid("perm names dimension {} twice", axis);
    }
    taken[axis] = true;
    src[d] = strides[axis];
    shape.Append(input.shape.dim(axis));
  }
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(ElementBytes(input));
  return RequestWidening(context, SetStridedOutput(context, copy, shape, src));
}

Status RunTranspose(const RunContext& context) { return RunWidened(context, RunStridedCopy); }

// TILE: repeats the input multiples[d] times (input 1) along every dimension d.

Status PrepareTile(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  std::vector<int64_t> multiples;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &multiples));
  const Shape& from = context.input(0)->shape;
  if (static_cast<int>(multiples.size()) != from.rank()) {
    return context.Invalid("{} multiples for {} of rank {}", multiples.size(), context.InputName(0),
                           from.rank());
  }
  Shape shape;
  for (int d = 0; d < from.rank(); ++d) {
    const int64_t multiple = multiples[static_cast<size_t>(d)];
    TW_RETURN_IF_ERROR(CheckDim(context, multiple, "a multiple"));
    TW_RETURN_IF_ERROR(CheckDim(context, from.dim(d) * multiple, "a dimension of the output"));
    shape.Append(static_cast<int32_t>(from.dim(d) * multiple));
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, shape));

  const int64_t element = ElementBytes(*context.input(0));
  int64_t src[kMaxRank], dst[kMaxRank];
  ContiguousStrides(from, element, src);
  ContiguousStrides(shape, element, dst);
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(element);
  if (shape.NumElements() == 0) copy->AddDim(0, 0, 0);
  for (int d = 0; d < from.rank() && !copy->empty(); ++d) {
    copy->AddDim(multiples[static_cast<size_t>(d)], 0, from.dim(d) * dst[d]);
    copy->AddDim(from.dim(d), src[d], dst[d]);
  }
  copy->Finish();
  context.SetVariant(copy->variant());
  if (copy->contiguous() && !copy->empty()) context.AllowView(0, 0);
  return Status::Ok();
}

// BROADCAST_TO: the input repeated along its dimensions of size 1 (and new leading ones) to the
// shape in input 1.

Status PrepareBroadcastTo(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  Shape shape;
  TW_RETURN_IF_ERROR(ReadShape(context, 1, &shape));
  const TensorView& input = *context.input(0);
  const int extra = shape.rank() - input.shape.rank();
  int64_t own[kMaxRank] = {}, src[kMaxRank] = {};
  ContiguousStrides(input.shape, ElementBytes(input), own);
  bool fits = extra >= 0;
  for (int d = 0; fits && d < input.shape.rank(); ++d) {
    fits = input.shape.dim(d) == 1 || input.shape.dim(d) == shape.dim(extra + d);
    src[extra + d] = input.shape.dim(d) == 1 ? 0 : own[d];
  }
  if (!fits) {
    return context.Invalid("{} of shape {} cannot be broadcast to {}", context.InputName(0),
                           input.shape.ToString(), shape.ToString());
  }
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(ElementBytes(input));
  return SetStridedOutput(context, copy, shape, src);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kTranspose)
        .Versions(9)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32, DType::kInt4,
                DType::kBFloat16, DType::kUInt4})
        .Options(OptionsType::kTranspose)
        .Cpu(PrepareTranspose, RunTranspose)
        .Gpu(PlanStridedCopy, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
    OpDef(OpCode::kTile)
        .Versions(3)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kString, DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32,
                DType::kBFloat16})
        .Options(OptionsType::kTile)
        .Cpu(PrepareTile, RunStridedCopy)
        .Gpu(PlanStridedCopy, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 3),
    OpDef(OpCode::kBroadcastTo)
        .Versions(4)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32, DType::kBFloat16})
        .Options(OptionsType::kBroadcastTo)
        .Cpu(PrepareBroadcastTo, RunStridedCopy)
        .Gpu(PlanStridedCopy, GpuTypes::kMoves),
};

Span<const OpDef> TransposeOps() { return Selected<kOps>(); }

}  // namespace topwork
