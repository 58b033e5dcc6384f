// Metrics (against scikit-learn: make_metrics_golden.py), the stratified split and the generator.
#include "runtime/train/judge/metrics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/train/features/split.h"
#include "runtime/train/random.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"

namespace topwork {
namespace metrics_test {

TEST_CASE("metrics: counts, precision, recall and loss of a small example", "[train]") {
  MetricsCollector collector(3);
  const float sure_of_0[] = {2.0f, 0.0f, 0.0f};
  const float sure_of_1[] = {0.0f, 2.0f, 0.0f};
  collector.AddLogits(sure_of_0, 0);
  collector.AddLogits(sure_of_0, 0);
  collector.AddLogits(sure_of_0, 1);
  collector.AddLogits(sure_of_1, 1);
  const Evaluation e = collector.Finish();
  CHECK(e.n_examples == 4);
  CHECK(e.top1 == Approx(0.75));
  CHECK(e.top5 == 1.0);
  CHECK(e.confusion == std::vector<int64_t>{2, 0, 0, 1, 1, 0, 0, 0, 0});
  CHECK(e.classes[0].precision == Approx(2.0 / 3.0));
  CHECK(e.classes[0].recall == Approx(1.0));
  CHECK(e.classes[0].f1 == Approx(0.8));
  CHECK(e.classes[1].precision == Approx(1.0));
  CHECK(e.classes[1].recall == Approx(0.5));
  CHECK(e.classes[2].n_examples == 0);
  CHECK(e.classes[2].precision == 0.0);
  const double right = std::log(std::exp(2.0) + 2.0) - 2.0;
  CHECK(e.loss == Approx((3 * right + right + 2.0) / 4.0));
}

TEST_CASE("metrics: probabilities, ties and the best five", "[train]") {
  MetricsCollector collector(7);
  const float flat[] = {1, 1, 1, 1, 1, 1, 1};
  for (int label = 0; label < 7; ++label) collector.AddProbabilities(flat, label);
  const Evaluation e = collector.Finish();
  CHECK(e.top1 == Approx(1.0 / 7.0));
  CHECK(e.top5 == Approx(5.0 / 7.0));
  CHECK(e.loss == Approx(0.0).margin(1e-12));
  const float impossible[] = {1, 0, 0, 0, 0, 0, 0};
  collector.AddProbabilities(impossible, 1);
  CHECK(std::isfinite(collector.Finish().loss));
  CHECK(MetricsCollector(2).Finish().top1 == 0.0);
}

TEST_CASE("metrics: many classes go without a confusion matrix", "[train]") {
  const size_t most = static_cast<size_t>(kMaxConfusionClasses);
  CHECK(ConfusionSize(Loss::kSoftmaxCrossEntropy, kMaxConfusionClasses) == most * most);
  CHECK(ConfusionSize(Loss::kSoftmaxCrossEntropy, kMaxConfusionClasses + 1) == 0);
  CHECK(ConfusionSize(Loss::kSigmoidCrossEntropy, 3) == 0);
  MetricsCollector collector(kMaxConfusionClasses + 1);
  std::vector<float> logits(kMaxConfusionClasses + 1, 0.0f);
  logits[9] = 3.0f;
  collector.AddLogits(logits.data(), 9);
  const Evaluation e = collector.Finish();
  CHECK(e.confusion.empty());
  CHECK(e.classes[9].recall == 1.0);
}

test::Npz Golden() {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/metrics.npz");
  REQUIRE(file != nullptr);
  return test::ReadNpz(file->data, file->size);
}

void CheckRows(const std::vector<double>& table, size_t n_columns,
               const std::vector<std::vector<double>>& got) {
  REQUIRE(table.size() == n_columns * got.size());
  for (size_t i = 0; i < table.size(); ++i) {
    INFO("row " << i / n_columns << ", column " << i % n_columns);
    CHECK(got[i / n_columns].at(i % n_columns) == Approx(table[i]).epsilon(1e-9).margin(1e-12));
  }
}

void CheckBins(const std::vector<double>& table, const Evaluation& e) {
  REQUIRE(table.size() == 3 * e.reliability.size());
  REQUIRE(e.reliability.size() == static_cast<size_t>(kReliabilityBins));
  for (size_t m = 0; m < e.reliability.size(); ++m) {
    CHECK(static_cast<double>(e.reliability[m].n_examples) == table[3 * m]);
    CHECK(e.reliability[m].confidence == Approx(table[3 * m + 1]).epsilon(1e-9));
    CHECK(e.reliability[m].accuracy == Approx(table[3 * m + 2]).epsilon(1e-9));
  }
}

std::vector<std::vector<double>> ClassTable(const Evaluation& e) {
  std::vector<std::vector<double>> table(5);
  for (const ClassMetrics& m : e.classes) {
    table[0].push_back(m.precision);
    table[1].push_back(m.recall);
    table[2].push_back(m.f1);
    table[3].push_back(static_cast<double>(m.n_examples));
    table[4].push_back(m.average_precision);
  }
  return table;
}

TEST_CASE("metrics: a classifier's agree with scikit-learn", "[train]") {
  const test::Npz golden = Golden();
  const std::vector<float> z = golden.at("soft_logits").as<float>();
  const std::vector<int32_t> y = golden.at("soft_labels").as<int32_t>();
  const size_t n_classes = z.size() / y.size();
  MetricsCollector collector(static_cast<int>(n_classes), 3);
  for (size_t i = 0; i < y.size(); ++i) collector.AddLogits(z.data() + i * n_classes, y[i]);
  const Evaluation e = collector.Finish();
  CheckRows(golden.at("soft_expected").as<double>(), 7,
            {{e.loss, e.top1, e.top_k, e.macro_precision, e.macro_recall, e.macro_f1,
              e.calibration_error}});
  CHECK(e.k == 3);
  CHECK(e.accuracy == e.top1);
  std::vector<std::vector<double>> table = ClassTable(e);
  table.pop_back();
  CheckRows(golden.at("soft_classes").as<double>(), n_classes, table);
  CheckBins(golden.at("soft_bins").as<double>(), e);
  const std::vector<double> confusion = golden.at("soft_confusion").as<double>();
  for (size_t i = 0; i < confusion.size(); ++i) {
    CHECK(static_cast<double>(e.confusion.at(i)) == confusion[i]);
  }
}

TEST_CASE("metrics: a multi-label model's agree with scikit-learn", "[train]") {
  const test::Npz golden = Golden();
  const std::vector<float> z = golden.at("multi_logits").as<float>();
  const std::vector<float> t = golden.at("multi_targets").as<float>();
  const size_t n_outputs = static_cast<size_t>(golden.at("multi_logits").shape[1]);
  LossOptions options;
  options.loss = Loss::kSigmoidCrossEntropy;
  MetricsCollector collector(options, static_cast<int>(n_outputs));
  for (size_t i = 0; i < z.size(); i += n_outputs) collector.AddValues(&z[i], &t[i]);
  const Evaluation e = collector.Finish();
  CheckRows(golden.at("multi_expected").as<double>(), 8,
            {{e.loss, e.accuracy, e.exact_match, e.macro_precision, e.macro_recall, e.macro_f1,
              e.calibration_error, e.mean_average_precision}});
  CheckRows(golden.at("multi_classes").as<double>(), n_outputs, ClassTable(e));
  CheckBins(golden.at("multi_bins").as<double>(), e);
  CHECK(e.confusion.empty());
}

TEST_CASE("metrics: a regression's agree with scikit-learn", "[train]") {
  const test::Npz golden = Golden();
  const std::vector<float> z = golden.at("reg_predictions").as<float>();
  const std::vector<float> t = golden.at("reg_targets").as<float>();
  const size_t n_outputs = static_cast<size_t>(golden.at("reg_targets").shape[1]);
  LossOptions options;
  options.loss = Loss::kMeanSquaredError;
  MetricsCollector squared(options, static_cast<int>(n_outputs));
  options.loss = Loss::kHuber;
  options.huber_delta = 2.0f;
  MetricsCollector huber(options, static_cast<int>(n_outputs));
  std::vector<const float*> rows;
  for (size_t i = 0; i < z.size(); i += n_outputs) rows.push_back(&t[i]);
  const Targets targets{nullptr, rows.data()};
  for (size_t b = 0; b < rows.size(); ++b) {
    squared.Add(&z[b * n_outputs], targets, static_cast<int64_t>(b));
    huber.Add(&z[b * n_outputs], targets, static_cast<int64_t>(b));
  }
  const Evaluation e = squared.Finish();
  CheckRows(golden.at("reg_expected").as<double>(), 5,
            {{e.loss, e.regression.mae, e.regression.rmse, e.regression.r2, huber.Finish().loss}});
  std::vector<std::vector<double>> table(3);
  for (const RegressionMetrics& m : e.outputs) {
    table[0].push_back(m.mae);
    table[1].push_back(m.rmse);
    table[2].push_back(m.r2);
  }
  CheckRows(golden.at("reg_outputs").as<double>(), n_outputs, table);
  CHECK(e.classes.empty());
  CHECK(MetricsCollector(options, 2).Finish().regression.r2 == 0.0);
}

TEST_CASE("metrics: constant targets, met and missed", "[train]") {
  LossOptions options;
  options.loss = Loss::kMeanSquaredError;
  MetricsCollector collector(options, 2);
  const float targets[] = {3.0f, 3.0f};
  const float predictions[] = {3.0f, 4.0f};
  collector.AddValues(predictions, targets);
  collector.AddValues(predictions, targets);
  const Evaluation e = collector.Finish();
  CHECK(e.outputs[0].r2 == 1.0);
  CHECK(e.outputs[1].r2 == 0.0);
  CHECK(e.regression.mae == Approx(0.5));
}

TEST_CASE("reliability: edges of the bins, and the worst case", "[train]") {
  Reliability reliability;
  reliability.Add(0.0, false);
  reliability.Add(1.0, false);
  reliability.Add(1.0, true);
  const std::vector<ReliabilityBin> bins = reliability.Bins();
  CHECK(bins.front().n_examples == 1);
  CHECK(bins.back().n_examples == 2);
  CHECK(bins.back().accuracy == Approx(0.5));
  CHECK(reliability.Error() == Approx(1.0 / 3.0));
  Reliability worst;
  worst.Add(1.0, false);
  worst.Add(0.0, true);
  CHECK(worst.Error() == Approx(1.0));
  CHECK(Reliability().Error() == 0.0);
}

TEST_CASE("metrics: accuracy by group, the worst first", "[train]") {
  MetricsCollector collector(2);
  const float zero[] = {2.0f, 1.0f}, one[] = {1.0f, 2.0f};
  const struct {
    const float* scores;
    int label, group;
  } examples[] = {{zero, 0, 5}, {zero, 0, 5}, {one, 0, 5}, {one, 1, 9}, {zero, 1, -1}, {one, 0, 2}};
  for (const auto& e : examples)
    collector.CountGroup(e.group, collector.AddLogits(e.scores, e.label));
  const Evaluation evaluation = collector.Finish();
  REQUIRE(evaluation.groups.size() == 3);
  CHECK(evaluation.groups[0].group == 2);
  CHECK(evaluation.groups[0].accuracy == 0.0);
  CHECK(evaluation.groups[1].group == 5);
  CHECK(evaluation.groups[1].n_examples == 3);
  CHECK(evaluation.groups[1].accuracy == Approx(2.0 / 3.0));
  CHECK(evaluation.groups[2].accuracy == 1.0);
  // Decisions count one by one, regressions by their loss.
  LossOptions sigmoid;
  sigmoid.loss = Loss::kSigmoidCrossEntropy;
  MetricsCollector decisions(sigmoid, 2);
  const float targets[] = {1.0f, 1.0f}, both[] = {1.0f, 1.0f}, half[] = {1.0f, -1.0f};
  decisions.CountGroup(0, decisions.AddValues(both, targets));
  decisions.CountGroup(1, decisions.AddValues(half, targets));
  CHECK(decisions.Finish().groups[0].group == 1);
  CHECK(decisions.Finish().groups[0].accuracy == 0.5);
  LossOptions squares;
  squares.loss = Loss::kMeanSquaredError;
  MetricsCollector numbers(squares, 2);
  numbers.CountGroup(0, numbers.AddValues(both, targets));
  numbers.CountGroup(1, numbers.AddValues(half, targets));
  CHECK(numbers.Finish().groups[0].group == 1);
  CHECK(numbers.Finish().groups[0].loss == Approx(2.0));
  CHECK(numbers.Finish().groups[1].loss == 0.0);
}

TEST_CASE("split: every class is divided, the same way for a seed", "[train]") {
  std::vector<int32_t> labels;
  for (int i = 0; i < 50; ++i) labels.push_back(0);
  for (int i = 0; i < 10; ++i) labels.push_back(1);
  labels.push_back(2);
  labels.push_back(3);
  labels.push_back(3);
  const Split split = StratifiedSplit(labels, {5, 0.2f, 1});
  std::vector<int> n_validation(5, 0);
  for (int32_t i : split.validation)
    ++n_validation[static_cast<size_t>(labels[static_cast<size_t>(i)])];
  CHECK(n_validation == std::vector<int>{10, 2, 0, 1, 0});
  std::vector<int32_t> all = split.train;
  all.insert(all.end(), split.validation.begin(), split.validation.end());
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() == labels.size());
  for (size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<int32_t>(i));
  CHECK(StratifiedSplit(labels, {5, 0.2f, 1}).validation == split.validation);
  CHECK(StratifiedSplit(labels, {5, 0.2f, 2}).validation != split.validation);
  CHECK(StratifiedSplit(labels, {5, 0.0f, 1}).validation.empty());
  CHECK(StratifiedSplit(labels, {5, 0.99f, 1}).train.size() == 4);
}

TEST_CASE("random: the published sequence, and shuffles that are permutations", "[train]") {
  // SplitMix64 from seed 1234567 (the sequence that its authors' code gives).
  Random random(1234567);
  CHECK(random.Next() == 6457827717110365317u);
  CHECK(random.Next() == 3203168211198807973u);
  CHECK(random.Next() == 9817491932198370423u);
  std::vector<int> counts(6, 0);
  for (int i = 0; i < 6000; ++i) ++counts[static_cast<size_t>(random.Below(6))];
  for (int count : counts) CHECK(std::abs(count - 1000) < 150);
  std::vector<int> items = {0, 1, 2, 3, 4, 5, 6, 7};
  random.Shuffle(&items);
  std::vector<int> sorted = items;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(items != sorted);
}

}  // namespace metrics_test
}  // namespace topwork
