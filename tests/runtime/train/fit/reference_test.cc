// The last layer trained on real embeddings, step by step against float64 NumPy (plain SGD from
// zeros, recorded permutations): loss of every step, final weights, accuracy.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/train/fit/optimizer.h"
#include "runtime/train/head/dense_head.h"
#include "runtime/train/judge/metrics.h"
#include "tests/support/npz.h"
#include "tests/support/skip.h"

namespace topwork {
namespace reference_test {

void CheckAgainst(const std::string& path, double least_accuracy) {
  INFO(path);
  const test::Npz npz = test::ReadNpzFile(path);
  const std::vector<float> x = npz.at("emb_train").as<float>();
  const std::vector<int32_t> y = npz.at("y_train").as<int32_t>();
  const std::vector<int32_t> perms = npz.at("perms").as<int32_t>();
  const std::vector<double> losses = npz.at("losses").as<double>();
  const std::vector<double> w = npz.at("W").as<double>();  // [D, C]
  const int64_t n = npz.at("emb_train").shape[0];
  const int dim = static_cast<int>(npz.at("W").shape[0]);
  const int n_classes = static_cast<int>(npz.at("W").shape[1]);
  const int64_t batch = npz.at("batch").as<int32_t>()[0];

  TrainerOptions options;
  options.optimizer = Optimizer::kSgd;
  const float learning_rate = npz.at("lr").as<float>()[0];
  ThreadPool pool(1);
  auto head = DenseHead::Create(dim, n_classes, nullptr, nullptr, &pool);
  REQUIRE(head.status().ToString() == "OK");
  auto optimizer = OptimizerState::Create(options, (*head)->layout(), &pool);
  REQUIRE(optimizer.status().ToString() == "OK");
  size_t step = 0;
  double worst_loss = 0.0;
  for (int64_t epoch = 0; epoch < npz.at("perms").shape[0]; ++epoch) {
    for (int64_t first = 0; first < n; first += batch, ++step) {
      std::vector<const float*> rows;
      std::vector<int32_t> labels;
      for (int64_t i = first; i < std::min(n, first + batch); ++i) {
        const int32_t row = perms[static_cast<size_t>(epoch * n + i)];
        rows.push_back(x.data() + static_cast<int64_t>(row) * dim);
        labels.push_back(y[static_cast<size_t>(row)]);
      }
      BatchLoss sums;
      const int64_t n_rows = static_cast<int64_t>(rows.size());
      const Targets targets = {labels.data(), nullptr};
      REQUIRE((*head)->ComputeGradient(options.loss, rows.data(), targets, n_rows, &sums).ok());
      (*optimizer)->Update(learning_rate, (*head)->gradient(), (*head)->parameters());
      worst_loss = std::max(worst_loss, std::fabs(sums.loss_sum / sums.weight_sum - losses[step]));
    }
  }
  CHECK(step == losses.size());
  CHECK(worst_loss < 1e-4);
  double worst = 0.0;
  double largest = 0.0;
  for (int d = 0; d < dim; ++d) {
    for (int c = 0; c < n_classes; ++c) {
      const double expected = w[static_cast<size_t>(d * n_classes + c)];
      const double got =
          static_cast<double>((*head)->parameters()[static_cast<size_t>(c * dim + d)]);
      worst = std::max(worst, std::fabs(got - expected));
      largest = std::max(largest, std::fabs(expected));
    }
  }
  CHECK(worst < 1e-4 * largest);

  const std::vector<float> x_test = npz.at("emb_test").as<float>();
  const std::vector<int32_t> y_test = npz.at("y_test").as<int32_t>();
  MetricsCollector collector(n_classes);
  std::vector<float> logits(static_cast<size_t>(n_classes));
  for (size_t i = 0; i < y_test.size(); ++i) {
    const float* row = x_test.data() + static_cast<int64_t>(i) * dim;
    REQUIRE((*head)->Scores(&row, 1, logits.data()).ok());
    collector.AddLogits(logits.data(), y_test[i]);
  }
  CHECK(collector.Finish().top1 == Approx(least_accuracy));
}

TEST_CASE("reference: training on recorded embeddings follows NumPy step by step",
          "[train][shared]") {
  const std::string folder = test::SharedModelsFolder();
  if (folder.empty()) TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  CheckAgainst(folder + "/data/finetune_digits_gen_embedder.npz", 0.9874055415617129);
  CheckAgainst(folder + "/data/finetune_digits_gen_embedder_int8.npz", 0.9874055415617129);
}

}  // namespace reference_test
}  // namespace topwork
