// The promise holds on new examples, and the table says what the definition says (in NumPy:
// make_conformal_golden.py).
#include "runtime/train/reject/conformal.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/train/random.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"

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

ConformalScores Read(const test::Npz& golden, const std::string& name) {
  ConformalScores scores;
  scores.n_scores = 2;
  scores.n_categories = 3;
  scores.values = golden.at(name).as<double>();
  scores.categories = golden.at(name + "_categories").as<int32_t>();
  return scores;
}

TEST_CASE("Conformal: p-values are those that NumPy counts, rounded up", "[train]") {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/conformal.npz");
  REQUIRE(file != nullptr);
  const test::Npz golden = test::ReadNpz(file->data, file->size);
  const ConformalScores taught = Read(golden, "taught"), fresh = Read(golden, "fresh");
  const std::vector<double> rates = golden.at("rates").as<double>();
  const std::vector<double> expected = golden.at("p_values").as<double>();
  const size_t n = fresh.categories.size();
  REQUIRE(expected.size() == rates.size() * n);
  for (size_t r = 0; r < rates.size(); ++r) {
    const ConformalTable table = MakeConformalTable(taught, rates[r]);
    for (size_t i = 0; i < n; ++i) {
      INFO("rate " << rates[r] << ", example " << i);
      const double exact = expected[r * n + i], p = PValue(table, fresh, i);
      CHECK(p == Approx(std::min(1.0, std::ceil(exact / table.step - 1e-6) * table.step)));
      CHECK((p < static_cast<double>(table.Limit())) == (exact <= rates[r] + 1e-9));
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
