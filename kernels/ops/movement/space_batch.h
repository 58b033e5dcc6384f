// What SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND share: the block grid of an image [N, H, W, C] or of
// a sequence [N, H, C], which is an image of width 1.
//
// Batch entry (i × block_w + j) × N + n holds the pixels (h, w) of image n with h ≡ i (mod block_h)
// and w ≡ j (mod block_w), borders included.
#ifndef TOPWORK_KERNELS_OPS_MOVEMENT_SPACE_BATCH_H_
#define TOPWORK_KERNELS_OPS_MOVEMENT_SPACE_BATCH_H_

#include "kernels/contract/kernel.h"

namespace topwork {

struct SpaceBatch : OpState {
  int64_t batch = 0;               // of the images
  int64_t height = 0, width = 0;   // of the images
  int64_t grid_h = 0, grid_w = 0;  // of the blocks
  int64_t block_h = 1, block_w = 1;
  int64_t top = 0, left = 0;  // border before the image (padded or cropped)
  int64_t pixel_bytes = 0;
};

// Reads inputs 1 (block_shape) and 2 (paddings or crops), checks what both operators ask for, and
// fills block_*, top, left and pixel_bytes. `bottom_right` gets the borders after the image.
Status ReadSpaceBatch(PrepareContext& context, SpaceBatch* grid, int64_t bottom_right[2]);
// Sets output 0 to [batch, height(, width), channels].
Status SetSpaceBatchOutput(PrepareContext& context, int64_t batch, int64_t height, int64_t width);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_MOVEMENT_SPACE_BATCH_H_
