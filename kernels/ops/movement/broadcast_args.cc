// BROADCAST_ARGS: the shape that two shapes (vectors of int32 or int64) broadcast to.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status PrepareBroadcastArgs(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  for (int i = 0; i < 2; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kInt32, DType::kInt64}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
  }
  const int32_t n = std::max(context.input(0)->shape.dim(0), context.input(1)->shape.dim(0));
  return context.SetOutput(0, context.input(0)->dtype, Shape({n}));
}

Status RunBroadcastArgs(const RunContext& context) {
  const int64_t n = context.out(0).shape.dim(0);
  for (int64_t back = 0; back < n; ++back) {
    int64_t dims[2];
    for (int i = 0; i < 2; ++i) {
      const int64_t k = context.in(i).shape.dim(0) - 1 - back;
      dims[i] = k < 0 ? 1 : IntAt(context.in(i), k);
    }
    if (dims[0] != dims[1] && dims[0] != 1 && dims[1] != 1) {
      return InvalidArgument(
          "the shapes cannot be broadcast: %lld and %lld at position %lld "
          "from the end",
          static_cast<long long>(dims[0]), static_cast<long long>(dims[1]),
          static_cast<long long>(back));
    }
    const int64_t value = dims[0] == 1 ? dims[1] : dims[0];
    if (context.out(0).dtype == DType::kInt64) {
      context.output_data<int64_t>(0)[n - 1 - back] = value;
    } else {
      context.output_data<int32_t>(0)[n - 1 - back] = static_cast<int32_t>(value);
    }
  }
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpBroadcastArgs;
const OpDef kOpBroadcastArgs = {OpCode::kBroadcastArgs, "BROADCAST_ARGS", 0, 1, nullptr,
                                PrepareBroadcastArgs,   RunBroadcastArgs};

}  // namespace topwork
