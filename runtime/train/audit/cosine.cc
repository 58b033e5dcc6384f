// Cosines: the queries are the weights of a dense layer that runs over the rows.
#include "runtime/train/audit/cosine.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/blocks.h"

namespace topwork {

constexpr int64_t kRowsOfATask = 64;

Cosines::Cosines(const float* const* rows, int64_t n, int64_t dim, ThreadPool* pool)
    : rows_(rows),
      n_(n),
      dim_(dim),
      pool_(pool),
      kernels_(TrainKernelsFor(BestCpuKernels())),
      inverse_norms_(static_cast<size_t>(n)),
      block_(static_cast<size_t>(kBlock * dim)),
      zeros_(kBlock, 0.0f) {
  for (size_t i = 0; i < inverse_norms_.size(); ++i) inverse_norms_[i] = InverseNorm(rows[i]);
}

float Cosines::InverseNorm(const float* row) const {
  const double squares = kernels_.sum_squares(row, dim_);
  return squares > 0.0 ? static_cast<float>(1.0 / std::sqrt(squares)) : 0.0f;
}

void Cosines::Of(Span<const float* const> queries, float* out) {
  const int64_t n_queries = static_cast<int64_t>(queries.size());
  for (int64_t q = 0; q < n_queries; ++q) {
    const float* query = queries[static_cast<size_t>(q)];
    const float factor = InverseNorm(query);
    for (int64_t d = 0; d < dim_; ++d)
      block_[static_cast<size_t>(q * dim_ + d)] = factor * query[d];
  }
  const DenseStep step = {rows_, n_, dim_, n_queries};
  ForEachBlock(pool_, NumBlocks(n_, kRowsOfATask), 2 * n_ * dim_ * n_queries, [&](int64_t task) {
    const int64_t first = task * kRowsOfATask;
    const int64_t last = std::min(n_, first + kRowsOfATask);
    kernels_.forward(step, block_.data(), zeros_.data(), first, last, 0, n_queries, out);
    for (int64_t i = first; i < last; ++i) {
      kernels_.scale(inverse_norms_[static_cast<size_t>(i)], n_queries, out + i * n_queries);
    }
  });
}

}  // namespace topwork
