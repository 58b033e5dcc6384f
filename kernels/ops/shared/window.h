// Windows of convolutions and pools over NHWC images: output sizes and padding.
#ifndef TOPWORK_KERNELS_OPS_SHARED_WINDOW_H_
#define TOPWORK_KERNELS_OPS_SHARED_WINDOW_H_

#include <cstdint>

#include "kernels/contract/kernel.h"

namespace topwork {

// One axis of a window that slides over an image.
struct WindowAxis {
  int64_t in = 0;      // size of the image
  int64_t filter = 1;  // taps
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad = 0;  // before the image; what lies after it follows from `out`
  int64_t out = 0;  // number of positions
};

struct Window {
  WindowAxis h, w;
  // True when it reads every pixel exactly once and in place: 1 x 1, stride 1, no padding.
  bool IsPointwise() const;
};

// Fills pad and out of both axes from the context's padding parameters; `window` comes with in and
// filter set, strides and dilations are read from the parameters. Fails on strides, dilations,
// filters < 1, negative explicit padding, sizes beyond int32, and a window larger than the image.
Status MakeWindow(const PrepareContext& context, Window* window);

// A column of pixels (width 1, one tap wide, not padded) lies in memory as a row does, and loops
// over rows prefer rows: exchanges the axes of such a window where all the work,
// `macs_per_position` for each output position, is too little to be shared out among threads row by
// row.
void LayColumnDown(double macs_per_position, Window* window);

// MakeWindow from explicit arguments, for one axis without explicit padding (TRANSPOSE_CONV):
// TensorFlow's rules. Returns false when the window does not fit.
bool PlaceWindow(Padding padding, WindowAxis* axis);

// The taps [begin, end) of one axis that fall inside the image when tap 0 lies at `origin`.
struct TapRange {
  int64_t begin = 0, end = 0;
};
TapRange ClipTaps(const WindowAxis& axis, int64_t origin);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_WINDOW_H_
