// Features computed on OpenCL devices and the CPU side by side: those of the CPU alone, whoever
// computes them. A test of its own runs this with two devices (POCL_DEVICES="pthread pthread").
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "kernels/contract/cpu_kernels.h"
#include "runtime/backend/devices.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/runtime/train/features/extractor_data.h"
#include "tests/support/scoped_variable.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace device_extractor_test {

using test::ExtractorImages;
using test::ExtractorOptions;
using test::NewExtractor;

std::vector<DeviceName> AllDevices() {
  std::vector<DeviceName> names;
  const auto devices = ListDevices();
  REQUIRE(devices.ok());
  for (size_t i = 0; i < devices.value()->size(); ++i) {
    if ((*devices.value())[i].usable) names.push_back(DeviceName::Opencl(static_cast<int>(i)));
  }
  return names;
}

std::vector<float> Features(const TrainerOptions& options, const ExtractorImages& images,
                            std::vector<int64_t>* n_by_worker) {
  const auto extractor = NewExtractor(options);
  const auto cache = extractor->NewCache(0);
  REQUIRE(extractor->Extract(images.examples(), 3, nullptr, cache.get()).ToString() == "OK");
  std::vector<float> rows, scratch(cache->scratch_floats());
  for (int64_t i = 0; i < cache->size(); ++i) {
    const float* row = cache->row(i, 0, scratch.data());
    rows.insert(rows.end(), row, row + cache->dim());
  }
  if (n_by_worker != nullptr) *n_by_worker = extractor->n_by_worker();
  return rows;
}

void CheckSame(const std::vector<float>& got, const std::vector<float>& expected, float most) {
  REQUIRE(got.size() == expected.size());
  float largest = 0.0f, difference = 0.0f;
  for (size_t i = 0; i < got.size(); ++i) {
    largest = std::fmax(largest, std::fabs(expected[i]));
    difference = std::fmax(difference, std::fabs(got[i] - expected[i]));
  }
  CHECK(difference <= most * largest);
}

TEST_CASE("device extractor: each device gives the CPU's features", "[opencl]") {
  TW_NEED_DEVICE(device);
  REQUIRE(device.info.usable);
  const ExtractorImages images(37);
  const std::vector<float> expected = Features(ExtractorOptions(1, 1), images, nullptr);
  for (const DeviceName& name : AllDevices()) {
    for (const int batch : {0, 1, 5}) {
      for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
        TrainerOptions options = ExtractorOptions(1, batch);
        options.extraction_devices = {name};
        options.extraction_storage = storage;
        CheckSame(Features(options, images, nullptr), expected,
                  storage == Storage::kFloat16 ? 5e-3f : 1e-5f);
      }
    }
  }
}

TEST_CASE("device extractor: devices and the CPU share the examples out", "[opencl]") {
  TW_NEED_DEVICE(device);
  REQUIRE(device.info.usable);
  const char* pocl = std::getenv("POCL_DEVICES");
  if (pocl != nullptr && device.info.platform.find("Portable Computing") != std::string::npos) {
    CHECK((std::string(pocl) != "pthread pthread" || AllDevices().size() >= 2));
  }
  const ExtractorImages images(400);
  const std::vector<float> expected = Features(ExtractorOptions(2, 1), images, nullptr);
  TrainerOptions options = ExtractorOptions(2, 1);
  for (const bool cpu : {false, true}) {
    options.extraction_devices = AllDevices();
    if (cpu) options.extraction_devices.push_back(DeviceName::Cpu());
    std::vector<int64_t> n_by_worker;
    CheckSame(Features(options, images, &n_by_worker), expected, 1e-5f);
    CHECK(n_by_worker.size() == AllDevices().size() + (cpu ? 2 : 0));
    int64_t sum = 0;
    for (const int64_t n : n_by_worker) {
      // Next to the CPU a device may come too late for any of this small model's runs.
      CHECK((cpu || n > 0));
      sum += n;
    }
    CHECK(sum == 400);
  }
}

TEST_CASE("device extractor: cancelling stops all workers, and they go on afterwards", "[opencl]") {
  TW_NEED_DEVICE(device);
  REQUIRE(device.info.usable);
  const ExtractorImages images(120);
  TrainerOptions options = ExtractorOptions(2, 1);
  options.extraction_devices = AllDevices();
  options.extraction_devices.push_back(DeviceName::Cpu());
  const auto extractor = NewExtractor(options);
  const auto cache = extractor->NewCache(0);
  const auto stop = [&](int64_t, int64_t) {
    extractor->Cancel();
    return true;
  };
  CHECK(extractor->Extract(images.examples(), 3, stop, cache.get()).code() ==
        StatusCode::kCancelled);
  CHECK(cache->size() == 0);
  REQUIRE(extractor->Extract(images.examples(), 3, nullptr, cache.get()).ToString() == "OK");
  CHECK(cache->size() == 120);
}

TEST_CASE("device extractor: auto takes one place, by trial, and keeps to it", "[opencl]") {
  TW_NEED_DEVICE(device);
  REQUIRE(device.info.usable);
  const test::TempFolder folder;
  const test::ScopedVariable cache("TOPWORK_CACHE", folder / "cache");
  const test::ScopedVariable weighed("TOPWORK_AUTO_DEVICE", test::TestDeviceName().ToString());
  const ExtractorImages images(40);
  const std::vector<float> expected = Features(ExtractorOptions(1, 1), images, nullptr);
  TrainerOptions options = ExtractorOptions(1, 0);
  options.extraction_devices = {DeviceName::Auto()};
  const auto extractor = NewExtractor(options);
  const std::string place = extractor->workers().places();
  CHECK((place == "cpu" || place == test::TestDeviceName().ToString()));
  const std::string note = extractor->workers().note();
  if (note.find("nothing of this model is worth its while") != std::string::npos) {
    TW_SKIP("the model is too small for " + device.info.name + ", so that nothing is measured");
  }
  CHECK(note.find("auto: cpu ") == 0);
  CheckSame(Features(options, images, nullptr), expected, 1e-5f);
  const auto again = NewExtractor(options);
  CHECK(again->workers().places() == place);
  CHECK(again->workers().note().find("measured before") != std::string::npos);
}

// In float32 where the processor has no 16-bit products.
TEST_CASE("feature extractor: the CPU extracts in 16 bits on request", "[train]") {
  const ExtractorImages images(37);
  const TrainerOptions plain = ExtractorOptions(2, 1);
  TrainerOptions half = plain;
  half.extraction_storage = Storage::kFloat16;
  const std::vector<float> expected = Features(plain, images, nullptr);
  const std::vector<float> got = Features(half, images, nullptr);
  CheckSame(got, expected, 2e-2f);
  CHECK((got == expected) == (HalfProductsOf(BestCpuKernels()) == nullptr));
}

TEST_CASE("feature extractor: features of the other precision are not taken from a file",
          "[train]") {
  const test::TempFolder folder;
  const ExtractorImages images(12);
  TrainerOptions options = ExtractorOptions(1, 1);
  options.cache_path = folder / "features";
  const auto n_known = [&](Storage storage) {
    options.extraction_storage = storage;
    const auto extractor = NewExtractor(options);
    const auto cache = extractor->NewCache(0);
    REQUIRE(extractor->Extract(images.examples(), 3, nullptr, cache.get()).ToString() == "OK");
    return extractor->counts().n_from_cache;
  };
  CHECK(n_known(Storage::kFloat32) == 0);
  CHECK(n_known(Storage::kFloat32) == 12);
  CHECK(n_known(Storage::kFloat16) == 0);
  CHECK(n_known(Storage::kFloat16) == 12);
}

TEST_CASE("device extractor: auto is the CPU where there is no device", "[train]") {
  const test::ScopedVariable weighed("TOPWORK_AUTO_DEVICE", "off");
  TrainerOptions options = ExtractorOptions(1, 0);
  options.extraction_devices = {DeviceName::Auto()};
  const auto extractor = NewExtractor(options);
  CHECK(extractor->workers().places() == "cpu");
  CHECK(extractor->batch_size() == 1);
}

TEST_CASE("device extractor: a device that is not there is named", "[opencl]") {
  TW_NEED_DEVICE(device);
  REQUIRE(device.info.usable);
  const auto model = test::OpenBytes(test::ClassifierBytes(test::Tail::kDense));
  TrainerOptions options = ExtractorOptions(1, 1);
  options.extraction_devices = {ParseDeviceName("opencl:abacus").value()};
  Cut cut;
  const auto made = FeatureExtractor::Create(model, cut, options);
  CHECK(made.status().code() == StatusCode::kNotFound);
  CHECK(made.status().message().find("abacus") != std::string::npos);
}

}  // namespace device_extractor_test
}  // namespace topwork
