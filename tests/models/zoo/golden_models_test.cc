// Whole models against LiteRT's reference answers: those beside the repository ([shared]) and those
// of models/zoo.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>

#include "runtime/session/session.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"
#include "tests/support/skip.h"

namespace topwork {
namespace test {
namespace {

namespace fs = std::filesystem;

// What Topwork does not run yet, in whole families: control flow and state, recurrent and custom
// operators, composites. A model that needs one of them must be refused by that operator's name.
const std::set<std::string> kNotYet = {"IF",
                                       "WHILE",
                                       "CALL",
                                       "CALL_ONCE",
                                       "VAR_HANDLE",
                                       "READ_VARIABLE",
                                       "ASSIGN_VARIABLE",
                                       "STABLEHLO_COMPOSITE",
                                       "LSTM",
                                       "RNN",
                                       "SVDF",
                                       "UNIDIRECTIONAL_SEQUENCE_LSTM",
                                       "HASHTABLE",
                                       "UNIDIRECTIONAL_SEQUENCE_RNN",
                                       "BIDIRECTIONAL_SEQUENCE_LSTM"};

std::set<std::string> NotYetIn(const Model& model) {
  std::set<std::string> found;
  for (const Op& op : model.main().ops) {
    if (op.code == OpCode::kCustom || kNotYet.count(op.name()) != 0) found.insert(op.name());
  }
  return found;
}

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

template <typename T>
void CheckTopOneOf(const TensorView& output, const NpyArray& reference) {
  const int64_t n = output.shape[1];
  std::vector<T> expected(static_cast<size_t>(output.shape.NumElements()));
  REQUIRE(expected.size() * sizeof(T) == reference.data.size());
  if (!expected.empty()) {
    std::memcpy(expected.data(), reference.data.data(), reference.data.size());
  }
  for (int64_t row = 0; row < output.shape[0]; ++row) {
    const T* want = expected.data() + row * n;
    const T* got = output.as<T>() + row * n;
    const int64_t best = std::max_element(want, want + n) - want;
    const int64_t mine = std::max_element(got, got + n) - got;
    // A tie within the reference's own rounding may fall either way.
    const double lead = static_cast<double>(want[best]) - static_cast<double>(want[mine]);
    const double rounding =
        std::is_integral<T>::value ? 1.0 : 1e-6 * std::fabs(static_cast<double>(want[best]));
    CHECK((mine == best || lead <= rounding));
  }
}

// Class scores [1, C] or [N, C]: the same best class in every row.
void CheckTopOne(const TensorView& output, const NpyArray& reference) {
  if (output.shape.rank() != 2 || output.shape[1] < 2) return;
  if (output.dtype == DType::kFloat32) CheckTopOneOf<float>(output, reference);
  if (output.dtype == DType::kInt8) CheckTopOneOf<int8_t>(output, reference);
  if (output.dtype == DType::kUInt8) CheckTopOneOf<uint8_t>(output, reference);
}

// Runs all sets of the golden file in order on one session; false when it has none complete.
int CheckGolden(Session* session, const Npz& golden, float tolerance) {
  int n_sets = 0;
  for (int k = 0;; ++k) {
    std::vector<const NpyArray*> references;
    for (int i = 0; i < session->n_inputs(); ++i) {
      const auto input = golden.find("in_" + std::to_string(k) + "_" + std::to_string(i));
      if (input == golden.end()) return n_sets;
      Shape shape;
      for (int64_t dim : input->second.shape) shape.Append(static_cast<int32_t>(dim));
      REQUIRE(session->ResizeInput(i, shape).ok());
    }
    REQUIRE(session->Prepare().ToString() == "OK");
    for (int i = 0; i < session->n_inputs(); ++i) {
      const std::string key = "in_" + std::to_string(k) + "_" + std::to_string(i);
      const std::string& data = golden.at(key).data;
      REQUIRE(data.size() == session->input(i).bytes());
      if (!data.empty()) std::memcpy(session->input(i).data, data.data(), data.size());
    }
    REQUIRE(session->Run().ToString() == "OK");
    for (int o = 0; o < session->n_outputs(); ++o) {
      const auto reference = golden.find("ref_" + std::to_string(k) + "_" + std::to_string(o));
      if (reference == golden.end()) return n_sets;
      INFO("set " << k << ", output " << o);
      CheckOutput(session->output(o), reference->second, tolerance);
      CheckTopOne(session->output(o), reference->second);
    }
    ++n_sets;
  }
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

// The real numbers that an output's values stand for.
std::vector<float> RealValues(const TensorView& view) {
  std::vector<float> values(static_cast<size_t>(view.shape.NumElements()));
  for (size_t i = 0; i < values.size(); ++i) {
    switch (view.dtype) {
      case DType::kFloat32:
        values[i] = view.as<float>()[i];
        break;
      case DType::kInt8:
        values[i] = view.as<int8_t>()[i];
        break;
      default:
        REQUIRE(view.dtype == DType::kUInt8);
        values[i] = view.as<uint8_t>()[i];
    }
  }
  return values;
}

// Writes n real numbers into an input of any of these types.
void SetReals(const float* values, size_t n, TensorView* input) {
  for (size_t i = 0; i < n; ++i) {
    if (input->dtype == DType::kFloat32) {
      input->as<float>()[i] = values[i];
      continue;
    }
    const float scale = input->quantization->scales[0];
    const int64_t zero = input->quantization->zero_points[0];
    const int64_t q = std::lround(values[i] / scale) + zero;
    if (input->dtype == DType::kInt8) {
      input->as<int8_t>()[i] = static_cast<int8_t>(std::clamp<int64_t>(q, -128, 127));
    } else {
      REQUIRE(input->dtype == DType::kUInt8);
      input->as<uint8_t>()[i] = static_cast<uint8_t>(std::clamp<int64_t>(q, 0, 255));
    }
  }
}

// How many of the 397 digits kept for testing a network names.
int RightDigits(std::shared_ptr<const Model> model) {
  const EmbeddedFile* x_file = FindEmbedded("models/zoo/data/digits_8x8/test/x.npy");
  const EmbeddedFile* y_file = FindEmbedded("models/zoo/data/digits_8x8/test/y.npy");
  REQUIRE(x_file != nullptr);
  REQUIRE(y_file != nullptr);
  const std::vector<float> x = ReadNpy(x_file->data, x_file->size).as<float>();
  const std::vector<int32_t> y = ReadNpy(y_file->data, y_file->size).as<int32_t>();
  const auto session = Session::Create(std::move(model), SessionOptions());
  REQUIRE(session.status().ToString() == "OK");
  int n_right = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    TensorView input = (*session)->input(0);
    SetReals(x.data() + i * 64, 64, &input);
    REQUIRE((*session)->Run().ok());
    const std::vector<float> scores = RealValues((*session)->output(0));
    n_right += std::max_element(scores.begin(), scores.end()) - scores.begin() == y[i];
  }
  return n_right;
}

}  // namespace

TEST_CASE("shared models: float models agree with LiteRT", "[zoo][shared]") {
  if (SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  const Tally tally = CheckFolder(SharedModelsFolder() + "/float");
  CHECK(tally.n_run == 40);
  CHECK(tally.n_refused == 5);
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
  CHECK(tally.n_run >= 39);
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
    CHECK(RightDigits(*model) == named.second);
  }
}

TEST_CASE("zoo: the digit networks are as accurate as LiteRT found them", "[zoo]") {
  for (const char* name : {"digits_cnn_f32", "digits_cnn_fp16"}) {
    const EmbeddedFile* file =
        FindEmbedded((std::string("models/zoo/") + name + ".tflite").c_str());
    REQUIRE(file != nullptr);
    const auto model = Model::OpenMemory(file->data, file->size, false);
    REQUIRE(model.status().ToString() == "OK");
    CHECK(RightDigits(*model) == 390);  // 0.98237 of 397, LiteRT's figure in manifest.json
  }
}

}  // namespace test
}  // namespace topwork
