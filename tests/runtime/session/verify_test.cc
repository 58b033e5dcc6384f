// Verify finds the operator where a device departs from the CPU. The device is one of the tests'
// own: it computes one operator of the model, with a fault.
#include "runtime/session/verify.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/embedded.h"

namespace topwork {
namespace verify_test {

enum class Fault { kNone, kSlant, kNotANumber, kLost };

// Largest values of 2 by 2 pixels.
void MaxPool(const TensorView& in, TensorView* out) {
  const Shape& shape = out->shape;
  const int64_t width = in.shape[2], channels = in.shape[3];
  float* to = out->as<float>();
  for (int64_t b = 0; b < shape[0]; ++b) {
    for (int64_t y = 0; y < shape[1]; ++y) {
      for (int64_t x = 0; x < shape[2]; ++x) {
        for (int64_t c = 0; c < channels; ++c, ++to) {
          const float* from =
              in.as<const float>() + ((b * in.shape[1] + 2 * y) * width + 2 * x) * channels + c;
          *to = std::max(std::max(from[0], from[channels]),
                         std::max(from[width * channels], from[(width + 1) * channels]));
        }
      }
    }
  }
}

void Softmax(const TensorView& in, TensorView* out) {
  const int64_t n = in.shape[1];
  for (int64_t row = 0; row < in.shape[0]; ++row) {
    const float* from = in.as<const float>() + row * n;
    float* to = out->as<float>() + row * n;
    float sum = 0.0f;
    for (int64_t i = 0; i < n; ++i)
      sum += to[i] = std::exp(from[i] - *std::max_element(from, from + n));
    for (int64_t i = 0; i < n; ++i) to[i] /= sum;
  }
}

// Computes pools and softmax, and then does the fault to the output.
class Faulty final : public test::FakeGpu {
 public:
  explicit Faulty(Fault fault) : fault_(fault) {}
  const char* name() const override { return "faulty"; }
  Status Run(const ProgramTensors& tensors) const override {
    if (fault_ == Fault::kLost) return Unsupported("the cable was pulled");
    REQUIRE(tensors.inputs.size() == 1);
    REQUIRE(tensors.outputs.size() == 1);
    const TensorView& input = *tensors.inputs[0];
    TensorView& output = *tensors.outputs[0];
    if (input.shape.rank() == 4) MaxPool(input, &output);
    if (input.shape.rank() == 2) Softmax(input, &output);
    if (fault_ == Fault::kSlant) output.as<float>()[1] += 10.0f;
    if (fault_ == Fault::kNotANumber) output.as<float>()[1] = NAN;
    return Status::Ok();
  }

 private:
  const Fault fault_;
};

std::shared_ptr<const Model> OpenEmbedded(const char* name) {
  const test::EmbeddedFile* file = test::FindEmbedded(name);
  REQUIRE(file != nullptr);
  auto model = Model::OpenMemory(file->data, file->size, false);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

// Of the model's operators the device computes those named `op`.
std::unique_ptr<Session> DigitsOn(const char* op, Fault fault, int32_t batch = 1) {
  SessionOptions options;
  options.n_threads = 1;
  if (op != nullptr) options.devices.push_back(std::make_shared<Faulty>(fault));
  const auto model = OpenEmbedded("models/zoo/digits_cnn_f32.tflite");
  for (const Op& other : model->subgraphs()[0].ops) {
    if (op != nullptr && std::strcmp(other.name(), op) != 0)
      options.cpu_ops.push_back(other.name());
  }
  auto made = Session::Create(model, options);
  REQUIRE(made.status().ToString() == "OK");
  std::unique_ptr<Session> session = std::move(made.value());
  REQUIRE(session->ResizeInput(0, Shape({batch, 8, 8, 1})).ok());
  REQUIRE(session->Prepare().ok());
  for (int64_t i = 0; i < session->input(0).shape.NumElements(); ++i) {
    session->input(0).as<float>()[i] = static_cast<float>(i * i % 17) / 16.0f;
  }
  return session;
}

TEST_CASE("verify: the CPU agrees with itself, and every operator is looked at", "[session]") {
  for (const int32_t batch : {1, 3}) {
    const auto session = DigitsOn(nullptr, Fault::kNone, batch);
    const auto result = Verify(session.get(), 0.0);
    REQUIRE(result.status().ToString() == "OK");
    CHECK(result->agrees);
    CHECK(result->first_divergence == -1);
    CHECK(result->tolerance == 1e-3);
    CHECK(result->layers.size() == session->plan().steps.size());
    REQUIRE(result->outputs.size() == 1);
    CHECK(result->outputs[0].shape == Shape({batch, 10}));
    for (const ComparedValue& layer : result->layers) {
      INFO(layer.op << " " << layer.output);
      CHECK(layer.difference == 0.0);
      CHECK(layer.range > 0.0);
      CHECK(layer.shape[0] == batch);
    }
    // The session's own outputs are of these inputs.
    CHECK(session->output(0).as<float>()[0] >= 0.0f);
  }
}

TEST_CASE("verify: a device without a fault agrees", "[session]") {
  for (const char* op : {"MAX_POOL_2D", "SOFTMAX"}) {
    const auto session = DigitsOn(op, Fault::kNone);
    const auto result = Verify(session.get(), 0.0);
    REQUIRE(result.status().ToString() == "OK");
    CHECK(result->agrees);
    int n_on_device = 0;
    for (const ComparedValue& layer : result->layers) {
      n_on_device += layer.backend == "faulty";
      CHECK((layer.backend == "faulty") == (layer.op == op));
    }
    CHECK(n_on_device == 1);
  }
}

TEST_CASE("verify: a difference is found where it begins", "[session]") {
  for (const Fault fault : {Fault::kSlant, Fault::kNotANumber}) {
    const auto session = DigitsOn("MAX_POOL_2D", fault);
    const auto result = Verify(session.get(), 0.0);
    REQUIRE(result.status().ToString() == "OK");
    CHECK(!result->agrees);
    REQUIRE(result->first_divergence > 0);
    const size_t first = static_cast<size_t>(result->first_divergence);
    const ComparedValue& layer = result->layers[first];
    CHECK(layer.op == "MAX_POOL_2D");
    CHECK(layer.backend == "faulty");
    CHECK(layer.inputs_agree);
    CHECK(std::isinf(layer.difference) == (fault == Fault::kNotANumber));
    for (size_t i = 0; i < first; ++i) CHECK(result->layers[i].agrees);
    for (size_t i = first + 1; i < result->layers.size(); ++i) {
      CHECK(result->layers[i].inputs_agree == result->layers[i - 1].agrees);
    }
    CHECK(!result->outputs[0].agrees);
    const auto json = nlohmann::json::parse(VerificationToJson(*result));
    CHECK(json["first_divergence"] == first);
    CHECK(json["agrees"] == false);
    CHECK(json["layers"][first]["op"] == "MAX_POOL_2D");
    CHECK(json["layers"][first]["difference"].is_null() == (fault == Fault::kNotANumber));
    CHECK(json["outputs"].size() == 1);
  }
}

TEST_CASE("verify: the caller's tolerance counts", "[session]") {
  const auto session = DigitsOn("SOFTMAX", Fault::kSlant);
  const auto strict = Verify(session.get(), 0.0);
  REQUIRE(strict.ok());
  REQUIRE(!strict->agrees);
  const double difference = strict->layers.back().difference;
  CHECK(difference == Approx(10.0 / strict->layers.back().range));
  const auto lenient = Verify(session.get(), difference * 1.01);
  REQUIRE(lenient.ok());
  CHECK(lenient->agrees);
}

TEST_CASE("verify: a device that fails is told as that", "[session]") {
  const auto session = DigitsOn("SOFTMAX", Fault::kLost);
  const auto result = Verify(session.get(), 0.0);
  CHECK(result.status().code() == StatusCode::kDeviceLost);
  CHECK(result.status().message().find("the cable was pulled") != std::string::npos);
}

}  // namespace verify_test
}  // namespace topwork
