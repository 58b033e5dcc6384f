// The promise holds on new examples, and the table says what the definition says.
#include "runtime/train/reject/conformal.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "runtime/train/random.h"

namespace topwork {
namespace conformal_test {

// Two correlated scores whose mean and spread depend on the category.
ConformalScores Draw(int64_t n, int n_categories, Random* random) {
  ConformalScores scores;
  scores.n_scores = 2;
  scores.n_categories = n_categories;
  for (int64_t i = 0; i < n; ++i) {
    const int c = static_cast<int>(random->Below(static_cast<uint64_t>(n_categories)));
    const double common = random->Gaussian();
    for (int s = 0; s < 2; ++s) {
      scores.values.push_back(3.0 * c + (1.0 + c) * (common + random->Gaussian()));
    }
    scores.categories.push_back(c);
  }
  return scores;
}

double PValue(const ConformalTable& table, const ConformalScores& scores, size_t i) {
  const float own[2] = {static_cast<float>(scores.values[2 * i]),
                        static_cast<float>(scores.values[2 * i + 1])};
  return table.PValue(own, scores.categories[i]);
}

// (1 + how many members have no larger measured score) / (n + 1), in plain loops.
double Counted(const ConformalScores& taught, const std::vector<size_t>& members,
               const double* scores) {
  double median[2], unit[2];
  for (size_t s = 0; s < 2; ++s) {
    std::vector<double> values;
    for (size_t j : members) values.push_back(taught.values[2 * j + s]);
    std::sort(values.begin(), values.end());
    median[s] = values[values.size() / 2];
    unit[s] = median[s] - values[values.size() / 10];
  }
  const auto smallest = [&](const double* own) {
    return std::min((own[0] - median[0]) / unit[0], (own[1] - median[1]) / unit[1]);
  };
  const auto n = std::count_if(members.begin(), members.end(), [&](size_t j) {
    return smallest(&taught.values[2 * j]) <= smallest(scores);
  });
  return static_cast<double>(n + 1) / static_cast<double>(members.size() + 1);
}

TEST_CASE("Conformal: of new examples of the taught kinds the promised share is refused",
          "[train]") {
  for (double rate : {0.02, 0.05, 0.1}) {
    double refused = 0.0, of_category[3] = {}, n_of_category[3] = {}, low_half = 0.0;
    double n = 0.0;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      Random random(seed);
      const ConformalTable table = MakeConformalTable(Draw(300, 3, &random), rate);
      const ConformalScores fresh = Draw(300, 3, &random);
      for (size_t i = 0; i < 300; ++i) {
        const double p = PValue(table, fresh, i);
        const bool is_refused = p < static_cast<double>(table.Limit());
        const size_t c = static_cast<size_t>(fresh.categories[i]);
        refused += is_refused ? 1 : 0;
        of_category[c] += is_refused ? 1 : 0;
        n_of_category[c] += 1;
        low_half += p <= 0.5 ? 1 : 0;
        n += 1;
      }
    }
    INFO("rate " << rate);
    CHECK(refused / n < rate + 0.005);
    CHECK(refused / n > rate - 0.015);
    for (size_t c = 0; c < 3; ++c) CHECK(of_category[c] / n_of_category[c] < rate + 0.01);
    CHECK(low_half / n == Approx(0.5).margin(0.03));
  }
}

TEST_CASE("Conformal: levels are the counted p-values, rounded up", "[train]") {
  Random random(5);
  const ConformalScores taught = Draw(150, 2, &random), fresh = Draw(200, 2, &random);
  for (double rate : {0.005, 0.05, 0.33}) {
    const ConformalTable table = MakeConformalTable(taught, rate);
    for (size_t i = 0; i < 200; ++i) {
      std::vector<size_t> members;
      for (size_t j = 0; j < 150; ++j) {
        if (taught.categories[j] == fresh.categories[i]) members.push_back(j);
      }
      if (static_cast<int64_t>(members.size()) < MinCategory(rate)) {  // all of them have too few
        members.resize(150);
        std::iota(members.begin(), members.end(), 0);
      }
      const double exact = Counted(taught, members, &fresh.values[2 * i]);
      const double p = PValue(table, fresh, i);
      CHECK(p == Approx(std::min(1.0, std::ceil(exact / table.step - 1e-6) * table.step)));
      CHECK((p < static_cast<double>(table.Limit())) == (exact <= rate + 1e-9));
    }
  }
}

TEST_CASE("Conformal: the unit of scores", "[train]") {
  std::vector<double> values;
  for (int i = 0; i < 50; ++i) values.push_back(2.0 * ((i * 7) % 50));
  CHECK(UnitOf(values) == Approx(2.0 * (25 - 5)));
  CHECK(UnitOf(std::vector<double>(9, 4.0)) == 1.0);
  CHECK(UnitOf({}) == 1.0);
}

TEST_CASE("Conformal: small categories share a table, and too few examples refuse nothing",
          "[train]") {
  Random random(9);
  ConformalScores taught = Draw(60, 1, &random);
  taught.n_categories = 3;
  for (size_t i = 0; i < 60; ++i) taught.categories[i] = i < 40 ? 0 : i < 50 ? 1 : 2;
  const ConformalTable table = MakeConformalTable(taught, 0.05);
  const auto levels = [&](int c) {
    const auto first = table.levels.begin() + c * table.n_levels;
    return std::vector<float>(first, first + table.n_levels);
  };
  CHECK(levels(1) == levels(2));  // their 20 examples
  CHECK(levels(0) != levels(1));
  const ConformalTable few = MakeConformalTable(Draw(18, 1, &random), 0.05);
  const float low[2] = {-1e30f, -1e30f};
  CHECK(few.PValue(low, 0) > 0.05);
  const ConformalTable enough = MakeConformalTable(Draw(19, 1, &random), 0.05);
  CHECK(enough.PValue(low, 0) == Approx(0.05));
}

}  // namespace conformal_test
}  // namespace topwork
