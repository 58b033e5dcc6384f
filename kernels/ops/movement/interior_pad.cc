// StableHLO's padding (see interior_pad.h): the value everywhere, then a strided copy.
#include "kernels/ops/movement/interior_pad.h"

#include <algorithm>

#include "kernels/ops/shared/indexing.h"

namespace topwork {

Status ReadLongs(const PrepareContext& context, int field, const char* name, size_t n, int64_t fill,
                 std::vector<int64_t>* out) {
  const LongList list = context.params().options.LongVector(field);
  if (list.size() != 0 && list.size() != n) {
    return context.Invalid("its option {} has {} numbers, {} expected", name, list.size(), n);
  }
  out->assign(n, fill);
  for (size_t i = 0; i < list.size(); ++i) {
    (*out)[i] = list[i];
    if (list[i] > INT32_MAX || list[i] < -INT32_MAX) {
      return context.Invalid("its option {} has the number {}", name, list[i]);
    }
  }
  return Status::Ok();
}

Status PlanInteriorPad(const PrepareContext& context, const std::vector<PadDim>& pads,
                       InteriorPad* plan) {
  const Shape& in = context.input(0)->shape;
  plan->element = ElementBytes(*context.input(0));
  bool nothing_left = false;
  plan->shape = in;
  for (int d = 0; d < in.rank(); ++d) {
    const PadDim& pad = pads[static_cast<size_t>(d)];
    if (pad.interior < 0) {
      return context.Invalid("{} elements are to lie between those of dimension {}", pad.interior,
                             d);
    }
    const int64_t spread = in.dim(d) == 0 ? 0 : (in.dim(d) - 1) * (pad.interior + 1) + 1;
    const int64_t n = std::max<int64_t>(spread + pad.low + pad.high, 0);
    TW_RETURN_IF_ERROR(CheckDim(context, n, "a padded dimension"));
    plan->shape.set_dim(d, static_cast<int32_t>(n));
    nothing_left = nothing_left || n == 0;
  }
  for (int d = 0; nothing_left && d < in.rank(); ++d) plan->shape.set_dim(d, 0);
  if (!CheckedByteSize(context.input(0)->dtype, plan->shape, &plan->bytes)) {
    return context.Invalid("shape {} is too large", plan->shape.ToString());
  }
  plan->copy = StridedCopy(plan->element);
  int64_t src[kMaxRank], dst[kMaxRank], from = 0, to = 0;
  ContiguousStrides(in, plan->element, src);
  ContiguousStrides(plan->shape, plan->element, dst);
  for (int d = 0; d < in.rank(); ++d) {
    const PadDim& pad = pads[static_cast<size_t>(d)];
    const int64_t step = pad.interior + 1;
    const int64_t first = pad.low < 0 ? (step - 1 - pad.low) / step : 0;
    const int64_t room = plan->shape.dim(d) - 1 - pad.low;  // of the last place, from element 0
    const int64_t last = room < 0 ? -1 : std::min<int64_t>(room / step, in.dim(d) - 1);
    const int64_t n = nothing_left ? 0 : std::max<int64_t>(last - first + 1, 0);
    plan->copy.AddDim(n, src[d], dst[d] * step);
    if (n > 0) {
      from += first * src[d];
      to += (pad.low + first * step) * dst[d];
    }
  }
  plan->copy.set_src_offset(from);
  plan->copy.set_dst_offset(to);
  plan->copy.Finish();
  return Status::Ok();
}

void RunInteriorPad(const InteriorPad& plan, const void* in, const void* value, void* out,
                    ThreadPool* pool) {
  FillElements(out, static_cast<int64_t>(plan.bytes) / plan.element, value, plan.element);
  plan.copy.Run(in, out, pool);
}

}  // namespace topwork
