// Verify finds the operator where a device departs from the CPU. The device is one of the tests'
// own: the CPU with a fault in one operator.
#include "runtime/session/verify.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/support/embedded.h"

namespace topwork {
namespace verify_test {

enum class Fault { kNone, kSlant, kNotANumber, kStep, kLost };

// Computes every operator of one name, as the CPU does, and then does the fault to the first
// output.
class Faulty final : public Backend {
 public:
  Faulty(const char* op, Fault fault) : op_(op), fault_(fault) {}
  const char* name() const override { return "faulty"; }
  std::string WhyNot(const OpDef& def, const OpParams&,
                     Span<const TensorView* const>) const override {
    return std::strcmp(def.name(), op_) == 0 ? "" : "it knows another operator only";
  }
  bool takes_programs() const override { return fault_ == Fault::kLost && lost_; }
  Status Run(const OpDef& def, const RunContext& context, const std::string& where) const override {
    if (fault_ == Fault::kLost) {
      lost_ = true;
      return Unsupported("%s: the cable was pulled", where.c_str());
    }
    TW_RETURN_IF_ERROR(CpuBackend().Run(def, context, where));
    TensorView& output = *context.outputs[0];
    if (fault_ == Fault::kSlant) output.as<float>()[1] += 10.0f;
    if (fault_ == Fault::kNotANumber) output.as<float>()[1] = NAN;
    if (fault_ == Fault::kStep) ++output.as<int8_t>()[1];
    return Status::Ok();
  }

 private:
  const char* const op_;
  const Fault fault_;
  mutable bool lost_ = false;
};

std::shared_ptr<const Model> OpenEmbedded(const char* name) {
  const test::EmbeddedFile* file = test::FindEmbedded(name);
  REQUIRE(file != nullptr);
  auto model = Model::OpenMemory(file->data, file->size, false);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

std::unique_ptr<Session> DigitsOn(std::shared_ptr<const Backend> backend, int32_t batch = 1) {
  SessionOptions options;
  options.n_threads = 1;
  if (backend != nullptr) options.backends.push_back(std::move(backend));
  auto made = Session::Create(OpenEmbedded("models/zoo/digits_cnn_f32.tflite"), options);
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
    const auto session = DigitsOn(nullptr, batch);
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

TEST_CASE("verify: a difference is found where it begins", "[session]") {
  for (const Fault fault : {Fault::kSlant, Fault::kNotANumber}) {
    const auto session = DigitsOn(std::make_shared<Faulty>("MAX_POOL_2D", fault));
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
  const auto session = DigitsOn(std::make_shared<Faulty>("SOFTMAX", Fault::kSlant));
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
  const auto session = DigitsOn(std::make_shared<Faulty>("SOFTMAX", Fault::kLost));
  const auto result = Verify(session.get(), 0.0);
  CHECK(result.status().code() == StatusCode::kDeviceLost);
  CHECK(result.status().message().find("the cable was pulled") != std::string::npos);
}

}  // namespace verify_test
}  // namespace topwork
