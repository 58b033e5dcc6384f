// Gradients by finite differences, optimizers against NumPy, rejected steps, thread counts.
#include "runtime/train/head_trainer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/cpu/cpu_kernels.h"
#include "runtime/train/random.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"

namespace topwork {
namespace head_trainer_test {

struct Problem {
  int dim, n_classes, n;
  std::vector<float> x;
  std::vector<int32_t> labels;
  std::vector<const float*> rows;
};

float Uniform(Random* random) {
  return static_cast<float>(static_cast<double>(random->Next() >> 11) / 9007199254740992.0) * 2 - 1;
}

Problem NewProblem(int dim, int n_classes, int n, uint64_t seed) {
  Problem p = {dim, n_classes, n, {}, {}, {}};
  Random random(seed);
  for (int i = 0; i < n * dim; ++i) p.x.push_back(Uniform(&random));
  for (int i = 0; i < n; ++i) {
    p.labels.push_back(static_cast<int32_t>(random.Below(static_cast<uint64_t>(n_classes))));
    p.rows.push_back(p.x.data() + i * dim);
  }
  return p;
}

std::unique_ptr<HeadTrainer> NewTrainer(const Problem& p, const TrainerOptions& options,
                                        ThreadPool* pool) {
  auto trainer = HeadTrainer::Create(p.dim, p.n_classes, options, pool);
  REQUIRE(trainer.status().ToString() == "OK");
  return std::move(trainer.value());
}

void Randomize(HeadTrainer* trainer, uint64_t seed) {
  Random random(seed);
  for (float& w : trainer->parameters()) w = Uniform(&random);
}

// The loss in double precision, from its definition.
double Loss(const Problem& p, const std::vector<double>& w) {
  double total = 0.0;
  for (int i = 0; i < p.n; ++i) {
    std::vector<double> z(static_cast<size_t>(p.n_classes));
    double sum = 0.0;
    for (int c = 0; c < p.n_classes; ++c) {
      double& logit = z[static_cast<size_t>(c)];
      logit = w[static_cast<size_t>(p.n_classes * p.dim + c)];
      for (int d = 0; d < p.dim; ++d) {
        logit += w[static_cast<size_t>(c * p.dim + d)] * static_cast<double>(p.rows[i][d]);
      }
      sum += std::exp(logit);
    }
    total += std::log(sum) - z[static_cast<size_t>(p.labels[static_cast<size_t>(i)])];
  }
  return total / p.n;
}

std::vector<float> TrainSteps(const Problem& p, const TrainerOptions& options, int n_threads,
                              int n_steps) {
  ThreadPool pool(n_threads);
  const auto trainer = NewTrainer(p, options, &pool);
  for (int i = 0; i < n_steps; ++i) {
    HeadTrainer::StepResult result;
    REQUIRE(trainer->Step(p.rows.data(), p.labels.data(), p.n, &result).ok());
  }
  const Span<float> parameters = trainer->parameters();
  return {parameters.begin(), parameters.end()};
}

TEST_CASE("head trainer: gradients agree with finite differences", "[train]") {
  // Dimensions below, at and above the vector lengths; batches below and above a panel of rows.
  const int shapes[][3] = {{1, 2, 1}, {5, 3, 4}, {16, 4, 7}, {33, 10, 65}, {70, 6, 130}};
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  REQUIRE(n_tables >= 1);
  for (int t = 0; t < n_tables; ++t) {
    for (const auto& shape : shapes) {
      const Problem p = NewProblem(shape[0], shape[1], shape[2], 3);
      ThreadPool pool(1);
      TrainerOptions options;
      options.cpu = tables[t];
      const auto trainer = NewTrainer(p, options, &pool);
      Randomize(trainer.get(), 11);
      HeadTrainer::StepResult result;
      REQUIRE(trainer->ComputeGradient(p.rows.data(), p.labels.data(), p.n, &result).ok());
      std::vector<double> w(trainer->parameters().begin(), trainer->parameters().end());
      INFO(tables[t]->isa << " " << p.dim << " x " << p.n_classes << " x " << p.n);
      CHECK(result.loss_sum / p.n == Approx(Loss(p, w)).epsilon(1e-5));
      double largest = 0.0;
      double worst = 0.0;
      for (size_t i = 0; i < w.size(); ++i) {
        const double kept = w[i];
        w[i] = kept + 1e-5;
        const double above = Loss(p, w);
        w[i] = kept - 1e-5;
        const double expected = (above - Loss(p, w)) / 2e-5;
        w[i] = kept;
        largest = std::max(largest, std::fabs(expected));
        worst = std::max(worst, std::fabs(expected - static_cast<double>(trainer->gradient()[i])));
      }
      CHECK(worst <= 1e-5 * std::max(largest, 0.1));
    }
  }
}

TEST_CASE("head trainer: 50 steps of every optimizer agree with NumPy", "[train]") {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/optimizer_steps.npz");
  REQUIRE(file != nullptr);
  const test::Npz npz = test::ReadNpz(file->data, file->size);
  const std::vector<float> x = npz.at("x").as<float>();
  const std::vector<int32_t> y = npz.at("y").as<int32_t>();
  const std::vector<int32_t> batches = npz.at("batches").as<int32_t>();
  const int64_t dim = npz.at("x").shape[1];
  const int64_t n_steps = npz.at("batches").shape[0];
  const int64_t batch = npz.at("batches").shape[1];
  REQUIRE(n_steps == 50);

  std::map<std::string, TrainerOptions> runs;
  TrainerOptions sgd;
  sgd.optimizer = Optimizer::kSgd;
  sgd.learning_rate = 0.1f;
  runs["sgd"] = sgd;
  runs["sgd_decay"] = sgd;
  runs["sgd_decay"].weight_decay = 0.3f;
  runs["momentum"] = sgd;
  runs["momentum"].learning_rate = 0.05f;
  runs["momentum"].momentum = 0.9f;
  runs["nesterov"] = runs["momentum"];
  runs["nesterov"].nesterov = true;
  TrainerOptions adam;
  adam.learning_rate = 0.02f;
  runs["adam"] = adam;
  runs["adam_decay"] = adam;
  runs["adam_decay"].weight_decay = 0.3f;
  runs["adam_betas"] = adam;
  runs["adam_betas"].beta1 = 0.8f;
  runs["adam_betas"].beta2 = 0.95f;
  runs["adam_betas"].epsilon = 1e-3f;

  for (const auto& run : runs) {
    INFO(run.first);
    const std::vector<double> losses = npz.at(run.first + "_losses").as<double>();
    std::vector<double> expected = npz.at(run.first + "_w").as<double>();
    const std::vector<double> bias = npz.at(run.first + "_b").as<double>();
    expected.insert(expected.end(), bias.begin(), bias.end());
    ThreadPool pool(1);
    auto trainer = HeadTrainer::Create(static_cast<int>(dim), static_cast<int>(bias.size()),
                                       run.second, &pool);
    REQUIRE(trainer.status().ToString() == "OK");
    for (int64_t step = 0; step < n_steps; ++step) {
      std::vector<const float*> rows;
      std::vector<int32_t> labels;
      for (int64_t i = 0; i < batch; ++i) {
        const int32_t row = batches[static_cast<size_t>(step * batch + i)];
        rows.push_back(x.data() + row * dim);
        labels.push_back(y[static_cast<size_t>(row)]);
      }
      HeadTrainer::StepResult result;
      REQUIRE((*trainer)->Step(rows.data(), labels.data(), batch, &result).ok());
      CHECK(result.loss_sum / static_cast<double>(batch) ==
            Approx(losses[static_cast<size_t>(step)]).epsilon(1e-4));
    }
    double worst = 0.0;
    for (size_t i = 0; i < expected.size(); ++i) {
      worst = std::max(worst,
                       std::fabs(expected[i] - static_cast<double>((*trainer)->parameters()[i])));
    }
    CHECK(worst < 1e-4);
    CHECK((*trainer)->n_updates() == n_steps);
  }
}

TEST_CASE("head trainer: the same bits for any number of threads", "[train]") {
  // Large enough for every phase to be shared out among threads.
  const Problem p = NewProblem(900, 90, 150, 5);
  for (Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam}) {
    TrainerOptions options;
    options.optimizer = optimizer;
    options.learning_rate = 0.01f;
    const std::vector<float> one = TrainSteps(p, options, 1, 4);
    for (int n_threads : {2, 3, 5}) {
      const std::vector<float> many = TrainSteps(p, options, n_threads, 4);
      CHECK(std::memcmp(one.data(), many.data(), one.size() * sizeof(float)) == 0);
    }
    CHECK(one[5] != 0.0f);
  }
}

TEST_CASE("head trainer: a step that is not finite is refused and changes nothing", "[train]") {
  Problem p = NewProblem(20, 3, 8, 9);
  ThreadPool pool(1);
  TrainerOptions options;
  options.learning_rate = 0.01f;
  const auto trainer = NewTrainer(p, options, &pool);
  HeadTrainer::StepResult result;
  REQUIRE(trainer->Step(p.rows.data(), p.labels.data(), p.n, &result).ok());
  // Feature 7 of example 1 (x[27]) will be hostile. Its label must lose by far: were the label's
  // logit the largest, its gradient would be zero and the step a fair one.
  trainer->parameters()[static_cast<size_t>(p.labels[1] * p.dim + 7)] = -0.5f;
  const auto state = [&] {
    std::vector<float> all(trainer->parameters().begin(), trainer->parameters().end());
    all.insert(all.end(), trainer->moment1().begin(), trainer->moment1().end());
    all.insert(all.end(), trainer->moment2().begin(), trainer->moment2().end());
    return all;
  };
  const std::vector<float> before = state();
  const float hostile[] = {std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(), 3e38f, 1e25f};
  for (float value : hostile) {
    const float kept = p.x[27];
    p.x[27] = value;
    const Status status = trainer->Step(p.rows.data(), p.labels.data(), p.n, &result);
    p.x[27] = kept;
    INFO(value << " " << status.ToString());
    CHECK(status.code() == StatusCode::kNumeric);
    CHECK(state() == before);
    CHECK(trainer->n_updates() == 1);
  }
  CHECK(trainer->Step(p.rows.data(), p.labels.data(), p.n, &result).ok());
}

TEST_CASE("head trainer: large logits do not overflow", "[train]") {
  const Problem p = NewProblem(4, 3, 6, 2);
  ThreadPool pool(1);
  TrainerOptions options;
  const auto trainer = NewTrainer(p, options, &pool);
  for (float& w : trainer->parameters()) w *= 0.0f;
  trainer->parameters()[12] = 5000.0f;  // the first class's bias
  HeadTrainer::StepResult result;
  REQUIRE(trainer->ComputeGradient(p.rows.data(), p.labels.data(), p.n, &result).ok());
  double expected = 0.0;
  for (int32_t label : p.labels) expected += label == 0 ? 0.0 : 5000.0;
  CHECK(result.loss_sum == Approx(expected));
}

TEST_CASE("trainer options: each field out of range is named", "[train]") {
  const auto text = [](void (*change)(TrainerOptions*)) {
    TrainerOptions options;
    change(&options);
    const Status status = CheckOptions(options);
    CHECK(status.code() == StatusCode::kInvalidArgument);
    return status.message();
  };
  const auto names = [](const std::string& message, const char* name) {
    return message.find(name) != std::string::npos;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(CheckOptions(TrainerOptions()).ok());
  CHECK(names(text([](TrainerOptions* o) { o->learning_rate = 1e7f; }), "learning_rate"));
  CHECK(names(text([](TrainerOptions* o) { o->learning_rate = -1; }), "learning_rate"));
  TrainerOptions options;
  options.learning_rate = nan;
  CHECK(names(CheckOptions(options).message(), "learning_rate"));
  CHECK(names(text([](TrainerOptions* o) { o->momentum = 0.9f; }), "momentum"));
  CHECK(names(text([](TrainerOptions* o) {
                o->optimizer = Optimizer::kSgd;
                o->momentum = 1.0f;
              }),
              "momentum"));
  CHECK(names(text([](TrainerOptions* o) { o->nesterov = true; }), "nesterov"));
  CHECK(names(text([](TrainerOptions* o) { o->beta1 = 1.0f; }), "beta1"));
  CHECK(names(text([](TrainerOptions* o) { o->beta2 = -0.1f; }), "beta2"));
  CHECK(names(text([](TrainerOptions* o) { o->epsilon = 0.0f; }), "epsilon"));
  CHECK(names(text([](TrainerOptions* o) {
                o->learning_rate = 0.1f;
                o->weight_decay = 11.0f;
              }),
              "weight_decay"));
  CHECK(names(text([](TrainerOptions* o) { o->batch_size = 0; }), "batch_size"));
  CHECK(names(text([](TrainerOptions* o) { o->epochs = -1; }), "epochs"));
  CHECK(
      names(text([](TrainerOptions* o) { o->validation_fraction = 1.0f; }), "validation_fraction"));
  CHECK(names(text([](TrainerOptions* o) { o->n_threads = -1; }), "n_threads"));
  CHECK(names(text([](TrainerOptions* o) { o->optimizer = static_cast<Optimizer>(7); }),
              "optimizer"));
}

}  // namespace head_trainer_test
}  // namespace topwork
