// Images: decoding, resizing against Pillow's numbers, and conversion to tensors.
#include "ports/cli/data/image.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "tests/ports/cli/folder.h"

namespace topwork {
namespace cli_image_test {

using Catch::Matchers::Contains;
using cli::Image;
using cli::PixelScale;
using cli_test::Failure;
using cli_test::Folder;
using cli_test::FromHex;

// 2 × 1 grey, and 2 × 2 RGB: red blue / green (9, 8, 7); written by Pillow 13.0.
const char kGreyPng[] =
    "89504e470d0a1a0a0000000d4948445200000002000000010800000000d14920560000000b49444154789c63e03a01"
    "0000df00d34b21a5490000000049454e44ae426082";
const char kRgbPng[] =
    "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a730000001649444154789c63f8cfc0"
    "c0c0f09f81e13f0327073b001a260316dd50d1b80000000049454e44ae426082";
const char kRgbBmp[] =
    "424d46000000000000003600000028000000020000000200000001001800000000001000"
    "0000c40e0000c40e0000000000000000000000ff0007080900000000ffff00000000";

// The pattern of which Pillow made the reference numbers below.
Image Pattern(int channels) {
  Image image;
  image.width = 7;
  image.height = 5;
  image.channels = channels;
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int value = (((y * 7 + x) * 37 + x * 11) % 256 + 50 * c) % 256;
        image.pixels.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  return image;
}

TEST_CASE("image: PNG and BMP are decoded to the channels asked for", "[cli]") {
  const Folder folder;
  const std::string grey = folder.Write("grey.png", FromHex(kGreyPng));
  CHECK(cli::ReadImage(grey, 1).pixels == std::vector<uint8_t>{10, 200});
  CHECK(cli::ReadImage(grey, 3).pixels == std::vector<uint8_t>{10, 10, 10, 200, 200, 200});
  CHECK(cli::ReadImage(grey, 4).pixels ==
        std::vector<uint8_t>{10, 10, 10, 255, 200, 200, 200, 255});
  const std::vector<uint8_t> rgb = {255, 0, 0, 0, 0, 255, 0, 255, 0, 9, 8, 7};
  for (const char* hex : {kRgbPng, kRgbBmp}) {
    const Image image = cli::ReadImage(folder.Write("rgb.img", FromHex(hex)), 3);
    CHECK(image.width == 2);
    CHECK(image.height == 2);
    CHECK(image.pixels == rgb);
  }
}

TEST_CASE("image: files that are no images are refused", "[cli]") {
  const Folder folder;
  const std::vector<uint8_t> png = FromHex(kRgbPng);
  for (size_t n : {size_t{0}, size_t{7}, size_t{20}, size_t{45}, size_t{60}}) {
    CAPTURE(n);
    const std::string path = folder.Write(
        "cut.png", std::vector<uint8_t>(png.begin(), png.begin() + static_cast<std::ptrdiff_t>(n)));
    CHECK_THAT(Failure([&] { (void)cli::ReadImage(path, 3); }),
               Contains("5 ") && Contains("cut.png") && Contains("JPEG, PNG or BMP"));
  }
  std::vector<uint8_t> large = png;
  for (size_t i : {size_t{17}, size_t{21}}) large[i] = 0x7f;  // 8 million × 8 million pixels
  CHECK_THAT(Failure([&] { (void)cli::ReadImage(folder.Write("large.png", large), 3); }),
             Contains("5 ") && Contains("large.png"));
  CHECK(cli::IsImagePath("a.b/c.JPG"));
  CHECK(cli::IsImagePath("x.jpeg"));
  CHECK(cli::IsImagePath("x.png"));
  CHECK(cli::IsImagePath("x.bmp"));
  CHECK_FALSE(cli::IsImagePath("x.npy"));
  CHECK_FALSE(cli::IsImagePath("png"));
}

TEST_CASE("image: resizing equals Pillow's BILINEAR on floats, rounded", "[cli]") {
  const struct {
    int width, height;
    std::vector<uint8_t> pixels;
  } kReference[] = {
      {3, 2, {44, 147, 158, 50, 153, 164}},
      {9, 8, {0,  32, 69, 107, 144, 181, 219, 171, 32, 1,  33, 71, 108, 145, 183, 220, 172, 33,
              3,  35, 73, 110, 147, 185, 222, 174, 35, 5,  37, 74, 112, 149, 186, 224, 176, 37,
              7,  39, 76, 114, 151, 188, 226, 178, 39, 9,  41, 78, 115, 153, 190, 227, 179, 41,
              11, 43, 80, 117, 155, 192, 229, 181, 43, 12, 44, 81, 119, 156, 193, 231, 183, 44}},
      {2, 9, {76, 159, 77, 160, 79, 161, 80, 163, 82, 165, 84, 166, 85, 168, 87, 170, 88, 171}}};
  for (const auto& reference : kReference) {
    CAPTURE(reference.width);
    const Image image = cli::ResizeImage(Pattern(1), reference.width, reference.height);
    CHECK(image.pixels == reference.pixels);
  }
  CHECK(cli::ResizeImage(Pattern(1), 7, 5).pixels == Pattern(1).pixels);
}

TEST_CASE("image: channels are resized each on its own", "[cli]") {
  const Image colour = cli::ResizeImage(Pattern(3), 4, 3);
  for (int c = 0; c < 3; ++c) {
    Image one = Pattern(1);
    const Image all = Pattern(3);
    for (size_t i = 0; i < one.pixels.size(); ++i) {
      one.pixels[i] = all.pixels[3 * i + static_cast<size_t>(c)];
    }
    const Image small = cli::ResizeImage(one, 4, 3);
    for (size_t i = 0; i < small.pixels.size(); ++i) {
      CHECK(colour.pixels[3 * i + static_cast<size_t>(c)] == small.pixels[i]);
    }
  }
}

tw_tensor_info ImageTensor(tw_dtype dtype, int32_t channels) {
  tw_tensor_info info{};
  info.struct_size = sizeof(info);
  info.name = "image";
  info.dtype = dtype;
  info.rank = 4;
  const int32_t dims[4] = {1, 5, 7, channels};
  std::memcpy(info.dims, dims, sizeof(dims));
  std::memcpy(info.open_dims, dims, sizeof(dims));
  return info;
}

TEST_CASE("image: pixels become (pixel - mean) / std, per channel when asked", "[cli]") {
  const Image image = Pattern(3);
  PixelScale scale;
  scale.mean = {10, 20, 30};
  scale.std = {2, 4, 8};
  const std::vector<uint8_t> bytes =
      cli::ImageToTensor(image, scale, ImageTensor(TW_DTYPE_FLOAT32, 3));
  REQUIRE(bytes.size() == image.pixels.size() * sizeof(float));
  for (size_t i = 0; i < image.pixels.size(); ++i) {
    float value = 0.0f;
    std::memcpy(&value, &bytes[i * sizeof(float)], sizeof(value));
    CHECK(value == (static_cast<float>(image.pixels[i]) - scale.mean[i % 3]) / scale.std[i % 3]);
  }
  scale.mean = {1, 2};
  CHECK_THAT(
      Failure([&] { (void)cli::ImageToTensor(image, scale, ImageTensor(TW_DTYPE_FLOAT32, 3)); }),
      Contains("2 --mean and --std") && Contains("3 channels") && Contains("2 values"));
}

TEST_CASE("image: 8-bit tensors take values through their quantization", "[cli]") {
  const Image image = Pattern(1);
  PixelScale scale;
  scale.mean = {128};
  scale.std = {128};
  tw_tensor_info info = ImageTensor(TW_DTYPE_UINT8, 1);
  CHECK(cli::ImageToTensor(image, scale, info) == image.pixels);  // no quantization: as they are
  const float q_scale = 1.0f / 128;
  const int64_t zero_points[2] = {128, 0};
  info.n_scales = 1;
  info.scales = &q_scale;
  info.zero_points = zero_points;
  CHECK(cli::ImageToTensor(image, scale, info) == image.pixels);
  info.dtype = TW_DTYPE_INT8;
  info.zero_points = zero_points + 1;
  const std::vector<uint8_t> bytes = cli::ImageToTensor(image, scale, info);
  for (size_t i = 0; i < bytes.size(); ++i) {
    CHECK(static_cast<int8_t>(bytes[i]) == static_cast<int>(image.pixels[i]) - 128);
  }
  scale.std = {1};  // 127 times too large: clamped, not wrapped
  const std::vector<uint8_t> clamped = cli::ImageToTensor(image, scale, info);
  for (size_t i = 0; i < clamped.size(); ++i) {
    const int pixel = image.pixels[i];
    if (pixel != 128) CHECK(static_cast<int8_t>(clamped[i]) == (pixel < 128 ? -128 : 127));
  }
}

TEST_CASE("image: which tensors can hold one image", "[cli]") {
  tw_tensor_info info = ImageTensor(TW_DTYPE_FLOAT32, 3);
  CHECK(cli::IsImageTensor(info));
  info.dims[0] = 2;
  CHECK_FALSE(cli::IsImageTensor(info));
  info.dims[0] = 1;
  info.dims[3] = 2;
  CHECK_FALSE(cli::IsImageTensor(info));
  info.dims[3] = 1;
  CHECK(cli::IsImageTensor(info));
  info.dtype = TW_DTYPE_INT32;
  CHECK_FALSE(cli::IsImageTensor(info));
  info.dtype = TW_DTYPE_INT8;
  info.rank = 3;
  CHECK_FALSE(cli::IsImageTensor(info));
}

}  // namespace cli_image_test
}  // namespace topwork
