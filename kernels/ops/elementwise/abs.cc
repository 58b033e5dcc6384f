// ABS: y = |x|; float32, int8, int16 (with a scale or plain) and int32. The least plain integer
// stays as it is.
#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_int.h"
#include "kernels/ops/elementwise/unary_quant.h"

namespace topwork {
namespace {

struct AbsMap {
  int32_t in_zero, out_zero, lo, hi;
  bool rescale;
  FixedFactor scale;
  int32_t operator()(int32_t q) const {
    const int32_t x = q < in_zero ? in_zero - q : q - in_zero;
    return PlaceInt(rescale ? MultiplyByFactor(x, scale) : x, out_zero, lo, hi);
  }
};

bool IsPlain(const TensorView& view) {
  return view.dtype == DType::kInt32 || (view.dtype == DType::kInt16 && !IsScaled(view));
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  const TensorView& in = *context.input(0);
  if (IsFloat(in.dtype) || IsPlain(in)) {
    return PrepareUnary(context, {DType::kFloat32, DType::kInt16, DType::kInt32});
  }
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(PrepareUnaryQuant(
      context, {DType::kFloat32, DType::kInt8, DType::kInt16, DType::kInt32}, &quant));
  AbsMap map;
  map.in_zero = quant.in.zero_point;
  map.out_zero = quant.out.zero_point;
  map.lo = quant.lo;
  map.hi = quant.hi;
  map.rescale = quant.in.scale != quant.out.scale;
  map.scale = MakeFixedFactor(static_cast<double>(quant.in.scale / quant.out.scale));
  SetMap(context, quant.dtype, map);
  return Status::Ok();
}

template <typename T>
Status RunPlain(const RunContext& context) {
  MapInts<T>(context, [](T x) {
    const uint32_t bits = static_cast<uint32_t>(x);
    return static_cast<T>(x < 0 ? 0u - bits : bits);
  });
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const TensorView& in = context.in(0);
  if (IsFloat(in.dtype)) return RunUnaryFloat(context, UnaryFn::kAbs);
  if (!IsPlain(in)) return RunMap<AbsMap>(context);
  return in.dtype == DType::kInt16 ? RunPlain<int16_t>(context) : RunPlain<int32_t>(context);
}

}  // namespace

extern const OpDef kOpAbs;
const OpDef kOpAbs = {OpCode::kAbs, "ABS", 78, 5, nullptr, Prepare, Run};

}  // namespace topwork
