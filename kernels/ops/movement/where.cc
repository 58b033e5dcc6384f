// WHERE: the coordinates of the elements of the condition that are not zero, one row (int64) each,
// in row-major order. The output's size depends on the condition's values.
#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

bool IsTrue(const TensorView& view, int64_t k) {
  return VisitDType<float, int32_t, int64_t, uint32_t, uint8_t>(  // a byte: int8, uint8, bool
      view.dtype, [&](auto type) { return view.as<decltype(type)>()[k] != 0; });
}

Status PrepareWhere(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kBool, DType::kFloat32, DType::kInt32, DType::kInt64,
                             DType::kInt8, DType::kUInt8, DType::kUInt32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TW_RETURN_IF_ERROR(context.NeedValue(0));
  const TensorView& condition = *context.input(0);
  int64_t count = 0;
  for (int64_t k = 0; k < condition.shape.NumElements(); ++k) count += IsTrue(condition, k);
  TW_RETURN_IF_ERROR(CheckDim(context, count, "the number of true elements"));
  return context.SetOutput(0, DType::kInt64,
                           Shape({static_cast<int32_t>(count), condition.shape.rank()}));
}

Status RunWhere(const RunContext& context) {
  const TensorView& condition = context.in(0);
  const Shape& shape = condition.shape;
  int64_t* out = context.output_data<int64_t>(0);
  int64_t n_left = context.out(0).shape.dim(0);
  for (int64_t k = 0; n_left > 0 && k < shape.NumElements(); ++k) {
    if (!IsTrue(condition, k)) continue;
    int64_t rest = k;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      out[d] = rest % shape.dim(d);
      rest /= shape.dim(d);
    }
    out += shape.rank();
    --n_left;
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kWhere)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kBool,
                DType::kInt8, DType::kUInt32})
        .Options(OptionsType::kWhere)
        .Cpu(PrepareWhere, RunWhere),
};

Span<const OpDef> WhereOps() { return Selected<kOps>(); }

}  // namespace topwork
