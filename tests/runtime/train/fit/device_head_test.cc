// The steps of a head on the device beside those of DenseHead and OptimizerState on the CPU: every
// loss, every optimizer, odd sizes, both storages of features; and what crosses the bus.
//
// The tests of small sizes also run under oclgrind.
#include "runtime/train/fit/device_head.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "runtime/tensor/tensor.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/runtime/train/training_problem.h"

namespace topwork {
namespace device_head_test {

using test::TestDeviceName;
using test::TrainingProblem;

struct Shape {
  int64_t dim, n_outputs, n, batch, n_steps;
};

// A problem, and the mini-batches of a run over it.
struct Run {
  Shape shape;
  TrainerOptions options;
  TrainingProblem problem;
  std::unique_ptr<FeatureCache> cache;
  DeviceSteps steps;

  Run(const Shape& shape, const TrainerOptions& options)
      : shape(shape), options(options), problem(shape.dim, shape.n_outputs, shape.n, 7) {
    this->options.batch_size = static_cast<int>(shape.batch);
    FeatureCacheOptions cache_options;
    cache_options.dim = shape.dim;
    cache_options.type = options.feature_type;
    if (!UsesLabels(options.loss.loss)) cache_options.n_outputs = shape.n_outputs;
    cache.reset(new FeatureCache(cache_options));
    if (options.feature_type == FeatureType::kFloat16) {
      for (float& x : problem.x) x = HalfToFloat(FloatToHalf(x));
    }
    for (int64_t i = 0; i < shape.n; ++i) {
      ExampleTarget target;
      const size_t k = static_cast<size_t>(i);
      target.label = problem.labels[k];
      target.values = const_cast<float*>(problem.value_rows[k]);
      REQUIRE(cache->Append(problem.rows[k], target).ok());
    }
    // The last mini-batch of a run is a short one.
    Random random(3);
    for (int64_t k = 0; k < shape.n_steps; ++k) {
      const int64_t count = k + 1 < shape.n_steps ? shape.batch : (shape.batch + 1) / 2;
      double weight = 0.0;
      for (int64_t b = 0; b < count; ++b) {
        const uint64_t i = random.Below(static_cast<uint64_t>(shape.n));
        steps.AddPosition(*cache, static_cast<int32_t>(i), 0);
        weight += RowWeight(options.loss, problem.targets(), static_cast<int64_t>(i));
      }
      const float rate = 0.05f / (1.0f + 0.01f * static_cast<float>(k));
      steps.AddStep(OptimizerState::RatesOf(options, rate, k + 1), weight);
    }
  }
};

// A head of the CPU with its optimizer; parameters begin as seeded noise.
struct Side {
  ThreadPool pool{1};
  std::unique_ptr<DenseHead> head;
  std::unique_ptr<OptimizerState> optimizer;

  explicit Side(const Run& run) {
    head = run.problem.NewHead(&pool);
    for (size_t i = 0; i < head->parameters().size(); ++i) {
      head->parameters()[i] = 0.1f * std::sin(static_cast<float>(i));
    }
    auto state = OptimizerState::Create(run.options, head->layout(), &pool);
    REQUIRE(state.ok());
    optimizer = std::move(state.value());
  }
  HeadValues values() { return {head->parameters(), optimizer->moment1(), optimizer->moment2()}; }
};

// Losses and hits as the device gives them.
std::vector<float> OnCpu(const Run& run, Side* side) {
  std::vector<float> losses;
  for (int64_t k = 0; k < run.steps.n_steps(); ++k) {
    const size_t step = static_cast<size_t>(k);
    const int32_t first = run.steps.spans[2 * step], count = run.steps.spans[2 * step + 1];
    std::vector<const float*> rows, values;
    std::vector<int32_t> labels;
    for (int32_t p = first; p < first + count; ++p) {
      const size_t i = static_cast<size_t>(run.steps.order[2 * static_cast<size_t>(p) + 1]);
      rows.push_back(run.problem.rows[i]);
      labels.push_back(run.problem.labels[i]);
      values.push_back(run.problem.value_rows[i]);
    }
    const Targets targets = {labels.data(), values.data()};
    std::vector<float> scores(rows.size() * static_cast<size_t>(run.shape.n_outputs));
    REQUIRE(side->head->Scores(rows.data(), count, scores.data()).ok());
    for (int64_t b = 0; b < count; ++b) {
      double hits = 0.0;
      losses.push_back(
          static_cast<float>(LossRow(run.options.loss, targets, b, run.shape.n_outputs, 1.0f,
                                     scores.data() + b * run.shape.n_outputs, &hits)));
      losses.push_back(static_cast<float>(hits));
    }
    BatchLoss batch;
    REQUIRE(side->head->ComputeGradient(run.options.loss, rows.data(), targets, count, &batch)
                .ToString() == "OK");
    side->optimizer->Update(run.steps.rates[kNumHeadRates * step + kHeadLearningRate],
                            side->head->gradient(), side->head->parameters());
  }
  return losses;
}

using Groups = DeviceHead::Groups;

std::unique_ptr<DeviceHead> NewDevice(const Run& run, Groups groups = Groups::kBest) {
  auto device =
      DeviceHead::Create(TestDeviceName(), run.options, *run.cache, run.shape.n_outputs,
                         !run.options.loss.class_weights.empty(), run.steps.n_positions(), groups);
  REQUIRE(device.status().ToString() == "OK");
  return std::move(device.value());
}

// Largest difference, in parts of 1 + |expected|; NaN if any is.
double Worst(Span<const float> got, Span<const float> expected) {
  REQUIRE(got.size() == expected.size());
  double worst = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i])) /
                         (1.0 + std::fabs(static_cast<double>(expected[i])));
    if (std::isnan(error)) return error;
    worst = std::max(worst, error);
  }
  return worst;
}

void CheckGroups(const Run& run, double tolerance, Side* cpu, const std::vector<float>& expected,
                 Groups groups) {
  INFO(LossName(run.options.loss.loss)
       << " " << OptimizerName(run.options.optimizer) << " momentum " << run.options.momentum
       << ", " << run.shape.n_outputs << " x " << run.shape.dim << ", batch " << run.shape.batch
       << (groups == Groups::kMany ? ", many groups" : ""));
  Side gpu(run);
  const auto device = NewDevice(run, groups);
  REQUIRE(device->Begin(run.steps, run.options.loss.class_weights, gpu.values()).ok());
  // In two portions: nothing depends on where they are cut.
  REQUIRE(device->Run(1).ToString() == "OK");
  REQUIRE(device->Run(run.shape.n_steps - 1).ToString() == "OK");
  DeviceHead::Outcome outcome;
  REQUIRE(device->End(gpu.values(), &outcome).ToString() == "OK");
  CHECK(outcome.halt == kHeadGoes);
  CHECK(outcome.n_steps == run.shape.n_steps);
  CHECK(Worst(outcome.losses, expected) <= tolerance);
  const auto parts = [](Side* side) {
    std::vector<Span<const float>> spans;
    for (const Span<float>& part :
         {side->values().parameters, side->values().moment1, side->values().moment2}) {
      spans.push_back({part.data(), part.size()});
    }
    return spans;
  };
  for (size_t i = 0; i < 3; ++i) CHECK(Worst(parts(&gpu)[i], parts(cpu)[i]) <= tolerance);
}

// By one group, where the head is small enough, and by many.
void CheckRun(const Run& run, double tolerance) {
  Side cpu(run);
  const std::vector<float> expected = OnCpu(run, &cpu);
  for (Groups groups : {Groups::kBest, Groups::kMany}) {
    CheckGroups(run, tolerance, &cpu, expected, groups);
  }
}

TrainerOptions Options(Loss loss, Optimizer optimizer) {
  TrainerOptions options;
  options.loss.loss = loss;
  options.optimizer = optimizer;
  return options;
}

TEST_CASE("device head: every kernel at small sizes", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  (void)device;
  TrainerOptions softmax = Options(Loss::kSoftmaxCrossEntropy, Optimizer::kAdam);
  softmax.loss.label_smoothing = 0.1f;
  softmax.loss.class_weights = {0.5f, 2.0f, 1.5f};
  softmax.clip_norm = 0.05f;
  CheckRun(Run({5, 3, 7, 4, 3}, softmax), 1e-5);
  TrainerOptions tiled = Options(Loss::kSigmoidCrossEntropy, Optimizer::kSgd);
  tiled.momentum = 0.9f;
  tiled.l1 = 0.01f;
  CheckRun(Run({33, 25, 20, 17, 2}, tiled), 1e-5);
  TrainerOptions halves = Options(Loss::kHuber, Optimizer::kAdamW);
  halves.feature_type = FeatureType::kFloat16;
  halves.weight_decay = 0.1f;
  halves.loss.huber_delta = 0.3f;
  CheckRun(Run({66, 2, 5, 3, 2}, halves), 1e-5);
  halves.loss.loss = Loss::kMeanSquaredError;
  CheckRun(Run({18, 40, 20, 16, 2}, halves), 1e-5);
  softmax.loss.class_weights.assign(33, 1.5f);
  softmax.loss.class_weights[32] = 0.0f;
  CheckRun(Run({7, 33, 40, 34, 3}, softmax), 1e-5);
}

TEST_CASE("device head: an evaluation changes nothing", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  (void)device;
  TrainerOptions options = Options(Loss::kSoftmaxCrossEntropy, Optimizer::kSgd);
  options.loss.label_smoothing = 0.2f;  // not in evaluations
  const Run run({9, 4, 12, 5, 3}, options);
  Side side(run);
  const std::vector<float> before(side.head->parameters().begin(), side.head->parameters().end());
  for (Groups groups : {Groups::kBest, Groups::kMany}) {
    const auto device_head = NewDevice(run, groups);
    std::vector<float> losses;
    REQUIRE(device_head->Evaluate(run.steps, {}, side.values(), &losses).ToString() == "OK");
    CHECK(std::vector<float>(side.head->parameters().begin(), side.head->parameters().end()) ==
          before);
    for (int64_t p = 0; p < run.steps.n_positions(); ++p) {
      const int32_t i = run.steps.order[static_cast<size_t>(2 * p + 1)];
      std::vector<float> scores(4);
      REQUIRE(side.head->Scores(&run.problem.rows[static_cast<size_t>(i)], 1, scores.data()).ok());
      const double expected =
          EvaluateLossRow(LossOptions(), run.problem.targets(), i, 4, scores.data());
      CHECK(static_cast<double>(losses[static_cast<size_t>(2 * p)]) ==
            Approx(expected).epsilon(1e-5));
    }
  }
}

TEST_CASE("device head: launches of a step", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  const auto launches = [](const Shape& shape, const TrainerOptions& options, Groups groups) {
    const Run run(shape, options);
    Side side(run);
    const auto head = NewDevice(run, groups);
    DeviceHead::Outcome outcome;
    REQUIRE(head->Begin(run.steps, run.options.loss.class_weights, side.values()).ok());
    REQUIRE(head->Run(shape.n_steps).ok());
    REQUIRE(head->End(side.values(), &outcome).ToString() == "OK");
    return head->n_launches();
  };
  const TrainerOptions adam = Options(Loss::kSoftmaxCrossEntropy, Optimizer::kAdam);
  TrainerOptions clipped = adam;
  clipped.clip_norm = 1.0f;
  const Shape few = {20, 4, 30, 8, 80}, many = {20, 40, 30, 16, 80};
  CHECK(launches(few, adam, Groups::kBest) == 2);  // 64 steps and 16
  CHECK(launches(few, clipped, Groups::kBest) == 2);
  const TrainerOptions squared = Options(Loss::kMeanSquaredError, Optimizer::kAdam);
  for (const Shape& shape : {few, many}) {
    CHECK(launches(shape, adam, Groups::kBest) == 2);
    CHECK(launches(shape, adam, Groups::kMany) == 2 * 80);
    // One more at the end of the run.
    CHECK(launches(shape, clipped, Groups::kMany) == 2 * 80 + 1);
    CHECK(launches(shape, squared, Groups::kMany) == 2 * 80 + 1);
  }
  // The usual head of a MobileNet, and one that is more than a group should take.
  HeadLaunch head;
  head.dim = 1280, head.n_outputs = 10, head.batch = 32;
  CHECK(StepsPerLaunch(head) == 64);
  head.n_outputs = 50;
  CHECK(StepsPerLaunch(head) == 16);
  head.n_outputs = 1000;
  CHECK(StepsPerLaunch(head) == 0);
}

TEST_CASE("device head: an update follows at once only where no gradient can be too large",
          "[train]") {
  HeadLaunch head;
  head.dim = 4, head.n_outputs = 3, head.batch = 10;
  HeadBounds bounds;
  bounds.feature = 1e6;
  bounds.scale = 0.1;
  CHECK(MayUpdateAtOnce(head, bounds));
  head.clip_norm = 1.0f;
  CHECK_FALSE(MayUpdateAtOnce(head, bounds));
  head.clip_norm = 0.0f;
  for (const double x : {1e18, std::numeric_limits<double>::infinity()}) {
    HeadBounds large = bounds;
    large.feature = x;
    CHECK_FALSE(MayUpdateAtOnce(head, large));
    large = bounds;
    large.class_weight = x;
    CHECK_FALSE(MayUpdateAtOnce(head, large));
    large = bounds;
    large.target = x;
    CHECK(MayUpdateAtOnce(head, large));  // labels have no size
    head.loss = HeadLoss::kSigmoid;
    CHECK_FALSE(MayUpdateAtOnce(head, large));
    head.loss = HeadLoss::kSoftmax;
  }
  head.loss = HeadLoss::kHuber;
  CHECK(MayUpdateAtOnce(head, bounds));
  head.huber_delta = 1e15f;
  CHECK_FALSE(MayUpdateAtOnce(head, bounds));
  head.loss = HeadLoss::kSquared;
  CHECK_FALSE(MayUpdateAtOnce(head, bounds));
}

TEST_CASE("device head: 100 steps of every loss and optimizer equal the CPU's", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  const auto kept = Workspace::Open(TestDeviceName());  // keeps compiled programs
  REQUIRE(kept.ok());
  for (Loss loss : {Loss::kSoftmaxCrossEntropy, Loss::kSigmoidCrossEntropy, Loss::kMeanSquaredError,
                    Loss::kHuber}) {
    for (Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam, Optimizer::kAdamW}) {
      TrainerOptions options = Options(loss, optimizer);
      options.weight_decay = optimizer == Optimizer::kAdamW ? 0.05f : 0.0f;
      CheckRun(Run({40, 5, 60, 16, 100}, options), 1e-4);
      options.loss.class_weights = {1.0f, 2.0f, 0.5f, 3.0f, 1.0f};
      if (!IsRegression(loss)) options.loss.label_smoothing = 0.1f;
      options.weight_decay = 0.01f;
      options.l1 = 1e-3f;
      options.clip_norm = 0.2f;
      if (optimizer == Optimizer::kSgd) options.momentum = 0.9f;
      options.nesterov = optimizer == Optimizer::kSgd && loss != Loss::kSoftmaxCrossEntropy;
      CheckRun(Run({33, 5, 60, 16, 100}, options), 1e-4);
    }
  }
}

TEST_CASE("device head: 100 steps of many outputs equal the CPU's", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  const auto kept = Workspace::Open(TestDeviceName());
  REQUIRE(kept.ok());
  for (Loss loss : {Loss::kSoftmaxCrossEntropy, Loss::kSigmoidCrossEntropy, Loss::kMeanSquaredError,
                    Loss::kHuber}) {
    for (Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam}) {
      TrainerOptions options = Options(loss, optimizer);
      CheckRun(Run({130, 70, 100, 32, 100}, options), 1e-4);
      // Late updates of weights that two groups read: a batch has more rows than a tile.
      for (int64_t c = 0; c < 70; ++c) {
        options.loss.class_weights.push_back(0.25f * static_cast<float>(c % 5));
      }
      if (!IsRegression(loss)) options.loss.label_smoothing = 0.1f;
      options.clip_norm = 0.1f;
      options.weight_decay = 0.01f;
      options.momentum = optimizer == Optimizer::kSgd ? 0.9f : 0.0f;
      CheckRun(Run({45, 70, 100, 50, 100}, options), 1e-4);
    }
  }
}

// Steps [begin, end) of a run, as a run of their own.
DeviceSteps Part(const DeviceSteps& steps, size_t begin, size_t end) {
  DeviceSteps part;
  for (size_t k = begin; k < end; ++k) {
    const size_t first = static_cast<size_t>(steps.spans[2 * k]);
    const size_t last = first + static_cast<size_t>(steps.spans[2 * k + 1]);
    part.spans.push_back(static_cast<int32_t>(part.n_positions()));
    part.spans.push_back(steps.spans[2 * k + 1]);
    part.order.insert(part.order.end(), steps.order.begin() + static_cast<ptrdiff_t>(2 * first),
                      steps.order.begin() + static_cast<ptrdiff_t>(2 * last));
    const auto rates = steps.rates.begin() + static_cast<ptrdiff_t>(k * kNumHeadRates);
    part.rates.insert(part.rates.end(), rates, rates + kNumHeadRates);
    part.weights.push_back(steps.weights[k]);
  }
  return part;
}

// The last update of a run, and the one that the next step's scores would make, are the same.
TEST_CASE("device head: clipped steps in two runs give the bits of one", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  TrainerOptions options = Options(Loss::kSoftmaxCrossEntropy, Optimizer::kAdam);
  options.clip_norm = 0.01f;
  for (const Shape& shape : {Shape{70, 100, 60, 40, 5}, Shape{700, 5, 60, 9, 5}}) {
    const Run run(shape, options);
    const auto taken = [&](const std::vector<size_t>& cuts) {
      Side side(run);
      const auto head = NewDevice(run, Groups::kMany);
      for (size_t i = 0; i + 1 < cuts.size(); ++i) {
        const DeviceSteps part = Part(run.steps, cuts[i], cuts[i + 1]);
        DeviceHead::Outcome outcome;
        REQUIRE(head->Begin(part, {}, side.values()).ok());
        REQUIRE(head->Run(part.n_steps()).ok());
        REQUIRE(head->End(side.values(), &outcome).ToString() == "OK");
      }
      return std::vector<float>(side.head->parameters().begin(), side.head->parameters().end());
    };
    CHECK(taken({0, 2, 3, 5}) == taken({0, 5}));
  }
}

// Scores that are equal, as an untrained head's are, and labels whose tile is not the best one's.
TEST_CASE("device head: hits in tiles, of equal scores and others", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  Run run({8, 70, 100, 40, 2}, Options(Loss::kSoftmaxCrossEntropy, Optimizer::kSgd));
  Side equal(run);
  for (float& w : equal.head->parameters()) w = 0.0f;
  Side shifted(run);
  for (float& w : shifted.head->parameters()) w = 0.0f;
  for (const size_t c : {3u, 40u, 41u, 69u}) shifted.head->parameters()[8 * 70 + c] = 2.0f;
  const auto device_head = NewDevice(run, Groups::kMany);
  for (Side* side : {&equal, &shifted}) {
    std::vector<float> losses;
    REQUIRE(device_head->Evaluate(run.steps, {}, side->values(), &losses).ToString() == "OK");
    for (int64_t p = 0; p < run.steps.n_positions(); ++p) {
      const int32_t i = run.steps.order[static_cast<size_t>(2 * p + 1)];
      const int32_t best = side == &equal ? 0 : 3;  // the first of equals
      INFO("label " << run.problem.labels[static_cast<size_t>(i)]);
      CHECK(losses[static_cast<size_t>(2 * p + 1)] ==
            (run.problem.labels[static_cast<size_t>(i)] == best ? 1.0f : 0.0f));
    }
  }
}

TEST_CASE("device head: a bad step is refused and changes nothing", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  const TrainerOptions options = Options(Loss::kMeanSquaredError, Optimizer::kSgd);
  struct {
    float target;
    HeadHalt halt;
    Groups groups;
    Shape shape;
  } const cases[] = {{1e30f, kHeadBadLoss, Groups::kBest, {6, 2, 8, 2, 4}},
                     {1e30f, kHeadBadLoss, Groups::kMany, {6, 2, 8, 2, 4}},
                     {1e30f, kHeadBadLoss, Groups::kMany, {6, 30, 80, 20, 4}},
                     {1e19f, kHeadBadWeights, Groups::kBest, {6, 2, 8, 2, 4}},
                     {1e19f, kHeadBadWeights, Groups::kMany, {6, 2, 8, 2, 4}},
                     {1e19f, kHeadBadWeights, Groups::kMany, {6, 30, 80, 20, 4}}};
  for (const auto& c : cases) {
    Run run(c.shape, options);
    const size_t batch = static_cast<size_t>(c.shape.batch);
    // The third step meets an example that the first two do not, of large features.
    std::vector<float> row(static_cast<size_t>(c.shape.dim), 30.0f);
    for (size_t p = 0; p < run.steps.order.size() / 2; ++p) {
      const int32_t example = p / batch == 2 ? 7 : static_cast<int32_t>(p % 4);
      run.steps.order[2 * p] = run.steps.order[2 * p + 1] = example;
    }
    std::vector<float> values(static_cast<size_t>(c.shape.n_outputs), c.target);
    ExampleTarget target;
    target.values = values.data();
    REQUIRE(run.cache->Replace(7, row.data(), target).ok());
    Side side(run), two(run);
    const auto device_head = NewDevice(run, c.groups);
    DeviceHead::Outcome outcome;
    REQUIRE(device_head->Begin(run.steps, {}, side.values()).ok());
    REQUIRE(device_head->Run(4).ok());
    REQUIRE(device_head->End(side.values(), &outcome).ToString() == "OK");
    CHECK(outcome.halt == c.halt);
    CHECK(outcome.n_steps == 2);
    CHECK(outcome.losses.size() == 6 * batch);
    // Where two steps alone lead.
    REQUIRE(device_head->Begin(run.steps, {}, two.values()).ok());
    REQUIRE(device_head->Run(2).ok());
    REQUIRE(device_head->End(two.values(), &outcome).ok());
    CHECK(outcome.halt == kHeadGoes);
    CHECK(std::vector<float>(side.head->parameters().begin(), side.head->parameters().end()) ==
          std::vector<float>(two.head->parameters().begin(), two.head->parameters().end()));
  }
}

TEST_CASE("device head: nothing but tables and losses crosses the bus within a run", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  const Run run({64, 8, 50, 10, 20}, Options(Loss::kSoftmaxCrossEntropy, Optimizer::kAdam));
  Side side(run);
  const auto device_head = NewDevice(run);
  DeviceTraffic at = device_head->traffic();
  CHECK(at.features == 50 * (64 * 4 + 4));
  CHECK(at.total == at.features);
  DeviceHead::Outcome outcome;
  const uint64_t values = 3 * (64 + 1) * 8 * 4;  // parameters and two moments
  const uint64_t n_positions = static_cast<uint64_t>(run.steps.n_positions());
  const uint64_t tables = n_positions * 8 + 20 * (8 + kNumHeadRates * 4) + kNumHeadStates * 4;
  for (int epoch = 0; epoch < 3; ++epoch) {
    REQUIRE(device_head->Begin(run.steps, {}, side.values()).ok());
    const DeviceTraffic begun = device_head->traffic();
    // Once, since what is there stays right.
    CHECK(begun.total - at.total == tables + (epoch == 0 ? values : 0));
    for (int k = 0; k < 4; ++k) REQUIRE(device_head->Run(5).ok());
    CHECK(device_head->traffic().total == begun.total);  // not a byte in 20 steps
    REQUIRE(device_head->End(side.values(), &outcome).ok());
    at = device_head->traffic();
    CHECK(at.total - begun.total == values + n_positions * 8 + kNumHeadStates * 4);
    CHECK(at.total == at.features + at.values + at.tables + at.losses);
  }
  side.head->parameters()[3] += 1.0f;  // from elsewhere
  REQUIRE(device_head->Begin(run.steps, {}, side.values()).ok());
  CHECK(device_head->traffic().total - at.total == tables + values);
}

}  // namespace device_head_test
}  // namespace topwork
