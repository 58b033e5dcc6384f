// Maps of numbers or offsets over an image, as a PoseNet gives them, read between their pixels.
#ifndef TOPWORK_KERNELS_OPS_SIGNAL_OFFSET_MAP_H_
#define TOPWORK_KERNELS_OPS_SIGNAL_OFFSET_MAP_H_

#include <cmath>

#include "kernels/ops/shared/indexing.h"

namespace topwork {

// In pixels of a map.
struct MapPoint {
  float y = 0.0f, x = 0.0f;
};

// One image of a tensor [n, height, width, channels]: real numbers, or bytes that are made real,
// times a factor.
struct OffsetMap {
  const float* reals = nullptr;
  const uint8_t* bytes = nullptr;
  float zero = 0.0f, factor = 1.0f;
  int64_t height = 0, width = 0, channels = 0;
  float At(int64_t i) const {
    return (reals != nullptr ? reals[i] : static_cast<float>(bytes[i]) - zero) * factor;
  }
};

// `view` is float32, or uint8 with a scale.
inline OffsetMap MapOf(const TensorView& view, int64_t item, float factor) {
  OffsetMap map;
  const int64_t first = item * view.shape.Product(1, 4);
  map.factor = factor;
  if (view.dtype == DType::kFloat32) {
    map.reals = view.as<float>() + first;
  } else {
    map.bytes = view.as<uint8_t>() + first;
    map.zero = static_cast<float>(ZeroPoint(view));
    map.factor = view.quantization->scales[0] * factor;
  }
  map.height = view.shape.dim(1);
  map.width = view.shape.dim(2);
  map.channels = view.shape.dim(3);
  return map;
}

// Within [0, n - 1]; 0 for what is not a number.
inline float Within(float x, int64_t n) {
  const float last = static_cast<float>(n - 1);
  return x > 0.0f ? (x < last ? x : last) : 0.0f;
}

// Channel c between the four pixels around the point, which lies within the map.
inline float Sample(const OffsetMap& map, const MapPoint& at, int64_t c) {
  const float y = std::floor(at.y), x = std::floor(at.x), dy = at.y - y, dx = at.x - x;
  const int64_t top = static_cast<int64_t>(y) * map.width, left = static_cast<int64_t>(x);
  const int64_t bottom = dy > 0.0f ? top + map.width : top, right = dx > 0.0f ? left + 1 : left;
  const auto value = [&](int64_t row, int64_t column) {
    return map.At((row + column) * map.channels + c);
  };
  return (1.0f - dy) * ((1.0f - dx) * value(top, left) + dx * value(top, right)) +
         dy * ((1.0f - dx) * value(bottom, left) + dx * value(bottom, right));
}

// The point moved by the offsets of channels y and x there.
inline MapPoint Moved(const OffsetMap& map, const MapPoint& from, int64_t y, int64_t x) {
  return {Within(from.y + Sample(map, from, y), map.height),
          Within(from.x + Sample(map, from, x), map.width)};
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SIGNAL_OFFSET_MAP_H_
