// BUCKETIZE: for every element the number of boundaries (options, ascending) that are not above it,
// as int32. float32, float64, int32 and int64.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->boundaries = options.FloatVector(0);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64}));
  const Span<const float> boundaries = context.params().boundaries;
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) {
    return context.Invalid("its boundaries are not in ascending order");
  }
  return context.SetOutput(0, DType::kInt32, context.input(0)->shape);
}

template <typename T>
void RunAs(const RunContext& context) {
  using Common = std::common_type_t<T, float>;  // in which C++ compares them
  const Span<const float> boundaries = context.params->boundaries;
  const T* x = context.input_data<T>(0);
  int32_t* y = context.output_data<int32_t>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 64,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const float* above = std::upper_bound(
                       boundaries.begin(), boundaries.end(), static_cast<Common>(x[i]),
                       [](Common value, float boundary) { return value < Common(boundary); });
                   y[i] = static_cast<int32_t>(above - boundaries.begin());
                 }
               });
}

Status Run(const RunContext& context) {
  VisitDType<double, int32_t, int64_t, float>(context.in(0).dtype,
                                              [&](auto type) { RunAs<decltype(type)>(context); });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kBucketize)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt64, DType::kFloat64})
        .Options(OptionsType::kBucketize, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> BucketizeOps() { return Selected<kOps>(); }

}  // namespace topwork
