// Thumbnails: stb_image_write into memory, then base64.
#include "ports/cli/data/thumbnail.h"

#include <algorithm>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/base64.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

namespace topwork {
namespace cli {
namespace {

constexpr int kJpegQuality = 80;

void Append(void* context, void* data, int size) {
  static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                             static_cast<size_t>(size));
}

// Empty when it cannot be encoded.
std::string Png(const Image& image) {
  std::string bytes;
  if (stbi_write_png_to_func(Append, &bytes, image.width, image.height, image.channels,
                             image.pixels.data(), image.width * image.channels) == 0) {
    bytes.clear();
  }
  return bytes;
}

}  // namespace

std::vector<uint8_t> PngBytes(const Image& image) {
  const std::string bytes = Png(image);
  return {bytes.begin(), bytes.end()};
}

std::string ThumbnailUri(const Image& image) {
  const int longest = std::max(image.width, image.height);
  std::string bytes;
  if (longest <= kThumbnailSize) {
    bytes = Png(image);
    return bytes.empty() ? "" : "data:image/png;base64," + Base64(bytes);
  }
  const auto scaled = [&](int side) {
    return std::max(1, static_cast<int>(static_cast<int64_t>(side) * kThumbnailSize / longest));
  };
  const Image small = ResizeImage(image, scaled(image.width), scaled(image.height));
  const bool good = stbi_write_jpg_to_func(Append, &bytes, small.width, small.height,
                                           small.channels, small.pixels.data(), kJpegQuality) != 0;
  return good ? "data:image/jpeg;base64," + Base64(bytes) : "";
}

std::string ThumbnailOfFile(const std::string& path) {
  try {
    return ThumbnailUri(ReadImage(path, 3));
  } catch (const CliError&) {
    return "";
  }
}

}  // namespace cli
}  // namespace topwork
