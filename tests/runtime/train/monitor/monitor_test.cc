// Monitors: the promised rate of false alarms, changes that are noticed, class frequencies, files.
#include "runtime/train/monitor/monitor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "runtime/base/file.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace monitor_test {

using Catch::Matchers::Contains;

// n rows of `dim` Gaussian numbers around 1, and around 1 + shift in the first half of them.
std::vector<float> Rows(int64_t n, int64_t dim, double shift, Random* random) {
  std::vector<float> rows;
  for (int64_t i = 0; i < n * dim; ++i) {
    const double mean = i % dim < dim / 2 ? 1.0 + shift : 1.0;
    rows.push_back(static_cast<float>(mean + random->Gaussian()));
  }
  return rows;
}

std::unique_ptr<Monitor> NewMonitor(const MonitorOptions& options, const std::vector<float>& rows) {
  const int64_t n = static_cast<int64_t>(rows.size()) / options.n_features;
  auto monitor =
      Monitor::Create(options, n, [&](int64_t i) { return rows.data() + i * options.n_features; });
  REQUIRE(monitor.status().ToString() == "OK");
  return std::move(monitor.value());
}

TEST_CASE("martingale: alarms on exchangeable scores are as rare as promised", "[train]") {
  // Ville: at most one window in 20 reaches 20, whatever the scores' distribution and its ties.
  for (const bool ties : {false, true}) {
    Random random(ties ? 3 : 2);
    int n_alarms = 0;
    double p_sum = 0.0, p_squares = 0.0;
    constexpr int kWindows = 4000, kLength = 40;
    for (int w = 0; w < kWindows; ++w) {
      const auto draw = [&] {
        return ties ? static_cast<double>(random.Below(4)) : std::exp(random.Gaussian());
      };
      std::vector<double> calibration;
      for (int i = 0; i < 30; ++i) calibration.push_back(draw());
      ConformalMartingale martingale(calibration, kLength, static_cast<uint64_t>(w));
      double peak = 0.0;
      for (int i = 0; i < kLength; ++i) {
        const double p = martingale.Add(draw());
        REQUIRE((p > 0.0 && p < 1.0));
        p_sum += p;
        p_squares += p * p;
        peak = std::max(peak, martingale.log10());
      }
      n_alarms += peak >= std::log10(20.0);
    }
    CAPTURE(ties, n_alarms);
    CHECK(n_alarms <= kWindows * 0.05);
    CHECK(n_alarms > 0);
    const double n = kWindows * kLength;
    CHECK(std::fabs(p_sum / n - 0.5) < 0.005);
    CHECK(std::fabs(p_squares / n - 1.0 / 3.0) < 0.005);
  }
}

TEST_CASE("martingale: the mixture of powers, computed directly", "[train]") {
  ConformalMartingale martingale({1, 2, 3, 4, 5, 6, 7, 8, 9}, 5, 4);
  double wealth[20];
  std::fill(std::begin(wealth), std::end(wealth), 1.0);
  for (int i = 0; i < 7; ++i) {
    const double p = martingale.Add(8.5 + i);
    double sum = 0.0;
    for (int j = 0; j < 10; ++j) {
      const double e = 0.1 * (j + 1);
      for (int side = 0; side < 2; ++side) {
        double& w = wealth[2 * j + side];
        if (i == 5) w = 1.0;  // the second window
        w *= e * std::pow(side == 0 ? p : 1.0 - p, e - 1.0);
        sum += w;
      }
    }
    CHECK(martingale.log10() == Approx(std::log10(sum / 20.0)).margin(1e-12));
  }
  CHECK(martingale.n_in_window() == 2);
}

TEST_CASE("monitor: keeps quiet on what it knows, and notices what is new", "[train]") {
  for (const int64_t dim : {16, 300}) {  // without and with projection
    Random random(5);
    MonitorOptions options;
    options.n_features = dim;
    options.window = 100;
    const std::vector<float> reference = Rows(400, dim, 0.0, &random);
    const auto monitor = NewMonitor(options, reference);
    for (int i = 0; i < 2000; ++i) {
      REQUIRE(monitor->Add(Rows(1, dim, 0.0, &random).data(), nullptr).ok());
    }
    MonitorReport report = monitor->Report();
    CHECK(report.n_windows == 20);
    CHECK(report.n_alarms <= 1);
    CHECK_FALSE(report.is_alarm);
    for (int i = 0; i < 100; ++i) {
      REQUIRE(monitor->Add(Rows(1, dim, 2.0, &random).data(), nullptr).ok());
    }
    report = monitor->Report();
    CHECK(report.is_alarm);
    CHECK(report.evidence > 4.0);
    CHECK(report.first_alarm >= 2000);
    CHECK(report.first_alarm < 2060);
    CHECK(report.classes.frequencies.empty());
    // Back to normal: the alarm ends one window after the last one that passed.
    for (int i = 0; i < 200; ++i) {
      REQUIRE(monitor->Add(Rows(1, dim, 0.0, &random).data(), nullptr).ok());
    }
    CHECK_FALSE(monitor->Report().is_alarm);
  }
}

TEST_CASE("monitor: class frequencies equal NumPy's EM", "[train]") {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/monitor.npz");
  REQUIRE(file != nullptr);
  const test::Npz npz = test::ReadNpz(file->data, file->size);
  const std::vector<float> probabilities = npz.at("probabilities").as<float>();
  const std::vector<double> trained = npz.at("trained").as<double>();
  const std::vector<double> expected = npz.at("frequencies").as<double>();
  const std::vector<double> corrected = npz.at("corrected").as<double>();
  const ClassFrequencies got = EstimateFrequencies(probabilities, trained);
  for (size_t c = 0; c < 3; ++c) {
    CHECK(std::fabs(got.frequencies[c] - expected[c]) < 1e-7);
    CHECK(std::fabs(got.frequencies[c] - npz.at("truth").as<double>()[c]) < 0.08);
  }
  CHECK(got.log10_ratio == Approx(npz.at("ratio").as<double>()[0]).epsilon(1e-4));
  std::vector<float> row(3);
  double worst = 0.0;
  for (size_t i = 0; i < probabilities.size(); i += 3) {
    CorrectProbabilities(probabilities.data() + i, trained, got.frequencies, row.data());
    for (size_t c = 0; c < 3; ++c) {
      worst = std::max(worst, std::fabs(static_cast<double>(row[c]) - corrected[i + c]));
    }
  }
  CHECK(worst < 1e-6);
  // The monitor sees the same: in a ring of the last examples, and from logits.
  Random random(1);
  MonitorOptions options;
  options.n_features = 2;
  options.window = 300;
  options.frequencies = trained;
  const auto monitor = NewMonitor(options, Rows(20, 2, 0.0, &random));
  const float other[] = {1.0f, 0.0f, 0.0f};
  for (int i = 0; i < 123; ++i) REQUIRE(monitor->Add(nullptr, other).ok());
  for (size_t i = 0; i < probabilities.size(); i += 3) {
    float logits[3];
    for (size_t c = 0; c < 3; ++c) logits[c] = std::log(probabilities[i + c]) + 5.0f;
    REQUIRE(monitor->Add(nullptr, i % 2 == 0 ? logits : probabilities.data() + i).ok());
  }
  const MonitorReport report = monitor->Report();
  CHECK(report.n_examples == 423);
  CHECK(report.n_windows == 0);
  for (size_t c = 0; c < 3; ++c) {
    CHECK(std::fabs(report.classes.frequencies[c] - expected[c]) < 1e-5);
  }
  monitor->Correct(probabilities.data(), row.data());
  CHECK(row[0] == Approx(corrected[0]).margin(1e-5));
}

TEST_CASE("monitor: too few examples, and a limit that leaves too few", "[train]") {
  MonitorOptions options;
  options.n_features = 4;
  const float zeros[4] = {};
  const auto message = [&](int64_t n) {
    return Monitor::Create(options, n, [&](int64_t) { return zeros; }).status().message();
  };
  CHECK(message(5).find("; there are 5") != std::string::npos);
  options.max_reference = 7;
  CHECK(message(1000).find("; max_reference is 7") != std::string::npos);
}

TEST_CASE("monitor: files, and what is refused", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "monitor";
  Random random(9);
  MonitorOptions options;
  options.n_features = 100;
  options.frequencies = {0.25, 0.75};
  const std::vector<float> reference = Rows(60, 100, 0.0, &random);
  const auto first = NewMonitor(options, reference);
  REQUIRE(first->Save(path).ToString() == "OK");
  auto opened = Monitor::Open(path);
  REQUIRE(opened.status().ToString() == "OK");
  const std::vector<float> rows = Rows(50, 100, 0.5, &random);
  const float scores[] = {0.5f, 0.5f};
  for (int64_t i = 0; i < 50; ++i) {
    REQUIRE(first->Add(rows.data() + 100 * i, scores).ok());
    REQUIRE((*opened)->Add(rows.data() + 100 * i, scores).ok());
  }
  CHECK((*opened)->Report().evidence == first->Report().evidence);
  CHECK((*opened)->Report().classes.frequencies == first->Report().classes.frequencies);
  // Every flipped byte and every cut is noticed.
  const auto bytes = MappedBytes::Open(path, "test");
  const std::vector<uint8_t> whole(bytes->bytes().begin(), bytes->bytes().end());
  for (size_t at = 0; at < whole.size(); at += 97) {
    std::vector<uint8_t> damaged = whole;
    damaged[at] ^= 4;
    REQUIRE(WriteFile(path, "test", {damaged}).ok());
    CHECK(Monitor::Open(path).status().code() == StatusCode::kCorrupt);
    damaged = whole;
    damaged.resize(at);
    REQUIRE(WriteFile(path, "test", {damaged}).ok());
    CHECK(Monitor::Open(path).status().code() == StatusCode::kCorrupt);
  }
  std::remove(path.c_str());
  CHECK(Monitor::Open(path).status().code() == StatusCode::kIo);

  std::vector<float> broken(rows.begin(), rows.begin() + 100);
  broken[7] = std::numeric_limits<float>::quiet_NaN();
  CHECK(first->Add(broken.data(), nullptr).code() == StatusCode::kNumeric);
  CHECK(first->Report().n_examples == 50);
  const auto refused = [&](int64_t n) {
    return Monitor::Create(options, n, [&](int64_t i) { return reference.data() + 100 * i; })
        .status()
        .message();
  };
  CHECK_THAT(refused(15), Contains("needs 16 or more examples"));
  options.frequencies = {0.5, 0.6};
  CHECK_THAT(refused(60), Contains("their sum is 1.1"));
  options.frequencies = {};
  options.false_alarm_rate = 1.0;
  CHECK_THAT(refused(60), Contains("false_alarm_rate is 1"));
}

}  // namespace monitor_test
}  // namespace topwork
