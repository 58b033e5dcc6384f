// Shapley values of a k-nearest-neighbour classifier: against the definition, subset by subset.
#include "runtime/train/audit/knn_shapley.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "runtime/train/random.h"

namespace topwork {
namespace knn_shapley_test {

// Share of the k first members of `set` (bits, 0 the nearest) that are hits.
double Worth(uint32_t set, const std::vector<uint8_t>& hits, int k) {
  int n = 0;
  double worth = 0.0;
  for (size_t i = 0; i < hits.size() && n < k; ++i) {
    if ((set >> i & 1u) == 0) continue;
    ++n;
    worth += hits[i];
  }
  return worth / k;
}

// Σ_S |S|! (n − |S| − 1)! / n! · (v(S ∪ i) − v(S)) over all S without i.
std::vector<double> ByDefinition(const std::vector<uint8_t>& hits, int k) {
  const size_t n = hits.size();
  std::vector<double> values(n, 0.0);
  for (size_t i = 0; i < n; ++i) {
    for (uint32_t set = 0; set < 1u << n; ++set) {
      if ((set >> i & 1u) != 0) continue;
      int size = 0;
      for (size_t j = 0; j < n; ++j) size += set >> j & 1u;
      const double weight =
          std::exp(std::lgamma(size + 1.0) + std::lgamma(static_cast<double>(n) - size) -
                   std::lgamma(static_cast<double>(n) + 1.0));
      values[i] += weight * (Worth(set | 1u << i, hits, k) - Worth(set, hits, k));
    }
  }
  return values;
}

TEST_CASE("Shapley values: the recursion gives what the definition says", "[train]") {
  Random random(5);
  for (size_t n = 1; n <= 9; ++n) {
    for (int k : {1, 2, 3, 5, 12}) {
      std::vector<uint8_t> hits(n);
      for (uint8_t& hit : hits) hit = random.Next() & 1;
      std::vector<double> values(n);
      KnnShapleyOfOrder(hits, k, values);
      const std::vector<double> expected = ByDefinition(hits, k);
      for (size_t i = 0; i < n; ++i) {
        INFO("n " << n << ", k " << k << ", example " << i);
        CHECK(values[i] == Approx(expected[i]).margin(1e-12));
      }
      // Efficiency: together they are worth what all of them are.
      CHECK(std::accumulate(values.begin(), values.end(), 0.0) ==
            Approx(Worth((1u << n) - 1, hits, k)).margin(1e-12));
    }
  }
}

struct Points {
  std::vector<float> x;
  std::vector<const float*> rows;
  std::vector<int32_t> labels;
};

// Two classes of directions, of which every tenth label is wrong.
Points TwoClasses(int64_t n, int64_t dim) {
  Points points;
  Random random(11);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t label = static_cast<int32_t>(i % 2);
    for (int64_t d = 0; d < dim; ++d) {
      const double noise = static_cast<double>(random.Next() >> 11) / 9007199254740992.0;
      points.x.push_back(static_cast<float>(noise + (d % 2 == label ? 1.0 : 0.0)));
    }
    points.labels.push_back(i % 10 == 3 ? 1 - label : label);
  }
  for (int64_t i = 0; i < n; ++i) points.rows.push_back(points.x.data() + i * dim);
  return points;
}

double Cosine(const float* a, const float* b, int64_t dim) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (int64_t d = 0; d < dim; ++d) {
    ab += static_cast<double>(a[d]) * static_cast<double>(b[d]);
    aa += static_cast<double>(a[d]) * static_cast<double>(a[d]);
    bb += static_cast<double>(b[d]) * static_cast<double>(b[d]);
  }
  return ab / std::sqrt(aa * bb);
}

TEST_CASE("Shapley values: the mean over all judged examples, wrong labels last", "[train]") {
  const int64_t n = 70, dim = 24;  // two whole blocks and a part
  const int k = 5;
  const Points points = TwoClasses(n, dim);
  ThreadPool one(1), three(3);
  const auto found = KnnShapleyValues(points.rows.data(), dim, points.labels, k, &one, nullptr);
  REQUIRE(found.ok());
  std::vector<double> expected(static_cast<size_t>(n), 0.0);
  for (int64_t j = 0; j < n; ++j) {
    std::vector<std::pair<double, size_t>> near;
    for (int64_t i = 0; i < n; ++i) {
      if (i != j) near.push_back({-Cosine(points.rows[i], points.rows[j], dim), i});
    }
    std::sort(near.begin(), near.end());
    std::vector<uint8_t> hits;
    for (const auto& [cosine, i] : near) hits.push_back(points.labels[i] == points.labels[j]);
    std::vector<double> values(hits.size());
    KnnShapleyOfOrder(hits, k, values);
    for (size_t r = 0; r < near.size(); ++r) expected[near[r].second] += values[r] / (n - 1);
  }
  for (size_t i = 0; i < expected.size(); ++i)
    CHECK((*found)[i] == Approx(expected[i]).margin(1e-9));
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return (*found)[a] < (*found)[b]; });
  for (size_t r = 0; r < 7; ++r) CHECK(order[r] % 10 == 3);
  const auto again = KnnShapleyValues(points.rows.data(), dim, points.labels, k, &three, nullptr);
  REQUIRE(again.ok());
  CHECK(*again == *found);
}

TEST_CASE("Shapley values: cancelled, and of too few examples", "[train]") {
  const Points points = TwoClasses(8, 4);
  ThreadPool pool(1);
  WorkWatch watch;
  {
    const Cancellation::Call call(&watch.cancellation());
    watch.cancellation().Request();
    const auto stopped = KnnShapleyValues(points.rows.data(), 4, points.labels, 3, &pool, &watch);
    CHECK(stopped.status().code() == StatusCode::kCancelled);
  }
  CHECK(KnnShapleyValues(points.rows.data(), 4, points.labels, 3, &pool, &watch).ok());
  const Span<const int32_t> one(points.labels.data(), 1);
  CHECK_FALSE(KnnShapleyValues(points.rows.data(), 4, one, 3, &pool, nullptr).ok());
}

}  // namespace knn_shapley_test
}  // namespace topwork
