// RANK: the number of dimensions of the input as an int32 scalar; its values are never read.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status PrepareRank(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  return context.SetOutput(0, DType::kInt32, Shape());
}

Status RunRank(const RunContext& context) {
  context.output_data<int32_t>(0)[0] = context.in(0).shape.rank();
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpRank;
const OpDef kOpRank = {OpCode::kRank, "RANK", 86, 1, nullptr, PrepareRank, RunRank};

}  // namespace topwork
