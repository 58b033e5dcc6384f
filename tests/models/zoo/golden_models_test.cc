// Whole models against LiteRT's reference answers: those beside the repository ([shared]) and those
// of models/zoo.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "runtime/session/session.h"
#include "tests/models/zoo/golden.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/npz.h"
#include "tests/support/skip.h"

namespace topwork {
namespace test {
namespace {

namespace fs = std::filesystem;

// The largest difference of integers. (Whole integer networks are computed as LiteRT's reference
// kernels do, to the bit but for the last bit of SOFTMAX and the like.)
template <typename T>
int LargestDifference(const TensorView& output, const NpyArray& reference) {
  int largest = 0;
  for (size_t i = 0; i * sizeof(T) < reference.data.size(); ++i) {
    T want;
    std::memcpy(&want, reference.data.data() + i * sizeof(T), sizeof(T));
    largest = std::max(largest, std::abs(int{want} - int{output.as<T>()[i]}));
  }
  return largest;
}

constexpr float kFloatTolerance = 1e-4f;
// A last bit in front of run-time quantization may move a value by a whole step: LiteRT's own
// kernels differ by this much among themselves.
constexpr float kDynamicTolerance = 1e-2f;

// |difference| ≤ tolerance × max(1, |reference|max) for floats, 1 for 8-bit values, equality for
// the rest.
void CheckOutput(const TensorView& output, const NpyArray& reference, float tolerance) {
  REQUIRE(output.shape.NumElements() == reference.size());
  if (output.dtype == DType::kInt8 || output.dtype == DType::kUInt8) {
    REQUIRE(output.bytes() == reference.data.size());
    CHECK((output.dtype == DType::kInt8 ? LargestDifference<int8_t>(output, reference)
                                        : LargestDifference<uint8_t>(output, reference)) <= 1);
    return;
  }
  if (output.dtype != DType::kFloat32) {
    REQUIRE(output.bytes() == reference.data.size());
    CHECK(std::memcmp(output.data, reference.data.data(), reference.data.size()) == 0);
    return;
  }
  const std::vector<float> expected = reference.as<float>();
  const float* got = output.as<float>();
  float largest = 1.0f, difference = 0.0f;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isinf(expected[i]) && got[i] == expected[i]) continue;
    REQUIRE(std::isnan(got[i]) == std::isnan(expected[i]));
    if (std::isnan(got[i])) continue;
    largest = std::max(largest, std::fabs(expected[i]));
    difference = std::max(difference, std::fabs(got[i] - expected[i]));
  }
  CHECK(difference <= tolerance * largest);
}

// Runs all sets of the golden file in order on one session; returns how many it has complete.
int CheckGolden(Session* session, const Npz& golden, float tolerance) {
  return RunGolden(session, golden, [&](const TensorView& output, const NpyArray& reference) {
    CheckOutput(output, reference, tolerance);
    CheckTopOne(output, reference);
  });
}

struct Tally {
  int n_run = 0;
  int n_refused = 0;
};

void CheckModel(const fs::path& path, float tolerance, Tally* tally) {
  INFO(path.string());
  const auto model = Model::OpenFile(path.string());
  REQUIRE(model.status().ToString() == "OK");
  SessionOptions options;
  options.n_threads = 2;
  const auto session = Session::Create(*model, options);
  const std::set<std::string> not_yet = NotYetIn(**model);
  if (!session.ok()) {
    INFO(session.status().ToString());
    CHECK(!not_yet.empty());
    CHECK(session.status().code() == StatusCode::kUnsupported);
    for (const std::string& name : not_yet) {
      CHECK(session.status().message().find(name) != std::string::npos);
    }
    ++tally->n_refused;
    return;
  }
  fs::path golden = path;
  golden.replace_extension(".npz");
  if (!fs::exists(golden)) return;  // LiteRT itself cannot run it: there is no answer to compare
  const int n_sets = CheckGolden((*session).get(), ReadNpzFile(golden.string()), tolerance);
  CHECK(n_sets >= 1);
  tally->n_run += n_sets >= 1;
}

Tally CheckFolder(const std::string& folder, float tolerance = kFloatTolerance) {
  Tally tally;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) CheckModel(path, tolerance, &tally);
  return tally;
}

}  // namespace

TEST_CASE("shared models: float models agree with LiteRT", "[zoo][shared]") {
  if (SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  const Tally tally = CheckFolder(SharedModelsFolder() + "/float");
  CHECK(tally.n_run == 45);
  CHECK(tally.n_refused == 0);
}

TEST_CASE("shared models: models with float16 weights agree with LiteRT", "[zoo][shared]") {
  if (SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  const Tally tally = CheckFolder(SharedModelsFolder() + "/fp16");
  CHECK(tally.n_run == 5);
  CHECK(tally.n_refused == 0);
}

TEST_CASE("shared models: odd models run, or are refused by name", "[zoo][shared]") {
  if (SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  const Tally tally = CheckFolder(SharedModelsFolder() + "/special");
  CHECK(tally.n_run >= 50);
}

TEST_CASE("shared models: dynamic-range models agree with LiteRT", "[zoo][shared]") {
  if (SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  const Tally tally = CheckFolder(SharedModelsFolder() + "/dynamic", kDynamicTolerance);
  CHECK(tally.n_run >= 7);
}

TEST_CASE("shared models: quantized models agree with LiteRT", "[zoo][shared]") {
  if (SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  const Tally tally = CheckFolder(SharedModelsFolder() + "/int8");
  CHECK(tally.n_run >= 42);
  CHECK(tally.n_run + tally.n_refused == 44);
}

TEST_CASE("shared models: quantized digit networks are as accurate as LiteRT found them",
          "[zoo][shared]") {
  if (SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  // Right answers of LiteRT's reference kernels (eval_reference.json).
  const std::pair<const char*, int> models[] = {
      {"int8/gen_digits_cnn_int8", 390},           {"int8/gen_digits_mlp_int8", 380},
      {"int8/gen_digits_cnn_int8_uint8io", 390},   {"int8/gen_digits_mlp_int8_uint8io", 380},
      {"int8/gen_digits_cnn_int8_floatio", 390},   {"int8/gen_digits_mlp_int8_floatio", 380},
      {"int8/gen_digits_cnn_int8_pertensor", 390}, {"int8/gen_digits_mlp_int8_pertensor", 380},
      {"int8/gen_digits_cnn_int16x8", 390},        {"int8/gen_digits_mlp_int16x8", 380},
      {"dynamic/gen_digits_cnn_dynamic", 390},     {"dynamic/gen_digits_mlp_dynamic", 379}};
  for (const auto& named : models) {
    INFO(named.first);
    const auto model = Model::OpenFile(SharedModelsFolder() + "/" + named.first + ".tflite");
    REQUIRE(model.status().ToString() == "OK");
    CHECK(RightDigits(*model, SessionOptions()) == named.second);
  }
}

TEST_CASE("zoo: every network answers as LiteRT does on each instruction set", "[zoo][sets]") {
  for (const char* name :
       {"digits_cnn_f32", "digits_cnn_fp16", "digits_mlp_f32", "efficientnet_lite0_fp16"}) {
    const auto model = OpenZoo(name);
    const Npz golden = GoldenOf(name);
    for (const CpuKernels* cpu : TestedCpuKernels()) {
      INFO(name << " on " << cpu->isa);
      SessionOptions options;
      options.cpu = cpu;
      const auto session = Session::Create(model, options);
      REQUIRE(session.status().ToString() == "OK");
      CHECK(CheckGolden((*session).get(), golden, kFloatTolerance) >= 1);
    }
  }
}

TEST_CASE("zoo: the digit networks are as accurate as LiteRT found them", "[zoo]") {
  for (const char* name : {"digits_cnn_f32", "digits_cnn_fp16"}) {
    CHECK(RightDigits(OpenZoo(name), SessionOptions()) ==
          390);  // 0.98237 of 397, LiteRT's figure in manifest.json
  }
}

}  // namespace test
}  // namespace topwork
