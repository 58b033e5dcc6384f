// AVERAGE_POOL_2D: the mean of the pixels under each window; padding is not counted. float32, int8,
// uint8 and int16 (halves away from zero).
#include "kernels/ops/conv/pool.h"
#include "kernels/ops/shared/quantized.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, false, true));
  context.SetVariant("direct");
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const PoolKernels& kernels = *context.cpu->pool;
  const DType dtype = context.in(0).dtype;
  RunPool(context, IsFloat(dtype) ? kernels.mean
                                  : kernels.integer_mean[static_cast<int>(QuantTypeOf(dtype))]);
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpAveragePool2D;
const OpDef kOpAveragePool2D = {
    OpCode::kAveragePool2d, "AVERAGE_POOL_2D", 5, 3, ParsePool, Prepare, Run};

}  // namespace topwork
