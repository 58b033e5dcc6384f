// Augmentation: seeded variants of an image, as the model's input tensor holds it.
//
// Images are [1, H, W, C] of float32, uint8 or int8. A variant depends only on the seed, the
// example's id and the variant's number. The steps, in order: a window of the image is cut out and
// scaled back (bilinear, pixel centres at ½, edges repeated, as torch.nn.functional.interpolate
// with align_corners=False), mirrored by chance, brightened, and noise is added. Shares count from
// the range of the example's values for float32, from 255 for integers. Results are clamped to that
// range.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_AUGMENT_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_AUGMENT_H_

#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"
#include "runtime/train/features/feature_file.h"
#include "runtime/train/options.h"

namespace topwork {

// UNSUPPORTED says what was found, unless the inputs are one such image.
Status CheckAugmentable(Span<const TensorView> inputs);

// What happens to one variant.
struct AugmentDraw {
  int64_t top = 0, left = 0;      // of the window, in pixels
  int64_t height = 0, width = 0;  // ≥ 1
  bool flip = false;              // left to right
  float brightness = 0.0f;        // added, as a share of the range
  float noise = 0.0f;             // standard deviation, as a share of the range
  uint64_t noise_seed = 0;
};

// The draw for variant ≥ 1 of example `id`, for images of height × width pixels.
AugmentDraw DrawVariant(const Augmentation& options, uint64_t seed, const ExampleId& id,
                        int variant, int64_t height, int64_t width);

// Makes the variant of `image` in `out`; both hold view.bytes() of a view that CheckAugmentable
// accepts, and do not overlap. Thread-safe.
void ApplyDraw(const AugmentDraw& draw, const TensorView& view, const void* image, void* out);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_AUGMENT_H_
