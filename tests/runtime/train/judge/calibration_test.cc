// Temperature scaling: against SciPy's minimiser, and on data whose answer is known.
#include "runtime/train/judge/calibration.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "runtime/train/judge/metrics.h"
#include "runtime/train/random.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"

namespace topwork {
namespace calibration_test {

constexpr Loss kSoftmax = Loss::kSoftmaxCrossEntropy;
constexpr Loss kSigmoid = Loss::kSigmoidCrossEntropy;

double Uniform(Random* random) {
  return static_cast<double>(random->Next() >> 11) / 9007199254740992.0;
}

void CheckAgainst(const std::vector<double>& expected, const Result<Calibration>& found) {
  REQUIRE(found.status().ToString() == "OK");
  CHECK(found->temperature == Approx(expected.at(0)).epsilon(1e-6));
  CHECK(found->loss_before == Approx(expected.at(1)).epsilon(1e-9));
  CHECK(found->loss_after == Approx(expected.at(2)).epsilon(1e-9));
  CHECK_FALSE(found->at_bound);
  CHECK(found->error_after < found->error_before);
}

TEST_CASE("calibration: the temperature that SciPy finds", "[train]") {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/metrics.npz");
  REQUIRE(file != nullptr);
  const test::Npz golden = test::ReadNpz(file->data, file->size);
  const std::vector<float> z = golden.at("soft_logits").as<float>();
  const std::vector<int32_t> y = golden.at("soft_labels").as<int32_t>();
  const int64_t n = static_cast<int64_t>(y.size());
  const int64_t n_classes = static_cast<int64_t>(z.size()) / n;
  const Result<Calibration> soft =
      FitTemperature(kSoftmax, z.data(), {y.data(), nullptr}, n, n_classes);
  CheckAgainst(golden.at("soft_temperature").as<double>(), soft);
  const Result<Temperature> rough =
      FindTemperature(kSoftmax, z.data(), {y.data(), nullptr}, n, n_classes, 1e-3);
  REQUIRE(rough.ok());
  CHECK(rough->value == Approx(soft->temperature).epsilon(1e-3));
  CHECK(soft->error_before == Approx(golden.at("soft_expected").as<double>().at(6)).epsilon(1e-9));

  const std::vector<float> multi = golden.at("multi_logits").as<float>();
  const std::vector<float> t = golden.at("multi_targets").as<float>();
  std::vector<const float*> rows;
  for (int64_t b = 0; b < n; ++b) rows.push_back(t.data() + b * n_classes);
  CheckAgainst(golden.at("multi_temperature").as<double>(),
               FitTemperature(kSigmoid, multi.data(), {nullptr, rows.data()}, n, n_classes));
}

// Logits of n examples of 4 classes, and labels drawn from softmax(logits).
void Draw(int64_t n, uint64_t seed, std::vector<float>* logits, std::vector<int32_t>* labels) {
  Random random(seed);
  for (int64_t b = 0; b < n; ++b) {
    double sum = 0.0;
    double p[4];
    for (double& value : p) {
      const double z = 4.0 * Uniform(&random) - 2.0;
      logits->push_back(static_cast<float>(z));
      sum += value = std::exp(z);
    }
    double rest = sum * Uniform(&random);
    int32_t label = 0;
    while (label < 3 && rest >= p[label]) rest -= p[label++];
    labels->push_back(label);
  }
}

TEST_CASE("calibration: T is 1 for the truth, and k for logits k times too large", "[train]") {
  constexpr int64_t kN = 20000;
  std::vector<float> logits;
  std::vector<int32_t> labels;
  Draw(kN, 5, &logits, &labels);
  const Targets targets{labels.data(), nullptr};
  const auto truth = FitTemperature(kSoftmax, logits.data(), targets, kN, 4);
  REQUIRE(truth.ok());
  CHECK(truth->temperature == Approx(1.0).epsilon(0.05));
  CHECK(truth->error_before < 0.02);
  for (float k : {8.0f, 0.125f}) {
    std::vector<float> scaled = logits;
    for (float& z : scaled) z *= k;
    const auto found = FitTemperature(kSoftmax, scaled.data(), targets, kN, 4);
    REQUIRE(found.ok());
    CHECK(found->temperature == Approx(static_cast<double>(k) * truth->temperature).epsilon(1e-6));
    CHECK(found->loss_after == Approx(truth->loss_after).epsilon(1e-6));
    CHECK(found->loss_after < found->loss_before);
    CHECK(found->error_before > 0.1);
    CHECK(found->error_after < 0.02);
    CHECK(found->error_before <= 1.0);
  }
}

TEST_CASE("calibration: the loss is lowest at T, and T changes no decision", "[train]") {
  std::vector<float> logits;
  std::vector<int32_t> labels;
  Draw(500, 6, &logits, &labels);
  const auto found = FitTemperature(kSoftmax, logits.data(), {labels.data(), nullptr}, 500, 4);
  REQUIRE(found.ok());
  const auto evaluate = [&](double t) {
    MetricsCollector collector(4);
    for (size_t b = 0; b < labels.size(); ++b) {
      float row[4];
      for (size_t c = 0; c < 4; ++c) {
        row[c] = static_cast<float>(static_cast<double>(logits[4 * b + c]) / t);
      }
      collector.AddLogits(row, labels[b]);
    }
    return collector.Finish();
  };
  const Evaluation best = evaluate(found->temperature);
  CHECK(best.loss == Approx(found->loss_after).epsilon(1e-6));
  CHECK(best.calibration_error == Approx(found->error_after).epsilon(1e-6));
  CHECK(best.loss < evaluate(found->temperature * 1.05).loss);
  CHECK(best.loss < evaluate(found->temperature / 1.05).loss);
  CHECK(best.top1 == evaluate(1.0).top1);
  CHECK(best.confusion == evaluate(1.0).confusion);
}

TEST_CASE("calibration: separable, hopeless, flat and huge scores end at a bound or at 1",
          "[train]") {
  const float sure[] = {3.0f, 0.0f, 0.0f, 2.0f};
  const int32_t right[] = {0, 1};
  const int32_t wrong[] = {1, 0};
  const auto separable = FitTemperature(kSoftmax, sure, {right, nullptr}, 2, 2);
  REQUIRE(separable.ok());
  CHECK(separable->temperature == Approx(kMinTemperature));
  CHECK(separable->at_bound);
  CHECK(separable->loss_after <= separable->loss_before);
  const auto hopeless = FitTemperature(kSoftmax, sure, {wrong, nullptr}, 2, 2);
  REQUIRE(hopeless.ok());
  CHECK(hopeless->temperature == Approx(kMaxTemperature));
  CHECK(hopeless->at_bound);
  const float flat[] = {2.0f, 2.0f, -1.0f, -1.0f};
  const auto equal = FitTemperature(kSoftmax, flat, {right, nullptr}, 2, 2);
  REQUIRE(equal.ok());
  CHECK(equal->temperature == 1.0);
  CHECK_FALSE(equal->at_bound);
  const float huge[] = {1e30f, -1e30f, 1e30f, -1e30f, 5e29f, 1e30f};
  const int32_t mixed[] = {0, 1, 1};
  const auto large = FitTemperature(kSoftmax, huge, {mixed, nullptr}, 3, 2);
  REQUIRE(large.ok());
  CHECK(large->temperature == Approx(kMaxTemperature));
  CHECK(std::isfinite(large->loss_after));
}

TEST_CASE("calibration: what cannot be calibrated is refused", "[train]") {
  float scores[] = {1.0f, 2.0f, 3.0f, std::numeric_limits<float>::quiet_NaN()};
  const int32_t labels[] = {0, 1};
  const Targets targets{labels, nullptr};
  CHECK(FitTemperature(kSoftmax, scores, targets, 0, 2).status().code() ==
        StatusCode::kInvalidArgument);
  CHECK(FitTemperature(Loss::kHuber, scores, targets, 2, 2).status().code() ==
        StatusCode::kInvalidArgument);
  const Status status = FitTemperature(kSoftmax, scores, targets, 2, 2).status();
  CHECK(status.code() == StatusCode::kNumeric);
  CHECK(status.ToString().find("score 1 of example 1") != std::string::npos);
}

}  // namespace calibration_test
}  // namespace topwork
