// Gradients of every loss by finite differences, on every instruction set; refused mini-batches;
// thread counts.
#include "runtime/train/head/dense_head.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/contract/cpu_kernels.h"
#include "runtime/train/fit/optimizer.h"
#include "tests/runtime/train/training_problem.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace dense_head_test {

using test::TrainingProblem;

std::vector<LossOptions> AllLosses(int64_t n_outputs) {
  std::vector<LossOptions> all;
  for (Loss loss : {Loss::kSoftmaxCrossEntropy, Loss::kSigmoidCrossEntropy, Loss::kMeanSquaredError,
                    Loss::kHuber}) {
    LossOptions options;
    options.loss = loss;
    options.huber_delta = 0.7f;
    all.push_back(options);
    for (int64_t c = 0; c < n_outputs; ++c) {
      options.class_weights.push_back(0.5f + static_cast<float>(c % 4));
    }
    all.push_back(options);
    options.label_smoothing = 0.15f;
    if (!IsRegression(loss)) all.push_back(options);
  }
  return all;
}

// Mean loss in double precision, straight from the definitions.
double SoftmaxLoss(const LossOptions& o, const std::vector<double>& z, int32_t label,
                   double* weight) {
  const auto class_weight = [&](size_t c) {
    return o.class_weights.empty() ? 1.0 : static_cast<double>(o.class_weights[c]);
  };
  double sum = 0.0;
  for (double score : z) sum += std::exp(score);
  const double s = static_cast<double>(o.label_smoothing);
  double loss = 0.0;
  for (size_t c = 0; c < z.size(); ++c) {
    const double q = (c == static_cast<size_t>(label) ? 1.0 - s : 0.0) + s / double(z.size());
    loss -= class_weight(c) * q * std::log(std::exp(z[c]) / sum);
  }
  *weight = class_weight(static_cast<size_t>(label));
  return loss;
}

double OutputLoss(const LossOptions& o, size_t c, double z, double t) {
  const double weight = o.class_weights.empty() ? 1.0 : static_cast<double>(o.class_weights[c]);
  if (o.loss == Loss::kSigmoidCrossEntropy) {
    const double s = static_cast<double>(o.label_smoothing);
    const double soft = t * (1.0 - s) + s / 2.0;
    const double p = 1.0 / (1.0 + std::exp(-z));
    return -weight * soft * std::log(p) - (1.0 - soft) * std::log(1.0 - p);
  }
  const double error = std::fabs(z - t);
  const double delta = static_cast<double>(o.huber_delta);
  if (o.loss == Loss::kMeanSquaredError) return weight * error * error;
  return weight * (error < delta ? 0.5 * error * error : delta * error - 0.5 * delta * delta);
}

double MeanLoss(const LossOptions& o, const TrainingProblem& p, const std::vector<double>& w) {
  double total = 0.0;
  double total_weight = 0.0;
  std::vector<double> z(static_cast<size_t>(p.n_outputs));
  for (int64_t i = 0; i < p.n; ++i) {
    const float* const row = p.rows[static_cast<size_t>(i)];
    for (int64_t c = 0; c < p.n_outputs; ++c) {
      const double* const column = w.data() + c * p.dim;
      double score = w[static_cast<size_t>(p.n_outputs * p.dim + c)];
      for (int64_t d = 0; d < p.dim; ++d) score += column[d] * static_cast<double>(row[d]);
      z[static_cast<size_t>(c)] = score;
    }
    double weight = 1.0;
    if (UsesLabels(o.loss)) {
      total += SoftmaxLoss(o, z, p.labels[static_cast<size_t>(i)], &weight);
    } else {
      for (size_t c = 0; c < z.size(); ++c) {
        const double t = static_cast<double>(p.value_rows[static_cast<size_t>(i)][c]);
        total += OutputLoss(o, c, z[c], t) / static_cast<double>(z.size());
      }
    }
    total_weight += weight;
  }
  return total / total_weight;
}

// By finite differences of the mean loss.
std::vector<double> GradientOf(const LossOptions& o, const TrainingProblem& p,
                               std::vector<double> w) {
  std::vector<double> gradient;
  for (double& value : w) {
    const double kept = value;
    value = kept + 1e-5;
    const double above = MeanLoss(o, p, w);
    value = kept - 1e-5;
    gradient.push_back((above - MeanLoss(o, p, w)) / 2e-5);
    value = kept;
  }
  return gradient;
}

// The largest error of the gradient, relative to the largest element of the expected one.
double WorstGradient(const std::vector<double>& expected, DenseHead* head) {
  double largest = 0.1;
  double worst = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    worst = std::max(worst, std::fabs(expected[i] - static_cast<double>(head->gradient()[i])));
  }
  return worst / largest;
}

// On every instruction set.
void CheckGradients(const LossOptions& o, const TrainingProblem& p) {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  REQUIRE(n_tables >= 1);
  std::vector<double> w, expected;
  for (int t = 0; t < n_tables; ++t) {
    if (test::HasBytesOnly(*tables[t])) continue;
    ThreadPool pool(1);
    const auto head = p.NewHead(&pool, tables[t]);
    test::Randomize(head.get(), 11);
    if (expected.empty()) {
      w.assign(head->parameters().begin(), head->parameters().end());
      expected = GradientOf(o, p, w);
    }
    REQUIRE(w == std::vector<double>(head->parameters().begin(), head->parameters().end()));
    BatchLoss sums;
    REQUIRE(head->ComputeGradient(o, p.rows.data(), p.targets(), p.n, &sums).ok());
    INFO(tables[t]->isa << " " << p.dim << " x " << p.n_outputs << " x " << p.n << " "
                        << LossName(o.loss) << " smoothing " << o.label_smoothing << " weights "
                        << o.class_weights.size());
    CHECK(sums.loss_sum / sums.weight_sum == Approx(MeanLoss(o, p, w)).epsilon(1e-5));
    CHECK(WorstGradient(expected, head.get()) <= 2e-5);
  }
  CHECK_FALSE(expected.empty());
}

TEST_CASE("dense head: gradients of every loss agree with finite differences", "[train][sets]") {
  // Dimensions below, at and above the vector lengths; batches below and above a panel of rows.
  const int64_t shapes[][3] = {{1, 2, 1}, {5, 3, 4}, {16, 4, 7}, {33, 10, 65}, {19, 6, 130}};
  for (const auto& shape : shapes) {
    const TrainingProblem p(shape[0], shape[1], shape[2], 3);
    for (const LossOptions& o : AllLosses(p.n_outputs)) CheckGradients(o, p);
  }
}

std::vector<float> TrainSteps(const TrainingProblem& p, const LossOptions& loss,
                              const TrainerOptions& options, int n_threads) {
  ThreadPool pool(n_threads);
  const auto head = p.NewHead(&pool);
  auto optimizer = OptimizerState::Create(options, head->layout(), &pool);
  REQUIRE(optimizer.ok());
  for (int i = 0; i < 4; ++i) {
    BatchLoss sums;
    REQUIRE(head->ComputeGradient(loss, p.rows.data(), p.targets(), p.n, &sums).ok());
    (*optimizer)->Update(0.01f, head->gradient(), head->parameters());
  }
  std::vector<float> scores(static_cast<size_t>(p.n * p.n_outputs));
  REQUIRE(head->Scores(p.rows.data(), p.n, scores.data()).ok());
  scores.insert(scores.end(), head->parameters().begin(), head->parameters().end());
  return scores;
}

TEST_CASE("dense head: the same bits for any number of threads and odd shapes", "[train]") {
  // The first is large enough for every phase to be shared out among threads.
  const int64_t shapes[][3] = {{900, 90, 150}, {257, 33, 65}, {7, 2, 3}};
  for (const auto& shape : shapes) {
    const TrainingProblem p(shape[0], shape[1], shape[2], 5);
    for (Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam, Optimizer::kAdamW}) {
      TrainerOptions options;
      options.optimizer = optimizer;
      options.weight_decay = 0.1f;
      options.l1 = 0.01f;
      options.clip_norm = 0.05f;
      LossOptions loss;
      if (optimizer == Optimizer::kAdamW) loss.loss = Loss::kSigmoidCrossEntropy;
      const std::vector<float> one = TrainSteps(p, loss, options, 1);
      for (int n_threads : {2, 3, 4}) {
        const std::vector<float> many = TrainSteps(p, loss, options, n_threads);
        CHECK(std::memcmp(one.data(), many.data(), one.size() * sizeof(float)) == 0);
      }
      CHECK(one[5] != 0.0f);
    }
  }
}

TEST_CASE("dense head: rows that end in zeros are shortened without another bit", "[train][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int t = 0; t < n_tables; ++t) {
    if (test::HasBytesOnly(*tables[t])) continue;
    for (const int64_t n_left_out : {0, 40, 100}) {
      // Row b has b / 3 + 1 elements; the last ones may be missing, so that no row is full.
      TrainingProblem p(700, 37, 2100, 7);
      p.n -= n_left_out;
      std::vector<int64_t> lengths;
      for (int64_t b = 0; b < p.n; ++b) {
        lengths.push_back(b / 3 + 1);
        float* row = p.x.data() + b * p.dim;
        std::fill(row + lengths.back(), row + p.dim, 0.0f);
      }
      ThreadPool pool(2);
      const auto head = p.NewHead(&pool, tables[t]);
      test::Randomize(head.get(), 4);
      std::vector<float> results[2];
      for (std::vector<float>& result : results) {
        head->SetRowLengths(&result == results ? nullptr : lengths.data());
        result.resize(static_cast<size_t>(p.n * p.n_outputs));
        REQUIRE(head->Scores(p.rows.data(), p.n, result.data()).ok());
        BatchLoss sums;
        REQUIRE(head->ComputeGradient({}, p.rows.data(), p.targets(), p.n, &sums).ok());
        result.insert(result.end(), head->gradient().begin(), head->gradient().end());
      }
      INFO(tables[t]->isa << " without " << n_left_out);
      CHECK(results[0] == results[1]);
    }
  }
}

TEST_CASE("dense head: parameters are named, placed and counted", "[train]") {
  ThreadPool pool(1);
  const TrainingProblem p(20, 3, 8, 9);
  const auto head = p.NewHead(&pool);
  REQUIRE(head->layout().size() == 2);
  const ParameterInfo& weights = head->layout()[0];
  const ParameterInfo& bias = head->layout()[1];
  CHECK(weights.name == "head/weights");
  CHECK(weights.dims == std::vector<int64_t>{3, 20});
  CHECK(weights.size == 60);
  CHECK(weights.decays);
  CHECK(bias.name == "head/bias");
  CHECK(bias.offset == 60);
  CHECK_FALSE(bias.decays);
  CHECK(head->parameters().size() == 63);
  CHECK(head->gradient().size() == 63);
  CHECK(head->bytes() >= 2 * 63 * sizeof(float));
  CHECK(DenseHead::Create(0, 3, nullptr, nullptr, &pool).status().code() ==
        StatusCode::kInvalidArgument);
  CHECK(DenseHead::Create(INT64_MAX / 2, 3, nullptr, nullptr, &pool).status().code() ==
        StatusCode::kInvalidArgument);
  CHECK(DenseHead::Create(INT64_MAX / 64, 8, nullptr, nullptr, &pool).status().code() ==
        StatusCode::kOutOfMemory);
}

TEST_CASE("dense head: a mini-batch that is not finite is refused and changes nothing", "[train]") {
  TrainingProblem p(20, 3, 8, 9);
  ThreadPool pool(1);
  for (const LossOptions& loss : AllLosses(p.n_outputs)) {
    const auto head = p.NewHead(&pool);
    test::Randomize(head.get(), 4);
    // Feature 7 of example 1 (x[27]) will be hostile. Its label must lose by far: were the label's
    // score the largest, its gradient would be zero and the step a fair one.
    for (int c = 0; c < 3; ++c) {
      const bool is_target = UsesLabels(loss.loss) ? p.labels[1] == c : p.values[3 + c] > 0.5f;
      head->parameters()[static_cast<size_t>(c * p.dim + 7)] = is_target ? -0.5f : 0.5f;
    }
    const std::vector<float> before(head->parameters().begin(), head->parameters().end());
    const float hostile[] = {std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(), 3e38f, 1e25f};
    for (float value : hostile) {
      const float kept = p.x[27];
      p.x[27] = value;
      BatchLoss sums;
      const Status status = head->ComputeGradient(loss, p.rows.data(), p.targets(), p.n, &sums);
      p.x[27] = kept;
      INFO(LossName(loss.loss) << " " << value << " " << status.ToString());
      CHECK(status.code() == StatusCode::kNumeric);
      const bool named = status.message().find("head/weights") != std::string::npos ||
                         status.message().find("row 1") != std::string::npos;
      CHECK(named);
      CHECK(std::vector<float>(head->parameters().begin(), head->parameters().end()) == before);
    }
    BatchLoss sums;
    CHECK(head->ComputeGradient(loss, p.rows.data(), p.targets(), p.n, &sums).ok());
  }
}

TEST_CASE("dense head: a gradient that is too large names its tensor", "[train]") {
  TrainingProblem p(4, 2, 1, 9);
  ThreadPool pool(1);
  const auto head = p.NewHead(&pool);
  LossOptions loss;
  loss.loss = Loss::kMeanSquaredError;
  std::fill(p.x.begin(), p.x.end(), 0.0f);
  p.values[0] = 1e19f;
  BatchLoss sums;
  Status status = head->ComputeGradient(loss, p.rows.data(), p.targets(), p.n, &sums);
  CHECK(status.code() == StatusCode::kNumeric);
  CHECK(status.message().find("head/bias") != std::string::npos);
  std::fill(p.x.begin(), p.x.end(), 10.0f);
  status = head->ComputeGradient(loss, p.rows.data(), p.targets(), p.n, &sums);
  CHECK(status.message().find("head/weights") != std::string::npos);
}

TEST_CASE("dense head: large scores do not overflow", "[train]") {
  const TrainingProblem p(4, 3, 6, 2);
  ThreadPool pool(1);
  const auto head = p.NewHead(&pool);
  head->parameters()[12] = 5000.0f;  // the first class's bias
  BatchLoss sums;
  REQUIRE(head->ComputeGradient(LossOptions(), p.rows.data(), p.targets(), p.n, &sums).ok());
  double expected = 0.0;
  double hits = 0.0;
  for (int32_t label : p.labels) {
    expected += label == 0 ? 0.0 : 5000.0;
    hits += label == 0 ? 1.0 : 0.0;
  }
  CHECK(sums.loss_sum == Approx(expected));
  CHECK(sums.weight_sum == 6.0);
  CHECK(sums.hits == hits);
}

}  // namespace dense_head_test
}  // namespace topwork
