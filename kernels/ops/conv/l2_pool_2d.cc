// L2_POOL_2D: the root of the mean square under each window; padding is not counted.
#include "kernels/ops/conv/pool.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, false, false));
  context.SetVariant("direct");
  return Status::Ok();
}

Status Run(const RunContext& context) {
  RunPool(context, context.cpu->pool->root_mean_square);
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpL2Pool2D;
const OpDef kOpL2Pool2D = {OpCode::kL2Pool2d, "L2_POOL_2D", 5, 1, ParsePool, Prepare, Run};

}  // namespace topwork
