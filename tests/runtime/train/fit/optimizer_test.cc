// 50 steps of every first-order optimizer and option against PyTorch in float64 (make_golden.py).
#include "runtime/train/fit/optimizer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>

#include "runtime/train/head/dense_head.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"

namespace topwork {
namespace optimizer_test {

struct Run {
  float learning_rate;
  TrainerOptions options;
};

Run NewRun(Optimizer optimizer, float learning_rate, float decay = 0.0f, float l1 = 0.0f,
           float clip_norm = 0.0f) {
  Run run = {learning_rate, TrainerOptions()};
  run.options.optimizer = optimizer;
  run.options.weight_decay = decay;
  run.options.l1 = l1;
  run.options.clip_norm = clip_norm;
  return run;
}

std::map<std::string, Run> AllRuns() {
  std::map<std::string, Run> runs;
  runs["sgd"] = NewRun(Optimizer::kSgd, 0.1f);
  runs["sgd_decay"] = NewRun(Optimizer::kSgd, 0.1f, 0.3f);
  runs["sgd_l1"] = NewRun(Optimizer::kSgd, 0.1f, 0.0f, 0.02f);
  runs["sgd_clip"] = NewRun(Optimizer::kSgd, 0.1f, 0.0f, 0.0f, 0.5f);
  runs["momentum"] = NewRun(Optimizer::kSgd, 0.05f);
  runs["momentum"].options.momentum = 0.9f;
  runs["momentum_all"] = NewRun(Optimizer::kSgd, 0.05f, 0.1f, 0.01f, 0.4f);
  runs["momentum_all"].options.momentum = 0.9f;
  runs["nesterov"] = runs["momentum"];
  runs["nesterov"].options.nesterov = true;
  runs["nesterov_all"] = runs["momentum_all"];
  runs["nesterov_all"].options.nesterov = true;
  runs["adam"] = NewRun(Optimizer::kAdam, 0.02f);
  runs["adam_betas"] = runs["adam"];
  runs["adam_betas"].options.beta1 = 0.8f;
  runs["adam_betas"].options.beta2 = 0.95f;
  runs["adam_betas"].options.epsilon = 1e-3f;
  runs["adam_decay"] = NewRun(Optimizer::kAdam, 0.02f, 0.3f);
  runs["adam_l1"] = NewRun(Optimizer::kAdam, 0.02f, 0.0f, 0.02f);
  runs["adam_clip"] = NewRun(Optimizer::kAdam, 0.02f, 0.0f, 0.0f, 0.3f);
  runs["adam_clip"].options.epsilon = 1e-2f;
  runs["adam_all"] = NewRun(Optimizer::kAdam, 0.02f, 0.1f, 0.01f, 0.3f);
  runs["adam_all"].options.beta1 = 0.7f;
  runs["adam_all"].options.beta2 = 0.99f;
  runs["adam_all"].options.epsilon = 1e-3f;
  runs["adamw"] = NewRun(Optimizer::kAdamW, 0.02f);
  runs["adamw_decay"] = NewRun(Optimizer::kAdamW, 0.02f, 0.3f);
  runs["adamw_all"] = NewRun(Optimizer::kAdamW, 0.02f, 0.3f, 0.01f, 0.3f);
  return runs;
}

void CheckRun(const test::Npz& npz, const std::string& name, const Run& run) {
  const std::vector<float> x = npz.at("x").as<float>();
  const std::vector<int32_t> y = npz.at("y").as<int32_t>();
  const std::vector<int32_t> batches = npz.at("batches").as<int32_t>();
  const int64_t dim = npz.at("x").shape[1];
  const int64_t n_steps = npz.at("batches").shape[0];
  const int64_t batch = npz.at("batches").shape[1];
  REQUIRE(n_steps == 50);
  const std::vector<double> losses = npz.at(name + "_losses").as<double>();
  const std::vector<double> norms = npz.at(name + "_norms").as<double>();
  std::vector<double> expected = npz.at(name + "_w").as<double>();
  const std::vector<double> bias = npz.at(name + "_b").as<double>();
  expected.insert(expected.end(), bias.begin(), bias.end());

  ThreadPool pool(1);
  auto head = DenseHead::Create(dim, static_cast<int64_t>(bias.size()), nullptr, nullptr, &pool);
  REQUIRE(head.status().ToString() == "OK");
  auto optimizer = OptimizerState::Create(run.options, (*head)->layout(), &pool);
  REQUIRE(optimizer.status().ToString() == "OK");
  for (int64_t step = 0; step < n_steps; ++step) {
    std::vector<const float*> rows;
    std::vector<int32_t> labels;
    for (int64_t i = 0; i < batch; ++i) {
      const int32_t row = batches[static_cast<size_t>(step * batch + i)];
      rows.push_back(x.data() + row * dim);
      labels.push_back(y[static_cast<size_t>(row)]);
    }
    BatchLoss sums;
    const Targets targets = {labels.data(), nullptr};
    REQUIRE((*head)->ComputeGradient(run.options.loss, rows.data(), targets, batch, &sums).ok());
    const double norm =
        (*optimizer)->Update(run.learning_rate, (*head)->gradient(), (*head)->parameters());
    const size_t i = static_cast<size_t>(step);
    CHECK(sums.loss_sum / sums.weight_sum == Approx(losses[i]).epsilon(1e-4));
    CHECK(norm == Approx(norms[i]).epsilon(1e-3));
  }
  double worst = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::fabs(expected[i] - static_cast<double>((*head)->parameters()[i])));
  }
  CHECK(worst < 1e-4);
  CHECK((*optimizer)->n_updates() == n_steps);
}

TEST_CASE("optimizer: 50 steps of every optimizer and option agree with PyTorch", "[train]") {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/optimizer_steps.npz");
  REQUIRE(file != nullptr);
  const test::Npz npz = test::ReadNpz(file->data, file->size);
  for (const auto& run : AllRuns()) {
    INFO(run.first);
    CheckRun(npz, run.first, run.second);
  }
}

TEST_CASE("optimizer: penalties spare parameters that do not decay", "[train]") {
  const std::vector<ParameterInfo> layout = {{"a", {3}, 0, 3, true}, {"b", {2}, 3, 2, false}};
  ThreadPool pool(1);
  for (Optimizer which : {Optimizer::kSgd, Optimizer::kAdam, Optimizer::kAdamW}) {
    Run run = NewRun(which, 0.1f, 0.5f, 0.25f);
    auto optimizer = OptimizerState::Create(run.options, layout, &pool);
    REQUIRE(optimizer.ok());
    std::vector<float> gradient(5, 0.0f);
    std::vector<float> w = {1.0f, -2.0f, 0.0f, 1.0f, -2.0f};
    CHECK((*optimizer)->Update(run.learning_rate, gradient, w) == 0.0);
    CHECK(w[0] < 1.0f);
    CHECK(w[1] > -2.0f);
    CHECK(w[2] == 0.0f);
    CHECK(w[3] == 1.0f);
    CHECK(w[4] == -2.0f);
    if (which == Optimizer::kSgd) CHECK(w[1] == Approx(-2.0 + 0.1 * (0.5 * 2 + 0.25)));
  }
}

TEST_CASE("optimizer: clipping scales the gradient to the norm and never up", "[train]") {
  const std::vector<ParameterInfo> layout = {{"a", {2}, 0, 2, true}, {"b", {1}, 2, 1, false}};
  ThreadPool pool(1);
  const Run run = NewRun(Optimizer::kSgd, 1.0f, 0.0f, 0.0f, 2.0f);
  auto optimizer = OptimizerState::Create(run.options, layout, &pool);
  REQUIRE(optimizer.ok());
  CHECK((*optimizer)->moment1().empty());
  CHECK((*optimizer)->bytes() == 0);
  std::vector<float> w(3, 0.0f);
  std::vector<float> gradient = {2.0f, -4.0f, 4.0f};
  CHECK((*optimizer)->Update(1.0f, gradient, w) == Approx(6.0));
  CHECK(gradient[1] == Approx(-4.0 / 3.0).epsilon(1e-6));
  CHECK(w[2] == Approx(-4.0 / 3.0).epsilon(1e-6));
  gradient = {0.5f, 0.0f, 0.0f};
  CHECK((*optimizer)->Update(1.0f, gradient, w) == Approx(0.5));
  CHECK(gradient[0] == 0.5f);
  // Squares that overflow float32.
  gradient = {1e18f, -1e18f, 1e18f};
  CHECK((*optimizer)->Update(0.0f, gradient, w) == Approx(1e18 * std::sqrt(3.0)));
  CHECK(gradient[1] == Approx(-2.0 / std::sqrt(3.0)).epsilon(1e-5));
}

}  // namespace optimizer_test
}  // namespace topwork
