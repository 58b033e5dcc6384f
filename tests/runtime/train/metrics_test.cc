// Metrics, the stratified split and the generator.
#include "runtime/train/metrics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/train/random.h"
#include "runtime/train/split.h"

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
  MetricsCollector collector(kMaxConfusionClasses + 1);
  std::vector<float> logits(kMaxConfusionClasses + 1, 0.0f);
  logits[9] = 3.0f;
  collector.AddLogits(logits.data(), 9);
  const Evaluation e = collector.Finish();
  CHECK(e.confusion.empty());
  CHECK(e.classes[9].recall == 1.0);
}

TEST_CASE("split: every class is divided, the same way for a seed", "[train]") {
  std::vector<int32_t> labels;
  for (int i = 0; i < 50; ++i) labels.push_back(0);
  for (int i = 0; i < 10; ++i) labels.push_back(1);
  labels.push_back(2);
  labels.push_back(3);
  labels.push_back(3);
  const Split split = StratifiedSplit(labels, 5, 0.2f, 1);
  std::vector<int> n_validation(5, 0);
  for (int32_t i : split.validation)
    ++n_validation[static_cast<size_t>(labels[static_cast<size_t>(i)])];
  CHECK(n_validation == std::vector<int>{10, 2, 0, 1, 0});
  std::vector<int32_t> all = split.train;
  all.insert(all.end(), split.validation.begin(), split.validation.end());
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() == labels.size());
  for (size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<int32_t>(i));
  CHECK(StratifiedSplit(labels, 5, 0.2f, 1).validation == split.validation);
  CHECK(StratifiedSplit(labels, 5, 0.2f, 2).validation != split.validation);
  CHECK(StratifiedSplit(labels, 5, 0.0f, 1).validation.empty());
  CHECK(StratifiedSplit(labels, 5, 0.99f, 1).train.size() == 4);
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
