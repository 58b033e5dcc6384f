// ADD_N: the sum of one or more tensors of one shape; float32 and int32 (which wraps around).
#include <algorithm>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

constexpr int64_t kBlock = 512;

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(std::max(1, context.n_inputs()), context.n_inputs()));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt32}));
  const Shape& shape = context.input(0)->shape;
  for (int i = 1; i < context.n_inputs(); ++i) {
    TW_RETURN_IF_ERROR(CheckSameDType(context, 0, i));
    if (context.input(i)->shape != shape) {
      return InvalidModel("%s: %s has shape %s but %s has shape %s; all must be equal",
                          context.Where().c_str(), context.InputName(i).c_str(),
                          context.input(i)->shape.ToString().c_str(), context.InputName(0).c_str(),
                          shape.ToString().c_str());
    }
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, shape));
  for (int i = 0; i < context.n_inputs(); ++i) context.AllowInPlace(i, 0);
  return Status::Ok();
}

// Every block is read from all inputs before it is written, so the output may be any of them.
// Acc is T without signed overflow.
template <typename T, typename Acc>
void Sum(const RunContext& context, int64_t begin, int64_t end) {
  const int n_inputs = static_cast<int>(context.inputs.size());
  for (int64_t start = begin; start < end; start += kBlock) {
    const int64_t n = std::min(kBlock, end - start);
    Acc sum[kBlock];
    const T* first = context.input_data<T>(0) + start;
    for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<Acc>(first[i]);
    for (int k = 1; k < n_inputs; ++k) {
      const T* x = context.input_data<T>(k) + start;
      for (int64_t i = 0; i < n; ++i) sum[i] += static_cast<Acc>(x[i]);
    }
    T* y = context.output_data<T>(0) + start;
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(sum[i]);
  }
}

Status Run(const RunContext& context) {
  const bool floats = IsFloat(context.out(0).dtype);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 4,
               [&](int64_t begin, int64_t end) {
                 if (floats) {
                   Sum<float, float>(context, begin, end);
                 } else {
                   Sum<int32_t, uint32_t>(context, begin, end);
                 }
               });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpAddN;
const OpDef kOpAddN = {OpCode::kAddN, "ADD_N", 82, 1, nullptr, Prepare, Run};

}  // namespace topwork
