// The audit of labels: margins by hand, the noise against a search, labels that were changed.
#include "runtime/train/audit/labels.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/train/random.h"

namespace topwork {
namespace audit_labels_test {

TEST_CASE("label audit: margins, suggestions and their order", "[train]") {
  const std::vector<float> scores = {5.0f, 1.0f, 0.0f,   // right
                                     2.0f, 1.5f, 0.0f,   // labelled 1: in doubt
                                     0.0f, 6.0f, 0.0f,   // right
                                     0.0f, 9.0f, 0.0f,   // labelled 2: wrong
                                     0.0f, 0.0f, 4.0f};  // right
  const std::vector<int32_t> labels = {0, 1, 1, 2, 2};
  const LabelAudit found = AuditLabels(scores, labels);
  REQUIRE(found.examples.size() == 5);
  // Of two right ones with the same margin, one has two other classes in doubt.
  const int32_t order[] = {3, 1, 4, 0, 2};
  const double margins[] = {-9.0, -0.5, 4.0, 4.0, 6.0};
  const int32_t suggested[] = {1, 0, 2, 0, 1};
  for (size_t i = 0; i < 5; ++i) {
    CHECK(found.examples[i].index == order[i]);
    CHECK(found.examples[i].margin == Approx(margins[i]));
    CHECK(found.examples[i].suggested == suggested[i]);
    CHECK(found.examples[i].is_suspect == (i == 0));
    CHECK(found.examples[i].probability >= 0.0);
    CHECK(found.examples[i].probability <= 1.0);
  }
  CHECK(found.examples[0].probability < 0.01);
  CHECK(found.examples[4].probability > 0.9);
}

// n examples of 4 classes whose logits are right probabilities, of which a share is labelled wrong.
struct Drawn {
  std::vector<float> scores;
  std::vector<int32_t> labels, truth;

  Drawn(int64_t n, double share, uint64_t seed) {
    Random random(seed);
    const auto uniform = [&] {
      return static_cast<double>(random.Next() >> 11) / 9007199254740992.0;
    };
    for (int64_t i = 0; i < n; ++i) {
      double p[4], sum = 0.0;
      for (double& value : p) {
        value = 9.0 * uniform();
        scores.push_back(static_cast<float>(value));
        sum += value = std::exp(value);
      }
      int32_t c = 0;
      for (double rest = uniform() * sum - p[0]; rest > 0.0 && c < 3; rest -= p[c]) ++c;
      truth.push_back(c);
      const int32_t other = (c + 1 + static_cast<int32_t>(3.0 * uniform())) % 4;
      labels.push_back(uniform() < share ? other : c);
    }
  }
};

TEST_CASE("label audit: the share of wrong labels is estimated, and they are found", "[train]") {
  for (double share : {0.0, 0.05, 0.2}) {
    INFO("share " << share);
    const Drawn drawn(3000, share, 7);
    const LabelAudit found = AuditLabels(drawn.scores, drawn.labels);
    CHECK(found.noise == Approx(share).margin(0.03));
    CHECK(found.scale == Approx(1.0).margin(0.2));
    int64_t n_right = 0, n_suspects = 0, n_wrong = 0;
    double expected = 0.0;
    for (const AuditedExample& example : found.examples) {
      const int32_t truth = drawn.truth[static_cast<size_t>(example.index)];
      n_wrong += example.label != truth;
      expected += 1.0 - example.probability;
      if (!example.is_suspect) continue;
      ++n_suspects;
      n_right += example.suggested == truth;
    }
    CHECK(2 * n_right + 15 >= n_suspects);  // each is right with more than one half
    CHECK(n_suspects <= n_wrong + 15);
    CHECK(3 * n_suspects >= n_wrong);
    CHECK(expected == Approx(static_cast<double>(n_wrong)).margin(0.03 * 3000));
  }
}

// The logarithm of what the audit maximises, up to a constant.
double LogPosterior(const Drawn& drawn, double e, double scale) {
  double sum = 3.0 * std::log(e) + 57.0 * std::log(1.0 - e);
  for (size_t i = 0; i < drawn.labels.size(); ++i) {
    double p[4], total = 0.0;
    for (size_t c = 0; c < 4; ++c) {
      total += p[c] = std::exp(scale * static_cast<double>(drawn.scores[4 * i + c]));
    }
    const double own = p[drawn.labels[i]] / total;
    sum += std::log((1.0 - e) * own + e * (1.0 - own) / 3.0);
  }
  return sum;
}

TEST_CASE("label audit: no other noise is more likely", "[train]") {
  const Drawn drawn(200, 0.1, 3);
  const LabelAudit found = AuditLabels(drawn.scores, drawn.labels);
  const auto value = [&](double e, double s) { return LogPosterior(drawn, e, s); };
  const double best = value(found.noise, found.scale);
  for (int k = 0; k < 25; ++k) {
    for (double e : {0.001, 0.02, 0.05, 0.09, 0.12, 0.3, 0.49}) {
      CHECK(value(e, 0.5 * std::pow(1.2, k)) <= best);
    }
  }
  CHECK(value(found.noise * 1.01, found.scale) < best);
  CHECK(value(found.noise * 0.99, found.scale) < best);
}

TEST_CASE("label audit: ties, large scores and nothing", "[train]") {
  const std::vector<float> scores = {1000.0f, 1000.0f, -1000.0f, 1000.0f};
  const std::vector<int32_t> labels = {1, 0};
  const LabelAudit found = AuditLabels(scores, labels);
  REQUIRE(found.examples.size() == 2);
  CHECK(found.examples[0].index == 1);
  CHECK(found.examples[0].margin == -2000.0);
  CHECK(found.examples[0].probability == 0.0);
  CHECK(found.examples[0].is_suspect);
  CHECK(found.examples[1].suggested == 0);
  CHECK(found.examples[1].margin == 0.0);
  CHECK(found.examples[1].probability > 0.45);
  CHECK_FALSE(found.examples[1].is_suspect);
  CHECK(AuditLabels({}, {}).examples.empty());
}

}  // namespace audit_labels_test
}  // namespace topwork
