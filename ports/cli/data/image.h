// Images: JPEG, PNG and BMP files turned into a model's input.
#ifndef TOPWORK_PORTS_CLI_IMAGE_H_
#define TOPWORK_PORTS_CLI_IMAGE_H_

#include <topwork/topwork.h>

#include <cstdint>
#include <string>
#include <vector>

namespace topwork {
namespace cli {

// 8-bit pixels, rows from the top, channels interleaved.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 0;
  std::vector<uint8_t> pixels;
};

// value = (pixel − mean) / std, in pixel units (0 to 255); one entry, or one a channel.
struct PixelScale {
  std::vector<float> mean = {127.5f};
  std::vector<float> std = {127.5f};
  std::string source = "the default, [-1, 1]";  // for people
};

// True for the endings .jpg .jpeg .png .bmp, in any case.
bool IsImagePath(const std::string& path);

// Decodes with as many channels as asked for (1 grey, 3 RGB, 4 RGBA). Throws CliError.
Image ReadImage(const std::string& path, int channels);

// Resized to width × height: bilinear with a triangle filter as wide as the reduction, so that
// shrinking averages instead of skipping pixels (what Pillow calls BILINEAR); edges are clamped.
Image ResizeImage(const Image& image, int width, int height);

// True when a tensor can hold one image: [1, H, W, C] with C of 1, 3 or 4.
bool IsImageTensor(const tw_tensor_info& info);

// One image in the layout and dtype of the tensor (float32, or uint8/int8 through its quantization,
// uint8 without quantization takes the pixels as they are). Throws CliError.
std::vector<uint8_t> ImageToTensor(const Image& image, const PixelScale& scale,
                                   const tw_tensor_info& info);

// Reads, resizes and converts.
std::vector<uint8_t> LoadImageForTensor(const std::string& path, const PixelScale& scale,
                                        const tw_tensor_info& info);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_IMAGE_H_
