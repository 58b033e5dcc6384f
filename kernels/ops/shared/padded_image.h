// Images as quantized convolutions read them: with the padding around them, so that every tap of
// every window lies inside, and in the type that the inner loops multiply.
#ifndef TOPWORK_KERNELS_OPS_SHARED_PADDED_IMAGE_H_
#define TOPWORK_KERNELS_OPS_SHARED_PADDED_IMAGE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/contract/kernel.h"
#include "kernels/ops/shared/gemm_plan.h"
#include "kernels/ops/shared/window.h"

namespace topwork {

// batch x h x w x c values; the source has its own height and width and lies at (top, left).
struct PaddedImage {
  int64_t batch = 0, in_h = 0, in_w = 0, c = 0;
  int64_t h = 0, w = 0, top = 0, left = 0;
  size_t in_size = 1, size = 1;  // bytes of a value: 1, or 2; 1 to 2 when widened
  bool copied = false;           // otherwise the source serves as it is
  uint8_t flip = 0;              // XORed to bytes that are copied, and to their padding
  size_t offset = 0;             // scratch, when copied
  int64_t row_bytes() const { return w * c * static_cast<int64_t>(size); }
  int64_t image_bytes() const { return h * row_bytes(); }
};

// An image without padding.
PaddedImage MakeImage(int64_t batch, int64_t h, int64_t w, int64_t c, size_t in_size, size_t size);
// The image that the windows of a convolution reach, with its padding.
PaddedImage MakeImage(const Window& window, int64_t batch, int64_t c, size_t in_size, size_t size);
// Reserves memory where the image must be copied (or `copy` asks for it). Then kOverRead bytes may
// be read after its end.
void PlanImage(bool copy, ScratchLayout* scratch, PaddedImage* image);
// The bytes of n rows, with what may be read after their end; −1: too many.
int64_t ImageRowsBytes(const PaddedImage& image, int64_t n);

// Copies where needed, on all threads, and returns the image. Its padding has the value
// `zero_point`; widened values have their zero point subtracted, padding included.
const uint8_t* FillImage(const RunContext& context, const PaddedImage& image, const void* source,
                         bool is_unsigned, int32_t zero_point);
// The same for rows [first, first + n) of all images together, which go to `to`: by the calling thread.
void FillImageRows(const RunContext& context, const PaddedImage& image, const void* source,
                   bool is_unsigned, int32_t zero_point, int64_t first, int64_t n, uint8_t* to);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_PADDED_IMAGE_H_
