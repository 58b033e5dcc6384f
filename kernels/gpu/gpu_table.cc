// PlanOnGpu: the operators that have device kernels, and what they share.
//
// A quantized operator that has no kernel for integers is computed on the real numbers that its
// tensors mean; its result is then clamped and rounded to what its output's integers can hold.
#include <vector>

#include "kernels/gpu/gpu_context.h"
#include "kernels/ops/shared/gpu_plans.h"

namespace topwork {
namespace {

// What tensors an operator takes, constants apart. Results of kReals and kAny are brought to the
// grids of quantized outputs afterwards.
enum class Takes : uint8_t {
  kReals,
  kOnGrid,  // reals, and its function sees to the grid
  kMoves,   // all reals or all integers; values pass unchanged
  kAny,     // its function checks them
};

struct Row {
  OpCode code;
  PlanGpuFunction plan;
  Takes takes = Takes::kReals;
};

constexpr Row kRows[] = {
    {OpCode::kAbs, PlanUnaryFn<UnaryFn::kAbs>},
    {OpCode::kAdd, PlanBinaryFn<BinaryFn::kAdd>, Takes::kAny},
    {OpCode::kAddN, PlanAddN},
    {OpCode::kArgMax, PlanArgExtremeOf<true>, Takes::kAny},
    {OpCode::kArgMin, PlanArgExtremeOf<false>, Takes::kAny},
    {OpCode::kAtan2, PlanBinaryFn<BinaryFn::kAtan2>},
    {OpCode::kAveragePool2d, PlanPoolKind<PoolKind::kAverage>},
    {OpCode::kBatchMatmul, PlanBatchMatMul},
    {OpCode::kBatchToSpaceNd, PlanSpaceBatch<false>, Takes::kMoves},
    {OpCode::kBroadcastTo, PlanStridedCopy, Takes::kMoves},
    {OpCode::kCast, PlanCast, Takes::kAny},
    {OpCode::kCeil, PlanUnaryFn<UnaryFn::kCeil>},
    {OpCode::kConcatenation, PlanJoin, Takes::kMoves},
    {OpCode::kConv2d, PlanConv2D},
    {OpCode::kCos, PlanUnaryFn<UnaryFn::kCos>},
    {OpCode::kCumsum, PlanCumsum},
    {OpCode::kDepthToSpace, PlanStridedCopy, Takes::kMoves},
    {OpCode::kDepthwiseConv2d, PlanDepthwiseConv2D},
    {OpCode::kDequantize, PlanReshape},
    {OpCode::kDiv, PlanBinaryFn<BinaryFn::kDiv>},
    {OpCode::kDynamicUpdateSlice, PlanDynamicUpdateSlice, Takes::kAny},
    {OpCode::kElu, PlanUnaryFn<UnaryFn::kElu>},
    {OpCode::kEmbeddingLookup, PlanEmbeddingLookup, Takes::kAny},
    {OpCode::kEqual, PlanCompareFn<0>, Takes::kAny},
    {OpCode::kExp, PlanUnaryFn<UnaryFn::kExp>},
    {OpCode::kExpandDims, PlanReshape, Takes::kMoves},
    {OpCode::kFloor, PlanUnaryFn<UnaryFn::kFloor>},
    {OpCode::kFloorDiv, PlanBinaryFn<BinaryFn::kFloorDiv>},
    {OpCode::kFloorMod, PlanBinaryFn<BinaryFn::kFloorMod>},
    {OpCode::kFullyConnected, PlanFullyConnected},
    {OpCode::kGather, PlanGather, Takes::kAny},
    {OpCode::kGatherNd, PlanGatherNd, Takes::kAny},
    {OpCode::kGelu, PlanGelu},
    {OpCode::kGreater, PlanCompareFn<4>, Takes::kAny},
    {OpCode::kGreaterEqual, PlanCompareFn<5>, Takes::kAny},
    {OpCode::kHardSwish, PlanUnaryFn<UnaryFn::kHardSwish>},
    {OpCode::kL2Normalization, PlanRowwiseKind<RowwiseKind::kL2Normalization>},
    {OpCode::kL2Pool2d, PlanPoolKind<PoolKind::kL2>},
    {OpCode::kLeakyRelu, PlanLeakyRelu},
    {OpCode::kLess, PlanCompareFn<2>, Takes::kAny},
    {OpCode::kLessEqual, PlanCompareFn<3>, Takes::kAny},
    {OpCode::kLocalResponseNormalization, PlanLocalResponseNormalization},
    {OpCode::kLog, PlanUnaryFn<UnaryFn::kLog>},
    {OpCode::kLogSoftmax, PlanRowwiseKind<RowwiseKind::kLogSoftmax>},
    {OpCode::kLogicalAnd, PlanCompareFn<6>, Takes::kAny},
    {OpCode::kLogicalNot, PlanLogicalNot, Takes::kAny},
    {OpCode::kLogicalOr, PlanCompareFn<7>, Takes::kAny},
    {OpCode::kLogistic, PlanUnaryFn<UnaryFn::kLogistic>},
    {OpCode::kMaxPool2d, PlanPoolKind<PoolKind::kMax>},
    {OpCode::kMaximum, PlanBinaryFn<BinaryFn::kMaximum>, Takes::kAny},
    {OpCode::kMean, PlanReduceKind<ReduceKind::kMean>},
    {OpCode::kMinimum, PlanBinaryFn<BinaryFn::kMinimum>, Takes::kAny},
    {OpCode::kMirrorPad, PlanMirrorPad, Takes::kMoves},
    {OpCode::kMul, PlanBinaryFn<BinaryFn::kMul>, Takes::kAny},
    {OpCode::kNeg, PlanUnaryFn<UnaryFn::kNeg>},
    {OpCode::kNotEqual, PlanCompareFn<1>, Takes::kAny},
    {OpCode::kPack, PlanJoin, Takes::kMoves},
    {OpCode::kPad, PlanPad, Takes::kMoves},
    {OpCode::kPadv2, PlanPad, Takes::kMoves},
    {OpCode::kPow, PlanBinaryFn<BinaryFn::kPow>},
    {OpCode::kPrelu, PlanBinaryFn<BinaryFn::kPrelu>},
    {OpCode::kQuantize, PlanQuantize, Takes::kOnGrid},
    {OpCode::kReduceMax, PlanReduceKind<ReduceKind::kMax>},
    {OpCode::kReduceMin, PlanReduceKind<ReduceKind::kMin>},
    {OpCode::kReduceProd, PlanReduceKind<ReduceKind::kProd>},
    {OpCode::kRelu, PlanUnaryFn<UnaryFn::kRelu>},
    {OpCode::kRelu0To1, PlanUnaryFn<UnaryFn::kRelu0To1>},
    {OpCode::kRelu6, PlanUnaryFn<UnaryFn::kRelu6>},
    {OpCode::kReluN1To1, PlanUnaryFn<UnaryFn::kReluN1To1>},
    {OpCode::kReshape, PlanReshape, Takes::kMoves},
    {OpCode::kResizeBilinear, PlanResizeBilinear},
    {OpCode::kResizeNearestNeighbor, PlanResizeNearest, Takes::kMoves},
    {OpCode::kReverseV2, PlanStridedCopy, Takes::kMoves},
    {OpCode::kRound, PlanUnaryFn<UnaryFn::kRound>},
    {OpCode::kRsqrt, PlanUnaryFn<UnaryFn::kRsqrt>},
    {OpCode::kSelect, PlanSelect, Takes::kAny},
    {OpCode::kSelectV2, PlanSelect, Takes::kAny},
    {OpCode::kSign, PlanUnaryFn<UnaryFn::kSign>},
    {OpCode::kSin, PlanUnaryFn<UnaryFn::kSin>},
    {OpCode::kSlice, PlanStridedCopy, Takes::kMoves},
    {OpCode::kSoftmax, PlanRowwiseKind<RowwiseKind::kSoftmax>},
    {OpCode::kSpaceToBatchNd, PlanSpaceBatch<true>, Takes::kMoves},
    {OpCode::kSpaceToDepth, PlanStridedCopy, Takes::kMoves},
    {OpCode::kSplit, PlanSplitFrom<1>, Takes::kMoves},
    {OpCode::kSplitV, PlanSplitFrom<0>, Takes::kMoves},
    {OpCode::kSqrt, PlanUnaryFn<UnaryFn::kSqrt>},
    {OpCode::kSquare, PlanUnaryFn<UnaryFn::kSquare>},
    {OpCode::kSquaredDifference, PlanBinaryFn<BinaryFn::kSquaredDifference>},
    {OpCode::kSqueeze, PlanReshape, Takes::kMoves},
    {OpCode::kStridedSlice, PlanStridedCopy, Takes::kMoves},
    {OpCode::kSub, PlanBinaryFn<BinaryFn::kSub>, Takes::kAny},
    {OpCode::kSum, PlanReduceKind<ReduceKind::kSum>},
    {OpCode::kTanh, PlanUnaryFn<UnaryFn::kTanh>},
    {OpCode::kTile, PlanStridedCopy, Takes::kMoves},
    {OpCode::kTranspose, PlanStridedCopy, Takes::kMoves},
    {OpCode::kTransposeConv, PlanTransposeConv},
    {OpCode::kUnpack, PlanSplitFrom<0>, Takes::kMoves},
};

const Row* FindRow(OpCode code) {
  for (const Row& row : kRows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

// Quantized operators whose integers are not what rounding the real result gives.
Status CheckQuantized(OpCode code, const GpuContext& context) {
  const GpuFormat& format = context.output_format(0);
  if (!format.is_quantized()) return Status::Ok();
  if (code == OpCode::kNeg) return Unsupported("it negates integers whatever their scale");
  if (format.dtype != DType::kInt16) return Status::Ok();
  for (const OpCode coarse : {OpCode::kExp, OpCode::kGelu, OpCode::kLog, OpCode::kResizeBilinear,
                              OpCode::kRsqrt, OpCode::kSoftmax, OpCode::kTanh}) {
    if (code == coarse) return Unsupported("its int16 results are coarser than float32's");
  }
  return Status::Ok();
}

Status CheckTypes(const GpuContext& context, Takes takes) {
  if (takes == Takes::kAny) return Status::Ok();
  const bool reals = takes != Takes::kMoves || context.output_format(0).is_real;
  const auto check = [&](const char* kind, int i, const GpuFormat& format) {
    return format.is_real == reals ? Status::Ok()
                                   : Unsupported("%s %d is %s", kind, i, DTypeName(format.dtype));
  };
  for (int i = 0; i < context.n_outputs(); ++i) {
    TW_RETURN_IF_ERROR(check("output", i, context.output_format(i)));
  }
  for (int i = 0; i < context.n_inputs(); ++i) {
    if (context.input(i) == nullptr || context.is_constant(i)) continue;
    TW_RETURN_IF_ERROR(check("input", i, context.input_format(i)));
  }
  return Status::Ok();
}

// Constant integers become int32.
Status CheckConstants(const GpuContext& context) {
  for (int i = 0; i < context.n_inputs(); ++i) {
    if (!context.is_constant(i) || context.input(i)->dtype != DType::kInt64) continue;
    std::vector<int32_t> values(static_cast<size_t>(context.input(i)->shape.NumElements()));
    TW_RETURN_IF_ERROR(ReadInts32(*context.input(i), values.data()));
  }
  return Status::Ok();
}

// Whether every real that the operator reads lies on the output's grid.
bool IsOnGrid(const GpuContext& context, const GpuFormat& output) {
  for (int i = 0; i < context.n_inputs(); ++i) {
    if (context.input(i) == nullptr || !context.input_format(i).is_real) continue;
    if (!(context.input_format(i) == output)) return false;
  }
  return true;
}

bool IsInput(GpuContext& context, int block) {
  for (int i = 0; i < context.n_inputs(); ++i) {
    if (context.input(i) != nullptr && !context.is_constant(i) && context.In(i) == block) {
      return true;
    }
  }
  return false;
}

Status BringToGrids(GpuContext& context, Takes takes) {
  if (takes == Takes::kOnGrid) return Status::Ok();
  for (int i = 0; i < context.n_outputs(); ++i) {
    const GpuFormat& format = context.output_format(i);
    if (!format.is_quantized() || format.is_bytes ||
        context.output_blocks()[static_cast<size_t>(i)] < 0)
      continue;
    if (takes == Takes::kMoves && IsOnGrid(context, format)) continue;
    const int block = context.output_blocks()[static_cast<size_t>(i)];
    if (IsInput(context, block)) return Unsupported("its input has another scale");
    AddGrid(context, context.output(i).shape.NumElements(), format, block);
  }
  return Status::Ok();
}

// Whether bytes can pass as they are.
bool MovesBytes(const GpuContext& context, Takes takes) {
  bool moves = takes == Takes::kMoves && context.output_format(0).is_bytes;
  for (int i = 0; i < context.n_outputs(); ++i) {
    moves = moves && IsOnGrid(context, context.output_format(i));
  }
  return moves;
}

}  // namespace

PlanGpuFunction FindGpuPlan(OpCode code) {
  const Row* row = FindRow(code);
  return row == nullptr ? nullptr : row->plan;
}

Status PlanOnGpu(OpCode code, GpuContext& context) {
  const Row* row = FindRow(code);
  if (row == nullptr) return Unsupported("it has no kernel there");
  if (!context.why_not().empty()) return Unsupported("%s", context.why_not().c_str());
  TW_RETURN_IF_ERROR(CheckTypes(context, row->takes));
  TW_RETURN_IF_ERROR(CheckQuantized(code, context));
  TW_RETURN_IF_ERROR(CheckConstants(context));
  const bool has_tanh = context.params_.activation == Activation::kTanh;
  if (has_tanh) context.params_.activation = Activation::kNone;
  context.moves_bytes_ = MovesBytes(context, row->takes);
  TW_RETURN_IF_ERROR(row->plan(context));
  if (!context.why_not().empty()) return Unsupported("%s", context.why_not().c_str());
  if (has_tanh) AddTanh(context, context.output(0).shape.NumElements(), context.Out(0));
  for (int i = 0; i < context.n_outputs(); ++i) context.MakeBytes(i);
  return BringToGrids(context, row->takes);
}

}  // namespace topwork
