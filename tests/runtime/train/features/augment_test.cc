// Augmentation: against PyTorch's resampling, by its statistics, and through an extraction.
#include "runtime/train/features/augment.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "runtime/base/log.h"
#include "runtime/train/features/extractor.h"
#include "runtime/train/head/head.h"
#include "runtime/train/random.h"
#include "tests/support/classifiers.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace augment_test {

TensorView View(DType dtype, const Shape& shape) {
  TensorView view;
  view.dtype = dtype;
  view.shape = shape;
  return view;
}

template <typename T>
std::vector<T> Apply(const AugmentDraw& draw, const TensorView& view, const std::vector<T>& image) {
  std::vector<T> out(image.size());
  ApplyDraw(draw, view, image.data(), out.data());
  return out;
}

AugmentDraw Whole(int64_t height, int64_t width) {
  AugmentDraw draw;
  draw.height = height;
  draw.width = width;
  return draw;
}

ExampleId Id(uint8_t i) {
  ExampleId id = {};
  id[5] = i;
  return id;
}

TEST_CASE("augment: windows are scaled back and mirrored as PyTorch does", "[train]") {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/augment.npz");
  REQUIRE(file != nullptr);
  test::Npz npz = test::ReadNpz(file->data, file->size);
  const auto image = npz["image"].as<float>();
  const auto windows = npz["windows"].as<int32_t>();
  const auto outputs = npz["outputs"].as<float>();
  const TensorView view = View(DType::kFloat32, Shape({1, 7, 10, 3}));
  REQUIRE(image.size() == 210);
  REQUIRE(windows.size() == 5 * 9);
  for (size_t w = 0; w < 9; ++w) {
    INFO("window " << w);
    AugmentDraw draw;
    draw.top = windows[5 * w];
    draw.left = windows[5 * w + 1];
    draw.height = windows[5 * w + 2];
    draw.width = windows[5 * w + 3];
    draw.flip = windows[5 * w + 4] != 0;
    const std::vector<float> out = Apply(draw, view, image);
    float worst = 0.0f;
    for (size_t i = 0; i < 210; ++i)
      worst = std::max(worst, std::fabs(out[i] - outputs[210 * w + i]));
    CHECK(worst < 2e-6f);
    // Whole images are copied or mirrored exactly.
    if (w < 2) CHECK(worst == 0.0f);
  }
}

TEST_CASE("augment: integers follow the floats, rounded and clamped", "[train]") {
  Random random(4);
  std::vector<uint8_t> bytes(8 * 6 * 3);
  for (uint8_t& x : bytes) x = static_cast<uint8_t>(random.Next());
  bytes[0] = 0;  // so that the range of the floats is that of the integers
  bytes[1] = 255;
  std::vector<float> floats(bytes.begin(), bytes.end());
  std::vector<int8_t> signed_bytes;
  for (uint8_t x : bytes) signed_bytes.push_back(static_cast<int8_t>(x - 128));
  const Shape shape({1, 8, 6, 3});
  AugmentDraw draw;
  draw.top = 1;
  draw.left = 2;
  draw.height = 5;
  draw.width = 4;
  draw.brightness = 0.3f;
  draw.noise = 0.1f;
  draw.noise_seed = 9;
  const auto expected = Apply(draw, View(DType::kFloat32, shape), floats);
  const auto out = Apply(draw, View(DType::kUInt8, shape), bytes);
  const auto signed_out = Apply(draw, View(DType::kInt8, shape), signed_bytes);
  int n_clamped = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    CHECK(std::fabs(static_cast<float>(out[i]) - expected[i]) <= 0.5001f);
    CHECK(std::abs(signed_out[i] + 128 - out[i]) <= 1);
    if (out[i] == 255) ++n_clamped;
  }
  CHECK(n_clamped > 3);
}

TEST_CASE("augment: draws follow from seed, example and variant alone", "[train]") {
  Augmentation options;
  options.flip = true;
  options.crop = 0.4f;
  options.brightness = 0.2f;
  options.noise = 0.05f;
  const auto same = [](const AugmentDraw& a, const AugmentDraw& b) {
    return a.top == b.top && a.left == b.left && a.height == b.height && a.width == b.width &&
           a.flip == b.flip && a.brightness == b.brightness && a.noise_seed == b.noise_seed;
  };
  const AugmentDraw draw = DrawVariant(options, 1, Id(1), 1, 224, 160);
  CHECK(same(draw, DrawVariant(options, 1, Id(1), 1, 224, 160)));
  CHECK_FALSE(same(draw, DrawVariant(options, 2, Id(1), 1, 224, 160)));
  CHECK_FALSE(same(draw, DrawVariant(options, 1, Id(2), 1, 224, 160)));
  CHECK_FALSE(same(draw, DrawVariant(options, 1, Id(1), 2, 224, 160)));
  // One option does not change what another one does.
  Augmentation crop_only;
  crop_only.crop = 0.4f;
  const AugmentDraw cropped = DrawVariant(crop_only, 1, Id(1), 1, 224, 160);
  CHECK(cropped.top == draw.top);
  CHECK(cropped.width == draw.width);
  CHECK_FALSE(cropped.flip);
  CHECK(cropped.brightness == 0.0f);

  int n_flipped = 0;
  double sum = 0.0;
  int64_t least = 224;
  for (int v = 1; v <= 2000; ++v) {
    const AugmentDraw d = DrawVariant(options, 1, Id(1), v, 224, 160);
    n_flipped += d.flip ? 1 : 0;
    sum += static_cast<double>(d.brightness);
    least = std::min(least, d.height);
    REQUIRE(std::fabs(d.brightness) <= 0.2f);
    REQUIRE(d.height >= 134);
    REQUIRE(d.width >= 96);
    REQUIRE(d.top + d.height <= 224);
    REQUIRE(d.left + d.width <= 160);
    REQUIRE(d.top >= 0);
    REQUIRE(d.left >= 0);
  }
  CHECK(std::abs(n_flipped - 1000) < 100);  // 4.5 standard deviations
  CHECK(std::fabs(sum / 2000.0) < 0.012);
  CHECK(least < 140);
  // Images of one pixel have one window.
  CHECK(DrawVariant(options, 1, Id(1), 1, 1, 1).height == 1);
}

TEST_CASE("augment: brightness and noise are shares of the range", "[train]") {
  const TensorView view = View(DType::kFloat32, Shape({1, 100, 100, 1}));
  std::vector<float> image(10000, 3.0f);
  image[0] = -5.0f;
  image[9999] = 15.0f;  // the range is 20
  AugmentDraw draw = Whole(100, 100);
  draw.brightness = 0.25f;
  std::vector<float> out = Apply(draw, view, image);
  CHECK(out[0] == 0.0f);
  CHECK(out[5] == 8.0f);
  CHECK(out[9999] == 15.0f);  // clamped
  draw.brightness = 0.0f;
  draw.noise = 0.05f;
  draw.noise_seed = 77;
  out = Apply(draw, view, image);
  double mean = 0.0, square = 0.0;
  int n_beyond = 0;
  for (size_t i = 1; i < 9999; ++i) {
    const double e = static_cast<double>(out[i]) - 3.0;
    mean += e / 9998.0;
    square += e * e / 9998.0;
    n_beyond += std::fabs(e) > 1.959964 ? 1 : 0;
  }
  CHECK(std::fabs(mean) < 0.04);
  CHECK(std::sqrt(square) == Approx(1.0).epsilon(0.03));
  CHECK(n_beyond / 9998.0 == Approx(0.05).margin(0.008));
  CHECK(Apply(draw, view, image) == out);
}

TEST_CASE("augment: inputs that are no images are refused with what they are", "[train]") {
  const auto error = [](std::vector<TensorView> inputs) {
    return CheckAugmentable(inputs).message();
  };
  const TensorView image = View(DType::kUInt8, Shape({1, 4, 4, 3}));
  CHECK(error({image}).empty());
  CHECK(error({View(DType::kFloat32, Shape({1, 1, 1, 1}))}).empty());
  CHECK(error({image, image}).find("this one has 2 inputs") != std::string::npos);
  CHECK(error({}).find("this one has 0 inputs") != std::string::npos);
  CHECK(error({View(DType::kFloat32, Shape({1, 64}))}).find("float32 [1, 64]") !=
        std::string::npos);
  CHECK(error({View(DType::kInt32, Shape({1, 4, 4, 3}))}).find("int32") != std::string::npos);
  CHECK_FALSE(error({View(DType::kFloat32, Shape({2, 4, 4, 3}))}).empty());
}

struct Extraction {
  std::unique_ptr<FeatureExtractor> extractor;
  std::unique_ptr<FeatureCache> cache;
};

Extraction Extract(const TrainerOptions& options, const Examples& examples) {
  const auto model = test::OpenBytes(test::ClassifierBytes(test::Tail::kDense));
  const auto head = FindHead(model->main(), 0);
  REQUIRE(head.ok());
  Cut cut;
  cut.value = head->feature;
  cut.dim = head->dim;
  cut.n_positions = head->n_positions;
  auto extractor = FeatureExtractor::Create(model, cut, options);
  REQUIRE(extractor.status().ToString() == "OK");
  Extraction result;
  result.extractor = std::move(extractor.value());
  result.cache = result.extractor->NewCache(0);
  REQUIRE(result.extractor->Extract(examples, 3, nullptr, result.cache.get()).ToString() == "OK");
  return result;
}

TEST_CASE("augment: the cached variants are the backbone's rows of the varied images", "[train]") {
  std::vector<float> x;
  std::vector<int32_t> y;
  test::MakeImages(13, 3, 1, &x, &y);
  const auto examples = [&](const std::vector<float>& data) {
    return Examples::FromArray(data.data(), 192, y.data(), 13);
  };
  TrainerOptions options;
  options.n_threads = 1;
  const Extraction plain = Extract(options, examples(x));
  options.augmentation.n_variants = 3;
  options.augmentation.flip = true;
  options.augmentation.crop = 0.5f;
  options.augmentation.noise = 0.1f;
  const Extraction varied = Extract(options, examples(x));
  REQUIRE(varied.cache->n_variants() == 3);
  const TensorView view = varied.extractor->input(0);
  for (int v = 1; v <= 3; ++v) {
    std::vector<float> images(x.size());
    for (int64_t i = 0; i < 13; ++i) {
      const AugmentDraw draw =
          DrawVariant(options.augmentation, options.seed, varied.cache->id(i), v, 4, 4);
      ApplyDraw(draw, view, x.data() + 48 * i, images.data() + 48 * i);
    }
    TrainerOptions unvaried;
    unvaried.n_threads = 1;
    const Extraction expected = Extract(unvaried, examples(images));
    int n_equal = 0;
    for (int64_t i = 0; i < 13; ++i) {
      CHECK(std::memcmp(varied.cache->row(i, v), expected.cache->row(i), 32) == 0);
      CHECK(std::memcmp(varied.cache->row(i, 0), plain.cache->row(i), 32) == 0);
      n_equal += std::memcmp(varied.cache->row(i, v), plain.cache->row(i), 32) == 0 ? 1 : 0;
    }
    CHECK(n_equal == 0);
  }
  // The same for any number of threads and any batch, and again from a file.
  const test::TempFolder folder;
  options.cache_path = folder / "cache";
  options.n_threads = 3;
  options.cache_limit_bytes = 5 * 4 * 32;
  CHECK(Extract(options, examples(x)).cache->digest() == varied.cache->digest());
  Extraction again = Extract(options, examples(x));
  CHECK(again.cache->digest() == varied.cache->digest());
  CHECK(again.extractor->counts().n_computed == 0);
  // Evaluation needs no variants, and another augmentation none of these.
  const auto bare = again.extractor->NewCache(0, false);
  REQUIRE(again.extractor->Extract(examples(x), 3, nullptr, bare.get()).ok());
  CHECK(bare->digest() == plain.cache->digest());
  again = Extraction();  // one trainer at a time has the file
  std::vector<TrainerOptions> others(5, options);
  others[0].seed = 2;
  others[1].augmentation.crop = 0.4f;
  others[2].augmentation.flip = false;
  others[3].augmentation.n_variants = 2;
  others[4].augmentation.brightness = 0.1f;
  SetLog(LogLevel::kError, nullptr, nullptr);  // files are replaced
  for (const TrainerOptions& other : others) {
    CHECK(Extract(other, examples(x)).extractor->counts().n_from_cache == 0);
    CHECK(Extract(other, examples(x)).extractor->counts().n_computed == 0);
  }
  SetLog(LogLevel::kWarning, nullptr, nullptr);
}

}  // namespace augment_test
}  // namespace topwork
