// Operators that only move elements, on a GPU (strided_copy.cl).
#include <vector>

#include "kernels/ops/gpu_plans.h"
#include "kernels/ops/split_rows.h"
#include "kernels/ops/strided_copy.h"

namespace topwork {
namespace {

constexpr int64_t kBytes = static_cast<int64_t>(sizeof(float));  // of an element, in the plan

void AddCopy(GpuContext& context, const StridedCopy& copy, int from, int to) {
  std::vector<int32_t> table;
  int64_t n = 1;
  for (const StridedCopy::Loop& loop : copy.Loops(kBytes)) {
    table.push_back(static_cast<int32_t>(loop.n));
    table.push_back(static_cast<int32_t>(loop.src / kBytes));
    table.push_back(static_cast<int32_t>(loop.dst / kBytes));
    n *= loop.n;
  }
  const int64_t rank = static_cast<int64_t>(table.size()) / 3;
  if (table.empty()) table.push_back(0);
  context.Add("strided_copy", "strided_copy",
              {BufferArg(from), BufferArg(to),
               BufferArg(context.Table({table.data(), table.size()})), IntArg(rank), IntArg(n),
               IntArg(copy.src_offset() / kBytes), IntArg(copy.dst_offset() / kBytes)},
              n);
}

}  // namespace

Status PlanReshape(GpuContext& context) {
  context.Alias(0, 0);
  return Status::Ok();
}

Status PlanStridedCopy(GpuContext& context) {
  AddCopy(context, context.state<StridedCopy>(), context.In(0), context.Out(0));
  return Status::Ok();
}

Status PlanJoin(GpuContext& context) {
  const auto& copies = context.state<SplitRowsState>().copies;
  for (size_t k = 0; k < copies.size(); ++k) {
    if (copies[k].empty()) continue;
    AddCopy(context, copies[k], context.In(static_cast<int>(k)), context.Out(0));
  }
  return Status::Ok();
}

template <int kWhole>
Status PlanSplitFrom(GpuContext& context) {
  const auto& copies = context.state<SplitRowsState>().copies;
  for (size_t k = 0; k < copies.size(); ++k) {
    AddCopy(context, copies[k], context.In(kWhole), context.Out(static_cast<int>(k)));
  }
  return Status::Ok();
}
template Status PlanSplitFrom<0>(GpuContext& context);
template Status PlanSplitFrom<1>(GpuContext& context);

Status PlanPad(GpuContext& context) {
  const Shape& in = context.input(0)->shape;
  const Shape& out = context.output(0).shape;
  const TensorView& amounts = *context.input(1);
  if (amounts.data == nullptr) return Unsupported("its paddings are not constant");
  float value = 0.0f;
  if (context.input(2) != nullptr) {
    if (context.input(2)->data == nullptr) return Unsupported("its value is not constant");
    value = *context.input(2)->as<const float>();
  }
  const auto before = [&](int d) -> int64_t {
    return amounts.dtype == DType::kInt64 ? amounts.as<const int64_t>()[2 * d]
                                          : amounts.as<const int32_t>()[2 * d];
  };
  int64_t strides[kMaxRank], in_strides[kMaxRank];
  ContiguousStrides(out, kBytes, strides);
  ContiguousStrides(in, kBytes, in_strides);
  StridedCopy copy(kBytes);
  int64_t to = 0;
  for (int d = 0; d < in.rank(); ++d) {
    copy.AddDim(in.dim(d), in_strides[d], strides[d]);
    to += before(d) * strides[d];
  }
  copy.set_dst_offset(to);
  copy.Finish();
  const int64_t n = out.NumElements();
  context.Add("strided_copy", "fill", {BufferArg(context.Out(0)), IntArg(n), FloatArg(value)}, n);
  AddCopy(context, copy, context.In(0), context.Out(0));
  return Status::Ok();
}

}  // namespace topwork
