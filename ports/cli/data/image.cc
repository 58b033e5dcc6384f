// Images: decoding by stb_image; resizing and conversion written out so that the result is the same
// on every platform.
#include "ports/cli/data/image.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include "ports/cli/cli_error.h"
#include "ports/cli/files.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#include <stb/stb_image.h>

namespace topwork {
namespace cli {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 28;

// One output position: the first input it reads and the weight of each.
struct Taps {
  int first = 0;
  std::vector<float> weights;
};

// Triangle filter of half-width max(1, in / out) around each output's centre.
std::vector<Taps> MakeTaps(int in, int out) {
  const double scale = static_cast<double>(in) / out;
  const double half = std::max(1.0, scale);
  std::vector<Taps> taps(static_cast<size_t>(out));
  for (int i = 0; i < out; ++i) {
    const double centre = (i + 0.5) * scale;
    const int begin = std::max(0, static_cast<int>(std::floor(centre - half + 0.5)));
    const int end = std::min(in, static_cast<int>(std::floor(centre + half + 0.5)));
    Taps& tap = taps[static_cast<size_t>(i)];
    tap.first = begin;
    double sum = 0.0;
    for (int k = begin; k < end; ++k) {
      const double weight = std::max(0.0, 1.0 - std::fabs(k + 0.5 - centre) / half);
      tap.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : tap.weights) weight = static_cast<float>(weight / sum);
  }
  return taps;
}

}  // namespace

bool IsImagePath(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return false;
  std::string ending = path.substr(dot);
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".bmp";
}

Image ReadImage(const std::string& path, int channels) {
  const std::vector<uint8_t> file = ReadWholeFile(path);
  Image image;
  int found = 0;
  const int size = static_cast<int>(std::min<size_t>(file.size(), INT32_MAX));
  if (stbi_info_from_memory(file.data(), size, &image.width, &image.height, &found) != 0 &&
      static_cast<int64_t>(image.width) * image.height > kMaxPixels) {
    throw CliError(kExitData, path + ": the image is too large (" + std::to_string(image.width) +
                                  " x " + std::to_string(image.height) + " pixels)");
  }
  stbi_uc* pixels =
      stbi_load_from_memory(file.data(), size, &image.width, &image.height, &found, channels);
  if (pixels == nullptr) {
    const char* reason = stbi_failure_reason();
    throw CliError(kExitData, path + ": not a readable JPEG, PNG or BMP image (" +
                                  (reason != nullptr ? reason : "unknown reason") + ")");
  }
  image.channels = channels;
  const size_t bytes = static_cast<size_t>(image.width) * static_cast<size_t>(image.height) *
                       static_cast<size_t>(channels);
  image.pixels.assign(pixels, pixels + bytes);
  stbi_image_free(pixels);
  return image;
}

Image ResizeImage(const Image& image, int width, int height) {
  if (image.width == width && image.height == height) return image;
  const size_t channels = static_cast<size_t>(image.channels);
  const std::vector<Taps> columns = MakeTaps(image.width, width);
  const std::vector<Taps> rows = MakeTaps(image.height, height);
  // Columns first, into floats: height_in × width_out × channels.
  const size_t row_floats = static_cast<size_t>(width) * channels;
  std::vector<float> wide(static_cast<size_t>(image.height) * row_floats, 0.0f);
  for (size_t y = 0; y < static_cast<size_t>(image.height); ++y) {
    const uint8_t* source = image.pixels.data() + y * static_cast<size_t>(image.width) * channels;
    for (size_t x = 0; x < static_cast<size_t>(width); ++x) {
      const Taps& taps = columns[x];
      for (size_t k = 0; k < taps.weights.size(); ++k) {
        const uint8_t* pixel = source + (static_cast<size_t>(taps.first) + k) * channels;
        for (size_t c = 0; c < channels; ++c) {
          wide[y * row_floats + x * channels + c] += taps.weights[k] * pixel[c];
        }
      }
    }
  }
  Image out;
  out.width = width;
  out.height = height;
  out.channels = image.channels;
  out.pixels.resize(static_cast<size_t>(height) * row_floats);
  std::vector<float> sum(row_floats);
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    const Taps& taps = rows[y];
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (size_t k = 0; k < taps.weights.size(); ++k) {
      const float* line = wide.data() + (static_cast<size_t>(taps.first) + k) * row_floats;
      for (size_t i = 0; i < row_floats; ++i) sum[i] += taps.weights[k] * line[i];
    }
    for (size_t i = 0; i < row_floats; ++i) {
      out.pixels[y * row_floats + i] =
          static_cast<uint8_t>(std::min(255.0f, std::max(0.0f, sum[i] + 0.5f)));
    }
  }
  return out;
}

bool IsImageTensor(const tw_tensor_info& info) {
  if (info.rank != 4) return false;
  const int32_t channels = info.dims[3];
  const bool dtype =
      info.dtype == TW_DTYPE_FLOAT32 || info.dtype == TW_DTYPE_UINT8 || info.dtype == TW_DTYPE_INT8;
  return dtype && (channels == 1 || channels == 3 || channels == 4) && info.dims[1] > 0 &&
         info.dims[2] > 0 && info.dims[0] == 1;
}

std::vector<uint8_t> ImageToTensor(const Image& image, const PixelScale& scale,
                                   const tw_tensor_info& info) {
  const size_t channels = static_cast<size_t>(image.channels);
  for (const std::vector<float>* values : {&scale.mean, &scale.std}) {
    if (values->size() != 1 && values->size() != channels) {
      throw CliError(kExitUsage,
                     "--mean and --std take one value or one a channel: the input has " +
                         std::to_string(channels) + " channels, " + std::to_string(values->size()) +
                         " values were given");
    }
  }
  const size_t n = image.pixels.size();
  std::vector<uint8_t> bytes(info.dtype == TW_DTYPE_FLOAT32 ? n * sizeof(float) : n);
  if (info.dtype == TW_DTYPE_UINT8 && info.n_scales == 0) return image.pixels;
  for (size_t i = 0; i < n; ++i) {
    const size_t c = i % channels;
    const float mean = scale.mean[scale.mean.size() == 1 ? 0 : c];
    const float std = scale.std[scale.std.size() == 1 ? 0 : c];
    const float value = (static_cast<float>(image.pixels[i]) - mean) / std;
    if (info.dtype == TW_DTYPE_FLOAT32) {
      std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(float));
      continue;
    }
    const float q_scale = info.n_scales > 0 ? info.scales[0] : 1.0f;
    const float zero = info.n_scales > 0 ? static_cast<float>(info.zero_points[0]) : 0.0f;
    const bool is_signed = info.dtype == TW_DTYPE_INT8;
    const float stored = std::nearbyint(value / q_scale) + zero;
    const float low = is_signed ? -128.0f : 0.0f, high = is_signed ? 127.0f : 255.0f;
    const int clamped = static_cast<int>(std::min(high, std::max(low, stored)));
    bytes[i] = static_cast<uint8_t>(clamped & 0xff);
  }
  return bytes;
}

std::vector<uint8_t> LoadImageForTensor(const std::string& path, const PixelScale& scale,
                                        const tw_tensor_info& info) {
  const Image image = ReadImage(path, info.dims[3]);
  return ImageToTensor(ResizeImage(image, info.dims[2], info.dims[1]), scale, info);
}

}  // namespace cli
}  // namespace topwork
