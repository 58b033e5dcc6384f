// HARD_SWISH: y = x * min(max(x + 3, 0), 6) / 6; float32, int8 and uint8.
//
// The integer form is TFLite's 16-bit arithmetic: x on a scale 128 times finer, once brought near
// the output's scale and once to [-1, 1] standing for [-3, 3], saturating; then their product.
#include <algorithm>

#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_quant.h"
#include "kernels/train/gradients.h"

namespace topwork {
namespace {

int32_t Saturate16(int64_t x) {
  return static_cast<int32_t>(std::min<int64_t>(32767, std::max<int64_t>(-32768, x)));
}

// The upper half of twice the product, rounded, halves up in magnitude below 0.
int32_t HighProduct16(int32_t a, int32_t b) { return (a * b + (1 << 14)) >> 15; }

// A factor with 15 bits.
struct Scale16 {
  int32_t multiplier = 0, shift = 0;
};

Scale16 MakeScale16(float factor) {
  const FixedFactor scale = MakeFixedFactor(static_cast<double>(factor));
  const int32_t round = 1 << 15;
  const int32_t limit = INT32_MAX - round;
  return {scale.mantissa >= limit ? 32767 : (scale.mantissa + round) >> 16, scale.shift};
}

struct HardSwishMap {
  int32_t in_zero, out_zero, lo, hi;
  Scale16 out_scale, ramp_scale;

  int32_t Ramp(int32_t fine) const {  // 0 to 32767 for 0 to 1
    int32_t r = fine;
    if (ramp_scale.shift > 0) r = Saturate16(int64_t{r} * (int64_t{1} << (ramp_scale.shift - 1)));
    r = HighProduct16(r, ramp_scale.multiplier);
    if (ramp_scale.shift > 0) r = Saturate16(int64_t{r} * 2);
    if (ramp_scale.shift < 0) r = RoundingShiftRight(r, std::min(15, -ramp_scale.shift));
    return (r + 32768) >> 1;
  }

  int32_t operator()(int32_t q) const {
    const int32_t fine = (q - in_zero) * 128;
    const int32_t wide = HighProduct16(fine, out_scale.multiplier);
    const int32_t product = Ramp(fine) * wide / 32768;
    return PlaceInt(RoundingShiftRight(product, std::min(30, -out_scale.shift)), out_zero, lo, hi);
  }
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(
      PrepareUnaryQuant(context, {DType::kFloat32, DType::kInt8, DType::kUInt8}, &quant));
  const float fine_scale = 1.0f / 128.0f * quant.in.scale;
  HardSwishMap map;
  map.in_zero = quant.in.zero_point;
  map.out_zero = quant.out.zero_point;
  map.lo = quant.lo;
  map.hi = quant.hi;
  map.out_scale = MakeScale16(fine_scale / quant.out.scale);
  map.ramp_scale = MakeScale16(fine_scale / (3.0f / 32768.0f));
  if (map.out_scale.shift > 0) {
    return context.Unsupported("its input's scale {} is more than 128 times its output's {}",
                               quant.in.scale, quant.out.scale);
  }
  SetMap(context, quant.dtype, map);
  return Status::Ok();
}

Status Run(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kHardSwish);
  return RunMap<HardSwishMap>(context);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kHardSwish)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt8})
        .Options(OptionsType::kHardSwish)
        .Cpu(Prepare, Run)
        .Gpu(PlanUnaryFn<UnaryFn::kHardSwish>)
        .Gradient(kBackwardHardSwish)
        .Int8(IntegerForm::kOwn, 1)
        .WidensHalf()
        .Work(WorkRule::kFunctions)
        .ByElement(),
};

Span<const OpDef> HardSwishOps() { return Selected<kOps>(); }

}  // namespace topwork
