// FindGpuPlan: the operators that have device kernels.
#include "kernels/gpu_context.h"
#include "kernels/ops/gpu_plans.h"

namespace topwork {
namespace {

struct Row {
  OpCode code;
  PlanGpuFunction plan;
};

constexpr Row kRows[] = {
    {OpCode::kAbs, PlanUnaryFn<UnaryFn::kAbs>},
    {OpCode::kAdd, PlanBinaryFn<BinaryFn::kAdd>},
    {OpCode::kAtan2, PlanBinaryFn<BinaryFn::kAtan2>},
    {OpCode::kAveragePool2d, PlanPoolKind<PoolKind::kAverage>},
    {OpCode::kBroadcastTo, PlanStridedCopy},
    {OpCode::kCeil, PlanUnaryFn<UnaryFn::kCeil>},
    {OpCode::kConcatenation, PlanJoin},
    {OpCode::kConv2d, PlanConv2D},
    {OpCode::kCos, PlanUnaryFn<UnaryFn::kCos>},
    {OpCode::kDepthToSpace, PlanStridedCopy},
    {OpCode::kDepthwiseConv2d, PlanDepthwiseConv2D},
    {OpCode::kDiv, PlanBinaryFn<BinaryFn::kDiv>},
    {OpCode::kElu, PlanUnaryFn<UnaryFn::kElu>},
    {OpCode::kExp, PlanUnaryFn<UnaryFn::kExp>},
    {OpCode::kExpandDims, PlanReshape},
    {OpCode::kFloor, PlanUnaryFn<UnaryFn::kFloor>},
    {OpCode::kFloorDiv, PlanBinaryFn<BinaryFn::kFloorDiv>},
    {OpCode::kFloorMod, PlanBinaryFn<BinaryFn::kFloorMod>},
    {OpCode::kFullyConnected, PlanFullyConnected},
    {OpCode::kGelu, PlanGelu},
    {OpCode::kHardSwish, PlanUnaryFn<UnaryFn::kHardSwish>},
    {OpCode::kL2Normalization, PlanRowwiseKind<RowwiseKind::kL2Normalization>},
    {OpCode::kL2Pool2d, PlanPoolKind<PoolKind::kL2>},
    {OpCode::kLeakyRelu, PlanLeakyRelu},
    {OpCode::kLog, PlanUnaryFn<UnaryFn::kLog>},
    {OpCode::kLogSoftmax, PlanRowwiseKind<RowwiseKind::kLogSoftmax>},
    {OpCode::kLogistic, PlanUnaryFn<UnaryFn::kLogistic>},
    {OpCode::kMaxPool2d, PlanPoolKind<PoolKind::kMax>},
    {OpCode::kMaximum, PlanBinaryFn<BinaryFn::kMaximum>},
    {OpCode::kMean, PlanReduceKind<ReduceKind::kMean>},
    {OpCode::kMinimum, PlanBinaryFn<BinaryFn::kMinimum>},
    {OpCode::kMul, PlanBinaryFn<BinaryFn::kMul>},
    {OpCode::kNeg, PlanUnaryFn<UnaryFn::kNeg>},
    {OpCode::kPack, PlanJoin},
    {OpCode::kPad, PlanPad},
    {OpCode::kPadv2, PlanPad},
    {OpCode::kPow, PlanBinaryFn<BinaryFn::kPow>},
    {OpCode::kPrelu, PlanBinaryFn<BinaryFn::kPrelu>},
    {OpCode::kReduceMax, PlanReduceKind<ReduceKind::kMax>},
    {OpCode::kReduceMin, PlanReduceKind<ReduceKind::kMin>},
    {OpCode::kReduceProd, PlanReduceKind<ReduceKind::kProd>},
    {OpCode::kRelu, PlanUnaryFn<UnaryFn::kRelu>},
    {OpCode::kRelu0To1, PlanUnaryFn<UnaryFn::kRelu0To1>},
    {OpCode::kRelu6, PlanUnaryFn<UnaryFn::kRelu6>},
    {OpCode::kReluN1To1, PlanUnaryFn<UnaryFn::kReluN1To1>},
    {OpCode::kReshape, PlanReshape},
    {OpCode::kResizeBilinear, PlanResizeBilinear},
    {OpCode::kResizeNearestNeighbor, PlanResizeNearest},
    {OpCode::kRound, PlanUnaryFn<UnaryFn::kRound>},
    {OpCode::kRsqrt, PlanUnaryFn<UnaryFn::kRsqrt>},
    {OpCode::kSign, PlanUnaryFn<UnaryFn::kSign>},
    {OpCode::kSin, PlanUnaryFn<UnaryFn::kSin>},
    {OpCode::kSlice, PlanStridedCopy},
    {OpCode::kSoftmax, PlanRowwiseKind<RowwiseKind::kSoftmax>},
    {OpCode::kSpaceToDepth, PlanStridedCopy},
    {OpCode::kSplit, PlanSplitFrom<1>},
    {OpCode::kSplitV, PlanSplitFrom<0>},
    {OpCode::kSqrt, PlanUnaryFn<UnaryFn::kSqrt>},
    {OpCode::kSquare, PlanUnaryFn<UnaryFn::kSquare>},
    {OpCode::kSquaredDifference, PlanBinaryFn<BinaryFn::kSquaredDifference>},
    {OpCode::kSqueeze, PlanReshape},
    {OpCode::kStridedSlice, PlanStridedCopy},
    {OpCode::kSub, PlanBinaryFn<BinaryFn::kSub>},
    {OpCode::kSum, PlanReduceKind<ReduceKind::kSum>},
    {OpCode::kTanh, PlanUnaryFn<UnaryFn::kTanh>},
    {OpCode::kTile, PlanStridedCopy},
    {OpCode::kTranspose, PlanStridedCopy},
    {OpCode::kUnpack, PlanSplitFrom<0>},
};

}  // namespace

PlanGpuFunction FindGpuPlan(OpCode code) {
  for (const Row& row : kRows) {
    if (row.code == code) return row.plan;
  }
  return nullptr;
}

}  // namespace topwork
