// MAX_POOL_2D: the largest of the pixels under each window; padding counts as the least number.
// float32, int8, uint8 and int16.
#include "kernels/ops/conv/pool.h"
#include "kernels/ops/shared/quantized.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, true, true));
  context.SetVariant("direct");
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const PoolKernels& kernels = *context.cpu->pool;
  const DType dtype = context.in(0).dtype;
  RunPool(context, IsFloat(dtype) ? kernels.largest
                                  : kernels.integer_largest[static_cast<int>(QuantTypeOf(dtype))]);
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpMaxPool2D;
const OpDef kOpMaxPool2D = {OpCode::kMaxPool2d, "MAX_POOL_2D", 5, 3, ParsePool, Prepare, Run};

}  // namespace topwork
