// Whole float models on the OpenCL device against LiteRT's answers: 1e-3 of the output's range in
// float32, the same best class with float16 storage; batches of 8 against the CPU.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/opencl_device.h"
#include "runtime/session/session.h"
#include "tests/models/zoo/golden.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace opencl_models_test {

namespace fs = std::filesystem;
using test::NpyArray;

// Probabilities behind 28 layers of rounding to 11 bits move by up to 6e-2.
constexpr float kFloat32Tolerance = 1e-3f, kFloat16Tolerance = 1e-1f;
const char* const kZoo[] = {"digits_cnn_f32", "digits_cnn_fp16", "digits_mlp_f32",
                            "efficientnet_lite0_fp16"};

// The largest difference, relative to the range of the expected numbers; infinite where one is no
// number and the other is.
float Difference(const float* expected, const float* got, size_t n) {
  float low = INFINITY, high = -INFINITY, largest = 0.0f, difference = 0.0f;
  for (size_t i = 0; i < n; ++i) {
    if (expected[i] == got[i] || (std::isnan(expected[i]) && std::isnan(got[i]))) continue;
    if (!std::isfinite(expected[i]) || !std::isfinite(got[i])) return INFINITY;
    difference = std::max(difference, std::fabs(expected[i] - got[i]));
  }
  for (size_t i = 0; i < n; ++i) {
    if (!std::isfinite(expected[i])) continue;
    low = std::min(low, expected[i]);
    high = std::max(high, expected[i]);
    largest = std::max(largest, std::fabs(expected[i]));
  }
  if (difference == 0.0f) return 0.0f;
  const float range = std::max(high - low, largest);
  return range > 0.0f ? difference / range : difference;
}

// One device for all tests of this file, in one of the storages.
std::shared_ptr<const Device> BackendIn(const opencl::Device& device, Storage storage) {
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  return opencl::MakeDevice(context.value(), storage);
}

float ToleranceOf(const Device& backend) {
  return backend.storage() == Storage::kFloat16 ? kFloat16Tolerance : kFloat32Tolerance;
}

SessionOptions OptionsWith(std::shared_ptr<const Device> backend) {
  SessionOptions options;
  options.n_threads = 2;
  if (backend != nullptr) options.devices.push_back(std::move(backend));
  return options;
}

size_t OnDevice(const Plan& plan) {
  size_t n = 0;
  for (const Step& step : plan.steps) n += step.parts.size();
  return n;
}

void CheckOutput(const TensorView& output, const NpyArray& reference, const Device& backend) {
  REQUIRE(output.shape.NumElements() == reference.size());
  if (output.dtype != DType::kFloat32) {
    REQUIRE(output.bytes() == reference.data.size());
    if (backend.storage() == Storage::kFloat32) {
      CHECK(std::memcmp(output.data, reference.data.data(), reference.data.size()) == 0);
    }
    return;
  }
  const std::vector<float> expected = reference.as<float>();
  CHECK(Difference(expected.data(), output.as<float>(), expected.size()) <= ToleranceOf(backend));
  test::CheckTopOne(output, reference);
}

// Returns how many operators ran on the device; 0 for a model that is not run at all.
size_t CheckModel(std::shared_ptr<const Model> model, const test::Npz& golden,
                  const std::shared_ptr<const Device>& backend) {
  const bool refused = !test::NotYetIn(*model).empty();
  auto session = Session::Create(std::move(model), OptionsWith(backend));
  if (refused) {
    CHECK(!session.ok());
    return 0;
  }
  REQUIRE(session.status().ToString() == "OK");
  const int n_sets = test::RunGolden(session->get(), golden,
                                     [&](const TensorView& output, const NpyArray& reference) {
                                       CheckOutput(output, reference, *backend);
                                     });
  CHECK(n_sets >= 1);
  CHECK(session.value()->options().devices.size() == 1);  // the device did not fail
  return OnDevice(session.value()->plan());
}

// Seeded numbers in [-1, 1) or, for integers, 0 and 1.
void FillRandom(Session* session) {
  uint32_t state = 1;
  for (int i = 0; i < session->n_inputs(); ++i) {
    const TensorView& input = session->input(i);
    REQUIRE((input.dtype == DType::kFloat32 || input.dtype == DType::kInt32));
    for (int64_t k = 0; k < input.shape.NumElements(); ++k) {
      state = state * 1664525u + 1013904223u;
      if (input.dtype == DType::kInt32) {
        input.as<int32_t>()[k] = static_cast<int32_t>(state >> 31);
      } else {
        input.as<float>()[k] = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
      }
    }
  }
}

// The session for 8 examples at once; null where the model cannot take them.
std::unique_ptr<Session> OfEight(const std::shared_ptr<const Model>& model,
                                 const std::shared_ptr<const Device>& backend) {
  auto session = Session::Create(model, OptionsWith(backend));
  REQUIRE(session.status().ToString() == "OK");
  for (int i = 0; i < session.value()->n_inputs(); ++i) {
    Shape shape = session.value()->input(i).shape;
    if (shape.rank() == 0 || shape[0] != 1) return nullptr;
    shape.set_dim(0, 8);
    REQUIRE(session.value()->ResizeInput(i, shape).ok());
  }
  if (!session.value()->Prepare().ok()) return nullptr;
  FillRandom(session->get());
  return std::move(session.value());
}

// Returns false for a model that takes single examples only.
bool CheckEight(const std::shared_ptr<const Model>& model,
                const std::shared_ptr<const Device>& backend) {
  const std::unique_ptr<Session> cpu = OfEight(model, nullptr);
  if (cpu == nullptr) return false;
  const std::unique_ptr<Session> device = OfEight(model, backend);
  REQUIRE(device != nullptr);
  REQUIRE(cpu->Run().ToString() == "OK");
  REQUIRE(device->Run().ToString() == "OK");
  CHECK(device->options().devices.size() == 1);
  for (int i = 0; i < cpu->n_outputs(); ++i) {
    const TensorView& expected = cpu->output(i);
    REQUIRE(device->output(i).shape == expected.shape);
    if (expected.dtype != DType::kFloat32) continue;
    INFO("output " << i);
    CHECK(Difference(expected.as<float>(), device->output(i).as<float>(),
                     static_cast<size_t>(expected.shape.NumElements())) <= ToleranceOf(*backend));
  }
  return true;
}

void CheckZoo(const std::shared_ptr<const Device>& backend) {
  for (const char* name : kZoo) {
    INFO(name);
    const auto model = test::OpenZoo(name);
    CHECK(CheckModel(model, test::GoldenOf(name), backend) > 0);
    CHECK(CheckEight(model, backend));
  }
  CHECK(test::RightDigits(test::OpenZoo("digits_cnn_f32"), OptionsWith(backend)) == 390);
}

struct Tally {
  int n_run = 0;      // with operators on the device
  int n_batches = 0;  // of 8
};

Tally CheckFolder(const std::string& folder, const std::shared_ptr<const Device>& backend) {
  Tally tally;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    INFO(path.string());
    fs::path golden = path;
    golden.replace_extension(".npz");
    const auto model = Model::OpenFile(path.string());
    REQUIRE(model.status().ToString() == "OK");
    if (!fs::exists(golden)) continue;
    const size_t n = CheckModel(model.value(), test::ReadNpzFile(golden.string()), backend);
    tally.n_run += n > 0;
    if (n > 0) tally.n_batches += CheckEight(model.value(), backend);
  }
  return tally;
}

TEST_CASE("zoo on an OpenCL device: float32 agrees with LiteRT", "[opencl]") {
  TW_NEED_DEVICE(device);
  CheckZoo(BackendIn(device, Storage::kFloat32));
}

TEST_CASE("zoo on an OpenCL device: float16 storage names the same classes", "[opencl]") {
  TW_NEED_DEVICE(device);
  CheckZoo(BackendIn(device, Storage::kFloat16));
}

TEST_CASE("zoo on an OpenCL device: a second start compiles nothing", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::TempFolder folder;
  opencl::ContextOptions options;
  options.cache_folder = folder / "cache";
  int n_programs = 0;
  std::vector<float> scores;
  for (const bool is_first : {true, false}) {
    auto context = opencl::Context::Create(device, options);
    REQUIRE(context.status().ToString() == "OK");
    auto session =
        Session::Create(test::OpenZoo("digits_mlp_f32"),
                        OptionsWith(opencl::MakeDevice(context.value(), Storage::kFloat32)));
    REQUIRE(session.status().ToString() == "OK");
    CHECK(OnDevice(session.value()->plan()) > 0);
    FillRandom(session->get());
    REQUIRE(session.value()->Run().ToString() == "OK");
    const TensorView& output = session.value()->output(0);
    const std::vector<float> now(output.as<float>(), output.as<float>() + 10);
    const opencl::Context::Counts counts = context.value()->counts();
    if (is_first) {
      n_programs = counts.compiled;
      scores = now;
    }
    CHECK(counts.compiled == (is_first ? n_programs : 0));
    CHECK(counts.cached == (is_first ? 0 : n_programs));
    CHECK(now == scores);
  }
  CHECK(n_programs >= 3);
}

void CheckShared(const opencl::Device& device, Storage storage) {
  const auto backend = BackendIn(device, storage);
  const Tally floats = CheckFolder(test::SharedModelsFolder() + "/float", backend);
  CHECK(floats.n_run >= 37);
  CHECK(floats.n_batches >= 20);
  const Tally halves = CheckFolder(test::SharedModelsFolder() + "/fp16", backend);
  CHECK(halves.n_run == 5);
  CHECK(halves.n_batches >= 4);
}

TEST_CASE("shared models on an OpenCL device: float32 agrees with LiteRT", "[opencl][shared]") {
  TW_NEED_DEVICE(device);
  if (test::SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  CheckShared(device, Storage::kFloat32);
}

// The mean distance of bytes, in steps.
double MeanSteps(const TensorView& output, const NpyArray& reference) {
  const bool is_unsigned = output.dtype == DType::kUInt8;
  double sum = 0.0;
  for (size_t i = 0; i < output.bytes(); ++i) {
    const uint8_t a = output.as<uint8_t>()[i], b = static_cast<uint8_t>(reference.data[i]);
    sum +=
        is_unsigned ? std::abs(a - b) : std::abs(static_cast<int8_t>(a) - static_cast<int8_t>(b));
  }
  return sum / static_cast<double>(output.bytes());
}

TEST_CASE("shared models on an OpenCL device: networks of bytes are within two steps",
          "[opencl][shared]") {
  TW_NEED_DEVICE(device);
  if (test::SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    const auto backend = BackendIn(device, storage);
    for (const char* name : {"mlperf_ic_resnet8_int8", "mlperf_kws_dscnn_int8",
                             "coral_mobilenet_v1_0.25_128_quant", "mlperf_vww_mbv1_int8"}) {
      INFO(name);
      const std::string path = test::SharedModelsFolder() + "/int8/" + name;
      auto model = Model::OpenFile(path + ".tflite");
      REQUIRE(model.status().ToString() == "OK");
      auto session = Session::Create(model.value(), OptionsWith(backend));
      REQUIRE(session.status().ToString() == "OK");
      CHECK(OnDevice(session.value()->plan()) > 5);
      const test::Npz golden = test::ReadNpzFile(path + ".npz");
      const int n_sets = test::RunGolden(session->get(), golden,
                                         [&](const TensorView& output, const NpyArray& reference) {
                                           REQUIRE(output.bytes() == reference.data.size());
                                           CHECK(MeanSteps(output, reference) <= 2.0);
                                           test::CheckTopOne(output, reference);
                                         });
      CHECK(n_sets >= 1);
      CHECK(session.value()->options().devices.size() == 1);  // the device did not fail
    }
  }
}

TEST_CASE("shared models on an OpenCL device: float16 storage names the same classes",
          "[opencl][shared]") {
  TW_NEED_DEVICE(device);
  if (test::SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  CheckShared(device, Storage::kFloat16);
}

}  // namespace opencl_models_test
}  // namespace topwork
