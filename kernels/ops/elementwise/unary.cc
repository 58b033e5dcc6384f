// Prepare and run of unary operators (see unary.h).
#include "kernels/ops/elementwise/unary.h"

#include "kernels/ops/shared/indexing.h"

namespace topwork {

Status PrepareUnary(PrepareContext& context, std::initializer_list<DType> dtypes) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, dtypes));
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, context.input(0)->shape));
  context.AllowInPlace(0, 0);
  return Status::Ok();
}

Status PrepareUnaryFloat(PrepareContext& context) {
  return PrepareUnary(context, {DType::kFloat32});
}

Status RunUnaryFloat(const RunContext& context, UnaryFn fn, float alpha) {
  const UnaryFunction run = context.cpu->elementwise->unary[static_cast<int>(fn)];
  const float* x = context.input_data<float>(0);
  float* y = context.output_data<float>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(),
               static_cast<int64_t>(sizeof(float)),
               [&](int64_t begin, int64_t end) { run(x + begin, y + begin, end - begin, alpha); });
  return Status::Ok();
}

}  // namespace topwork
