// Scale and zero point of quantized operands (see quantized.h).
#include "kernels/ops/shared/quantized.h"

#include <cmath>

namespace topwork {

Status ReadInputQuant(const PrepareContext& context, int i, QuantOne* out) {
  TW_RETURN_IF_ERROR(CheckInputScale(context, i));
  *out = {ScaleOf(*context.input(i)), ZeroPointOf(*context.input(i))};
  return Status::Ok();
}

Status ReadOutputQuant(const PrepareContext& context, int i, QuantOne* out) {
  TW_RETURN_IF_ERROR(CheckOutputScale(context, i));
  *out = {ScaleOf(context.output(i)), ZeroPointOf(context.output(i))};
  return Status::Ok();
}

bool IsPowerOfTwo(float scale, int* exponent) {
  const float log = std::log2(scale);
  const float rounded = std::round(log);
  *exponent = static_cast<int>(rounded);
  return std::fabs(log - rounded) < 1e-3f;
}

}  // namespace topwork
