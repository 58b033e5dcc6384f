// Whole models against LiteRT's reference answers: those beside the repository ([shared]) and those
// of models/zoo.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>

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

// Activations of a quantized type, or weights of one that are not folded into floats by DEQUANTIZE.
bool IsQuantized(const Model& model) {
  std::set<int> dequantized;
  const Graph& graph = model.main();
  for (const Op& op : graph.ops) {
    if (op.code == OpCode::kDequantize) dequantized.insert(op.inputs[0]);
  }
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const Value& value = graph.values[v];
    if (value.quantization == nullptr || value.quantization->scales.empty()) continue;
    if (dequantized.count(static_cast<int>(v)) == 0) return true;
  }
  return false;
}

// The mean difference of 8-bit values: a step here and there grows on its way through a network.
template <typename T>
double MeanDifference(const TensorView& output, const NpyArray& reference) {
  double sum = 0;
  for (size_t i = 0; i < reference.data.size(); ++i) {
    const int want = static_cast<T>(reference.data[i]);
    sum += std::abs(want - static_cast<int>(output.as<T>()[i]));
  }
  return reference.data.empty() ? 0 : sum / static_cast<double>(reference.data.size());
}

constexpr float kFloatTolerance = 1e-4f;
// A last bit in front of run-time quantization may move a value by a whole step: LiteRT's own
// kernels differ by this much among themselves.
constexpr float kDynamicTolerance = 1e-2f;

// |difference| ≤ tolerance × max(1, |reference|max) for floats, 2 in the mean for 8-bit values,
// equality for the rest.
void CheckOutput(const TensorView& output, const NpyArray& reference, float tolerance) {
  REQUIRE(output.shape.NumElements() == reference.size());
  if (output.dtype == DType::kInt8 || output.dtype == DType::kUInt8) {
    REQUIRE(output.bytes() == reference.data.size());
    CHECK((output.dtype == DType::kInt8 ? MeanDifference<int8_t>(output, reference)
                                        : MeanDifference<uint8_t>(output, reference)) <= 2.0);
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

// Class scores [1, C] or [N, C]: the same best class in every row.
void CheckTopOne(const TensorView& output, const NpyArray& reference) {
  if (output.dtype != DType::kFloat32 || output.shape.rank() != 2 || output.shape[1] < 2) return;
  const std::vector<float> expected = reference.as<float>();
  const int64_t n = output.shape[1];
  for (int64_t row = 0; row < output.shape[0]; ++row) {
    const float* want = expected.data() + row * n;
    const float* got = output.as<float>() + row * n;
    const int64_t best = std::max_element(want, want + n) - want;
    const int64_t mine = std::max_element(got, got + n) - got;
    // A tie within the reference's own rounding may fall either way.
    CHECK((mine == best || want[best] - want[mine] <= 1e-6f * std::fabs(want[best])));
  }
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
    const bool quantized = IsQuantized(**model);
    CHECK((!not_yet.empty() || quantized));
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

TEST_CASE("shared models: quantized models run right, or are refused with the reason",
          "[zoo][shared]") {
  if (SharedModelsFolder().empty())
    TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  int n_run = 0;
  for (const auto& entry : fs::directory_iterator(SharedModelsFolder() + "/int8")) {
    if (entry.path().extension() != ".tflite") continue;
    INFO(entry.path().string());
    const auto model = Model::OpenFile(entry.path().string());
    REQUIRE(model.status().ToString() == "OK");
    const auto session = Session::Create(*model, SessionOptions());
    if (session.ok()) {
      fs::path golden = entry.path();
      golden.replace_extension(".npz");
      if (!fs::exists(golden)) continue;
      CHECK(CheckGolden((*session).get(), ReadNpzFile(golden.string()), kFloatTolerance) >= 1);
      ++n_run;
      continue;
    }
    INFO(session.status().ToString());
    CHECK(session.status().code() == StatusCode::kUnsupported);
    CHECK(session.status().message().find("operator") != std::string::npos);
  }
  CHECK(n_run >= 7);
}

TEST_CASE("zoo: the digit networks are as accurate as LiteRT found them", "[zoo]") {
  const EmbeddedFile* x_file = FindEmbedded("models/zoo/data/digits_8x8/test/x.npy");
  const EmbeddedFile* y_file = FindEmbedded("models/zoo/data/digits_8x8/test/y.npy");
  REQUIRE(x_file != nullptr);
  REQUIRE(y_file != nullptr);
  const NpyArray x = ReadNpy(x_file->data, x_file->size);
  const std::vector<int32_t> y = ReadNpy(y_file->data, y_file->size).as<int32_t>();
  for (const char* name : {"digits_cnn_f32", "digits_cnn_fp16"}) {
    const EmbeddedFile* file =
        FindEmbedded((std::string("models/zoo/") + name + ".tflite").c_str());
    REQUIRE(file != nullptr);
    const auto model = Model::OpenMemory(file->data, file->size, false);
    REQUIRE(model.status().ToString() == "OK");
    const auto session = Session::Create(*model, SessionOptions());
    REQUIRE(session.status().ToString() == "OK");
    int n_right = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      std::memcpy((*session)->input(0).data, x.data.data() + i * 256, 256);
      REQUIRE((*session)->Run().ok());
      const float* scores = (*session)->output(0).as<float>();
      n_right += std::max_element(scores, scores + 10) - scores == y[i];
    }
    CHECK(n_right == 390);  // 0.98237 of 397, LiteRT's figure in manifest.json
  }
}

}  // namespace test
}  // namespace topwork
