// Labelled data: folders of images and arrays. What is refused is in errors_test.py.
#include "ports/cli/dataset.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "tests/ports/cli/folder.h"

namespace topwork {
namespace cli_dataset_test {

using cli::Dataset;
using cli::EncodeNpy;
using cli_test::Folder;
using cli_test::FromHex;

const char kGreyPng[] =  // 2 × 1: 10, 200
    "89504e470d0a1a0a0000000d4948445200000002000000010800000000d14920560000000b49444154789c63e03a01"
    "0000df00d34b21a5490000000049454e44ae426082";

tw_tensor_info Input(const std::vector<int32_t>& dims) {
  tw_tensor_info info{};
  info.struct_size = sizeof(info);
  info.name = "input";
  info.dtype = TW_DTYPE_FLOAT32;
  info.rank = static_cast<int32_t>(dims.size());
  std::memcpy(info.dims, dims.data(), dims.size() * sizeof(int32_t));
  std::memcpy(info.open_dims, dims.data(), dims.size() * sizeof(int32_t));
  return info;
}

std::vector<float> Floats(const std::vector<uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_CASE("dataset: folders are classes, sorted; other files are passed over", "[cli]") {
  const Folder folder;
  const std::vector<uint8_t> png = FromHex(kGreyPng);
  folder.Write("pear/2.png", png);
  folder.Write("pear/1.PNG", png);
  folder.Write("apple/b.png", png);
  folder.Write("apple/notes.txt", "not an image");
  folder.Write(".thumbnails/x.png", png);
  folder.Write("empty_class/readme.md", "no image here");
  folder.Write("stray.png", png);
  cli::PixelScale scale;
  scale.mean = {10};
  scale.std = {10};
  // A batch of eight in the model: one example is read all the same.
  const Dataset data = Dataset::Open(folder.path(), Input({8, 1, 2, 1}), scale);
  CHECK(data.has_images());
  CHECK(data.class_names() == std::vector<std::string>{"apple", "pear"});
  CHECK(data.labels() == std::vector<int64_t>{0, 1, 1});
  CHECK(data.ClassCounts() == std::vector<int64_t>{1, 2});
  CHECK(data.Name(0) == "apple/b.png");
  CHECK(data.Name(1) == "pear/1.PNG");
  CHECK(data.Name(2) == "pear/2.png");
  CHECK(Floats(data.Read(2)) == std::vector<float>{0.0f, 19.0f});
}

TEST_CASE("dataset: arrays give rows, and classes up to the largest label", "[cli]") {
  const Folder folder;
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> y = {2, 0, 2};
  folder.Write("x.npy", EncodeNpy(TW_DTYPE_FLOAT32, {3, 2}, x.data(), x.size() * sizeof(float)));
  folder.Write("y.npy", EncodeNpy(TW_DTYPE_INT64, {3}, y.data(), y.size() * sizeof(int64_t)));
  Dataset opened = Dataset::Open(folder.path(), Input({1, 2}), cli::PixelScale());
  const Dataset data = std::move(opened);
  CHECK_FALSE(data.has_images());
  CHECK(data.size() == 3);
  CHECK(data.class_names() == std::vector<std::string>{"0", "1", "2"});
  CHECK(data.ClassCounts() == std::vector<int64_t>{1, 0, 2});
  CHECK(Floats(data.Read(1)) == std::vector<float>{3, 4});
  CHECK(data.Name(1) == "x.npy[1]");
}

}  // namespace cli_dataset_test
}  // namespace topwork
