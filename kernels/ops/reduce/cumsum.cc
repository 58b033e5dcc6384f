// CUMSUM: running sums along an axis (input 1); `exclusive` leaves the element itself out,
// `reverse` sums from the end. float32, int32 and int64 (integers wrap around).
#include "kernels/ops/reduce/axis_state.h"
#include "kernels/ops/reduce/reduce_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->exclusive = options.Bool(0, false);
  params->reverse = options.Bool(1, false);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(NewAxisState(context).status());
  const TensorView& input = *context.input(0);
  TW_RETURN_IF_ERROR(context.SetOutput(0, input.dtype, input.shape));
  context.AllowInPlace(0, 0);
  return Status::Ok();
}

template <typename T>
void RunAs(const RunContext& context) {
  const AxisState& s = context.get_state<AxisState>();
  const bool exclusive = context.params->exclusive, reverse = context.params->reverse;
  const T* x = context.input_data<T>(0);
  T* y = context.output_data<T>(0);
  ParallelRows(context.pool, s.outer * s.inner, 4 * s.axis, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t base = k / s.inner * s.axis * s.inner + k % s.inner;
      Wrapping<T> sum = 0;
      for (int64_t i = 0; i < s.axis; ++i) {
        const int64_t at = base + (reverse ? s.axis - 1 - i : i) * s.inner;
        const Wrapping<T> next = sum + static_cast<Wrapping<T>>(x[at]);
        y[at] = static_cast<T>(exclusive ? sum : next);
        sum = next;
      }
    }
  });
}

Status Run(const RunContext& context) {
  VisitDType<int32_t, int64_t, float>(context.in(0).dtype,
                                      [&](auto type) { RunAs<decltype(type)>(context); });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCumsum)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt64})
        .Options(OptionsType::kCumsum, Parse)
        .Cpu(Prepare, Run)
        .Gpu(PlanCumsum)
        .WidensHalf(),
};

Span<const OpDef> CumsumOps() { return Selected<kOps>(); }

}  // namespace topwork
