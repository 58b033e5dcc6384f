// Losses and the dense layer's gradients against PyTorch in float64 (make_golden.py).
#include "runtime/train/fit/loss.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "runtime/train/head/dense_head.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"

namespace topwork {
namespace loss_test {

// Largest |got − expected| relative to the largest |expected| (at least 1e-3).
double Worst(Span<const float> got, const std::vector<double>& expected, size_t first) {
  double worst = 0.0;
  double largest = 1e-3;
  for (size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(got[first + i]) - expected[i]));
    largest = std::max(largest, std::fabs(expected[i]));
  }
  return worst / largest;
}

// One recorded case: a batch through a dense layer and a loss.
struct Case {
  LossOptions options;
  int64_t n, dim, n_outputs;
  std::vector<float> x, w, b, values;
  std::vector<int32_t> labels;
  std::vector<double> gw, gb;
  double loss;
  std::vector<const float*> rows, value_rows;

  Case(const test::Npz& npz, int index) {
    const std::string name = std::to_string(index) + "_";
    const std::vector<double> settings = npz.at(name + "settings").as<double>();
    options.loss = static_cast<Loss>(static_cast<int>(settings[0]));
    options.label_smoothing = static_cast<float>(settings[1]);
    options.huber_delta = static_cast<float>(settings[2]);
    options.class_weights = npz.at(name + "class_weights").as<float>();
    n = npz.at(name + "x").shape[0];
    dim = npz.at(name + "x").shape[1];
    n_outputs = npz.at(name + "w").shape[0];
    x = npz.at(name + "x").as<float>();
    w = npz.at(name + "w").as<float>();
    b = npz.at(name + "b").as<float>();
    labels = npz.at(name + "labels").as<int32_t>();
    values = npz.at(name + "values").as<float>();
    gw = npz.at(name + "gw").as<double>();
    gb = npz.at(name + "gb").as<double>();
    loss = npz.at(name + "loss").as<double>()[0];
    for (int64_t i = 0; i < n; ++i) {
      rows.push_back(x.data() + i * dim);
      value_rows.push_back(values.data() + i * n_outputs);
    }
  }
  Case(const Case&) = delete;
};

TEST_CASE("loss: values and gradients of every loss agree with PyTorch", "[train]") {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/gradients.npz");
  REQUIRE(file != nullptr);
  const test::Npz npz = test::ReadNpz(file->data, file->size);
  const int count = npz.at("count").as<int32_t>()[0];
  REQUIRE(count >= 40);
  for (int index = 0; index < count; ++index) {
    const Case c(npz, index);
    ThreadPool pool(1);
    auto created = DenseHead::Create(c.dim, c.n_outputs, nullptr, nullptr, &pool);
    REQUIRE(created.ok());
    DenseHead* head = created->get();
    std::copy(c.w.begin(), c.w.end(), head->parameters().begin());
    std::copy(c.b.begin(), c.b.end(), head->parameters().begin() + c.w.size());
    const Targets targets = {c.labels.data(), c.value_rows.data()};
    BatchLoss sums;
    const Status status = head->ComputeGradient(c.options, c.rows.data(), targets, c.n, &sums);
    INFO(index << " " << LossName(c.options.loss) << " " << c.n << " x " << c.dim << " x "
               << c.n_outputs << " " << status.ToString());
    REQUIRE(status.ok());
    CHECK(sums.loss_sum / sums.weight_sum == Approx(c.loss).epsilon(1e-5).margin(1e-7));
    CHECK(Worst(head->gradient(), c.gw, 0) <= 1e-5);
    CHECK(Worst(head->gradient(), c.gb, c.gw.size()) <= 1e-5);

    // Evaluation is the same mean in double precision.
    std::vector<float> scores(static_cast<size_t>(c.n * c.n_outputs));
    REQUIRE(head->Scores(c.rows.data(), c.n, scores.data()).ok());
    double loss = 0.0;
    double weight = 0.0;
    for (int64_t i = 0; i < c.n; ++i) {
      loss += EvaluateLossRow(c.options, targets, i, c.n_outputs, &scores[size_t(i * c.n_outputs)]);
      weight += RowWeight(c.options, targets, i);
    }
    CHECK(loss / weight == Approx(c.loss).epsilon(1e-5).margin(1e-7));
  }
}

TEST_CASE("loss: hits count what the best scores say", "[train]") {
  const int32_t label = 2;
  const float values_row[] = {1.0f, 0.0f, 1.0f, 0.0f};
  const float* values[] = {values_row};
  const Targets targets = {&label, values};
  const auto hits = [&](Loss loss, std::vector<float> scores) {
    LossOptions options;
    options.loss = loss;
    double result = -1.0;
    LossRow(options, targets, 0, 4, 1.0f, scores.data(), &result);
    return result;
  };
  CHECK(hits(Loss::kSoftmaxCrossEntropy, {0, 1, 3, 2}) == 1.0);
  CHECK(hits(Loss::kSoftmaxCrossEntropy, {0, 1, 3, 4}) == 0.0);
  CHECK(hits(Loss::kSoftmaxCrossEntropy, {3, 1, 3, 3}) == 0.0);  // ties go to the lower index
  CHECK(hits(Loss::kSigmoidCrossEntropy, {2, -1, -3, -4}) == 0.75);
  CHECK(hits(Loss::kSigmoidCrossEntropy, {-2, 1, -3, 4}) == 0.0);
  CHECK(hits(Loss::kMeanSquaredError, {1, 0, 1, 0}) == 0.0);
  std::vector<float> scores = {0, 1, 3, 2};
  CHECK(LossRow(LossOptions(), targets, 0, 4, 1.0f, scores.data(), nullptr) > 0.0);
}

TEST_CASE("loss: names", "[train]") {
  CHECK(LossName(Loss::kSoftmaxCrossEntropy) == std::string("softmax"));
  CHECK(LossName(Loss::kSigmoidCrossEntropy) == std::string("sigmoid"));
  CHECK(LossName(Loss::kMeanSquaredError) == std::string("mse"));
  CHECK(LossName(Loss::kHuber) == std::string("huber"));
}

}  // namespace loss_test
}  // namespace topwork
