// L-BFGS, ridge regression and imprinting against scikit-learn (make_golden.py) and their own
// conditions of optimality.
#include "runtime/train/fit/solvers.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "runtime/train/head/dense_head.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace solvers_test {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

test::Npz Golden() {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/solvers.npz");
  REQUIRE(file != nullptr);
  return test::ReadNpz(file->data, file->size);
}

test::NpyArray Digits(const char* name) {
  const std::string path = std::string("models/zoo/data/digits_8x8/train/") + name;
  const test::EmbeddedFile* file = test::FindEmbedded(path.c_str());
  REQUIRE(file != nullptr);
  return test::ReadNpy(file->data, file->size);
}

Status Rosenbrock(Span<const float> x, double* out_value, Span<float> out_gradient) {
  const double a = static_cast<double>(x[0]);
  const double b = static_cast<double>(x[1]);
  *out_value = 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
  out_gradient[0] = static_cast<float>(-400.0 * a * (b - a * a) - 2.0 * (1.0 - a));
  out_gradient[1] = static_cast<float>(200.0 * (b - a * a));
  return Status::Ok();
}

// Iterates to convergence, at most `limit` times.
void Minimize(Lbfgs* lbfgs, const Objective& objective, int limit) {
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < limit && !lbfgs->converged(); ++i) {
    REQUIRE(lbfgs->Iterate(objective).ToString() == "OK");
    CHECK(lbfgs->value() <= before);
    before = lbfgs->value();
  }
}

TEST_CASE("l-bfgs: finds the minimum of Rosenbrock's valley", "[train]") {
  LbfgsOptions options;
  options.value_tolerance = 1e-14;
  for (const std::vector<float>& start :
       {std::vector<float>{-1.2f, 1.0f}, {3.0f, -4.0f}, {0.0f, 0.0f}, {30.0f, 50.0f}}) {
    Lbfgs lbfgs(options, start);
    Minimize(&lbfgs, Rosenbrock, 200);
    CHECK(lbfgs.converged());
    CHECK(lbfgs.x()[0] == Approx(1.0).epsilon(1e-3));
    CHECK(lbfgs.x()[1] == Approx(1.0).epsilon(1e-3));
    CHECK(lbfgs.iterations() < 100);
    CHECK(lbfgs.evaluations() >= lbfgs.iterations());
    const int evaluations = lbfgs.evaluations();
    CHECK(lbfgs.Iterate(Rosenbrock).ok());
    CHECK(lbfgs.evaluations() == evaluations);  // converged: nothing more is done
  }
}

// Mean cross-entropy of the digits + ½ l2 |w|² as an objective.
struct Logistic {
  std::vector<float> x;
  std::vector<int32_t> labels;
  std::vector<const float*> rows;
  ThreadPool pool;
  std::unique_ptr<DenseHead> head;
  double l2;

  Logistic(double l2, int n_threads) : pool(n_threads), l2(l2) {
    x = Digits("x.npy").as<float>();
    labels = Digits("y.npy").as<int32_t>();
    for (size_t i = 0; i < labels.size(); ++i) rows.push_back(x.data() + i * 64);
    auto created = DenseHead::Create(64, 10, nullptr, nullptr, &pool);
    REQUIRE(created.ok());
    head = std::move(created.value());
  }

  Status operator()(Span<const float> parameters, double* value, Span<float> gradient) {
    std::copy(parameters.begin(), parameters.end(), head->parameters().begin());
    BatchLoss sums;
    TW_RETURN_IF_ERROR(head->ComputeGradient(LossOptions(), rows.data(), {labels.data(), nullptr},
                                             static_cast<int64_t>(rows.size()), &sums));
    *value = sums.loss_sum / sums.weight_sum;
    for (size_t i = 0; i < parameters.size(); ++i) {
      gradient[i] = head->gradient()[i];
      if (i >= 640) continue;
      const double w = static_cast<double>(parameters[i]);
      gradient[i] += static_cast<float>(l2 * w);
      *value += 0.5 * l2 * w * w;
    }
    return Status::Ok();
  }
};

TEST_CASE("l-bfgs: logistic regression reaches scikit-learn's optimum", "[train]") {
  const test::Npz npz = Golden();
  const std::vector<double> l2 = npz.at("logistic_l2").as<double>();
  const std::vector<double> losses = npz.at("logistic_losses").as<double>();
  REQUIRE(l2.size() == 3);
  for (size_t i = 0; i < l2.size(); ++i) {
    Logistic problem(l2[i], 1);
    LbfgsOptions options;
    options.gradient_tolerance = 1e-6;
    Lbfgs lbfgs(options, std::vector<float>(650));
    Minimize(&lbfgs, std::ref(problem), 1000);
    INFO("l2 " << l2[i] << ": " << lbfgs.iterations() << " iterations, " << lbfgs.evaluations()
               << " evaluations, largest gradient " << lbfgs.max_gradient());
    CHECK(lbfgs.converged());
    CHECK(std::fabs(lbfgs.value() - losses[i]) <= 1e-6 * losses[i]);
  }
}

TEST_CASE("l-bfgs: goes on from a saved state bit for bit, with any number of threads", "[train]") {
  Logistic problem(1e-3, 1);
  Lbfgs whole(LbfgsOptions(), std::vector<float>(650));
  Minimize(&whole, std::ref(problem), 30);
  for (int stop : {0, 1, 7, 20}) {
    Logistic other(1e-3, 1 + stop % 4);
    Lbfgs first(LbfgsOptions(), std::vector<float>(650));
    Minimize(&first, std::ref(other), stop);
    Lbfgs second(LbfgsOptions(), std::vector<float>(650, 3.0f));
    REQUIRE(second.SetState(first.State()).ToString() == "OK");
    CHECK(second.State() == first.State());
    CHECK(second.bytes() >= 650 * sizeof(float));
    Minimize(&second, std::ref(other), 30 - stop);
    CHECK(second.iterations() == whole.iterations());
    CHECK(second.evaluations() == whole.evaluations());
    CHECK(second.x() == whole.x());
    CHECK(second.State() == whole.State());
  }
}

TEST_CASE("l-bfgs: a state that does not fit is refused", "[train]") {
  Lbfgs source(LbfgsOptions(), {-1.2f, 1.0f});
  Minimize(&source, Rosenbrock, 6);
  const std::vector<double> good = source.State();
  const std::vector<float> start = {5.0f, 6.0f};
  std::vector<std::vector<double>> bad;
  for (size_t n = 0; n < good.size(); ++n)
    bad.emplace_back(good.begin(), good.begin() + int64_t(n));
  bad.push_back(good);
  bad.back().push_back(0.0);
  for (size_t field : {size_t{0}, size_t{1}, size_t{3}, size_t{6}, size_t{7}, size_t{9}}) {
    for (double value : {-1.0, 0.5, 1e300, std::nan("")}) {
      if (field == 9 && std::fabs(value) <= 1.0) continue;  // a parameter may have these
      bad.push_back(good);
      bad.back()[field] = value;
    }
  }
  for (const std::vector<double>& state : bad) {
    Lbfgs target(LbfgsOptions(), start);
    CHECK(target.SetState(state).code() == StatusCode::kInvalidArgument);
    CHECK(target.x() == start);
  }
  Lbfgs longer(LbfgsOptions(), {1.0f, 2.0f, 3.0f});
  CHECK(longer.SetState(good).code() == StatusCode::kInvalidArgument);
}

TEST_CASE("l-bfgs: points that are not finite shorten the step or end it", "[train]") {
  // −log x + x, infinite for x ≤ 0: the first step from 9 overshoots.
  const Objective barrier = [](Span<const float> x, double* value, Span<float> gradient) {
    const double at = static_cast<double>(x[0]);
    *value = 100.0 * (at - std::log(at));
    gradient[0] = static_cast<float>(100.0 * (1.0 - 1.0 / at));
    return at > 0.0 ? Status::Ok() : NumericError("x is {}", at);
  };
  Lbfgs lbfgs(LbfgsOptions(), {0.001f});
  Minimize(&lbfgs, barrier, 100);
  CHECK(lbfgs.x()[0] == Approx(1.0).epsilon(1e-3));

  for (float hostile : {kNan, std::numeric_limits<float>::infinity(), -1.0f}) {
    Lbfgs broken(LbfgsOptions(), {hostile});
    CHECK(broken.Iterate(barrier).code() == StatusCode::kNumeric);
    CHECK(std::memcmp(broken.x().data(), &hostile, sizeof(float)) == 0);
  }
  const Objective silent = [](Span<const float>, double* value, Span<float> gradient) {
    *value = 1.0;
    gradient[0] = kNan;
    return Status::Ok();
  };
  Lbfgs nan_gradient(LbfgsOptions(), {1.0f});
  const Status status = nan_gradient.Iterate(silent);
  CHECK(status.code() == StatusCode::kNumeric);
  CHECK(status.message().find("gradient") != std::string::npos);

  int calls = 0;
  const Objective cancelled = [&](Span<const float> x, double* value, Span<float> gradient) {
    if (++calls > 3) return Cancelled("stop");
    return Rosenbrock(x, value, gradient);
  };
  Lbfgs stopped(LbfgsOptions(), {-1.2f, 1.0f});
  Status last;
  while (last.ok()) last = stopped.Iterate(cancelled);
  CHECK(last.code() == StatusCode::kCancelled);
  CHECK(stopped.evaluations() == 4);
  CHECK(std::isfinite(stopped.x()[0]));
}

struct RidgeCase {
  std::vector<float> x, t, s;
  int64_t n = 0, dim = 0, n_outputs = 0;
  double l2 = 0.0;
  std::vector<float> w, b;

  std::vector<const float*> Rows(const std::vector<float>& values, int64_t width) const {
    std::vector<const float*> rows;
    for (int64_t i = 0; i < n; ++i) rows.push_back(values.data() + i * width);
    return rows;
  }
  Status Solve(ThreadPool* pool) {
    w.assign(static_cast<size_t>(n_outputs * dim), -7.0f);
    b.assign(static_cast<size_t>(n_outputs), -7.0f);
    return SolveRidge(Rows(x, dim).data(), Rows(t, n_outputs).data(), s, n, dim, n_outputs, l2,
                      pool, w.data(), b.data());
  }
  bool Untouched() const {
    for (float value : w) {
      if (value != -7.0f) return false;
    }
    for (float value : b) {
      if (value != -7.0f) return false;
    }
    return true;
  }
};

RidgeCase RandomCase(int64_t n, int64_t dim, int64_t n_outputs, double l2) {
  RidgeCase c;
  c.n = n;
  c.dim = dim;
  c.n_outputs = n_outputs;
  c.l2 = l2;
  c.x = test::RandomFloats(static_cast<size_t>(n * dim), 3);
  c.t = test::RandomFloats(static_cast<size_t>(n * n_outputs), 4);
  return c;
}

double WorstRelative(const std::vector<float>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  double worst = 0.0;
  double largest = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(got[i]) - expected[i]));
    largest = std::max(largest, std::fabs(expected[i]));
  }
  return worst / largest;
}

TEST_CASE("ridge: weights agree with scikit-learn", "[train]") {
  const test::Npz npz = Golden();
  ThreadPool pool(2);
  for (const char* name :
       {"tall", "tall_free", "wide", "square", "tall_weighted", "wide_weighted"}) {
    INFO(name);
    const std::string prefix = std::string(name) + "_";
    RidgeCase c;
    c.x = npz.at(prefix + "x").as<float>();
    c.t = npz.at(prefix + "t").as<float>();
    c.s = npz.at(prefix + "s").as<float>();
    c.n = npz.at(prefix + "x").shape[0];
    c.dim = npz.at(prefix + "x").shape[1];
    c.n_outputs = npz.at(prefix + "t").shape[1];
    c.l2 = npz.at(prefix + "l2").as<double>()[0];
    REQUIRE(c.Solve(&pool).ToString() == "OK");
    CHECK(WorstRelative(c.w, npz.at(prefix + "w").as<double>()) <= 1e-6);
    CHECK(WorstRelative(c.b, npz.at(prefix + "b").as<double>()) <= 1e-6);
  }
}

TEST_CASE("ridge: the dual and the primal system have the same solution", "[train]") {
  // 40 examples of 70 features take the dual; each twice at half its weight, the primal.
  ThreadPool pool(1);
  for (double l2 : {1e-3, 1.0, 100.0}) {
    RidgeCase dual = RandomCase(40, 70, 3, l2);
    REQUIRE(dual.Solve(&pool).ok());
    RidgeCase primal = dual;
    primal.n = 80;
    primal.x.insert(primal.x.end(), dual.x.begin(), dual.x.end());
    primal.t.insert(primal.t.end(), dual.t.begin(), dual.t.end());
    primal.s.assign(80, 0.5f);
    REQUIRE(primal.Solve(&pool).ok());
    CHECK(WorstRelative(primal.w, std::vector<double>(dual.w.begin(), dual.w.end())) <= 1e-6);
    CHECK(WorstRelative(primal.b, std::vector<double>(dual.b.begin(), dual.b.end())) <= 1e-6);
  }
}

TEST_CASE("ridge: the same bits for any number of threads", "[train]") {
  for (int64_t dim : {300, 500}) {  // primal, dual
    RidgeCase one = RandomCase(400, dim, 5, 0.1);
    ThreadPool single(1);
    REQUIRE(one.Solve(&single).ok());
    for (int n_threads : {2, 3, 4}) {
      RidgeCase many = RandomCase(400, dim, 5, 0.1);
      ThreadPool pool(n_threads);
      REQUIRE(many.Solve(&pool).ok());
      CHECK(many.w == one.w);
      CHECK(many.b == one.b);
    }
    CHECK(one.w[3] != 0.0f);
  }
}

TEST_CASE("ridge: singular, hostile and wrong arguments are refused and change nothing",
          "[train]") {
  ThreadPool pool(1);
  const auto refused = [&](RidgeCase c, StatusCode code, const char* part) {
    const Status status = c.Solve(&pool);
    INFO(status.ToString());
    CHECK(status.code() == code);
    CHECK(status.message().find(part) != std::string::npos);
    CHECK(c.Untouched());
  };
  RidgeCase twins = RandomCase(30, 6, 2, 0.0);
  for (int64_t i = 0; i < 30; ++i) twins.x[size_t(i * 6 + 4)] = twins.x[size_t(i * 6 + 1)];
  refused(twins, StatusCode::kNumeric, "L2 penalty above 0");
  twins.l2 = 0.1;
  REQUIRE(twins.Solve(&pool).ok());
  CHECK(twins.w[4] == Approx(static_cast<double>(twins.w[1])));
  refused(RandomCase(10, 12, 2, 0.0), StatusCode::kNumeric, "singular");
  refused(RandomCase(1, 3, 1, 0.0), StatusCode::kNumeric, "singular");
  refused(RandomCase(0, 3, 1, 1.0), StatusCode::kInvalidArgument, "0 examples");
  refused(RandomCase(9, 3, 1, -1.0), StatusCode::kInvalidArgument, "L2");
  refused(RandomCase(9, 3, 1, std::nan("")), StatusCode::kInvalidArgument, "L2");
  for (float hostile : {kNan, std::numeric_limits<float>::infinity()}) {
    RidgeCase c = RandomCase(9, 3, 2, 1.0);
    c.x[4 * 3 + 1] = hostile;
    refused(c, StatusCode::kNumeric, "features of example 4");
    c = RandomCase(9, 3, 2, 1.0);
    c.t[5 * 2] = hostile;
    refused(c, StatusCode::kNumeric, "targets of example 5");
    c = RandomCase(9, 3, 2, 1.0);
    c.s.assign(9, 1.0f);
    c.s[2] = hostile;
    refused(c, StatusCode::kInvalidArgument, "sample weight");
  }
  RidgeCase weights = RandomCase(9, 3, 2, 1.0);
  weights.s.assign(8, 1.0f);
  refused(weights, StatusCode::kInvalidArgument, "8 sample weights");
  weights.s.assign(9, 0.0f);
  refused(weights, StatusCode::kInvalidArgument, "all sample weights");
}

TEST_CASE("imprinting: the normalised mean of normalised rows", "[train]") {
  const float a[] = {3.0f, 0.0f, 0.0f};
  const float b[] = {0.0f, 0.5f, 0.0f};
  const float zero[] = {0.0f, 0.0f, 0.0f};
  const float* rows[] = {a, b, zero};
  float w[3] = {9.0f, 9.0f, 9.0f};
  REQUIRE(ImprintRow(rows, 3, 3, 4.0, w).ok());
  CHECK(w[0] == Approx(4.0 / std::sqrt(2.0)));
  CHECK(w[1] == Approx(4.0 / std::sqrt(2.0)));
  CHECK(w[2] == 0.0f);

  const float opposite[] = {-0.1f, 0.0f, 0.0f};
  const float third[] = {0.1f, 0.3f, -0.7f};
  const float minus_third[] = {-0.3f, -0.9f, 2.1f};
  const float hostile[] = {kNan, 0.0f, 0.0f};
  const float huge[] = {3e38f, 3e38f, 0.0f};
  const std::vector<std::vector<const float*>> bad = {
      {}, {zero}, {a, opposite}, {third, minus_third}, {a, hostile}};
  for (const std::vector<const float*>& refused : bad) {
    float untouched[] = {7.0f, 7.0f, 7.0f};
    const Status status =
        ImprintRow(refused.data(), static_cast<int64_t>(refused.size()), 3, 1.0, untouched);
    CHECK(status.code() == StatusCode::kNumeric);
    CHECK(untouched[0] == 7.0f);
    CHECK(untouched[2] == 7.0f);
  }
  const float* one[] = {huge};
  REQUIRE(ImprintRow(one, 1, 3, 1.0, w).ok());
  CHECK(w[1] == Approx(std::sqrt(0.5)));
}

}  // namespace solvers_test
}  // namespace topwork
