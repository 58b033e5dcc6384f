// BROADCAST_TO: the input repeated along its dimensions of size 1 (and new leading ones) to the
// shape in input 1.
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

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
    return InvalidModel("%s: %s of shape %s cannot be broadcast to %s", context.Where().c_str(),
                        context.InputName(0).c_str(), input.shape.ToString().c_str(),
                        shape.ToString().c_str());
  }
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(ElementBytes(input));
  return SetStridedOutput(context, copy, shape, src);
}

}  // namespace

extern const OpDef kOpBroadcastTo;
const OpDef kOpBroadcastTo = {OpCode::kBroadcastTo, "BROADCAST_TO", 104, 4, nullptr,
                              PrepareBroadcastTo,   RunStridedCopy};

}  // namespace topwork
