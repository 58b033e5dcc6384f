// Models with a custom operator in front of the last layer are trained like others.
#include <cmath>
#include <cstring>

#include "runtime/train/random.h"
#include "tests/runtime/api/support.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace trainer_custom_op_test {

using namespace api_test;  // NOLINT: the helpers of this API's tests

constexpr int kDim = 8;
constexpr int kClasses = 3;
constexpr int kExamples = 60;

// x [1, 8] → TopworkScale (× 2) → FULLY_CONNECTED → SOFTMAX
test::Bytes CustomModel() {
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1, kDim});
  const int scaled = spec.AddTensor("scaled", DType::kFloat32, {1, kDim});
  test::OpSpec scale;
  scale.opcode = spec.AddCode(OpCode::kCustom, "TopworkScale");
  scale.inputs = {x};
  scale.outputs = {scaled};
  const float factor = 2.0f;
  scale.custom_options.resize(sizeof(factor));
  std::memcpy(scale.custom_options.data(), &factor, sizeof(factor));
  spec.main().ops.push_back(scale);
  const int w =
      spec.AddConstant("w", DType::kFloat32, {kClasses, kDim}, test::Bytes(kClasses * kDim * 4));
  const int logits = spec.AddTensor("logits", DType::kFloat32, {1, kClasses});
  spec.AddOp(OpCode::kFullyConnected, {scaled, w, -1}, {logits},
             test::OptionsSpec(test::kFullyConnectedOptions));
  const int scores = spec.AddTensor("scores", DType::kFloat32, {1, kClasses});
  spec.AddOp(OpCode::kSoftmax, {logits}, {scores},
             test::OptionsSpec(test::kSoftmaxOptions).Float(0, 1.0f));
  spec.main().outputs = {scores};
  return test::BuildModel(spec);
}

struct Data {
  std::vector<float> x;
  std::vector<int64_t> y;
  tw_examples examples = {};
  Data() {
    Random random(3);
    for (int i = 0; i < kExamples; ++i) {
      for (int d = 0; d < kDim; ++d) {
        const float noise = static_cast<float>(random.Next() % 1000) * 1e-3f;
        x.push_back(noise + (d % kClasses == i % kClasses ? 1.0f : 0.0f));
      }
      y.push_back(i % kClasses);
    }
    examples = ExamplesOf(x, kExamples, y.data());
  }
};

ModelPtr Open(const test::Bytes& bytes) {
  tw_model* model = nullptr;
  const tw_status status = tw_model_open_memory(bytes.data(), bytes.size(), 1, &model);
  INFO(tw_last_error());
  REQUIRE(status == TW_STATUS_OK);
  return ModelPtr(model);
}

TrainerPtr NewTrainer(const tw_model* model, int32_t n_threads) {
  tw_trainer_options options;
  REQUIRE(tw_trainer_options_init(&options, sizeof(options)) == TW_STATUS_OK);
  options.n_threads = n_threads;
  options.n_epochs = 40;
  tw_trainer* trainer = nullptr;
  const tw_status status = tw_trainer_create(model, &options, &trainer);
  INFO(tw_last_error());
  REQUIRE(status == TW_STATUS_OK);
  return TrainerPtr(trainer);
}

std::vector<float> Predictions(tw_trainer* trainer, const Data& data) {
  std::vector<float> scores(kExamples * kClasses);
  REQUIRE(tw_trainer_predict(trainer, &data.examples, scores.data(), scores.size()) ==
          TW_STATUS_OK);
  return scores;
}

TEST_CASE("a model with a custom operator before its last layer is trained", "[api]") {
  OpLog& log = RegisterTestOps();
  const Data data;
  const ModelPtr model = Open(CustomModel());
  std::vector<float> first;
  for (const int32_t n_threads : {1, 4}) {
    const int run = log.n_run;
    const TrainerPtr trainer = NewTrainer(model.get(), n_threads);
    REQUIRE(tw_trainer_add_examples(trainer.get(), &data.examples) == TW_STATUS_OK);
    CHECK(log.n_run >= run + kExamples);  // the backbone runs once for each example
    const int extracted = log.n_run;
    REQUIRE(tw_trainer_fit(trainer.get(), nullptr, nullptr) == TW_STATUS_OK);
    CHECK(log.n_run == extracted);  // and never for an epoch
    tw_evaluation evaluation = {};
    evaluation.struct_size = sizeof(evaluation);
    REQUIRE(tw_trainer_evaluate(trainer.get(), nullptr, 0, &evaluation) == TW_STATUS_OK);
    CHECK(evaluation.accuracy > 0.9);
    const std::vector<float> scores = Predictions(trainer.get(), data);
    if (first.empty()) first = scores;
    CHECK(scores == first);

    tw_model* handle = nullptr;
    REQUIRE(tw_trainer_export(trainer.get(), &handle) == TW_STATUS_OK);
    const ModelPtr exported(handle);
    const SessionPtr session = MakeSession(exported.get());
    for (size_t i = 0; i < kExamples; ++i) {
      REQUIRE(tw_session_write_input(session.get(), 0, data.x.data() + i * kDim,
                                     kDim * sizeof(float)) == TW_STATUS_OK);
      REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
      const float* out = static_cast<const float*>(OutputInfo(session.get(), 0).data);
      for (size_t c = 0; c < kClasses; ++c) {
        CHECK(std::fabs(out[c] - scores[i * kClasses + c]) < 1e-5f);
      }
    }
  }
}

TEST_CASE("a custom operator that fails while features are computed changes nothing", "[api]") {
  OpLog& log = RegisterTestOps();
  const Data data;
  const ModelPtr model = Open(CustomModel());
  const TrainerPtr trainer = NewTrainer(model.get(), 2);
  log.fail_run = true;
  RequireError(tw_trainer_add_examples(trainer.get(), &data.examples), TW_STATUS_NUMERIC,
               "TopworkScale");
  log.fail_run = false;
  tw_trainer_info info = {};
  info.struct_size = sizeof(info);
  REQUIRE(tw_trainer_get_info(trainer.get(), &info) == TW_STATUS_OK);
  CHECK(info.n_examples == 0);
  CHECK(tw_trainer_add_examples(trainer.get(), &data.examples) == TW_STATUS_OK);
}

}  // namespace trainer_custom_op_test
}  // namespace topwork
