// Shapley values: cosines of a block of judged examples, one sort for each, then one pass.
#include "runtime/train/audit/knn_shapley.h"

#include <algorithm>
#include <numeric>

#include "runtime/train/audit/cosine.h"
#include "runtime/train/audit/order.h"
#include "runtime/train/blocks.h"

namespace topwork {

void KnnShapleyOfOrder(Span<const uint8_t> hits, int k, Span<double> out) {
  const size_t n = hits.size();
  if (n == 0) return;
  const double neighbours = k;
  const auto reached = [&](size_t i) { return std::min(neighbours, static_cast<double>(i)); };
  double value = hits[n - 1] * reached(n) / (neighbours * static_cast<double>(n));
  out[n - 1] = value;
  for (size_t i = n - 1; i > 0; --i) {
    value += (hits[i - 1] - hits[i]) / neighbours * reached(i) / static_cast<double>(i);
    out[i - 1] = value;
  }
}

namespace {

// What judging one example takes, one for each of a block.
struct Game {
  std::vector<int32_t> order;  // the other examples, nearest first
  std::vector<uint8_t> hits;
  std::vector<double> of_order;
  std::vector<double> values;  // by example; 0 for the judged one

  // Example `judged` is column `column` of `cosines` [n, stride]. Equals go by their number.
  void Play(int64_t judged, const float* cosines, int64_t column, int64_t stride,
            Span<const int32_t> labels, int k) {
    const size_t n = labels.size();
    order.resize(n);
    std::iota(order.begin(), order.end(), 0);
    order.erase(order.begin() + judged);
    SortByKeys(cosines + column, stride, &order);
    hits.resize(n - 1);
    for (size_t i = 0; i + 1 < n; ++i) {
      hits[i] = labels[static_cast<size_t>(order[i])] == labels[static_cast<size_t>(judged)];
    }
    of_order.resize(n - 1);
    KnnShapleyOfOrder(hits, k, of_order);
    values.assign(n, 0.0);
    for (size_t i = 0; i + 1 < n; ++i) values[static_cast<size_t>(order[i])] = of_order[i];
  }
};

}  // namespace

Result<std::vector<double>> KnnShapleyValues(const float* const* rows, int64_t dim,
                                             Span<const int32_t> labels, int k, ThreadPool* pool,
                                             WorkWatch* watch) {
  const int64_t n = static_cast<int64_t>(labels.size());
  if (n < 2 || k < 1) return InvalidArgument("Shapley values of {} examples, {} neighbours", n, k);
  const int64_t n_judged = std::min(n, kMaxJudged);
  std::vector<double> sums(static_cast<size_t>(n), 0.0);
  std::vector<float> cosines(static_cast<size_t>(n * Cosines::kBlock));
  std::vector<Game> games(static_cast<size_t>(Cosines::kBlock));
  Cosines all(rows, n, dim, pool);
  for (int64_t first = 0; first < n_judged; first += Cosines::kBlock) {
    if (watch != nullptr && watch->cancelled()) return Cancelled("the audit was cancelled");
    const int64_t n_block = std::min(Cosines::kBlock, n_judged - first);
    const auto judged = [&](int64_t q) { return (first + q) * n / n_judged; };
    std::vector<const float*> queries;
    for (int64_t q = 0; q < n_block; ++q) queries.push_back(rows[judged(q)]);
    all.Of(queries, cosines.data());
    ForEachBlock(pool, n_block, n_block * n * 256, [&](int64_t q) {
      games[static_cast<size_t>(q)].Play(judged(q), cosines.data(), q, n_block, labels, k);
    });
    for (int64_t q = 0; q < n_block; ++q) {
      const std::vector<double>& values = games[static_cast<size_t>(q)].values;
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
    }
  }
  // An example that is judged itself has one game less.
  std::vector<int64_t> n_games(sums.size(), n_judged);
  for (int64_t q = 0; q < n_judged; ++q) --n_games[static_cast<size_t>(q * n / n_judged)];
  for (size_t i = 0; i < sums.size(); ++i) sums[i] /= static_cast<double>(n_games[i]);
  return sums;
}

}  // namespace topwork
