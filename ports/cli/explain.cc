// Class activation maps over photographs.
#include "ports/cli/explain.h"

#include <algorithm>
#include <cmath>

namespace topwork {
namespace cli {
namespace {

// A place between two cells of a map, of which cell centres lie at whole numbers.
struct Between {
  int low, high;
  float share;  // of `high`
};

Between Place(int pixel, int n_pixels, int n_cells) {
  const float at = (static_cast<float>(pixel) + 0.5f) * static_cast<float>(n_cells) /
                       static_cast<float>(n_pixels) -
                   0.5f;
  const float inside = std::clamp(at, 0.0f, static_cast<float>(n_cells - 1));
  const int low = static_cast<int>(inside);
  return {low, std::min(low + 1, n_cells - 1), inside - static_cast<float>(low)};
}

float Mix(float a, float b, float share) { return a + (b - a) * share; }

// From blue over yellow to red as `heat` goes from 0 to 1.
void Colour(float heat, float* rgb) {
  rgb[0] = 255.0f * std::min(1.0f, 2.0f * heat);
  rgb[1] = 255.0f * (heat < 0.5f ? 2.0f * heat : 2.0f - 2.0f * heat);
  rgb[2] = 255.0f * std::max(0.0f, 1.0f - 2.0f * heat);
}

}  // namespace

Image ActivationPicture(const Image& photograph, const float* map, int rows, int columns,
                        int n_classes, int index) {
  const auto cell = [&](int y, int x) { return map[(y * columns + x) * n_classes + index]; };
  float largest = 0.0f;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) largest = std::max(largest, cell(y, x));
  }
  Image picture = photograph;
  for (int y = 0; y < picture.height; ++y) {
    const Between row = Place(y, picture.height, rows);
    for (int x = 0; x < picture.width; ++x) {
      const Between column = Place(x, picture.width, columns);
      const float top = Mix(cell(row.low, column.low), cell(row.low, column.high), column.share);
      const float bottom =
          Mix(cell(row.high, column.low), cell(row.high, column.high), column.share);
      const float value = Mix(top, bottom, row.share);
      const float heat = largest > 0.0f ? std::max(0.0f, value / largest) : 0.0f;
      float rgb[3];
      Colour(heat, rgb);
      uint8_t* pixel = picture.pixels.data() + (y * picture.width + x) * picture.channels;
      const float grey = 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2];
      for (int c = 0; c < 3; ++c) {
        pixel[c] = static_cast<uint8_t>(std::lround(Mix(grey, rgb[c], 0.6f * heat)));
      }
    }
  }
  return picture;
}

}  // namespace cli
}  // namespace topwork
