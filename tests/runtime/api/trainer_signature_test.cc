// C API: the head of a signature's subgraph is described, trained and exported; the others stay.
#ifdef TW_HAVE_TRAIN
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/runtime/api/support.h"
#include "tests/support/head_forms.h"

namespace topwork {
namespace api_test {
namespace trainer_signature_test {

using nlohmann::json;
using test::kFormFeatures;

constexpr int kExamples = 60;

// Subgraph 0, signature "negate": y = -x. Subgraph 1, signature "classify": a classifier.
test::Bytes TwoSignatures() {
  test::ModelSpec spec = test::HeadFormSpec(test::HeadForm::kReshapeBefore);
  spec.subgraphs.push_back(spec.main());
  spec.subgraphs[1].name = "classifier";
  spec.main() = test::SubgraphSpec();
  spec.main().name = "main";
  const int x = spec.AddInput("x", DType::kFloat32, {1, 3});
  const int y = spec.AddTensor("y", DType::kFloat32, {1, 3});
  spec.AddOp(OpCode::kNeg, {x}, {y});
  spec.main().outputs = {y};
  spec.signatures = {{"negate", 0, {{"x", 0}}, {{"y", static_cast<uint32_t>(y)}}},
                     {"classify",
                      1,
                      {{"features", static_cast<uint32_t>(spec.subgraphs[1].inputs[0])}},
                      {{"probabilities", static_cast<uint32_t>(spec.subgraphs[1].outputs[0])}}}};
  return test::BuildModel(spec);
}

ModelPtr OpenBytes(const test::Bytes& bytes) {
  tw_model* model = nullptr;
  REQUIRE(tw_model_open_memory(bytes.data(), bytes.size(), 1, &model) == TW_STATUS_OK);
  return ModelPtr(model);
}

json Described(const tw_model* model) {
  char* text = nullptr;
  REQUIRE(tw_model_describe(model, &text) == TW_STATUS_OK);
  const TextPtr owned(text);
  return json::parse(text);
}

// Feature d of an example of class c is larger where d % 3 == c.
std::vector<float> Features() {
  std::vector<float> x;
  for (int i = 0; i < kExamples; ++i) {
    for (int d = 0; d < kFormFeatures; ++d) {
      x.push_back((d % 3 == i % 3 ? 1.0f : 0.0f) + static_cast<float>((i * 7 + d * 3) % 10) / 30);
    }
  }
  return x;
}

std::vector<float> RunSignature(const tw_model* model, const char* key, const float* input) {
  tw_session_options options = DefaultSessionOptions();
  options.signature = key;
  const SessionPtr session = MakeSession(model, &options);
  const tw_tensor_info info = InputInfo(session.get(), 0);
  std::memcpy(info.data, input, info.bytes);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  const tw_tensor_info output = OutputInfo(session.get(), 0);
  const float* y = static_cast<const float*>(output.data);
  return std::vector<float>(y, y + output.bytes / sizeof(float));
}

TEST_CASE("signatures: each is described with its head", "[api]") {
  const ModelPtr model = OpenBytes(TwoSignatures());
  const json description = Described(model.get());
  CHECK(description["head"].is_null());
  const json& signatures = description["signatures"];
  REQUIRE(signatures.size() == 2);
  CHECK(signatures[0]["head"].is_null());
  CHECK(signatures[0]["head_reason"].get<std::string>().find("comes from NEG") !=
        std::string::npos);
  CHECK(signatures[1]["head"]["op"] == "FULLY_CONNECTED");
  CHECK(signatures[1]["head"]["n_features"] == kFormFeatures);
  CHECK(signatures[1]["head_reason"] == "");
  CHECK(signatures[1]["inputs"][0]["name"] == "features");
  CHECK(signatures[1]["inputs"][0]["tensor"] == "x");
  CHECK(signatures[1]["inputs"][0]["shape"] == json::array({1, kFormFeatures}));
}

TEST_CASE("signatures: the head of one is trained, and the others stay as they were", "[api]") {
  const ModelPtr model = OpenBytes(TwoSignatures());
  tw_trainer_options options;
  REQUIRE(tw_trainer_options_init(&options, sizeof(options)) == TW_STATUS_OK);
  options.n_classes = 3;
  options.n_threads = 1;
  tw_trainer* created = nullptr;
  RequireError(tw_trainer_create(model.get(), &options, &created), TW_STATUS_UNSUPPORTED,
               "comes from NEG");
  options.head.signature = "sort";
  RequireError(tw_trainer_create(model.get(), &options, &created), TW_STATUS_NOT_FOUND,
               "the model has no signature 'sort'; it has 'negate', 'classify'");
  options.head.signature = "classify";
  options.head.output = "y";
  RequireError(tw_trainer_create(model.get(), &options, &created), TW_STATUS_NOT_FOUND,
               "no output is named 'y'");
  options.head.output = "probabilities";
  const tw_status status = tw_trainer_create(model.get(), &options, &created);
  INFO(tw_last_error());
  REQUIRE(status == TW_STATUS_OK);
  const TrainerPtr trainer(created);

  const std::vector<float> x = Features();
  std::vector<int64_t> labels;
  for (int i = 0; i < kExamples; ++i) labels.push_back(i % 3);
  const tw_examples examples = ExamplesOf(x, kExamples, labels.data());
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  REQUIRE(tw_trainer_fit(trainer.get(), nullptr, nullptr) == TW_STATUS_OK);
  tw_model* exported = nullptr;
  REQUIRE(tw_trainer_export(trainer.get(), &exported) == TW_STATUS_OK);
  const ModelPtr after(exported);

  const float three[] = {1.0f, -2.0f, 3.0f};
  CHECK(RunSignature(after.get(), "negate", three) == std::vector<float>{-1.0f, 2.0f, -3.0f});
  int n_right = 0;
  for (int i = 0; i < kExamples; ++i) {
    const std::vector<float> scores =
        RunSignature(after.get(), "classify", x.data() + i * kFormFeatures);
    REQUIRE(scores.size() == 3);
    n_right += std::max_element(scores.begin(), scores.end()) - scores.begin() == i % 3;
  }
  CHECK(n_right > kExamples * 9 / 10);
}

}  // namespace trainer_signature_test
}  // namespace api_test
}  // namespace topwork
#endif  // TW_HAVE_TRAIN
