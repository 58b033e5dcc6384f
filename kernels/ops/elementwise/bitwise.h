// BITWISE_XOR, RIGHT_SHIFT: functions of the bits of two integer tensors of 8 to 32 bits, with
// broadcasting.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_BITWISE_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_BITWISE_H_

#include <type_traits>

#include "kernels/ops/shared/broadcast.h"

namespace topwork {

// Both inputs int8, uint8, int16, uint16, int32 or uint32.
Status PrepareBitwise(PrepareContext& context);

template <typename T, typename F>
void MapBits(const RunContext& context, F body) {
  ForEachTile(context.get_state<NestState>().nest, context.pool, [&](const NestTile& t) {
    MapTile(t, context.input_data<T>(0), context.input_data<T>(1), context.output_data<T>(0), body);
  });
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_BITWISE_H_
