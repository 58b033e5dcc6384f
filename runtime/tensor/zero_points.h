// Zero points of a quantized tensor: one, or one a channel.
#ifndef TOPWORK_RUNTIME_TENSOR_ZERO_POINTS_H_
#define TOPWORK_RUNTIME_TENSOR_ZERO_POINTS_H_

#include <cstdint>

#include "runtime/base/span.h"

namespace topwork {

// The first one where all are the same, as they most often are; else all of them. The loop has no way out, so
// that the compiler compares several at once: models have thousands.
inline Span<const int64_t> WithoutRepeats(Span<const int64_t> points) {
  int64_t different = 0;
  for (int64_t point : points) different |= point ^ points[0];
  return points.empty() || different != 0 ? points : Span<const int64_t>(points.data(), 1);
}

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TENSOR_ZERO_POINTS_H_
