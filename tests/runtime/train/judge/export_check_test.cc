// What storing a head in the model's own types does to it: the trainer's figures are those of the
// exported model, which is run here.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "runtime/session/session.h"
#include "runtime/train/trainer.h"
#include "tests/support/classifiers.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"

namespace topwork {
namespace export_check_test {

constexpr int kDim = 4;
constexpr int kClasses = 3;
constexpr float kInputScale = 0.05f;

// Input [1, 4] of int8, uint8 or int16; FULLY_CONNECTED of integers with one scale for all weights.
std::shared_ptr<const Model> IntegerModel(DType type) {
  test::ModelSpec spec;
  const auto scale = [&](int tensor, float s) {
    test::TensorSpec& t = spec.main().tensors[static_cast<size_t>(tensor)];
    t.scales = {s};
    t.zero_points = {type == DType::kUInt8 ? 128 : 0};
  };
  const bool wide = type == DType::kInt16;
  const DType weight_type = type == DType::kUInt8 ? DType::kUInt8 : DType::kInt8;
  const int x = spec.AddInput("embedding", type, {1, kDim});
  scale(x, kInputScale);
  const int weights =
      spec.AddConstant("head/weights", weight_type, {kClasses, kDim}, test::Bytes(12, 130));
  scale(weights, 0.01f);
  const int bias = spec.AddConstant("head/bias", wide ? DType::kInt64 : DType::kInt32, {kClasses},
                                    test::Bytes(wide ? 24 : 12, 0));
  scale(bias, kInputScale * 0.01f);
  spec.main().tensors[static_cast<size_t>(bias)].zero_points = {0};
  const int scores = spec.AddTensor("scores", type, {1, kClasses});
  scale(scores, 0.1f);
  spec.AddOp(OpCode::kFullyConnected, {x, weights, bias}, {scores},
             test::OptionsSpec(test::kFullyConnectedOptions));
  spec.main().outputs = {scores};
  return test::OpenBytes(test::BuildModel(spec));
}

struct Rows {
  DType type;
  std::vector<float> real;  // [n, 4]
  std::vector<int32_t> labels;
  std::vector<uint8_t> bytes;

  size_t ExampleBytes() const { return bytes.size() / labels.size(); }
  Examples examples() const {
    return Examples::FromArray(bytes.data(), ExampleBytes(), labels.data(),
                               static_cast<int64_t>(labels.size()));
  }
};

// Class 0: both features negative; class 1: the first is the larger one; class 2: the second.
Rows MakeRows(DType type) {
  Rows rows = {type, {}, {}, {}};
  for (int i = 0; i < 30; ++i) {
    const int label = i % 3;
    const float more = 0.05f * static_cast<float>(i / 3);
    const float a = label == 0 ? -1.0f : label == 1 ? 5.5f + more : 5.0f;
    const float b = label == 0 ? -1.0f : label == 2 ? 5.5f + more : 5.0f;
    for (float value : {0.0f, a, b, 0.0f}) {
      rows.real.push_back(value);
      const int q = static_cast<int>(std::lround(value / kInputScale));
      if (type == DType::kInt16) {
        rows.bytes.push_back(static_cast<uint8_t>(q & 255));
        rows.bytes.push_back(static_cast<uint8_t>((q >> 8) & 255));
      } else {
        rows.bytes.push_back(static_cast<uint8_t>(q + (type == DType::kUInt8 ? 128 : 0)));
      }
    }
    rows.labels.push_back(label);
  }
  return rows;
}

std::unique_ptr<Trainer> NewTrainer(const Rows& rows, const std::vector<float>& weights) {
  TrainerOptions options;
  options.n_threads = 1;
  options.validation_fraction = 0.0f;
  auto trainer = Trainer::Create(IntegerModel(rows.type), options);
  REQUIRE(trainer.status().ToString() == "OK");
  REQUIRE((*trainer)->AddExamples(rows.examples()).ToString() == "OK");
  REQUIRE((*trainer)->state().SetWeights(weights, std::vector<float>(kClasses, 0.0f)).ToString() ==
          "OK");
  return std::move(trainer.value());
}

// Stored with the scale 100/127: 0.4 becomes 0.787 and 0.38 becomes 0.
std::vector<float> Weights(float first, float second) {
  return {100.0f, 0.0f, 0.0f, 0.0f, 0.0f, first, 0.0f, 0.0f, 0.0f, 0.0f, second, 0.0f};
}

int BestOf(const TensorView& output) {
  int best = 0;
  const auto at = [&](int c) -> int {
    if (output.dtype == DType::kInt16) return output.as<int16_t>()[c];
    return output.dtype == DType::kInt8 ? output.as<int8_t>()[c] : output.as<uint8_t>()[c];
  };
  for (int c = 1; c < kClasses; ++c) best = at(c) > at(best) ? c : best;
  return best;
}

double ExportedAccuracy(Trainer* trainer, const Rows& rows) {
  const auto bytes = trainer->Export();
  REQUIRE(bytes.status().ToString() == "OK");
  SessionOptions options;
  options.n_threads = 1;
  auto session = Session::Create(test::OpenBytes(bytes.value()), options);
  REQUIRE(session.status().ToString() == "OK");
  int hits = 0;
  for (size_t i = 0; i < rows.labels.size(); ++i) {
    std::memcpy((*session)->input(0).data, rows.bytes.data() + i * rows.ExampleBytes(),
                rows.ExampleBytes());
    REQUIRE((*session)->Run().ToString() == "OK");
    hits += BestOf((*session)->output(0)) == rows.labels[i] ? 1 : 0;
  }
  return hits / static_cast<double>(rows.labels.size());
}

TEST_CASE("export: the range of scores is that of the stored parameters", "[train]") {
  for (DType type : {DType::kInt8, DType::kUInt8, DType::kInt16}) {
    INFO(DTypeName(type));
    const Rows rows = MakeRows(type);
    // uint8 spans the range of the weights, 0 to 100, with 254 steps.
    const float small = type == DType::kUInt8 ? 0.2f : 0.4f;
    const auto trainer = NewTrainer(rows, Weights(small, small));
    // Stored twice as large: cut off at the range of the trained ones, classes 1 and 2 would tie.
    const auto check = trainer->judge().CheckExport(ExampleSet::kAll);
    REQUIRE(check.status().ToString() == "OK");
    CHECK(check->n_examples == 30);
    CHECK(check->before == 1.0);
    CHECK(check->after == 1.0);
    CHECK(ExportedAccuracy(trainer.get(), rows) == 1.0);
  }
}

TEST_CASE("export: what storing the head costs is reported and guarded", "[train]") {
  for (DType type : {DType::kInt8, DType::kUInt8, DType::kInt16}) {
    INFO(DTypeName(type));
    const Rows rows = MakeRows(type);
    const float lost = type == DType::kUInt8 ? 0.19f : 0.38f;
    const float kept = type == DType::kUInt8 ? 0.2f : 0.4f;
    // As stored, the weights of class 2 vanish.
    const auto trainer = NewTrainer(rows, Weights(kept, lost));
    const auto check = trainer->judge().CheckExport(ExampleSet::kAll);
    REQUIRE(check.status().ToString() == "OK");
    CHECK(check->before > check->after);
    CHECK(check->after == ExportedAccuracy(trainer.get(), rows));

    REQUIRE(
        trainer->state().SetWeights(Weights(kept, kept), std::vector<float>(kClasses, 0.0f)).ok());
    REQUIRE(trainer->judge().SetGolden(rows.examples()).ToString() == "OK");
    const auto golden = trainer->judge().CheckGolden();
    REQUIRE(golden.ok());
    CHECK(golden->trained == 1.0);
    REQUIRE(
        trainer->state().SetWeights(Weights(lost, lost), std::vector<float>(kClasses, 0.0f)).ok());
    const auto lost_golden = trainer->judge().CheckGolden();
    REQUIRE(lost_golden.ok());
    CHECK(lost_golden->trained == Approx(1.0 / 3.0));
  }
}

TEST_CASE("export: a temperature is no difference between before and after", "[train]") {
  std::vector<float> x, targets;
  std::vector<int32_t> labels;
  test::MakeImages(60, 3, 5, &x, &labels);
  for (size_t i = 0; i < labels.size(); ++i) {
    const int32_t label = i % 4 == 0 ? 2 - labels[i] : labels[i];  // some are wrong
    targets.push_back(label <= 1 ? 1.0f : 0.0f);
    targets.push_back(label >= 1 ? 1.0f : 0.0f);
  }
  TrainerOptions options;
  options.n_classes = 2;
  options.n_threads = 1;
  options.loss.loss = Loss::kSigmoidCrossEntropy;
  options.validation_fraction = 0.5f;
  auto trainer =
      Trainer::Create(test::OpenBytes(test::ClassifierBytes(test::Tail::kDense)), options);
  REQUIRE(trainer.status().ToString() == "OK");
  REQUIRE((*trainer)
              ->AddExamples(Examples::FromArray(x.data(), 48 * sizeof(float), targets.data(), 2,
                                                static_cast<int64_t>(labels.size())))
              .ok());
  REQUIRE((*trainer)->Train().ok());
  REQUIRE((*trainer)->judge().Calibrate().status().ToString() == "OK");
  REQUIRE((*trainer)->state().temperature != 1.0);
  const auto check = (*trainer)->judge().CheckExport(ExampleSet::kValidation);
  REQUIRE(check.status().ToString() == "OK");
  CHECK(check->before < -0.01);
  CHECK(check->after == Approx(check->before).epsilon(1e-5));
}

TEST_CASE("export: one example a class leaves none to hold back, so all are measured", "[train]") {
  std::vector<float> x;
  std::vector<int32_t> labels;
  test::MakeImages(3, 3, 5, &x, &labels);
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = 1;
  auto trainer =
      Trainer::Create(test::OpenBytes(test::ClassifierBytes(test::Tail::kDense)), options);
  REQUIRE(trainer.status().ToString() == "OK");
  REQUIRE(labels == std::vector<int32_t>{0, 1, 2});
  REQUIRE((*trainer)
              ->AddExamples(Examples::FromArray(x.data(), 48 * sizeof(float), labels.data(), 3))
              .ok());
  REQUIRE((*trainer)->Train().ok());
  REQUIRE((*trainer)->set().validation().size() == 0);
  const auto check = (*trainer)->judge().CheckExport(ExampleSet::kValidation);
  REQUIRE(check.status().ToString() == "OK");
  CHECK(check->n_examples == 3);
}

TEST_CASE("export: deeper layers are measured as they are stored, too", "[train]") {
  const test::EmbeddedFile* file = test::FindEmbedded("models/zoo/digits_cnn_fp16.tflite");
  const test::EmbeddedFile* x_file = test::FindEmbedded("models/zoo/data/digits_8x8/test/x.npy");
  REQUIRE(file != nullptr);
  REQUIRE(x_file != nullptr);
  const auto model = test::OpenBytes(test::Bytes(file->data, file->data + file->size));
  const std::vector<float> images = test::ReadNpy(x_file->data, x_file->size).as<float>();
  TrainerOptions options;
  options.n_classes = 1;
  options.n_layers = 2;
  options.n_threads = 1;
  options.epochs = 3;
  options.validation_fraction = 0.0f;
  options.loss.loss = Loss::kMeanSquaredError;
  auto trainer = Trainer::Create(model, options);
  REQUIRE(trainer.status().ToString() == "OK");
  const size_t example = static_cast<size_t>((*trainer)->input(0).shape.NumElements());
  const std::vector<float> x(images.begin(),
                             images.begin() + static_cast<std::ptrdiff_t>(40 * example));
  std::vector<float> targets;
  for (int i = 0; i < 40; ++i) targets.push_back(static_cast<float>(i % 7) * 0.3f);
  REQUIRE((*trainer)
              ->AddExamples(
                  Examples::FromArray(x.data(), example * sizeof(float), targets.data(), 1, 40))
              .ok());
  REQUIRE((*trainer)->Train().ToString() == "OK");
  const auto check = (*trainer)->judge().CheckExport(ExampleSet::kAll);
  REQUIRE(check.status().ToString() == "OK");
  const auto bytes = (*trainer)->Export();
  REQUIRE(bytes.status().ToString() == "OK");
  const std::vector<float> scores = test::RunModel(test::OpenBytes(bytes.value()), x);
  REQUIRE(scores.size() == targets.size());
  const LossOptions loss = {Loss::kMeanSquaredError, 0.0f, 1.0f, {}};
  double sum = 0.0;
  for (size_t i = 0; i < scores.size(); ++i) {
    const float* target = targets.data() + i;
    float score = scores[i];
    sum -= EvaluateLossRow(loss, {nullptr, &target}, 0, 1, &score);
  }
  CHECK(check->after == Approx(sum / 40.0).epsilon(1e-6));
  CHECK(check->before != check->after);
}

}  // namespace export_check_test
}  // namespace topwork
