// Greedy k-centre: against a plain loop, and what it must prefer.
#include "runtime/train/audit/choice.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/train/random.h"

namespace topwork {
namespace choice_test {

struct Rows {
  std::vector<float> x;
  std::vector<const float*> rows;
  Rows(int64_t n, int64_t dim, uint64_t seed) {
    Random random(seed);
    for (int64_t i = 0; i < n * dim; ++i) {
      x.push_back(static_cast<float>(random.Next() >> 40) / 16777216.0f - 0.4f);
    }
    for (int64_t i = 0; i < n; ++i) rows.push_back(x.data() + i * dim);
  }
};

double Distance(const float* a, const float* b, int64_t dim) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (int64_t d = 0; d < dim; ++d) {
    ab += static_cast<double>(a[d]) * static_cast<double>(b[d]);
    aa += static_cast<double>(a[d]) * static_cast<double>(a[d]);
    bb += static_cast<double>(b[d]) * static_cast<double>(b[d]);
  }
  return 1.0 - ab / std::sqrt(aa * bb);
}

TEST_CASE("choice: the largest distance times doubt, one after the other", "[train]") {
  const int64_t n = 90, dim = 12, n_known = 40;
  const Rows pool_rows(n, dim, 3), known(n_known, dim, 4);
  std::vector<float> doubt;
  for (int64_t i = 0; i < n; ++i) doubt.push_back(static_cast<float>(i % 7 + 1) / 7.0f);
  ThreadPool one(1), three(3);
  ChoiceProblem problem = {pool_rows.rows.data(), n, dim, known.rows.data(), n_known, doubt};
  const auto found = ChooseExamples(problem, 12, &one);
  REQUIRE(found.ok());
  REQUIRE(found->size() == 12);
  std::vector<const float*> centres = known.rows;
  std::vector<bool> taken(static_cast<size_t>(n), false);
  for (const Suggestion& chosen : *found) {
    double best = -1.0;
    int64_t expected = -1;
    double distance = 0.0;
    for (int64_t i = 0; i < n; ++i) {
      if (taken[static_cast<size_t>(i)]) continue;
      double nearest = 2.0;
      for (const float* centre : centres) {
        nearest = std::min(nearest, Distance(pool_rows.rows[static_cast<size_t>(i)], centre, dim));
      }
      if (nearest * static_cast<double>(doubt[static_cast<size_t>(i)]) > best) {
        best = nearest * static_cast<double>(doubt[static_cast<size_t>(i)]);
        expected = i;
        distance = nearest;
      }
    }
    CHECK(chosen.index == expected);
    CHECK(chosen.distance == Approx(distance).margin(1e-5));
    taken[static_cast<size_t>(expected)] = true;
    centres.push_back(pool_rows.rows[static_cast<size_t>(expected)]);
  }
  const auto again = ChooseExamples(problem, 12, &three);
  REQUIRE(again.ok());
  for (size_t i = 0; i < 12; ++i) CHECK((*again)[i].index == (*found)[i].index);
}

TEST_CASE("choice: copies come last, the most in doubt first, sure ones at all", "[train]") {
  const float a[] = {1.0f, 0.0f}, b[] = {0.0f, 1.0f}, zero[] = {0.0f, 0.0f};
  const float* rows[] = {a, a, b, zero};
  const float doubt[] = {0.2f, 0.9f, 0.5f, 0.0f};
  ThreadPool pool(1);
  ChoiceProblem problem = {rows, 4, 2, nullptr, 0, doubt};
  const auto found = ChooseExamples(problem, 10, &pool);
  REQUIRE(found.ok());
  REQUIRE(found->size() == 4);
  CHECK((*found)[0].index == 1);
  CHECK((*found)[0].distance == 2.0);
  CHECK((*found)[1].index == 2);
  CHECK((*found)[2].index == 3);
  CHECK((*found)[3].index == 0);
  CHECK((*found)[3].distance == 0.0);
  const float wrong[] = {0.2f, 0.9f, 1.5f, 0.0f};
  problem.doubt = wrong;
  CHECK_FALSE(ChooseExamples(problem, 2, &pool).ok());
}

}  // namespace choice_test
}  // namespace topwork
