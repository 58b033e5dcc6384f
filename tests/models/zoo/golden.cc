// Golden files: the sets of a .npz in order, what must be equal, and the digits kept for testing.
#include "tests/models/zoo/golden.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tests/support/embedded.h"

namespace topwork {
namespace test {
namespace {

// What Topwork does not run yet, in whole families: custom operators, hash tables. A model that
// needs one of them must be refused by that operator's name.
const std::set<std::string> kNotYet = {"HASHTABLE"};

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

}  // namespace

std::set<std::string> NotYetIn(const Model& model) {
  std::set<std::string> found;
  for (const Op& op : model.main().ops) {
    if (op.code == OpCode::kCustom || kNotYet.count(op.name()) != 0) found.insert(op.name());
  }
  return found;
}

void CheckTopOne(const TensorView& output, const NpyArray& reference) {
  if (output.shape.rank() != 2 || output.shape[1] < 2) return;
  if (output.dtype == DType::kFloat32) CheckTopOneOf<float>(output, reference);
  if (output.dtype == DType::kInt8) CheckTopOneOf<int8_t>(output, reference);
  if (output.dtype == DType::kUInt8) CheckTopOneOf<uint8_t>(output, reference);
}

int RunGolden(Session* session, const Npz& golden, const TakeOutput& take) {
  int n_sets = 0;
  for (int k = 0;; ++k) {
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
      take(session->output(o), reference->second);
    }
    ++n_sets;
  }
}

int RightDigits(std::shared_ptr<const Model> model, const SessionOptions& options) {
  const EmbeddedFile* x_file = FindEmbedded("models/zoo/data/digits_8x8/test/x.npy");
  const EmbeddedFile* y_file = FindEmbedded("models/zoo/data/digits_8x8/test/y.npy");
  REQUIRE(x_file != nullptr);
  REQUIRE(y_file != nullptr);
  const std::vector<float> x = ReadNpy(x_file->data, x_file->size).as<float>();
  const std::vector<int32_t> y = ReadNpy(y_file->data, y_file->size).as<int32_t>();
  const auto session = Session::Create(std::move(model), options);
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

std::shared_ptr<const Model> OpenZoo(const std::string& name) {
  const EmbeddedFile* file = FindEmbedded(("models/zoo/" + name + ".tflite").c_str());
  REQUIRE(file != nullptr);
  auto model = Model::OpenMemory(file->data, file->size, false);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

Npz GoldenOf(const std::string& name) {
  const EmbeddedFile* file = FindEmbedded(("tests/data/zoo/" + name + ".npz").c_str());
  REQUIRE(file != nullptr);
  Npz golden = ReadNpz(file->data, file->size);
  if (golden.count("in_0_0") != 0) return golden;
  NpyArray image{"<f4", {1, 224, 224, 3}, ""};  // as make_golden.py says
  for (int y = 0; y < 224; ++y) {
    for (int x = 0; x < 224; ++x) {
      for (int c = 0; c < 3; ++c) {
        const int integer = (y * x * (c + 1) / 97 + 3 * y + 5 * x) % 256 - 127;
        const float value = static_cast<float>(integer) / 128.0f;
        image.data.append(reinterpret_cast<const char*>(&value), sizeof(value));
      }
    }
  }
  golden["in_0_0"] = std::move(image);
  return golden;
}

}  // namespace test
}  // namespace topwork
