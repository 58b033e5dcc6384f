// StableHLO's padding: `interior` elements between neighbours, then `low` and `high` more at the
// ends; negative numbers remove elements there. In a dimension of n elements, element i goes to low
// + i (interior + 1), and the result has (n - 1) (interior + 1) + 1 + low + high elements.
#ifndef TOPWORK_KERNELS_OPS_MOVEMENT_INTERIOR_PAD_H_
#define TOPWORK_KERNELS_OPS_MOVEMENT_INTERIOR_PAD_H_

#include <vector>

#include "kernels/ops/shared/strided_copy.h"

namespace topwork {

struct PadDim {
  int64_t low = 0, high = 0, interior = 0;
};

struct InteriorPad {
  Shape shape;       // of the result; all dimensions 0 where nothing is left, as in TFLite
  size_t bytes = 0;  // of the result
  int64_t element = 1;
  StridedCopy copy;
};

// Of input 0, which CheckMovable has passed; one PadDim for each of its dimensions.
Status PlanInteriorPad(const PrepareContext& context, const std::vector<PadDim>& pads,
                       InteriorPad* plan);
// `value` is one element; `out` has plan.bytes bytes.
void RunInteriorPad(const InteriorPad& plan, const void* in, const void* value, void* out,
                    ThreadPool* pool);

// A list of the options with `n` numbers; `n` times `fill` where it is absent or empty.
Status ReadLongs(const PrepareContext& context, int field, const char* name, size_t n, int64_t fill,
                 std::vector<int64_t>* out);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_MOVEMENT_INTERIOR_PAD_H_
