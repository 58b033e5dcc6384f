// What PAD, PADV2 and MIRROR_PAD share: reading the paddings; and the whole of PAD and PADV2.
#ifndef TOPWORK_KERNELS_OPS_MOVEMENT_PADDING_H_
#define TOPWORK_KERNELS_OPS_MOVEMENT_PADDING_H_

#include "kernels/contract/kernel.h"

namespace topwork {

struct Paddings {
  int64_t before[kMaxRank] = {};
  int64_t after[kMaxRank] = {};
};

// Input 1: shape [rank of input 0, 2], known at plan time, no value negative. `out_shape` is the
// padded shape.
Status ReadPaddings(PrepareContext& context, Paddings* paddings, Shape* out_shape);

// PAD and PADV2: the padded elements are input 2, or the zero point (0 where not quantized).
Status PreparePad(PrepareContext& context);
Status RunPad(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_MOVEMENT_PADDING_H_
