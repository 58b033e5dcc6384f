// RANGE: start, start + delta, start + 2 delta ... below (above, for a negative delta) limit.
//
// float32, int32 or int64; the three scalars must be known before the output's size is. Float
// values are summed up one by one, as TFLite does, so that rounding agrees.
#include <cmath>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

// ceil((limit - start) / delta) with every intermediate in range; the signs must agree.
int64_t IntLength(int64_t start, int64_t limit, int64_t delta) {
  const uint64_t up = static_cast<uint64_t>(limit) - static_cast<uint64_t>(start);
  const uint64_t distance = limit >= start ? up : ~up + 1;
  const uint64_t magnitude =
      delta > 0 ? static_cast<uint64_t>(delta) : ~static_cast<uint64_t>(delta) + 1;
  const uint64_t length = distance / magnitude + (distance % magnitude != 0 ? 1 : 0);
  return length > INT32_MAX ? -1 : static_cast<int64_t>(length);
}

Status Length(PrepareContext& context, int64_t* length) {
  bool agree = false;
  if (context.input(0)->dtype == DType::kFloat32) {
    const float start = *context.input(0)->as<float>();
    const float limit = *context.input(1)->as<float>();
    const float delta = *context.input(2)->as<float>();
    agree = (start <= limit && delta > 0) || (start >= limit && delta < 0);
    const float count = std::ceil(std::fabs((limit - start) / delta));
    *length = count < 2147483648.0f ? static_cast<int64_t>(count) : -1;  // NaN gives -1 too
  } else {
    const int64_t start = IntAt(*context.input(0), 0);
    const int64_t limit = IntAt(*context.input(1), 0);
    const int64_t delta = IntAt(*context.input(2), 0);
    agree = (start <= limit && delta > 0) || (start >= limit && delta < 0);
    *length = agree ? IntLength(start, limit, delta) : 0;
  }
  if (!agree) {
    return InvalidModel("%s: delta is zero or leads away from the limit", context.Where().c_str());
  }
  return CheckDim(context, *length, "the output's length");
}

Status PrepareRange(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  for (int i = 0; i < 3; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kFloat32, DType::kInt32, DType::kInt64}));
    TW_RETURN_IF_ERROR(CheckSameDType(context, 0, i));
    TW_RETURN_IF_ERROR(context.CheckRank(i, 0, 0));
    TW_RETURN_IF_ERROR(context.NeedValue(i));
  }
  int64_t length = 0;
  TW_RETURN_IF_ERROR(Length(context, &length));
  return context.SetOutput(0, context.input(0)->dtype, Shape({static_cast<int32_t>(length)}));
}

// U holds the sum: unsigned for integers, whose last unused addition may wrap.
template <typename T, typename U>
void FillRange(const RunContext& context) {
  U value = static_cast<U>(*context.input_data<T>(0));
  const U delta = static_cast<U>(*context.input_data<T>(2));
  T* out = context.output_data<T>(0);
  for (int32_t i = 0; i < context.out(0).shape.dim(0); ++i) {
    out[i] = static_cast<T>(value);
    value += delta;
  }
}

Status RunRange(const RunContext& context) {
  switch (context.out(0).dtype) {
    case DType::kFloat32:
      FillRange<float, float>(context);
      break;
    case DType::kInt64:
      FillRange<int64_t, uint64_t>(context);
      break;
    default:
      FillRange<int32_t, uint32_t>(context);
      break;
  }
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpRange;
const OpDef kOpRange = {OpCode::kRange, "RANGE", 73, 2, nullptr, PrepareRange, RunRange};

}  // namespace topwork
