// Augmentation: one pass over the output, two rows and columns of the image after each pixel.
#include "runtime/train/features/augment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/base/hash64.h"
#include "runtime/tensor/visit_dtype.h"
#include "runtime/train/random.h"

namespace topwork {
namespace {

// Uniform in [0, 1).
double Uniform(Random* random) { return static_cast<double>(random->Next() >> 11) * 0x1p-53; }

// Normally distributed numbers in pairs (Box and Muller 1958).
class Gaussian {
 public:
  explicit Gaussian(uint64_t seed) : random_(seed) {}
  float Next() {
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform(&random_)));
    const double angle = 6.283185307179586 * Uniform(&random_);
    second_ = static_cast<float>(radius * std::sin(angle));
    has_second_ = true;
    return static_cast<float>(radius * std::cos(angle));
  }

 private:
  Random random_;
  float second_ = 0.0f;
  bool has_second_ = false;
};

// Where an output row (or column) takes its values: two neighbours and the second one's weight.
struct Tap {
  int64_t first, second;
  float weight;
};

// Of n outputs over the window [start, start + length).
std::vector<Tap> Taps(int64_t n, int64_t start, int64_t length, bool mirrored) {
  std::vector<Tap> taps(static_cast<size_t>(n));
  const double scale = static_cast<double>(length) / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    const double at = std::max(0.0, (static_cast<double>(i) + 0.5) * scale - 0.5);
    const int64_t first = std::min(static_cast<int64_t>(at), length - 1);
    Tap& tap = taps[static_cast<size_t>(mirrored ? n - 1 - i : i)];
    tap.first = start + first;
    tap.second = start + std::min(first + 1, length - 1);
    tap.weight = static_cast<float>(at - static_cast<double>(first));
  }
  return taps;
}

template <typename T>
struct Range {
  float low = static_cast<float>(std::numeric_limits<T>::min());
  float high = static_cast<float>(std::numeric_limits<T>::max());
};

template <typename T>
Range<T> RangeOf(const T* image, int64_t n) {
  Range<T> range;
  if (std::is_floating_point<T>::value && n > 0) {
    const auto ends = std::minmax_element(image, image + n);
    range.low = static_cast<float>(*ends.first);
    range.high = static_cast<float>(*ends.second);
  }
  return range;
}

template <typename T>
T Convert(float value, const Range<T>& range) {
  // Written so that NaN stays NaN in floats and becomes `low` in integers.
  if (value > range.high) value = range.high;
  if (std::is_floating_point<T>::value) return value < range.low ? T(range.low) : T(value);
  return static_cast<T>(value >= range.low ? std::floor(value + 0.5f) : range.low);
}

template <typename T>
void Apply(const AugmentDraw& draw, const Shape& shape, const T* image, T* out) {
  const int64_t height = shape[1], width = shape[2], channels = shape[3];
  const std::vector<Tap> rows = Taps(height, draw.top, draw.height, false);
  const std::vector<Tap> columns = Taps(width, draw.left, draw.width, draw.flip);
  const Range<T> range = RangeOf(image, height * width * channels);
  const float added = draw.brightness * (range.high - range.low);
  const float deviation = draw.noise * (range.high - range.low);
  Gaussian noise(draw.noise_seed);
  for (const Tap& row : rows) {
    const T* upper = image + row.first * width * channels;
    const T* lower = image + row.second * width * channels;
    for (const Tap& column : columns) {
      const int64_t left = column.first * channels, right = column.second * channels;
      for (int64_t c = 0; c < channels; ++c) {
        const auto mix = [](float a, float b, float weight) { return a + (b - a) * weight; };
        const float above = mix(static_cast<float>(upper[left + c]),
                                static_cast<float>(upper[right + c]), column.weight);
        const float below = mix(static_cast<float>(lower[left + c]),
                                static_cast<float>(lower[right + c]), column.weight);
        float value = mix(above, below, row.weight) + added;
        if (deviation > 0.0f) value += deviation * noise.Next();
        *out++ = Convert<T>(value, range);
      }
    }
  }
}

}  // namespace

Status CheckAugmentable(Span<const TensorView> inputs) {
  if (inputs.size() != 1) {
    return Unsupported(
        "augmentation needs a model of one image input; this one has {} inputs; give augmented "
        "examples instead",
        inputs.size());
  }
  const TensorView& view = inputs[0];
  const bool is_integer = view.dtype == DType::kUInt8 || view.dtype == DType::kInt8;
  if (view.shape.rank() != 4 || view.shape[0] != 1 || view.shape.NumElements() < 1 ||
      (!is_integer && view.dtype != DType::kFloat32)) {
    return Unsupported(
        "augmentation needs an input of float32, uint8 or int8 and shape [1, height, width, "
        "channels]; this one is {} {}; give augmented examples instead",
        DTypeName(view.dtype), view.shape.ToString());
  }
  return Status::Ok();
}

AugmentDraw DrawVariant(const Augmentation& options, uint64_t seed, const ExampleId& id,
                        int variant, int64_t height, int64_t width) {
  Random random(Hash64(id.data(), id.size(), seed) ^ Hash64(&variant, sizeof(variant), ~seed));
  AugmentDraw draw;
  // All numbers are always drawn, so that one option does not change what another one does.
  const bool flip = random.Next() >> 63 != 0;
  const auto cut = [&](int64_t whole, int64_t* start, int64_t* length) {
    const double share = 1.0 - Uniform(&random) * static_cast<double>(options.crop);
    *length = std::max<int64_t>(1, std::llround(static_cast<double>(whole) * share));
    *start = static_cast<int64_t>(random.Below(static_cast<uint64_t>(whole - *length + 1)));
  };
  cut(height, &draw.top, &draw.height);
  cut(width, &draw.left, &draw.width);
  draw.flip = options.flip && flip;
  draw.brightness = static_cast<float>(2.0 * Uniform(&random) - 1.0) * options.brightness;
  draw.noise = options.noise;
  draw.noise_seed = random.Next();
  return draw;
}

void ApplyDraw(const AugmentDraw& draw, const TensorView& view, const void* image, void* out) {
  VisitDType<uint8_t, int8_t, float>(view.dtype, [&](auto type) {
    using T = decltype(type);
    Apply(draw, view.shape, static_cast<const T*>(image), static_cast<T*>(out));
  });
}

}  // namespace topwork
